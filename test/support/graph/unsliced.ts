import { type OperationSlices, runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';

/** For tests that have the loop to themselves. */
export const unsliced: OperationSlices = { run: runAtOnce, pause: () => undefined };
