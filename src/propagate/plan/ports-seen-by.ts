import type { PlannerPorts, PlanRequest } from './snapshot/plan-request.ts';

/**
 * Returns the ports with the clusters that the requester may see. Any other cluster is unknown to the plan, as a cluster that does not exist.
 *
 * A cluster that has copies, or a line in the status, stays: a right that is lost later must not remove copies.
 */
export async function portsSeenBy(ports: PlannerPorts, { spec, existing, shares = [], signal }: PlanRequest): Promise<PlannerPorts> {
  const { members, hub, visibility } = ports;
  if (visibility === undefined) return ports;
  const isVisible = await visibility.clusters(spec, signal);
  signal.throwIfAborted();
  const used = new Set([...(existing?.status.clusters ?? []), ...shares].map(({ cluster }) => cluster as string));
  const isKnown = (name: string) => {
    const member = members.get(name);
    return member !== undefined && (used.has(name) || isVisible(member.name));
  };
  const { hub: _hidden, ...others } = ports;
  return {
    ...(hub === undefined || isKnown(hub.cluster) ? ports : others),
    members: {
      all: () => members.all().filter(({ name }) => isKnown(name)),
      get: (name) => (isKnown(name) ? members.get(name) : undefined),
      api: (name) => (isKnown(name) ? members.api(name) : undefined),
      objects: members.objects,
    },
  };
}
