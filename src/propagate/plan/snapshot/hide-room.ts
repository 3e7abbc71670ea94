import type { ActingIdentity, IdentityVisibility } from '../../../changes/acting-clients.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { Note } from '../../model/notes.ts';
import type { RejectedCluster } from '../../model/placement.ts';
import type { RenderedCluster, RenderedPlan } from '../../model/plan.ts';
import { roomKinds } from './member-workloads.ts';
import type { PlanSnapshot } from './snapshot.ts';

/**
 * True if the requester may not see how much room is free in the cluster. The room is a sum over all Nodes and Pods, so the requester must be
 * allowed to list both, in all namespaces. False if there is no `visibility`.
 */
export async function isRoomHidden(
  visibility: IdentityVisibility | undefined,
  identity: ActingIdentity,
  { cluster, signal }: { readonly cluster: ClusterName; readonly signal: AbortSignal },
): Promise<boolean> {
  if (visibility === undefined) return false;
  const listed = await Promise.all(roomKinds.map((kind) => visibility.objects(identity, { cluster, kind, verb: 'list' }, signal)));
  return !listed.every((objects) => objects.has(undefined));
}

/**
 * Removes the details about the free room of clusters with `isRoomHidden`. The plan then shows the decisions that follow from the room, and
 * not how much room there is. A text about several clusters has no figures if the room of any cluster is hidden.
 */
export function withoutHiddenRoom({ clusters }: PlanSnapshot, plan: RenderedPlan): RenderedPlan {
  const hidden = new Set(clusters.flatMap(({ cluster, isRoomHidden: isHidden }) => (isHidden === true ? [cluster.name] : [])));
  if (hidden.size === 0) return plan;
  const hasFigures = ({ reason, detail }: RejectedCluster) => reason === 'CAPACITY' && /\d/.test(detail);
  const details = new Set(plan.rejected.filter(hasFigures).map(({ detail }) => detail));
  return {
    ...plan,
    clusters: plan.clusters.map((one) => (hidden.has(one.chosen.cluster) ? withoutRoom(one) : one)),
    rejected: plan.rejected.map((one) => (hasFigures(one) ? { ...one, detail: tooLittle } : one)),
    notes: plan.notes.map((note) => noteWithoutRoom(note, details)),
  };
}

const tooLittle = 'too little free room';

function withoutRoom({ chosen, share, ...rendered }: RenderedCluster): RenderedCluster {
  const { available: _available, ...choice } = chosen;
  if (share === undefined) return { ...rendered, chosen: choice };
  const { capacity: _capacity, ...replicas } = share;
  return { ...rendered, chosen: choice, share: replicas };
}

/** @param details The details of clusters that were rejected for their room. The reason why no cluster is chosen repeats one of them. */
function noteWithoutRoom(note: Note, details: ReadonlySet<string>): Note {
  if (note.code === 'OVER_CAPACITY') return { ...note, message: 'some clusters get more replicas by weight than are estimated to fit' };
  if (note.code === 'UNPLACED' || details.has(note.message)) return { ...note, message: `${tooLittle} for all replicas` };
  return note;
}
