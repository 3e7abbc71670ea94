/** Callers that wait for the next occurrence of one event. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next `wake`, or when the signal aborts. Leaves no listener on the signal. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.#waiting.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#waiting.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** Resolves the promises of all callers that wait now. */
  wake(): void {
    for (const end of [...this.#waiting]) end();
  }
}
