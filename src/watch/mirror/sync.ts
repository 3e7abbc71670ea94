import type { Fault } from '../../core/faults.ts';
import type { SyncPhase } from '../mirrors.ts';
import type { ReflectorFacts } from '../reflector/reflector-facts.ts';
import { pollIntervalMs } from '../reflector/step-rules.ts';

/** Milliseconds for which a lost stream may be opened again before the objects count as stale. */
const graceMs = 10_000;

/** A kind that is polled counts as in sync for two poll intervals after a list. */
const polledForMs = 2 * pollIntervalMs;

/** The sync of one reflector's scope. */
export interface ScopeSync {
  readonly phase: SyncPhase;
  readonly fault?: Fault;
  /** Monotonic time at which this result changes if nothing happens. Undefined if only an event can change it. */
  readonly untilMs?: number;
}

/** The inputs of the sync, in addition to the reflector's facts. */
interface SyncMoment {
  /** Monotonic milliseconds. */
  readonly nowMs: number;
  /** Why the cluster's breaker is open. Undefined while it is closed. */
  readonly breaker: Fault | undefined;
  /** The fault to report while a first list is being received. */
  readonly syncing: Fault;
}

/** Returns the sync of one reflector, by the table in docs/internals/mirror.md 5. */
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

/** True if waiting for the scope is useless: its first list is complete, has failed, or can never come. */
export function isScopeSettled(facts: ReflectorFacts, { breaker }: Pick<SyncMoment, 'breaker'>): boolean {
  return facts.listed || facts.failedOnce || facts.phase === 'ended' || breaker !== undefined;
}

const order: readonly SyncPhase[] = ['SYNCED', 'STALE', 'SYNCING', 'MISSING'];

/**
 * Returns the worst sync of the scopes of one mirror. If several are equally bad, returns the first. Its `untilMs` is the earliest of all
 * scopes. Undefined without scopes.
 */
export function worstSync(scopes: readonly ScopeSync[]): ScopeSync | undefined {
  if (scopes.length === 1) return scopes[0];
  const [worst] = scopes.toSorted((a, b) => order.indexOf(b.phase) - order.indexOf(a.phase));
  const untilMs = Math.min(...scopes.map((scope) => scope.untilMs ?? Number.POSITIVE_INFINITY));
  return worst === undefined || untilMs === Number.POSITIVE_INFINITY ? worst : { ...worst, untilMs };
}
