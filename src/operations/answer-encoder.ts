import type { FormattedExecutionResult } from 'graphql';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import { isRawNumber } from '../core/json.ts';
import { containsTexts, JsonList } from '../execution/json-list.ts';
import { createQueueBudget, type QueueBudget } from '../load/queue-budget.ts';
import { OutputBuffers } from './output-buffers.ts';

export interface AnswerEncoderOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Maximum bytes of one answer, or of one message of a stream. Default: no bound. */
  readonly maxBytes?: number | undefined;
  /** Bounds the bytes of all answers that are being encoded or sent. Default: a budget of its own. */
  readonly unsent?: QueueBudget | undefined;
  /** Buffers for the bytes of large answers. Default: buffers of its own, which are not used again. */
  readonly buffers?: OutputBuffers | undefined;
}

/** Characters that one call of `JSON.stringify` may produce: about 1 ms of work. */
const pieceLength = 256 << 10;

/** An answer of fewer characters is encoded at once. */
const smallLength = 1 << 20;

/** An answer of fewer characters is encoded as one text, also if it contains ready texts. */
const shortLength = 16 << 10;

/** Milliseconds of one slice of encoding. Other work runs between two slices of a large answer. */
const sliceMs = 8;

/** Turns answers into the bytes of their JSON, within bounds of time and bytes. */
export class AnswerEncoder {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #maxBytes: number;
  readonly #unsent: QueueBudget;
  readonly #buffers: OutputBuffers;

  constructor({ clock, maxBytes = Number.POSITIVE_INFINITY, unsent = createQueueBudget(), buffers }: AnswerEncoderOptions) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#unsent = unsent;
    this.#buffers = buffers ?? new OutputBuffers();
  }

  /**
   * Returns the bytes of the text that `JSON.stringify` makes, in order. Small answers are encoded at once, others in slices of 8 ms.
   *
   * @throws {MusterError} `TOO_COSTLY` if the answer is larger than the bound. `OVERLOADED` if all unsent answers together are larger than their budget.
   * After an abort it throws the reason of the signal between two slices.
   */
  encode(body: FormattedExecutionResult, signal: AbortSignal): readonly Buffer[] | Promise<readonly Buffer[]> {
    const length = jsonLength(body, smallLength);
    if (length > smallLength) return this.#encodeInSlices(body, signal);
    if (length > shortLength && containsTexts(body.data)) return this.#encodeTexts(body, length);
    const bytes = Buffer.from(JSON.stringify(body));
    if (bytes.length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    return [bytes];
  }

  /** Encodes an answer that contains ready texts. One text of the whole answer would be a second copy. */
  #encodeTexts(body: FormattedExecutionResult, length: number): readonly Buffer[] {
    const writer = this.#buffers.write(length + length / 16);
    for (const piece of piecesOf(body, true)) writer.add(piece);
    const pieces = writer.end();
    if (writer.length <= this.#maxBytes) return pieces;
    this.#buffers.release(pieces);
    throw tooLarge(this.#maxBytes);
  }

  async #encodeInSlices(body: FormattedExecutionResult, signal: AbortSignal): Promise<readonly Buffer[]> {
    let isEvicted = false;
    using share = this.#unsent.open(() => {
      isEvicted = true;
    });
    const done: Buffer[] = [];
    let total = 0;
    let text = '';
    const flush = (): void => {
      push(Buffer.from(text));
      text = '';
    };
    const push = (bytes: Buffer): void => {
      done.push(bytes);
      total += bytes.length;
      if (total > this.#maxBytes) throw tooLarge(this.#maxBytes);
      share.set(total);
      if (isEvicted) throw new MusterError('OVERLOADED', 'all waiting answers together are too large: try again later');
    };
    let startMs = this.#clock.monotonic();
    for (const piece of piecesOf(body, containsTexts(body.data))) {
      if (typeof piece === 'string') text += piece;
      else {
        flush();
        push(piece);
      }
      if (text.length >= pieceLength) flush();
      if (this.#clock.monotonic() - startMs < sliceMs) continue;
      await nextTurn();
      signal.throwIfAborted();
      startMs = this.#clock.monotonic();
    }
    flush();
    return done;
  }
}

/**
 * Yields the text of `JSON.stringify` in pieces that each take about 1 ms. A single string value is never divided. Kept bytes are yielded as they are.
 *
 * @param mayHaveTexts True if the value may contain a `JsonList`.
 */
function* piecesOf(value: unknown, mayHaveTexts = false): Generator<string | Buffer> {
  if (value instanceof JsonList) {
    yield* textsOf(value);
    return;
  }
  const isOpened = mayHaveTexts && hasTexts(value);
  if (!isOpened && (!isContainer(value) || jsonLength(value, pieceLength) <= pieceLength)) {
    yield JSON.stringify(value) ?? 'null';
    return;
  }
  if (Array.isArray(value)) {
    yield '[';
    yield* elementsOf(value);
    yield ']';
    return;
  }
  let separator = '{';
  for (const [key, part] of Object.entries(value as object)) {
    if (part === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* piecesOf(part, isOpened);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** True if a value contains a `JsonList`, which is never in an array. */
function hasTexts(value: unknown): boolean {
  if (!isContainer(value) || Array.isArray(value)) return false;
  return value instanceof JsonList || Object.values(value).some(hasTexts);
}

function* textsOf({ texts, rest }: JsonList): Generator<string | Buffer> {
  let separator = '[';
  for (const text of texts) {
    yield separator;
    yield text;
    separator = ',';
  }
  if (texts.length === 0 || rest.length > 0) yield separator;
  yield* elementsOf(rest);
  yield ']';
}

/** Yields the elements of a list. Small ones are printed together, as many as fit into a piece. */
function* elementsOf(list: readonly unknown[]): Generator<string | Buffer> {
  let run: unknown[] = [];
  let runLength = 0;
  let separator = '';
  for (const element of list) {
    const length = jsonLength(element, pieceLength);
    if (run.length > 0 && runLength + length > pieceLength) {
      yield `${separator}${JSON.stringify(run).slice(1, -1)}`;
      separator = ',';
      run = [];
      runLength = 0;
    }
    if (length <= pieceLength) {
      run.push(element);
      runLength += length;
      continue;
    }
    yield separator;
    yield* piecesOf(element);
    separator = ',';
  }
  if (run.length > 0) yield `${separator}${JSON.stringify(run).slice(1, -1)}`;
}

/**
 * Estimates the number of characters in the JSON of a value. Stops once the estimate exceeds `max`, and then returns a number above
 * `max`.
 */
export function jsonLength(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (!isContainer(value)) return 8;
  if (value instanceof JsonList) return value.length + jsonLength(value.rest, max - value.length);
  let length = 2;
  if (Array.isArray(value)) {
    for (const element of value) {
      length += 1 + jsonLength(element, max - length);
      if (length > max) return length;
    }
    return length;
  }
  // `for in` is faster than `Object.entries`. For a small answer, this walk is most of the time that the encoder needs in addition to
  // `JSON.stringify`.
  for (const key in value) {
    length += key.length + 4 + jsonLength((value as Readonly<Record<string, unknown>>)[key], max - length);
    if (length > max) return length;
  }
  return length;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isRawNumber(value);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function tooLarge(maxBytes: number): MusterError {
  return new MusterError(
    'TOO_COSTLY',
    `expected an answer of at most ${maxBytes} bytes, got more: request fewer objects (first), select single fields instead of object and yaml, or use several requests`,
  );
}
