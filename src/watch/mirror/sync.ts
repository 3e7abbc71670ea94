import type { Fault } from '../../core/faults.ts';
import type { SyncPhase } from '../mirrors.ts';
import type { ReflectorFacts } from '../reflector/reflector-facts.ts';
import { pollMs } from '../reflector/step-rules.ts';

/** A stream that ended may come back for so long before what is held counts as stale. */
const graceMs = 10_000;

/** A list of a kind that cannot be watched counts for two periods. */
const polledForMs = 2 * pollMs;

/** How true what one reflector holds is. */
export interface ScopeSync {
  readonly phase: SyncPhase;
  readonly fault?: Fault;
  /** Monotonic time at which this will be no longer so, if nothing happens. */
  readonly untilMs?: number;
}

/** What a scope's state is judged by beside its own facts. */
interface SyncMoment {
  /** Monotonic milliseconds. */
  readonly nowMs: number;
  /** Why the cluster's breaker is open, if it is. */
  readonly breaker: Fault | undefined;
  /** What to say while a first list is on its way. */
  readonly syncing: Fault;
}

/** The table of docs/internals/mirror.md 5, for one reflector. */
export function syncOfScope(facts: ReflectorFacts, { nowMs, breaker, syncing }: SyncMoment): ScopeSync {
  if (facts.phase === 'ended') return { phase: 'MISSING', fault: facts.fault ?? syncing };
  if (!facts.listed) return { phase: 'SYNCING', fault: breaker ?? facts.fault ?? syncing };
  const fault = facts.fault ?? breaker ?? syncing;
  if (facts.forbidden) return { phase: 'STALE', fault };
  if (facts.polled) {
    const untilMs = (facts.syncedMs ?? 0) + polledForMs;
    return nowMs < untilMs ? { phase: 'SYNCED', untilMs } : { phase: 'STALE', fault };
  }
  if (facts.isFollowing) return { phase: 'SYNCED' };
  if (breaker !== undefined) return { phase: 'STALE', fault: breaker };
  const untilMs = (facts.streamLostMs ?? nowMs) + graceMs;
  return nowMs < untilMs ? { phase: 'SYNCED', untilMs } : { phase: 'STALE', fault };
}

/** True if nobody needs to wait for the scope: its first list is whole, has failed, or can never come. */
export function isScopeSettled(facts: ReflectorFacts, { breaker }: Pick<SyncMoment, 'breaker'>): boolean {
  return facts.listed || facts.failedOnce || facts.phase === 'ended' || breaker !== undefined;
}

const order: readonly SyncPhase[] = ['SYNCED', 'STALE', 'SYNCING', 'MISSING'];

/** Of several scopes of one mirror the worst, the first of equals; until the soonest of their ends. */
export function worstSync(scopes: readonly ScopeSync[]): ScopeSync | undefined {
  if (scopes.length === 1) return scopes[0];
  const [worst] = scopes.toSorted((a, b) => order.indexOf(b.phase) - order.indexOf(a.phase));
  const untilMs = Math.min(...scopes.map((scope) => scope.untilMs ?? Number.POSITIVE_INFINITY));
  return worst === undefined || untilMs === Number.POSITIVE_INFINITY ? worst : { ...worst, untilMs };
}
