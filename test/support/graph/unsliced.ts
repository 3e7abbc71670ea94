import { runAtOnce, type TimeSlices } from '../../../src/core/scheduling/operation-scheduler.ts';

/** For tests that have the loop to themselves. */
export const unsliced: TimeSlices = { run: runAtOnce, pause: () => undefined };
