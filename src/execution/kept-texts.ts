import type { Clock } from '../core/clock.ts';

/** The values on which the JSON text of an object depends. */
export interface TextSource {
  /** The object of the cluster, as the mirror stores it. It is never changed: a change of the object in the cluster makes a new object here. */
  readonly object: object;
  /** Other values that the text shows. A stored text is reused only if each of them is still the same value (`===`). */
  readonly others: readonly unknown[];
}

/**
 * Returns what the text of a value depends on. Undefined for an object whose text must not be stored. A type declares this function with
 * `keptTextsOf`.
 */
export type TextSourceOf = (value: unknown) => TextSource | undefined;

interface KeptText {
  /** The whole text, or parts of it. */
  readonly texts: readonly string[];
  readonly others: readonly unknown[];
}

/** Elements that followed each other in a list, and their JSON as one piece, separated by commas. */
interface KeptRun {
  readonly sources: readonly TextSource[];
  readonly bytes: Buffer;
}

/** The JSON of all elements of a list, in pieces as `JsonList` has them. */
interface KeptList {
  readonly texts: readonly (string | Buffer)[];
  readonly length: number;
}

/** The size of stored texts and runs. */
interface KeptSize {
  /** Number of characters of texts and of bytes of runs. */
  readonly length: number;
  /** Number of objects in runs. A run keeps its objects in memory, until its first object no longer exists elsewhere. */
  readonly objects: number;
}

/** The period in which a selection must print many elements before its texts are stored. */
const earnMs = 60_000;

/** Maximum number of characters and bytes of all stored texts and runs together: 64 Mi. */
const maxLength = 64 << 20;

/** Number of characters that a whole list counts for each element, in addition to its texts. Bytes of runs are counted with the runs. */
const lengthPerElement = 8;

/** Maximum number of objects in all runs. They take about 2 kB each if they no longer exist elsewhere. */
const maxRunObjects = 32_768;

interface KeptTextsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly keepTextsAfter?: number | undefined;
}

/** Bounds the stored texts of all selections together. If they are too long, the selection that was used least recently loses all its texts. */
export class KeptTextsBudget {
  readonly #used = new Set<KeptTexts>();
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Number of elements that a selection must have printed within a minute before its texts are stored. */
  readonly keepTextsAfter: number;
  #length = 0;
  #objects = 0;

  constructor({ clock, keepTextsAfter = 5_000 }: KeptTextsOptions) {
    this.clock = clock;
    this.keepTextsAfter = keepTextsAfter;
  }

  add(texts: KeptTexts, { length, objects }: KeptSize): void {
    this.#used.delete(texts);
    this.#used.add(texts);
    this.#length += length;
    this.#objects += objects;
    for (const oldest of this.#used) {
      if (this.#length <= maxLength && this.#objects <= maxRunObjects) return;
      this.#used.delete(oldest);
      const emptied = oldest.empty();
      this.#length -= emptied.length;
      this.#objects -= emptied.objects;
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
  #objects = 0;
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
    const source = this.#sourceOf(value);
    if (source === undefined) return undefined;
    const kept = this.#texts.get(source.object);
    return kept !== undefined && areEqual(kept.others, source.others) ? kept.texts : undefined;
  }

  /** Returns the run that begins with the element at this index. Undefined unless the list continues with all of its elements. */
  findRun(list: readonly unknown[], index: number): KeptRun | undefined {
    const first = this.#sourceOf(list[index]);
    const run = first && this.#runs.get(first.object);
    if (run === undefined || index + run.sources.length > list.length) return undefined;
    for (const [offset, { object, others }] of run.sources.entries()) {
      const source = this.#sourceOf(list[index + offset]);
      if (source === undefined || source.object !== object || !areEqual(others, source.others)) return undefined;
    }
    return run;
  }

  /** Keeps the text of elements that follow each other in a list. Returns its bytes. Undefined if it may not be kept. */
  keepRun(elements: readonly unknown[], text: string): Buffer | undefined {
    const sources = elements.flatMap((element) => this.#sourceOf(element) ?? []);
    const [first] = sources;
    if (first === undefined || sources.length < elements.length) return undefined;
    const bytes = Buffer.from(text);
    const former = this.#runs.get(first.object);
    this.#runs.set(first.object, { sources, bytes });
    // A kept list may still have the bytes of the former run, so they continue to count.
    this.#count({ length: bytes.length, objects: sources.length - (former?.sources.length ?? 0) });
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
    this.#count({ length: own, objects: 0 });
  }

  /** Keeps the text of an element, or parts of it. */
  keep(value: unknown, texts: readonly string[]): void {
    const source = this.#sourceOf(value);
    if (source === undefined) return;
    this.#texts.set(source.object, { texts, others: source.others });
    this.#count({ length: texts.reduce((sum, { length }) => sum + length, 0), objects: 0 });
  }

  #count(added: KeptSize): void {
    this.#length += added.length;
    this.#objects += added.objects;
    this.#budget.add(this, added);
  }

  /**
   * Deletes all texts and runs. The selection must print many elements again before new ones are stored. Returns the size of what was deleted,
   * including that of objects that the garbage collector has already removed.
   */
  empty(): KeptSize {
    const size = { length: this.#length, objects: this.#objects };
    this.#texts = new WeakMap();
    this.#runs = new WeakMap();
    this.#lists = new WeakMap();
    this.#length = 0;
    this.#objects = 0;
    this.#printed = 0;
    this.#sinceMs = Number.NEGATIVE_INFINITY;
    return size;
  }
}

function areEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
