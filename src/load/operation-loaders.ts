import type DataLoader from 'dataloader';
import type { Clock } from '../core/clock.ts';
import type { Mirrors } from '../watch/mirrors.ts';
import { createLiveLoader, type LiveRead, type LiveResult } from './live.ts';
import { MirrorLoader } from './mirror-loader.ts';

/** What one operation loads from. Created with its context, disposed of with it. */
export interface OperationLoaders extends Disposable {
  readonly mirrors: MirrorLoader;
  /** Objects, each read once from its API server. */
  readonly live: DataLoader<LiveRead, LiveResult, string>;
}

interface OperationLoadersOptions {
  readonly mirrors: Mirrors;
  readonly clock: Clock;
}

/** Creates the loaders of an operation. */
type LoadersOf = (operation: {
  readonly signal: AbortSignal;
  /** True for a message of a subscription, whose end the signal is. */
  readonly isMessage: boolean;
}) => OperationLoaders;

/** All relations of a query or a mutation together. */
const operationWaitMs = 15_000;

/** All messages of a subscription together: a stream that starts mirrors begins with what they hold, and a cluster that hangs delays it once. */
const subscriptionWaitMs = 2_000;

/** Creates the loaders of each operation, the only place that does. */
export function createLoaders(options: OperationLoadersOptions): LoadersOf {
  const ofSubscriptions = new WeakMap<AbortSignal, MirrorLoader>();

  /** A message later finds what an earlier one has led to. */
  function mirrorsOfSubscription(signal: AbortSignal): MirrorLoader {
    const known = ofSubscriptions.get(signal);
    if (known !== undefined) return known;
    const mirrors = new MirrorLoader({ ...options, waitMs: subscriptionWaitMs });
    ofSubscriptions.set(signal, mirrors);
    if (signal.aborted) mirrors[Symbol.dispose]();
    else signal.addEventListener('abort', () => mirrors[Symbol.dispose](), { once: true });
    return mirrors;
  }

  return ({ signal, isMessage }) => {
    const mirrors = isMessage ? mirrorsOfSubscription(signal) : new MirrorLoader({ ...options, waitMs: operationWaitMs });
    return {
      mirrors,
      live: createLiveLoader(options.clock, signal),
      [Symbol.dispose]: () => {
        if (!isMessage) mirrors[Symbol.dispose]();
      },
    };
  };
}
