import { useEffect, useState } from 'preact/hooks';
import { RequestFailure, request } from './graphql.ts';

/** The latest answer of a query that is sent again and again. */
export interface Polled<Data> {
  /** The data of the last answer. Undefined before the first one. Later requests that fail do not remove it. */
  readonly data: Data | undefined;
  /** Why the gateway refused the last request. Undefined if it answered, or if it could not be reached: then `isAway` is true. */
  readonly failure: RequestFailure | undefined;
}

export interface PolledQuery {
  readonly query: string;
  readonly variables?: object;
  readonly everyMs: number;
  /** Pass another value to send the query again at once. */
  readonly version?: unknown;
}

/** Sends a query at once, and again `everyMs` after each answer while the page is visible. Sends nothing if `polled` is undefined. */
export function usePolled<Data extends object>(polled: PolledQuery | undefined): Polled<Data> {
  const [answer, setAnswer] = useState<Polled<Data>>({ data: undefined, failure: undefined });
  const key = polled === undefined ? '' : JSON.stringify([polled.query, polled.variables, polled.everyMs]);
  // Data of another query must not be shown as the answer of this one.
  useEffect(() => setAnswer({ data: undefined, failure: undefined }), [key]);
  useEffect(() => {
    if (polled === undefined) return undefined;
    const ending = new AbortController();
    void poll<Data>(polled, setAnswer, ending.signal);
    return () => ending.abort();
  }, [key, polled?.version]);
  return answer;
}

async function poll<Data extends object>(
  { query, variables, everyMs }: PolledQuery,
  show: (next: (before: Polled<Data>) => Polled<Data>) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const data = await request<Data>(query, variables, signal);
      show(() => ({ data, failure: undefined }));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      const failure = error.code === 'AWAY' ? undefined : error;
      show((before) => ({ ...before, failure }));
    }
    await untilNext(everyMs, signal);
  }
}

/** Resolves after `ms`, and not before the page is visible. */
async function untilNext(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ending = new AbortController();
  const over = AbortSignal.any([signal, ending.signal]);
  const timer = setTimeout(() => {
    if (document.visibilityState === 'visible') resolve();
    else document.addEventListener('visibilitychange', () => resolve(), { signal: over });
  }, ms);
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
      resolve();
    },
    { signal: ending.signal },
  );
  await promise;
  ending.abort();
}
