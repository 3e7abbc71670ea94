import type { Session } from '../client/session.ts';

/** Lines that are redrawn in place. */
export interface LiveTable {
  /** Draws a new frame soon, at most 100 ms later. Call this after a change. */
  wake(): void;
  /** Draws the last frame, then stops. A second call does nothing. */
  end(): void;
}

/** Milliseconds after a frame during which changes wait for the next frame. After a longer pause, a change is drawn at once. */
const frameMs = 100;

/** Milliseconds between two frames without a change: the ages in the lines change every second. */
const tickMs = 1_000;

/** Draws the frame now, after each `wake`, when the size changes, and every second, until `end` or the end of the session. */
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
      // Keeps the last known state. After an interrupt the shell owns the terminal.
      if (isKnown && !signal.aborted) draw();
      ending.abort();
      terminal.settle();
    },
  };
}
