import { signal } from '@preact/signals';

/** The current time in milliseconds. It changes every second, so that ages grow. */
export const now = signal(Date.now());

/** Starts the clock of the page. Call this once. */
export function startClock(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now();
  }, 1_000);
}
