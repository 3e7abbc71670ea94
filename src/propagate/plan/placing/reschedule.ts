import { parseInstant } from '../../../core/json/json-values.ts';
import type { ReplicasSpec } from '../../model/spec.ts';
import { sumBy } from './sum-of.ts';

/** When it was asked to plan from zero, and when that was done last. */
interface RescheduleTimes {
  readonly rescheduleAt?: string | undefined;
  readonly scheduledAt?: string | undefined;
}

/**
 * True if it was asked to plan from zero after the last decision. Not before there was one: the first is from zero anyway.
 *
 * @param times Both RFC 3339; one that cannot be read is as good as absent.
 */
export function isRescheduleRequested({ rescheduleAt, scheduledAt }: RescheduleTimes): boolean {
  const asked = parseInstant(rescheduleAt ?? '');
  const last = parseInstant(scheduledAt ?? '');
  if (asked === undefined || last === undefined) return false;
  return asked.ms > last.ms || (asked.ms === last.ms && asked.nanos > last.nanos);
}

/** When it is to be planned from zero once more, in milliseconds of the epoch: that time may have come. Undefined: that was done, or nobody asked for it. */
export function rescheduleDueMs(times: RescheduleTimes): number | undefined {
  return isRescheduleRequested(times) ? parseInstant(times.rescheduleAt ?? '')?.ms : undefined;
}

/** True if the counts that were placed are no longer those asked for: duplicated, of any cluster; divided, their sum. */
export function areReplicasChanged(count: number, placed: readonly { readonly replicas: number }[], mode: ReplicasSpec['mode']): boolean {
  switch (mode) {
    case 'Duplicated':
      return placed.some(({ replicas }) => replicas !== count);
    case 'Divided':
      return sumBy(placed, ({ replicas }) => replicas) !== count;
    case 'External':
      return false;
    default:
      return mode satisfies never;
  }
}
