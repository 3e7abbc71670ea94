import { textAt, valueAt } from '../../core/json-at.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';
import { warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { type FederatedObject, type Federation, isLimitedToNamespace } from './federation.ts';
import {
  allClusters,
  type ClusterChoice,
  choiceOf,
  clusterIntersection,
  mayLeaveOut,
  noClusters,
  selectorOnlyChoiceOf,
} from './import-placement.ts';
import type { ReplicaPreference } from './replica-preference.ts';
import type { TargetKind } from './target-kinds.ts';

/** The clusters in which KubeFed places a federated object, and the documents that decide about them. */
export interface PlacedObject {
  readonly choice: ClusterChoice;
  /**
   * The clusters of the FederatedNamespace. Present only in exact mode, and only if KubeFed also gives replicas to other clusters, where
   * they are lost. `choice` then has all clusters of the division. Absent if `choice` has exactly the clusters that get copies.
   */
  readonly limit?: ClusterChoice;
  /** The FederatedNamespace of the object. Undefined: the object is not namespaced, or its namespace is not federated. */
  readonly namespace: FederatedObject | undefined;
  /** The preference of the object, if it has an effect. */
  readonly preference: ReplicaPreference | undefined;
  readonly notes: readonly ImportNote[];
}

/**
 * Finds the clusters of a federated object: the clusters of its placement that are also clusters of its FederatedNamespace. A
 * ReplicaSchedulingPreference replaces the placement of the object by all clusters, or by the clusters of its selector.
 *
 * KubeFed places no namespaced object without a FederatedNamespace, unless KubeFed is limited to one namespace. In exact mode, Muster does
 * the same. Otherwise the placement of the object applies.
 */
export function placeObject(
  object: FederatedObject,
  { target, federation }: { readonly target: TargetKind; readonly federation: Federation },
  { isExact }: ImportClusters,
): PlacedObject {
  const { key, path } = object.current;
  const disabled = disabledNotes(target);
  const isInNamespace = target.isNamespaced && target.kind !== 'Namespace';
  const namespace = isInNamespace ? federation.namespaceOf(key.namespace ?? 'default') : undefined;
  const { preference, notes } = effectivePreference(object, namespace, federation);
  const own = isExact && disabled.length > 0 ? noClusters : ownChoice(object, preference);
  if (namespace !== undefined) {
    const limit = choiceOf(namespace.current);
    // If the namespace has names and a selector, KubeFed divides replicas by the selector for a preference with
    // `intersectWithClusterSelector`, but writes copies by the names.
    const isDividedBySelector = preference?.intersectsWithSelector === true && limit.names !== undefined;
    const divided = isDividedBySelector ? clusterIntersection([own, selectorOnlyChoiceOf(namespace.current)]) : own;
    const isLosing = losesReplicas(preference, limit);
    const isLimited = isExact && isLosing && disabled.length === 0;
    return {
      ...(isLimited ? { choice: divided, limit } : { choice: clusterIntersection([divided, limit]) }),
      namespace,
      preference,
      notes: [...disabled, ...notes, ...(isLosing && preference !== undefined ? [lostReplicasNote(preference, isExact)] : [])],
    };
  }
  if (!isInNamespace || isLimitedToNamespace(federation)) return { choice: own, namespace, preference, notes: [...disabled, ...notes] };
  const message = `KubeFed places nothing in the namespace ${key.namespace ?? 'default'}, as there is no FederatedNamespace for it`;
  return {
    choice: isExact ? noClusters : own,
    namespace,
    preference,
    notes: [...disabled, ...notes, warningNote('NAMESPACE_NOT_FEDERATED', path, message)],
  };
}

/** Returns a warning if the FederatedTypeConfig of the kind turns propagation off. KubeFed then writes no objects of the kind. */
function disabledNotes({ config, kind }: TargetKind): readonly ImportNote[] {
  if (config === undefined || textAt(config.object, 'spec', 'propagation') !== 'Disabled') return [];
  const message = `KubeFed writes no ${kind}, because its propagation is Disabled. With --exact, the Propagation places nothing`;
  return [warningNote('UNSUPPORTED', `${config.path}.spec.propagation`, message)];
}

function ownChoice({ current }: FederatedObject, preference: ReplicaPreference | undefined): ClusterChoice {
  if (preference === undefined) return choiceOf(current);
  return preference.intersectsWithSelector ? selectorOnlyChoiceOf(current) : allClusters;
}

/**
 * Returns the preference of the object if it has an effect. If it has none, returns a warning. KubeFed ignores a preference with
 * `intersectWithClusterSelector` if the object or its FederatedNamespace has no selector. A KubeFed that is limited to one namespace also
 * ignores it if there is no FederatedNamespace.
 */
function effectivePreference(
  object: FederatedObject,
  namespace: FederatedObject | undefined,
  federation: Federation,
): Pick<PlacedObject, 'preference' | 'notes'> {
  const preference = federation.preferenceOf(object.source);
  const sources = [object, ...(namespace === undefined ? [] : [namespace])];
  const isNamespaceMissing = namespace === undefined && isLimitedToNamespace(federation);
  const hasSelectors = sources.every(({ current }) => (valueAt(current.object, 'spec', 'placement', 'clusterSelector') ?? null) !== null);
  if (preference === undefined || !preference.intersectsWithSelector || (hasSelectors && !isNamespaceMissing))
    return { preference, notes: [] };
  const message =
    'KubeFed ignores this preference, because the object or its FederatedNamespace has no clusterSelector, or its namespace has no FederatedNamespace';
  return {
    preference: undefined,
    notes: [warningNote('DROPPED', `${preference.document.path}.spec.intersectWithClusterSelector`, message)],
  };
}

/** True if the preference may plan replicas for a cluster that the namespace leaves out. */
function losesReplicas(preference: ReplicaPreference | undefined, ofNamespace: ClusterChoice): boolean {
  if (preference === undefined || (preference.intersectsWithSelector && ofNamespace.names === undefined)) return false;
  return mayLeaveOut(ofNamespace, Object.keys(preference.clusters));
}

function lostReplicasNote({ document }: ReplicaPreference, isExact: boolean): ImportNote {
  const outcome = isExact ? 'and so does the Propagation' : 'the Propagation divides all replicas between the clusters of the namespace';
  const message = `KubeFed also plans replicas for clusters in which the namespace is not federated, and loses them; ${outcome}`;
  return warningNote('NAMESPACE_NOT_FEDERATED', document.path, message);
}
