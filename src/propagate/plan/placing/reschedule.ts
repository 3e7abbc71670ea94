import { parseInstant } from '../../../core/json/json-values.ts';
import type { ReplicasSpec } from '../../model/spec.ts';
import { sumBy } from './sum-by.ts';

/** The time for which a reschedule was requested, and the time of the last scheduling decision. */
interface RescheduleTimes {
  readonly rescheduleAt?: string | undefined;
  readonly scheduledAt?: string | undefined;
}

/**
 * True if a reschedule was requested for a time after the last scheduling decision. False if there was no decision yet, because the first
 * one divides all replicas anyway.
 *
 * @param times Both RFC 3339. A time that cannot be parsed counts as absent.
 */
export function isRescheduleRequested({ rescheduleAt, scheduledAt }: RescheduleTimes): boolean {
  const requested = parseInstant(rescheduleAt ?? '');
  const last = parseInstant(scheduledAt ?? '');
  if (requested === undefined || last === undefined) return false;
  return requested.ms > last.ms || (requested.ms === last.ms && requested.nanos > last.nanos);
}

/** Returns the time of the requested reschedule, in Unix milliseconds. It may be past. Undefined if no reschedule is requested. */
export function rescheduleDueMs(times: RescheduleTimes): number | undefined {
  return isRescheduleRequested(times) ? parseInstant(times.rescheduleAt ?? '')?.ms : undefined;
}

/**
 * True if the placed replicas differ from the wanted `count`. `Duplicated`: the replicas of any cluster differ. `Divided`: the sum differs.
 * `External`: never, because Muster does not place replicas then.
 */
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
