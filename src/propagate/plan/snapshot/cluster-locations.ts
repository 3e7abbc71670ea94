import type { MemberCluster, Members, UnknownLocation } from '../../../changes/members.ts';
import type { GroupKind } from '../../../core/kinds.ts';
import type { ClusterShare } from '../../model/inventory.ts';
import type { ClusterFieldRequirement } from '../../model/spec.ts';
import { fieldValuesOf } from '../placing/cluster-set.ts';

/** The kind that provides the location of a cluster, unless the config sets it. */
export const nodeKind: GroupKind = { group: '', kind: 'Node' };

type LocationField = ClusterFieldRequirement['field'];

/**
 * Waits for the Nodes of clusters with an unknown location: those without a value for one of `fields` (provider, region, zone).
 *
 * Resolves when these Nodes are read or known to be unreadable, or after `waitMs`. Resolves at once if `fields` is empty. Rejects if the
 * signal aborts.
 */
export async function whenLocationsAreRead(
  members: Members,
  { fields, waitMs }: { readonly fields: readonly LocationField[]; readonly waitMs: number },
  signal: AbortSignal,
): Promise<void> {
  if (fields.length === 0) return;
  const unknown = members.all().filter((cluster) => absentFieldsOf(cluster, fields).length > 0);
  if (unknown.length === 0) return;
  await members.objects.whenRead(
    unknown.map(({ name }) => ({ cluster: name, kind: nodeKind })),
    waitMs,
    signal,
  );
  signal.throwIfAborted();
}

/** Returns every cluster of the fleet by name. A cluster whose location is needed but unknown has `unknownLocation`. */
export function membersWithLocations(
  members: Members,
  { fields, shares }: { readonly fields: readonly LocationField[]; readonly shares: readonly ClusterShare[] },
): readonly MemberCluster[] {
  const holding = new Set(shares.filter(holdsCopies).map(({ cluster }) => cluster));
  return members.all().map((cluster) => {
    const absent = absentFieldsOf(cluster, fields);
    const unknownLocation =
      absent.length === 0 ? undefined : unknownLocationOf(members, cluster, { fields: absent, isHolding: holding.has(cluster.name) });
    return unknownLocation === undefined ? cluster : { ...cluster, unknownLocation };
  });
}

function absentFieldsOf(cluster: MemberCluster, fields: readonly LocationField[]): readonly LocationField[] {
  return fields.filter((field) => fieldValuesOf(cluster, field).length === 0);
}

/**
 * Returns the unknown fields of a cluster. Undefined: the fields count as absent, because the Nodes do not have them, or because Nodes are
 * not readable and the cluster has no copies. A cluster that has copies but no Nodes may get Nodes soon, so its fields count as unknown.
 */
function unknownLocationOf(
  { objects }: Members,
  { name }: MemberCluster,
  { fields, isHolding }: { readonly fields: readonly LocationField[]; readonly isHolding: boolean },
): UnknownLocation | undefined {
  const what = fields.join(', ');
  const all = objects.all(name, nodeKind);
  if (all !== undefined) {
    if (all.length > 0 || !isHolding) return undefined;
    return { fields, mayBecomeKnown: true, message: `${what} unknown: the cluster has no Nodes` };
  }
  const read = objects.read(name, nodeKind, { namespace: '', name: 'any' });
  const fault = read.result === 'unread' ? read.fault : undefined;
  const mayBecomeKnown = fault?.code !== 'FORBIDDEN' && fault?.code !== 'NOT_SERVED';
  if (!mayBecomeKnown && !isHolding) return undefined;
  return {
    fields,
    mayBecomeKnown,
    message: `${what} unknown: Nodes are unread${fault === undefined ? '' : `: ${fault.message}`}`,
  };
}

/** True if the inventory has entries in the cluster: for written copies, or for copies announced before their first write. */
export function holdsCopies({ entries }: Pick<ClusterShare, 'entries'>): boolean {
  return entries.length > 0;
}
