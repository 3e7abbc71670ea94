import { untilAborted } from './request-scope.ts';

/** Runs the task when there is room, in the order of the calls. Undefined, and not run, if the signal aborts before. */
export type Gate = <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T | undefined>;

/** Lets at most so many tasks run at a time. */
export function createGate(room: number): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];

  const enter = (): Promise<void> => {
    if (running < room) {
      running++;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
  // The place goes straight to the next in line, so that nobody can slip in between.
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  };
  return async (task, signal) => {
    const entered = enter();
    await untilAborted(entered, signal);
    if (signal.aborted) {
      void entered.then(leave);
      return undefined;
    }
    try {
      return await task();
    } finally {
      leave();
    }
  };
}
