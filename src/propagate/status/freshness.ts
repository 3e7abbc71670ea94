import type { RecordedFault } from '../model/inventory.ts';
import type { ClusterFacts } from './facts.ts';

/** Maximum age of facts that count as current. */
const staleAfterMs = 60_000;

/** Whether the facts about a cluster are current (`fresh`) or not (`stale`). */
export type Freshness =
  | { readonly result: 'fresh'; readonly asOfMs?: number }
  | {
      readonly result: 'stale';
      readonly reason: 'Unreachable' | 'Stale';
      readonly message: string;
      /** The time up to which the facts are known. Absent if there were never any. */
      readonly asOfMs?: number;
      readonly fault?: Pick<RecordedFault, 'code' | 'message'>;
    };

/**
 * Decides whether the facts about a cluster are current (docs/internals/propagation.md 8). They are stale if one of these applies:
 *
 * - the cluster left the fleet or does not answer
 * - a write could not reach the cluster
 * - the mirror of a copy has a fault, is unread, or is older than a minute
 */
export function freshnessOf(facts: ClusterFacts, nowMs: number): Freshness {
  const asOfMs = oldestOf(facts);
  const since = asOfMs === undefined ? {} : { asOfMs };
  const { member, problem } = facts;
  if (member === undefined) return { result: 'stale', reason: 'Unreachable', message: 'not a member of the fleet', ...since };
  if (member.phase === 'UNREACHABLE') {
    const [fault] = member.faults;
    const about = fault === undefined ? {} : { fault: { code: fault.code, message: fault.message } };
    return { result: 'stale', reason: 'Unreachable', message: fault?.message ?? 'the cluster does not answer', ...since, ...about };
  }
  if (problem?.reason === 'Unreachable') return { result: 'stale', reason: 'Unreachable', message: problem.message, ...since };
  const fault = faultIn(facts);
  if (fault !== undefined) {
    const reason = fault.code === 'UNREACHABLE' || fault.code === 'TIMED_OUT' || fault.code === 'GONE' ? 'Unreachable' : 'Stale';
    return { result: 'stale', reason, message: fault.message, ...since, fault: { code: fault.code, message: fault.message } };
  }
  if (asOfMs === undefined || nowMs - asOfMs > staleAfterMs) {
    return { result: 'stale', reason: 'Stale', message: 'no news for more than 60 s', ...since };
  }
  return { result: 'fresh', asOfMs };
}

/**
 * Returns the time up to which the state of all copies is known: the earliest `asOfMs` of their mirrors. Without copies: the last time at
 * which the cluster answered. Undefined if that is unknown.
 */
function oldestOf({ member, copies }: ClusterFacts): number | undefined {
  const times = copies.flatMap(({ mirrored }) => (mirrored.result === 'unread' ? [] : [mirrored.asOfMs]));
  return times.length === 0 ? member?.asOfMs : times.reduce((oldest, time) => Math.min(oldest, time));
}

/** Returns the first fault of a mirror of these copies. `NOT_SERVED` does not count: it is certain then that the copies do not exist. */
function faultIn({ copies }: ClusterFacts) {
  const faults = copies.flatMap(({ mirrored }) => mirrored.fault ?? []);
  return faults.find(({ code }) => code !== 'NOT_SERVED');
}
