import type { MusterError } from '../core/errors.ts';

/**
 * Gets notified when a reader has messages, and when it has ended. Neither method may throw. The reader never calls them from within
 * `take`, `pause` or `open`.
 */
export interface StreamListener {
  /** Called when the reader has a message to take, after it had none or was paused. */
  ready(): void;
  /** Called when the reader has ended. Nothing can be taken any more. Not called after the reader was disposed. */
  ended(reason: MusterError): void;
}

/** One reader of a stream. Disposing it releases everything. A second disposal does nothing. */
export interface StreamReader<Message extends object> extends Disposable {
  /**
   * Takes the next message. Undefined if there is none now. The message is made as late as possible, so later changes of an object are
   * merged into it.
   */
  take(): Message | undefined;
  /** True if `take` would return a message. After `take` has returned the last message, `StreamListener.ready` announces the next one. */
  readonly hasMore: boolean;
  /**
   * True if each message is a complete state that replaces the message before it. A message with equal content is then not sent. Default:
   * false.
   */
  readonly isState?: boolean | undefined;
  /**
   * Announces that nothing will be taken for a while. Until the next `take`, changes are merged by object in a queue of this reader, and
   * other readers do not wait for it. At 1,000 changes or 1 MiB the reader ends with `SLOW_CONSUMER`.
   */
  pause(): void;
}

/** A stream whose arguments are checked. Nothing runs before `open`. It may be opened any number of times. */
export interface StreamSource<Message extends object> {
  /**
   * Starts a reader for the caller of the request. `listener.ready` is called when the first message can be taken. An abort of the signal
   * disposes the reader.
   *
   * @throws {MusterError} `FORBIDDEN` if the caller may watch none of the kinds in any cluster.
   */
  open(listener: StreamListener, signal: AbortSignal): Promise<StreamReader<Message>>;
}
