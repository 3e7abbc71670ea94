import type { WriteContext } from '../../changes/write-context.ts';
import { MusterError } from '../../core/errors.ts';
import type { PropagationName, Propagations, PropagationView, StateListener } from '../../propagate/model/propagations.ts';
import type { StreamListener, StreamReader, StreamSource } from '../../streams/stream-source.ts';

/** Streams the whole state of one Propagation, as `latestStateSource` does. */
export function propagationSource(propagations: Propagations, context: WriteContext, name: PropagationName): StreamSource<PropagationView> {
  return latestStateSource(name, {
    kind: 'propagation',
    get: () => propagations.get(context, name),
    follow: (listener, signal) => propagations.follow(context, name, listener, signal),
  });
}

/** A resource of the hub whose state can be followed. */
export interface FollowedResource<View extends object> {
  /** The kind in small letters, for messages. */
  readonly kind: string;
  readonly get: () => Promise<View | undefined>;
  readonly follow: (listener: StateListener<View>, signal: AbortSignal) => Promise<void>;
}

/**
 * Streams the whole state of one resource of the hub: at once, then after each change of a selected field. A state that the reader has not
 * taken is replaced by the next one, so no reader is ever too slow. Ends with `GONE` when the resource is deleted.
 *
 * @throws {MusterError} when it is opened: `BAD_INPUT` if the resource does not exist, `UNAVAILABLE` without a hub.
 */
export function latestStateSource<View extends object>(
  { namespace, name }: PropagationName,
  resource: FollowedResource<View>,
): StreamSource<View> {
  return {
    async open(listener, signal) {
      const reader = new LatestReader<View>(listener, resource.kind);
      const life = AbortSignal.any([signal, reader.life]);
      const found = await resource.get();
      if (found === undefined) {
        throw new MusterError(
          'BAD_INPUT',
          `expected a ${resource.kind} that exists, got ${JSON.stringify(`${namespace}/${name}`.slice(0, 160))}`,
        );
      }
      await resource.follow({ changed: (view) => reader.viewChanged(view), ended: (reason) => reader.end(reason) }, life);
      return reader;
    },
  };
}

/** Keeps the newest state until the reader takes it. */
class LatestReader<View extends object> implements StreamReader<View> {
  readonly isState = true;
  readonly #listener: StreamListener;
  readonly #kind: string;
  readonly #life = new AbortController();
  #next: View | undefined;
  #hasEnded = false;

  constructor(listener: StreamListener, kind: string) {
    this.#listener = listener;
    this.#kind = kind;
  }

  get life(): AbortSignal {
    return this.#life.signal;
  }

  get hasMore(): boolean {
    return this.#next !== undefined;
  }

  viewChanged(view: View | undefined): void {
    if (this.#life.signal.aborted || this.#hasEnded) return;
    if (view === undefined) {
      this.end(new MusterError('GONE', `the ${this.#kind} was deleted`));
      return;
    }
    const isFirst = this.#next === undefined;
    this.#next = view;
    if (isFirst) this.#listener.ready();
  }

  end(reason: MusterError): void {
    if (this.#life.signal.aborted || this.#hasEnded) return;
    this.#hasEnded = true;
    // A state from before a deletion can still be taken, one from before a lost right cannot.
    if (reason.code === 'FORBIDDEN') this.#next = undefined;
    this.#listener.ended(reason);
  }

  take(): View | undefined {
    const next = this.#next;
    this.#next = undefined;
    return next;
  }

  /** Does nothing: at most one state waits, so a paused reader needs no queue. */
  pause(): void {}

  [Symbol.dispose](): void {
    this.#life.abort();
    this.#next = undefined;
  }
}
