import type DataLoader from 'dataloader';
import type { Caller } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import { createLiveLoader, type LiveRead, type LiveResult } from './live-loader.ts';
import { MirrorLoader, type UnmirroredLists } from './mirror-loader.ts';

/** The loaders of one operation. Created and disposed of together with the context of the operation. */
export interface OperationLoaders extends Disposable {
  readonly mirrors: MirrorLoader;
  /** Reads objects from their API servers, each object once. */
  readonly live: DataLoader<LiveRead, LiveResult, string>;
}

/** The caller of an operation, and the request that it belongs to. */
export interface OperationCaller {
  readonly caller: Caller;
  readonly requestId?: string | undefined;
  readonly signal: AbortSignal;
}

interface OperationLoadersOptions {
  readonly mirrors: Mirrors;
  /** Creates the lists of clusters that are not mirrored. A message of a subscription has none. Default: such clusters cannot be read. */
  readonly listsOf?: ((operation: OperationCaller) => UnmirroredLists) | undefined;
  readonly clock: Clock;
}

/** Creates the loaders of an operation. */
type CreateOperationLoaders = (
  operation: OperationCaller & {
    /** True: the operation is one message of a subscription, and `signal` is that of the whole subscription. False: a query or a mutation. */
    readonly isMessage: boolean;
  },
) => OperationLoaders;

/** Milliseconds that a query or a mutation waits for first lists, over all its relations together. */
const operationWaitMs = 15_000;

/**
 * Milliseconds that a subscription waits for first lists, over all its messages together. So a stream that starts mirrors begins with the objects that
 * they hold by then, and a cluster that hangs delays the stream only once.
 */
const subscriptionWaitMs = 2_000;

/** Returns the function that creates the loaders of each operation. No other code creates them. */
export function createLoaderFactory(options: OperationLoadersOptions): CreateOperationLoaders {
  const ofSubscriptions = new WeakMap<AbortSignal, MirrorLoader>();

  /**
   * Returns the loader of a subscription, and creates it for the first message. All messages share it, so later messages use the mirrors
   * that earlier ones started. The loader is disposed of when the signal aborts.
   */
  function mirrorsOfSubscription(signal: AbortSignal): MirrorLoader {
    const known = ofSubscriptions.get(signal);
    if (known !== undefined) return known;
    const mirrors = new MirrorLoader({ ...options, waitMs: subscriptionWaitMs });
    ofSubscriptions.set(signal, mirrors);
    if (signal.aborted) mirrors[Symbol.dispose]();
    else signal.addEventListener('abort', () => mirrors[Symbol.dispose](), { once: true });
    return mirrors;
  }

  const { listsOf, ...shared } = options;
  return ({ isMessage, ...operation }) => {
    const { signal } = operation;
    const lists = isMessage ? undefined : listsOf?.(operation);
    const mirrors = isMessage ? mirrorsOfSubscription(signal) : new MirrorLoader({ ...shared, lists, waitMs: operationWaitMs });
    return {
      mirrors,
      live: createLiveLoader(options.clock, signal),
      [Symbol.dispose]: () => {
        if (!isMessage) mirrors[Symbol.dispose]();
      },
    };
  };
}
