import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../core/clock.ts';

/** The values on which the JSON text of an object depends. */
export interface TextSource {
  /** The object of the cluster, as the mirror stores it. It is never changed: a change of the object in the cluster makes a new object here. */
  readonly object: object;
  /** Other values that the text shows. A stored text is reused only if each of them is still the same value (`===`). */
  readonly others: readonly unknown[];
}

/**
 * Returns what the text of a value depends on. Undefined for an object whose text must not be stored. All calls with one value return the same object
 * and the same other values. A type declares this function with `keptTextsOf`.
 */
export type TextSourceOf = (value: unknown) => TextSource | undefined;

/** The text of an element inside the bytes of a run. */
interface TextInRun {
  readonly bytes: Buffer;
  readonly begin: number;
  readonly end: number;
}

interface KeptText {
  readonly others: readonly unknown[];
  /** The whole text, or parts of it. After `keepRun`, the place of the text in the bytes of the run, so that memory has the text once. */
  texts: readonly string[] | TextInRun;
}

/** Elements that followed each other in a list, and their JSON as one piece, separated by commas. */
interface KeptRun {
  readonly elements: readonly KeptText[];
  readonly bytes: Buffer;
}

/** The JSON of all elements of a list, in pieces as `JsonList` has them. */
interface KeptList {
  readonly texts: readonly (string | Buffer)[];
  readonly length: number;
}

/** The period in which a selection must print many elements before its texts are stored. */
const earnMs = 60_000;

/** The texts of all selections together may have a sixteenth of the greatest size of the heap, but never less or more than these bounds. */
const heapShare = 1 / 16;
const leastMaxLength = 64 << 20;
const greatestMaxLength = 256 << 20;

/** Number of characters that are added to the length of a whole list for each element, for the memory of the list itself. */
const lengthPerElement = 8;

interface KeptTextsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly keepTextsAfter?: number | undefined;
  /** The greatest size of the heap of this process, in bytes. Default: the limit of V8. */
  readonly heapLimit?: number | undefined;
}

/** Bounds the stored texts of all selections together. If they are too long, the selection that was used least recently loses all its texts. */
export class KeptTextsBudget {
  readonly #used = new Set<KeptTexts>();
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Number of elements that a selection must have printed within a minute before its texts are stored. */
  readonly keepTextsAfter: number;
  /** Maximum number of characters and bytes of all stored texts and runs together. */
  readonly #maxLength: number;
  #length = 0;

  constructor({ clock, keepTextsAfter = 5_000, heapLimit = getHeapStatistics().heap_size_limit }: KeptTextsOptions) {
    this.clock = clock;
    this.keepTextsAfter = keepTextsAfter;
    this.#maxLength = Math.min(Math.max(heapLimit * heapShare, leastMaxLength), greatestMaxLength);
  }

  /** Adds this number of characters and bytes. */
  add(texts: KeptTexts, length: number): void {
    this.#used.delete(texts);
    this.#used.add(texts);
    this.#length += length;
    for (const oldest of this.#used) {
      if (this.#length <= this.#maxLength) return;
      this.#used.delete(oldest);
      this.#length -= oldest.empty();
    }
  }

  /** Makes the selection the one that was used last, so that it is emptied after all others. No effect for a selection without texts. */
  use(texts: KeptTexts): void {
    if (this.#used.delete(texts)) this.#used.add(texts);
  }
}

/**
 * The JSON texts of objects for one selection set, so that later answers need not print them again. Used only if each selected field depends on the
 * object alone. A text lives at most as long as its object.
 */
export class KeptTexts {
  readonly #budget: KeptTextsBudget;
  readonly #sourceOf: TextSourceOf;
  #texts = new WeakMap<object, KeptText>();
  /** Runs by their first object. */
  #runs = new WeakMap<object, KeptRun>();
  /** Whole lists by their keys. */
  #lists = new WeakMap<object, KeptList>();
  #length = 0;
  #printed = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor(budget: KeptTextsBudget, sourceOf: TextSourceOf) {
    this.#budget = budget;
    this.#sourceOf = sourceOf;
  }

  /**
   * Counts the elements of a list that is about to be printed. Returns true if the selection has printed enough elements, so the texts of this list
   * are stored.
   */
  begin(elements: number): boolean {
    const nowMs = this.#budget.clock.monotonic();
    if (nowMs - this.#sinceMs > earnMs && this.#printed < this.#budget.keepTextsAfter) {
      this.#sinceMs = nowMs;
      this.#printed = 0;
    }
    this.#printed += elements;
    this.#budget.use(this);
    return this.#printed > this.#budget.keepTextsAfter;
  }

  /** Returns the stored text of an element, or its parts. Undefined if no text is stored, or a value that it shows has changed. */
  find(value: unknown): readonly string[] | undefined {
    const texts = this.#find(value)?.texts;
    return texts === undefined || !('bytes' in texts) ? texts : [texts.bytes.toString('utf8', texts.begin, texts.end)];
  }

  /** Returns the run that begins with the element at this index. Undefined unless the list continues with all of its elements. */
  findRun(list: readonly unknown[], index: number): KeptRun | undefined {
    const first = this.#sourceOf(list[index]);
    const run = first && this.#runs.get(first.object);
    if (run === undefined || index + run.elements.length > list.length) return undefined;
    return run.elements.every((element, offset) => this.#find(list[index + offset]) === element) ? run : undefined;
  }

  /**
   * Keeps the texts of elements that follow each other in a list as one run. Returns its bytes. Undefined if it may not be kept.
   *
   * @param texts The text of each element in the same order, as it was passed to `keep` or returned by `find`.
   */
  keepRun(elements: readonly unknown[], texts: readonly string[]): Buffer | undefined {
    const first = this.#sourceOf(elements[0]);
    const kept = elements.flatMap((element) => this.#find(element) ?? []);
    if (first === undefined || kept.length < elements.length) return undefined;
    const text = texts.join();
    // Not from the pool of Node.js, because a part of the pool would keep the whole pool in memory.
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    bytes.write(text);
    let begin = 0;
    let moved = 0;
    for (const [index, element] of kept.entries()) {
      const end = begin + Buffer.byteLength(texts[index] ?? '');
      moved += lengthOf(element.texts);
      element.texts = { bytes, begin, end };
      begin = end + 1;
    }
    this.#runs.set(first.object, { elements: kept, bytes });
    // The bytes of a former run are not subtracted, because a kept list may still have them.
    this.#count(bytes.length - moved);
    return bytes;
  }

  /** Returns the list that was kept with this key. */
  findList(key: object): KeptList | undefined {
    return this.#lists.get(key);
  }

  /** Keeps a whole list, unless the text of one of its elements must not be stored. The list shares the bytes of its runs. */
  keepList(key: object, elements: readonly unknown[], { texts, length }: KeptList): void {
    if (elements.some((element) => this.#sourceOf(element) === undefined)) return;
    const own = texts.reduce((sum, text) => sum + (typeof text === 'string' ? text.length : 0), elements.length * lengthPerElement);
    this.#lists.set(key, { texts, length });
    this.#count(own);
  }

  /** Keeps the text of an element, or parts of it. */
  keep(value: unknown, texts: readonly string[]): void {
    const source = this.#sourceOf(value);
    if (source === undefined) return;
    this.#texts.set(source.object, { texts, others: source.others });
    this.#count(lengthOf(texts));
  }

  /** Returns what is stored for an element. The result is the same as long as its object and the other values are the same. */
  #find(value: unknown): KeptText | undefined {
    const source = this.#sourceOf(value);
    const kept = source && this.#texts.get(source.object);
    return kept !== undefined && areEqual(kept.others, source?.others ?? []) ? kept : undefined;
  }

  #count(added: number): void {
    this.#length += added;
    this.#budget.add(this, added);
  }

  /**
   * Deletes all texts and runs. The selection must print many elements again before new ones are stored. Returns the length of what was
   * deleted, including that of objects that the garbage collector has already removed.
   */
  empty(): number {
    const length = this.#length;
    this.#texts = new WeakMap();
    this.#runs = new WeakMap();
    this.#lists = new WeakMap();
    this.#length = 0;
    this.#printed = 0;
    this.#sinceMs = Number.NEGATIVE_INFINITY;
    return length;
  }
}

/** Returns the number of characters of texts, and 0 for a text that a run has. */
function lengthOf(texts: KeptText['texts']): number {
  return 'bytes' in texts ? 0 : texts.reduce((sum, { length }) => sum + length, 0);
}

function areEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
