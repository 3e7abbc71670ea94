import type { Members } from '../../../changes/members.ts';
import { type ClusterName, parseClusterName } from '../../../core/names.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, objectPlaceOf } from '../../../manifests/object-key.ts';
import type { RejectionReason } from '../../model/placement.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import { locationFieldsIn } from '../../plan/placing/sets-in.ts';
import { nodeKind } from '../../plan/snapshot/whereabouts.ts';
import type { PropagationState } from '../state/propagation-state.ts';
import { blockersOf } from './blockers.ts';
import type { Interest } from './interests.ts';

/** What a Propagation wants to hear of. */
export interface PropagationInterests {
  /** Copies, planned ones too. */
  readonly copies: readonly Interest[];
  /** What keeps copies from being written. */
  readonly blockers: readonly Interest[];
  /** What its template refers to, and what that depends on: a change there makes the plan old. */
  readonly sources: readonly Interest[];
  /** The Nodes of the clusters that may be chosen, where something hangs on where clusters state. */
  readonly nodes: readonly Interest[];
}

/** Of everything that is planned or held, and of what could not be planned yet for want of mirrors. */
export function interestsOf({ plan, shares, latest, clusters }: PropagationState, members: Pick<Members, 'all'>): PropagationInterests {
  const spec = latest === undefined || 'problems' in latest.spec ? undefined : latest.spec;
  const namespace = latest?.metadata.namespace ?? '';
  const planned = plan?.rendered.clusters.flatMap(({ chosen: { cluster }, objects, fault }) =>
    fault === undefined
      ? objects.map(({ key }) => interestIn(cluster, key))
      : templateKeys(spec, namespace).map((key) => interestIn(cluster, key)),
  );
  const held = [...(shares?.values() ?? [])].flatMap(({ cluster, entries }) => entries.map(({ key }) => interestIn(cluster, key)));
  const sources = (plan?.rendered.sources ?? []).map(({ cluster, key }) => interestIn(cluster, key));
  return {
    copies: [...(planned ?? []), ...held],
    blockers: [...clusters].flatMap(([cluster, known]) => blockersOf(cluster, known)),
    sources: [...sourcesOf(spec), ...sources],
    nodes: nodesOf(spec, plan, members),
  };
}

/** Not of those that are out whatever their Nodes say. */
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
  return { cluster, kind: groupKindOfKey(key), place: objectPlaceOf(key) };
}
