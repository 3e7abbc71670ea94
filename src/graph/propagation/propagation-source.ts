import type { WriteContext } from '../../changes/write-context.ts';
import { MusterError } from '../../core/errors.ts';
import type { PropagationName, Propagations, PropagationView } from '../../propagate/model/propagations.ts';
import type { StreamListener, StreamReader, StreamSource } from '../../streams/stream-source.ts';

/**
 * Streams the whole state of one Propagation: at once, then after each change of a selected field. A state that the reader has not taken is
 * replaced by the next one, so no reader is ever too slow. Ends with `GONE` when the Propagation is deleted.
 *
 * @throws {MusterError} when it is opened: `BAD_INPUT` if the Propagation does not exist, `UNAVAILABLE` without a hub.
 */
export function propagationSource(propagations: Propagations, context: WriteContext, name: PropagationName): StreamSource<PropagationView> {
  return {
    async open(listener, signal) {
      const reader = new LatestReader(listener);
      const life = AbortSignal.any([signal, reader.life]);
      const found = await propagations.get(context, name);
      if (found === undefined) {
        throw new MusterError(
          'BAD_INPUT',
          `expected a propagation that exists, got ${JSON.stringify(`${name.namespace}/${name.name}`.slice(0, 160))}`,
        );
      }
      await propagations.follow(context, name, (view) => reader.hear(view), life);
      return reader;
    },
  };
}

/** Keeps the newest state until the reader takes it. */
class LatestReader implements StreamReader<PropagationView> {
  readonly isState = true;
  readonly #listener: StreamListener;
  readonly #life = new AbortController();
  #next: PropagationView | undefined;
  #hasEnded = false;

  constructor(listener: StreamListener) {
    this.#listener = listener;
  }

  get life(): AbortSignal {
    return this.#life.signal;
  }

  get hasMore(): boolean {
    return this.#next !== undefined;
  }

  hear(view: PropagationView | undefined): void {
    if (this.#life.signal.aborted || this.#hasEnded) return;
    if (view === undefined) {
      this.#hasEnded = true;
      this.#listener.ended(new MusterError('GONE', 'the propagation was deleted'));
      return;
    }
    const isFirst = this.#next === undefined;
    this.#next = view;
    if (isFirst) this.#listener.ready();
  }

  take(): PropagationView | undefined {
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
