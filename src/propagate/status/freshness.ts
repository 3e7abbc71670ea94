import type { RecordedFault } from '../model/inventory.ts';
import type { ClusterFacts } from './facts.ts';

/** What is older than this says nothing about now. */
const staleAfterMs = 60_000;

/** Whether what is known of a cluster may be told as what is. */
export type Freshness =
  | { readonly result: 'fresh'; readonly asOfMs?: number }
  | {
      readonly result: 'stale';
      readonly reason: 'Unreachable' | 'Stale';
      readonly message: string;
      /** Up to when it is known. Absent: nothing ever was. */
      readonly asOfMs?: number;
      readonly fault?: Pick<RecordedFault, 'code' | 'message'>;
    };

/**
 * Whether a cluster's state is known as of now (docs/internals/propagation.md 8). It is not where the cluster is gone or does not answer, where a write could not
 * reach it, and where the mirror of a copy is faulty, not read, or older than a minute.
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
    return { result: 'stale', reason: 'Stale', message: 'not heard of for more than 60 s', ...since };
  }
  return { result: 'fresh', asOfMs };
}

/** What nobody has copies of is as old as the cluster's last sign of life. */
function oldestOf({ member, copies }: ClusterFacts): number | undefined {
  const times = copies.flatMap(({ mirrored }) => (mirrored.result === 'unread' ? [] : [mirrored.asOfMs]));
  return times.length === 0 ? member?.asOfMs : times.reduce((oldest, time) => Math.min(oldest, time));
}

/** A kind that is not served is no secret: its copies are not there. */
function faultIn({ copies }: ClusterFacts) {
  const faults = copies.flatMap(({ mirrored }) => mirrored.fault ?? []);
  return faults.find(({ code }) => code !== 'NOT_SERVED');
}
