import type { Clock } from '../../../src/core/clock.ts';
import { createLoaderFactory } from '../../../src/load/reads/operation-loaders.ts';
import type { ReadContext } from '../../../src/load/reads/reads.ts';
import type { Mirrors } from '../../../src/watch/mirrors.ts';
import { createManualClock } from '../manual-clock.ts';
import { createFakeMirrors } from './fake-mirrors.ts';
import { unsliced } from './unsliced.ts';

/** The mirrors and the clock of an operation. */
export interface ReadWorld {
  readonly mirrors: Mirrors;
  readonly clock: Clock;
}

/** Makes the context of an operation that ends when its signal aborts. */
export function readContext({ mirrors, clock }: ReadWorld, given: Partial<Omit<ReadContext, 'loaders'>> = {}): ReadContext {
  const { signal = new AbortController().signal } = given;
  const loaders = createLoaderFactory({ mirrors, clock })({ caller: given.caller ?? { key: 'me' }, signal, isMessage: false });
  signal.addEventListener('abort', () => loaders[Symbol.dispose](), { once: true });
  return {
    caller: { key: 'me' },
    reportFault: () => undefined,
    countReads: () => undefined,
    timeSlices: unsliced,
    ...given,
    signal,
    loaders,
  };
}

/** Makes the context of an operation that reads no mirror. */
export function idleContext(given: Partial<Omit<ReadContext, 'loaders'>> = {}): ReadContext {
  const clock = createManualClock();
  return readContext({ mirrors: createFakeMirrors(clock), clock }, given);
}
