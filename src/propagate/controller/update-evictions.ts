import { clusterName } from '../../core/names.ts';
import { type Eviction, marks, type Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import { isForOneGeneration } from '../plan/snapshot/frozen-sources.ts';
import { copyFactsOf } from '../status/copy-facts.ts';
import { probeValidMs } from './failover/contact-probe.ts';
import { decideEvictions, type EvictionDecision, type EvictionFacts } from './failover/decide-evictions.ts';
import { preservedFrom } from './failover/preserve-status.ts';
import { loadShares } from './load-shares.ts';
import { type NextPass, retryHubLater } from './retry-hub-later.ts';
import type { Pass } from './state/ports.ts';
import type { CurrentPlan } from './state/propagation-state.ts';
import { writeStatus } from './write-status.ts';

/**
 * Decides which clusters are evicted (`decideEvictions`), and stores the decision in `state.evictions`. A changed decision is saved on the hub, and
 * the plan is marked as old: no copy is written or removed before both. If copies return to clusters that are back, the plan is only marked as old
 * here: the decision is saved together with the new plan.
 *
 * Returns the Propagation as saved or unchanged. Returns the delay until the next pass if the hub did not save it.
 */
export async function updateEvictions(pass: Pass, propagation: Propagation, spec: PropagationSpec): Promise<Propagation | NextPass> {
  const { state } = pass;
  const { status } = propagation;
  const decision = await decideWithProbe(pass, propagation, spec);
  state.evictions = decision;
  if (decision.isReturn) state.isPlanOld = true;
  if (decision.isReturn || isSame(decision.evictions, status.evictions ?? [])) return propagation;
  const evictions = await withPreserved(pass, { propagation, spec, evictions: decision.evictions });
  if ('againMs' in evictions) return evictions;
  state.evictions = { ...decision, ...evictions };
  const written = await writeStatus(pass, { propagation, status: { ...status, ...evictions }, urgency: 'blocking' });
  if (written.result !== 'saved') return written.result === 'outdated' ? { againMs: 0 } : retryHubLater(pass);
  state.isPlanOld = true;
  return written.propagation;
}

async function decideWithProbe({ state, ports, probe }: Pass, propagation: Propagation, spec: PropagationSpec): Promise<EvictionDecision> {
  const { status } = propagation;
  const { members, cluster: hub } = ports.hub;
  const facts: EvictionFacts = {
    spec,
    status,
    hub,
    reached: new Set(),
    member: (cluster) => members.get(cluster),
    holdsCopies: (cluster) => [...(state.shares?.values() ?? [])].some((share) => share.cluster === cluster) || state.shares === undefined,
    mayEvict: !isForOneGeneration(ports.accounts, spec) && mayStart(propagation, state.plan),
    seenUnhealthyMs: (cluster) => state.seenUnhealthyMs.get(cluster),
    nowMs: ports.clock.now(),
  };
  const decision = decideEvictions(facts);
  const begun = decision.evictions.filter((eviction) => eviction.cause === 'Unreachable' && !isKnown(eviction, status));
  const results = await Promise.all(begun.map(async ({ cluster }) => ({ cluster, answers: await probe.answers(clusterName(cluster)) })));
  const reached = new Set(results.flatMap(({ cluster, answers }) => (answers ? [cluster] : [])));
  if (reached.size === 0) return decision;
  const without = decideEvictions({ ...facts, reached });
  return { ...without, nextCheckAtMs: Math.min(without.nextCheckAtMs ?? Number.POSITIVE_INFINITY, facts.nowMs + probeValidMs) };
}

/** False while no cluster may start: the rollout is paused, or the plan is not the one that the user requested. Then nothing could replace the copies. */
function mayStart({ metadata }: Propagation, plan: CurrentPlan | undefined): boolean {
  return metadata.annotations[marks.paused] === undefined && plan?.verdict.result !== 'stale';
}

function isKnown({ cluster, cause }: Eviction, { evictions }: Propagation['status']): boolean {
  return evictions?.some((known) => known.cluster === cluster && known.cause === cause) ?? false;
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
      return known.has(eviction.cluster)
        ? eviction
        : { ...eviction, ...preservedFrom(copyFactsOf(ports.hub.members.objects, share), failover) };
    }),
  };
}
