import type { Eviction, Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import { isForOneGeneration } from '../plan/snapshot/frozen-sources.ts';
import { copyFactsOf } from './clusters/cluster-assessment.ts';
import { decideEvictions } from './failover/decide-evictions.ts';
import { preservedFrom } from './failover/preserve-status.ts';
import { loadShares } from './load-shares.ts';
import { type NextPass, retryHubLater } from './retry-hub-later.ts';
import type { Pass } from './state/ports.ts';
import { writeStatus } from './write-status.ts';

/**
 * Decides which clusters are evicted (`decideEvictions`), and keeps the decision in `state.evictions`. If it has changed, saves it on the
 * hub and marks the plan as old: no copy is written or removed before that. A return is saved together with its plan.
 *
 * Returns the saved Propagation, or the delay until the next pass if the hub did not save it.
 */
export async function keepEvictions(pass: Pass, propagation: Propagation, spec: PropagationSpec): Promise<Propagation | NextPass> {
  const { state, ports } = pass;
  const { members } = ports.hub;
  const { status } = propagation;
  const decision = decideEvictions({
    spec,
    status,
    member: (cluster) => members.get(cluster),
    holdsCopies: (cluster) => [...(state.shares?.values() ?? [])].some((share) => share.cluster === cluster) || state.shares === undefined,
    mayEvict: !isForOneGeneration(ports.accounts, spec),
    nowMs: ports.clock.now(),
  });
  state.evictions = decision;
  if (decision.isReturn) state.isPlanOld = true;
  if (decision.isReturn || isSame(decision.evictions, status.evictions ?? [])) return propagation;
  const evictions = await withPreserved(pass, { propagation, spec, evictions: decision.evictions });
  if ('againMs' in evictions) return evictions;
  state.evictions = { ...decision, ...evictions };
  const written = await writeStatus(pass, { propagation, status: { ...status, ...evictions }, urgency: 'urgent' });
  if (written.result !== 'saved') return written.result === 'outdated' ? { againMs: 0 } : retryHubLater(pass);
  state.isPlanOld = true;
  return written.propagation;
}

function isSame(now: readonly Eviction[], before: readonly Eviction[]): boolean {
  return now.length === before.length && now.every((eviction) => before.includes(eviction));
}

interface NewEvictions {
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
  readonly evictions: readonly Eviction[];
}

/**
 * Adds the labels to preserve to the evictions that begin now. The labels are read from the status of the mirrored copies, and the inventory
 * tells which objects are copies. Returns the delay until the next pass if the inventory cannot be loaded.
 */
async function withPreserved(
  pass: Pass,
  { propagation, spec: { failover }, evictions }: NewEvictions,
): Promise<{ readonly evictions: readonly Eviction[] } | NextPass> {
  const { state, ports } = pass;
  if (failover === undefined || failover.preserve.length === 0 || failover.purge !== 'Directly') return { evictions };
  if (!(await loadShares(pass, propagation))) return retryHubLater(pass);
  const known = new Set(propagation.status.evictions?.map(({ cluster }) => cluster));
  return {
    evictions: evictions.map((eviction) => {
      const share = [...(state.shares?.values() ?? [])].find(({ cluster }) => cluster === eviction.cluster);
      return known.has(eviction.cluster) ? eviction : { ...eviction, ...preservedFrom(copyFactsOf(ports.hub.members, share), failover) };
    }),
  };
}
