/** What ends with a signal at the latest. */
export interface Ending extends Disposable {
  readonly signal: AbortSignal;
  abort(): void;
}

/** A controller that ends with the signal at the latest, and leaves no listener on it. */
export function endOf(signal: AbortSignal): Ending {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, abort, [Symbol.dispose]: () => signal.removeEventListener('abort', abort) };
}
