import type { Session } from '../client/session.ts';

/** Lines that are drawn anew in place. */
export interface LiveTable {
  /** There is something new to see. */
  wake(): void;
  /** Draws what is to stay, and no more. Twice is once. */
  end(): void;
}

/** Changes are seen at once, but what follows within this time is drawn together. */
const frameMs = 100;

/** Ages grow by themselves. */
const tickMs = 1_000;

/** Draws the frame at once, after each `wake`, when the size changes, and every second, until `end` or the end of the session. */
export function createLiveTable({ terminal, clock, signal: life }: Session, frame: () => readonly string[]): LiveTable {
  const ending = new AbortController();
  const signal = AbortSignal.any([life, ending.signal]);
  let isKnown = false;
  let changed = Promise.withResolvers<void>();
  const draw = () => terminal.draw(frame());
  const loop = async () => {
    while (!signal.aborted) {
      draw();
      await clock.sleep(frameMs, signal);
      const tick = new AbortController();
      await Promise.race([changed.promise, clock.sleep(tickMs - frameMs, AbortSignal.any([signal, tick.signal]))]);
      tick.abort();
      changed = Promise.withResolvers();
    }
  };
  terminal.onResize(() => changed.resolve(), signal);
  const looping = loop();
  looping.catch(() => undefined);
  return {
    wake: () => {
      isKnown = true;
      changed.resolve();
    },
    end: () => {
      if (ending.signal.aborted) return;
      // What was last heard is what stays; after an interrupt the shell has the terminal.
      if (isKnown && !signal.aborted) draw();
      ending.abort();
      terminal.settle();
    },
  };
}
