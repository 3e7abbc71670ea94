import type { GroupKind } from '../../../core/kinds.ts';
import { keyOfKind } from '../../../core/kinds.ts';
import type { ClusterName } from '../../../core/names.ts';
import { groupKindOfKey, namespacedNameOf } from '../../../manifests/object-key.ts';
import type { MemberChange, MemberObjects } from '../../../store/member-objects.ts';
import type { CopyOutcome } from '../../plan/copies/copy-work.ts';
import type { ClusterState, PropagationState } from '../state/propagation-state.ts';
import { type Interest, textOfInterest } from './interests.ts';

type Blocker = Required<Interest>;

const namespaces: GroupKind = { group: '', kind: 'Namespace' };
const quotas: GroupKind = { group: '', kind: 'ResourceQuota' };

/**
 * Returns the objects that may keep failed copies of the cluster from being written: the object with the name of the copy, a Namespace that
 * is missing or being deleted, or an exhausted quota. A retry makes sense when one of them changes. Empty if nothing failed.
 */
export function blockersOf(cluster: ClusterName, known: ClusterState): readonly Blocker[] {
  return known.failures === 0 ? [] : [...known.outcomes.values()].flatMap((outcome) => blockersOfCopy(cluster, outcome));
}

function blockersOfCopy(cluster: ClusterName, { key, fault, reason, message }: CopyOutcome): readonly Blocker[] {
  // Other managers change a contended copy all the time, so its changes trigger no retry.
  if (fault === undefined || reason === 'Contended') return [];
  const copy = { cluster, kind: groupKindOfKey(key), objectName: namespacedNameOf(key) };
  const { namespace } = key;
  if (namespace === undefined) return [copy];
  switch (reason) {
    case 'NamespaceMissing':
    case 'Terminating':
      return [copy, { cluster, kind: namespaces, objectName: { namespace: '', name: namespace } }];
    case 'Quota': {
      const name = /exceeded quota: ([^\s,]+)/.exec(message ?? fault.message)?.[1];
      return name === undefined ? [copy] : [copy, { cluster, kind: quotas, objectName: { namespace, name } }];
    }
    default:
      return [copy];
  }
}

/**
 * True if a write of a failed copy may succeed after this change: an object that blocked the copy no longer does, or the cluster serves the
 * kind of the copy again.
 */
export function isUnblocked(state: PropagationState, change: MemberChange, objects: Pick<MemberObjects, 'read' | 'served'>): boolean {
  const { cluster } = change;
  const known = state.clusters.get(cluster);
  if (known === undefined) return false;
  if (change.type === 'cluster') return isServedAgain(cluster, known, objects);
  const isOfIt = (blocker: Blocker) =>
    change.type === 'object' ? textOfInterest(blocker) === textOfInterest(change) : keyOfKind(blocker.kind) === keyOfKind(change.kind);
  return blockersOf(cluster, known).some((blocker) => isOfIt(blocker) && !stillBlocks(state, blocker, objects));
}

/** True while the blocker is being deleted, or for a missing Namespace that Muster does not create itself. */
function stillBlocks({ shares }: PropagationState, { cluster, kind, objectName }: Blocker, objects: Pick<MemberObjects, 'read'>): boolean {
  const seen = objects.read(cluster, kind, objectName);
  if (seen.result === 'held') return seen.object.metadata.deletionTimestamp !== undefined;
  const isNamespace = keyOfKind(kind) === keyOfKind(namespaces);
  return isNamespace && shares?.get(cluster)?.entries.some(({ key }) => key.kind === kind.kind && key.name === objectName.name) !== true;
}

function isServedAgain(cluster: ClusterName, { failures, outcomes }: ClusterState, objects: Pick<MemberObjects, 'served'>): boolean {
  if (failures === 0) return false;
  return outcomes.values().some(({ key, reason }) => reason === 'ApiMissing' && typeof objects.served(cluster, key) === 'object');
}
