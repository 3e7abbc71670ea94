import type { FormattedExecutionResult } from 'graphql';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import { isRawNumber } from '../core/json.ts';
import { createQueueBudget, type QueueBudget } from '../load/queue-budget.ts';

export interface AnswerEncoderOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Maximum bytes of one answer, or of one message of a stream. Default: no bound. */
  readonly maxBytes?: number | undefined;
  /** Bounds the bytes of all answers that are being encoded or sent. Default: a budget of its own. */
  readonly unsent?: QueueBudget | undefined;
}

/** Characters that one call of `JSON.stringify` may produce: about 1 ms of work. */
const pieceLength = 256 << 10;

/** An answer of fewer characters is encoded at once. */
const smallLength = 1 << 20;

/** Milliseconds of one slice of encoding. Other work runs between two slices of a large answer. */
const sliceMs = 8;

/** Turns answers into the bytes of their JSON, within bounds of time and bytes. */
export class AnswerEncoder {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #maxBytes: number;
  readonly #unsent: QueueBudget;

  constructor({ clock, maxBytes = Number.POSITIVE_INFINITY, unsent = createQueueBudget() }: AnswerEncoderOptions) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#unsent = unsent;
  }

  /**
   * Returns the bytes of the text that `JSON.stringify` makes, in order. Small answers are encoded at once, others in slices of 8 ms.
   *
   * @throws {MusterError} `TOO_COSTLY` if the answer is larger than the bound. `OVERLOADED` if all unsent answers together are larger than their budget.
   * After an abort it throws the reason of the signal between two slices.
   */
  encode(body: FormattedExecutionResult, signal: AbortSignal): readonly Buffer[] | Promise<readonly Buffer[]> {
    if (jsonLength(body, smallLength) > smallLength) return this.#encodeInSlices(body, signal);
    const bytes = Buffer.from(JSON.stringify(body));
    if (bytes.length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    return [bytes];
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
      const bytes = Buffer.from(text);
      text = '';
      done.push(bytes);
      total += bytes.length;
      if (total > this.#maxBytes) throw tooLarge(this.#maxBytes);
      share.set(total);
      if (isEvicted) throw new MusterError('OVERLOADED', 'all waiting answers together are too large: try again later');
    };
    let startMs = this.#clock.monotonic();
    for (const piece of piecesOf(body)) {
      text += piece;
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

/** Yields the text of `JSON.stringify` in pieces that each take about 1 ms. A single string value is never divided. */
function* piecesOf(value: unknown): Generator<string> {
  if (!isContainer(value) || jsonLength(value, pieceLength) <= pieceLength) {
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
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* piecesOf(part);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** Yields the elements of a list. Small ones are printed together, as many as fit into a piece. */
function* elementsOf(list: readonly unknown[]): Generator<string> {
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
 * Estimates the number of characters in the JSON of a value. Stops once the estimate exceeds `most`, and then returns a number above
 * `most`.
 */
export function jsonLength(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (!isContainer(value)) return 8;
  let length = 2;
  if (Array.isArray(value)) {
    for (const element of value) {
      length += 1 + jsonLength(element, most - length);
      if (length > most) return length;
    }
    return length;
  }
  // `for in` is faster than `Object.entries`. For a small answer, this walk is most of the time that the encoder needs in addition to
  // `JSON.stringify`.
  for (const key in value) {
    length += key.length + 4 + jsonLength((value as Readonly<Record<string, unknown>>)[key], most - length);
    if (length > most) return length;
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
