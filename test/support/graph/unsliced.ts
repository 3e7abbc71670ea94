import { runAtOnce, type TimeSlices } from '../../../src/core/scheduling/operation-scheduler.ts';

/** Runs all steps at once, because tests share the event loop with no other work. */
export const unsliced: TimeSlices = { run: runAtOnce, pause: () => undefined };
