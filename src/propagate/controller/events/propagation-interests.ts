import type { Members } from '../../../changes/members.ts';
import { type ClusterName, clusterName, parseClusterName } from '../../../core/names.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, namespacedNameOf } from '../../../manifests/object-key.ts';
import type { RejectionReason } from '../../model/placement.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import { locationFieldsIn } from '../../plan/placing/sets-in.ts';
import { nodeKind } from '../../plan/snapshot/cluster-locations.ts';
import type { PropagationState } from '../state/propagation-state.ts';
import { blockersOf } from './blockers.ts';
import type { Interest } from './interests.ts';

/** The objects whose changes concern a Propagation. */
export interface PropagationInterests {
  /** Existing and planned copies, and those that `purge` Never has released. */
  readonly copies: readonly Interest[];
  /** Objects that keep copies from being written. */
  readonly blockers: readonly Interest[];
  /** Sources of the template, and objects that they depend on. After a change the plan is old. */
  readonly sources: readonly Interest[];
  /** The Nodes of the clusters that may be chosen, if the placement depends on the location of clusters. */
  readonly nodes: readonly Interest[];
}

/**
 * Collects the objects whose changes concern a Propagation. `copies` has the planned objects, those in the inventory, and those that `purge`
 * Never has released. For a cluster that could not be planned, `copies` has all objects of the template.
 */
export function interestsOf({ plan, shares, latest, clusters }: PropagationState, members: Pick<Members, 'all'>): PropagationInterests {
  const spec = latest === undefined || 'problems' in latest.spec ? undefined : latest.spec;
  const namespace = latest?.metadata.namespace ?? '';
  const planned = plan?.rendered.clusters.flatMap(({ chosen: { cluster }, objects, fault }) =>
    fault === undefined
      ? objects.map(({ key }) => interestIn(cluster, key))
      : templateKeys(spec, namespace).map((key) => interestIn(cluster, key)),
  );
  const recorded = [...(shares?.values() ?? [])].flatMap(({ cluster, entries }) => entries.map(({ key }) => interestIn(cluster, key)));
  const leftBehind = (latest?.status.leftBehind ?? []).map(({ cluster, key }) => interestIn(clusterName(cluster), key));
  const sources = (plan?.rendered.sources ?? []).map(({ cluster, key }) => interestIn(cluster, key));
  return {
    copies: [...(planned ?? []), ...recorded, ...leftBehind],
    blockers: [...clusters].flatMap(([cluster, known]) => blockersOf(cluster, known)),
    sources: [...sourcesOf(spec), ...sources],
    nodes: nodesOf(spec, plan, members),
  };
}

/**
 * Returns the interest in the Nodes of clusters that may be chosen. Empty if the placement does not depend on the location of clusters.
 * Leaves out clusters that are rejected whatever their location is.
 */
function nodesOf(spec: PropagationSpec | undefined, plan: PropagationState['plan'], members: Pick<Members, 'all'>): readonly Interest[] {
  if (spec === undefined || locationFieldsIn(spec).length === 0) return [];
  const out = new Set(plan?.rendered.rejected.filter(({ reason }) => rejectedWithoutNodes.includes(reason)).map(({ cluster }) => cluster));
  return members.all().flatMap(({ name }) => (out.has(name) ? [] : [{ cluster: name, kind: nodeKind }]));
}

const rejectedWithoutNodes: readonly RejectionReason[] = ['NOT_NAMED', 'EXCLUDED', 'LABELS'];

function sourcesOf(spec: PropagationSpec | undefined): readonly Interest[] {
  return (spec?.template ?? []).flatMap((source) => {
    const cluster = source.type === 'ref' ? parseClusterName(source.cluster) : undefined;
    return source.type === 'ref' && cluster !== undefined ? [interestIn(cluster, source.key)] : [];
  });
}

function templateKeys(spec: PropagationSpec | undefined, namespace: string): readonly ObjectKey[] {
  return (spec?.template ?? []).map((source) => (source.type === 'ref' ? source.key : { namespace, ...keyOfManifest(source.manifest) }));
}

function interestIn(cluster: ClusterName, key: ObjectKey): Interest {
  return { cluster, kind: groupKindOfKey(key), objectName: namespacedNameOf(key) };
}
