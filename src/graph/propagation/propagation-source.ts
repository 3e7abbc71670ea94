import type { WriteContext } from '../../changes/write-context.ts';
import { MusterError } from '../../core/errors.ts';
import type { PropagationName, Propagations, PropagationView } from '../../propagate/model/propagations.ts';
import type { StreamListener, StreamReader, StreamSource } from '../../streams/stream-source.ts';

/**
 * The whole state of one propagation at once, then after each change of what the document selects: a state that was not taken is replaced by the next
 * one, so that no reader is ever too slow. Ends with `GONE` once it is deleted.
 *
 * @throws {MusterError} on opening: `BAD_INPUT` if there is none, `UNAVAILABLE` without a hub.
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

/** Keeps the newest state for who takes it. */
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

  /** One state is all that ever waits. */
  pause(): void {}

  [Symbol.dispose](): void {
    this.#life.abort();
    this.#next = undefined;
  }
}
