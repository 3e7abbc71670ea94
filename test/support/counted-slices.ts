import type { Steps } from '../../src/core/scheduling/operation-scheduler.ts';

/** Creates time slices that run all steps at once, and count them. */
export function createCountedSlices() {
  let steps = 0;
  const run = <T>(work: Steps<T>): T => {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      steps += 1;
    }
  };
  return { run, steps: () => steps };
}
