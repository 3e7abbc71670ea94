/** True if that was thrown because the signal aborted: nobody is at fault, and nothing is told. */
export function isAbortOf(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && error === signal.reason;
}
