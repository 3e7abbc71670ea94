import { type OperationSlices, runAtOnce } from '../../src/core/slices.ts';

/** For tests that have the loop to themselves. */
export const unsliced: OperationSlices = { run: runAtOnce, pause: () => undefined };
