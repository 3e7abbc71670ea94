import type { MusterError } from '../core/errors.ts';

/** Who reads a stream is told when to look. Neither method is called from within `take`, `pause` or `open`; neither may throw. */
export interface StreamListener {
  /** There is something to take, where there was nothing before or the reader had paused. */
  ready(): void;
  /** It has ended, and nothing can be taken any more: why. Not called after the reader was disposed. */
  ended(reason: MusterError): void;
}

/** One reader of a stream. Disposing it, twice or once, leaves nothing behind. */
export interface StreamReader<Message extends object> extends Disposable {
  /** The next message, made as late as possible: what changed meanwhile is merged into it. Undefined if there is none for now. */
  take(): Message | undefined;
  /** `take` would give something. Once it gives the last there is, what comes next is told by `ready`: nobody has to take in vain to hear of it. */
  readonly hasMore: boolean;
  /** True if each message is the whole state and replaces the one before it, so that one with equal content need not be sent. Default: false. */
  readonly isState?: boolean | undefined;
  /**
   * Says that nothing will be taken for a while: until the next `take` what comes is merged by object in a queue of this reader's own, and nobody
   * waits for it. At most 1,000 changes or 1 MiB; then it is ended with `SLOW_CONSUMER`.
   */
  pause(): void;
}

/** A stream that was asked for, its arguments checked. Nothing runs before it is opened; it may be opened any number of times. */
export interface StreamSource<Message extends object> {
  /**
   * Begins to read, as the caller who asked. Its first messages are there once `listener.ready` was called. What lives longest: the signal.
   *
   * @throws {MusterError} `FORBIDDEN` if nothing of it may be watched anywhere.
   */
  open(listener: StreamListener, signal: AbortSignal): Promise<StreamReader<Message>>;
}
