import { parseJson } from '../core/json.ts';
import type { KeptTexts } from './kept-texts.ts';

/**
 * A list of an answer whose elements are already JSON text. `JSON.stringify` prints the elements as usual, because `toJSON` parses them. The encoder
 * of answers copies `texts` instead, which is faster.
 */
export class JsonList {
  /** JSON of elements in order. Each text or piece of bytes has one or more elements, separated by commas. Bytes are stored for later answers: never change them. */
  readonly texts: readonly (string | Buffer)[];
  /** The elements after those in `texts`, as plain values. Empty, unless `texts` has reached 4 Mi characters. */
  readonly rest: readonly unknown[];
  /** Number of characters and bytes in `texts`, with a comma after each. */
  readonly length: number;

  constructor({ texts, rest, length }: Pick<JsonList, 'texts' | 'rest' | 'length'>) {
    this.texts = texts;
    this.rest = rest;
    this.length = length;
  }

  toJSON(): readonly unknown[] {
    return [...(parseJson(`[${this.texts.join()}]`) as readonly unknown[]), ...this.rest];
  }
}

const dataWithTexts = new WeakSet<object>();

/** Remembers that the data of an answer contains a `JsonList`. */
export function markTexts(data: object): void {
  dataWithTexts.add(data);
}

/** True if the data of an answer contains a `JsonList`. Such a list is a property of an object, at any depth, and never an element of an array. */
export function containsTexts(data: object | null | undefined): boolean {
  return data !== null && data !== undefined && dataWithTexts.has(data);
}

/** Number of elements that one call of `JSON.stringify` prints. */
const elementsPerText = 64;

/** A run has at most 64 elements, and about 64 Ki characters. A run below 4 Ki characters would save too little. */
const minRunLength = 4 << 10;
const maxRunLength = 64 << 10;

/**
 * Maximum number of characters of the texts of one list: 4 Mi, or 64 Mi if its texts are stored. Elements beyond it stay plain values. The encoder of
 * answers prints them and stops at the size limit of an answer.
 */
const maxLength = 4 << 20;
const maxStoredLength = 64 << 20;

/** The list whose elements a `JsonListBuilder` collects. */
interface ListSource {
  /** Returns the elements. Not called if the whole list is stored. */
  readonly list: () => readonly unknown[];
  /** The key of a `ChargedList`, by which the whole list is stored. */
  readonly key: object | undefined;
}

/** Collects the elements of a `JsonList`, in order. */
export class JsonListBuilder {
  readonly #source: ListSource;
  /** Undefined if the texts of the elements are not stored. */
  readonly #kept: KeptTexts | undefined;
  #elements: readonly unknown[] | undefined;
  #whole: JsonList | undefined;
  readonly #texts: (string | Buffer)[] = [];
  #pending: unknown[] = [];
  #length = 0;
  /** The texts of elements that were not stored as a whole. */
  #parted: string[] = [];
  /** Elements whose texts become one run: the index of the first one, and the texts. */
  #begin = 0;
  #run: string[] = [];
  #runLength = 0;

  /** @param kept The texts of the elements of the list, if they depend on their objects alone and the selection is used often. */
  constructor(source: ListSource, kept: KeptTexts | undefined) {
    this.#source = source;
    this.#kept = kept;
  }

  get list(): readonly unknown[] {
    this.#elements ??= this.#source.list();
    return this.#elements;
  }

  /** Adds all elements if the whole list is stored. Returns true if so: no element may be added then. */
  reuseAll(): boolean {
    const found = this.#source.key && this.#kept?.findList(this.#source.key);
    if (found === undefined) return false;
    this.#whole = new JsonList({ ...found, rest: [] });
    return true;
  }

  /** Adds an element as a plain value. */
  push(element: unknown): void {
    this.#pending.push(element);
    if (this.#pending.length >= elementsPerText && this.#length < maxLength) this.#print();
  }

  /**
   * Adds the stored text of the element at this index, or of the run that begins with it. Returns the number of elements that were added: 0 if none is
   * stored, or if the texts of the list have reached their maximum length.
   */
  reuse(index: number): number {
    if (this.#kept === undefined || this.#isFull) return 0;
    const run = this.#kept.findRun(this.list, index);
    if (run !== undefined) {
      this.#endRun();
      this.#add(run.bytes);
      return run.elements.length;
    }
    const [text] = this.#kept.find(this.list[index]) ?? [];
    if (text !== undefined) this.#addToRun(index, text);
    return text === undefined ? 0 : 1;
  }

  /** Adds the projection of the element at this index, for which `reuse` returned 0. Also stores its text if the selection is used often. */
  keep(index: number, projected: unknown): void {
    // After the first plain value, all other elements stay plain values too, because these come last.
    if (this.#kept === undefined || this.#isFull) {
      this.push(projected);
      return;
    }
    const text = JSON.stringify(projected);
    this.#kept.keep(this.list[index], [text]);
    this.#addToRun(index, text);
  }

  /** True if the texts of the list are stored and reused. Otherwise `push` adds the elements. */
  get storesTexts(): boolean {
    return this.#kept !== undefined;
  }

  /** Returns the stored parts of the text of the element at this index. */
  parts(index: number): readonly string[] | undefined {
    return this.#kept?.find(this.list[index]);
  }

  /** Stores parts of the text of the element at this index, and returns them. */
  keepParts(index: number, texts: readonly string[]): readonly string[] {
    this.#kept?.keep(this.list[index], texts);
    return texts;
  }

  /** Adds an element as text. */
  addText(text: string): void {
    if (this.#length >= maxLength) {
      this.#pending.push(parseJson(text));
      return;
    }
    this.#parted.push(text);
    if (this.#parted.length >= elementsPerText) this.#joinParted();
  }

  end(): JsonList {
    if (this.#whole !== undefined) return this.#whole;
    this.#endRun();
    this.#joinParted();
    if (this.#pending.length > 0 && this.#length < maxLength) this.#print();
    const whole = new JsonList({ texts: this.#texts, rest: this.#pending, length: this.#length });
    if (this.#source.key !== undefined && whole.rest.length === 0) this.#kept?.keepList(this.#source.key, this.list, whole);
    return whole;
  }

  /** True if the texts of a list whose texts are stored have reached their maximum length. */
  get #isFull(): boolean {
    return this.#length + this.#runLength >= maxStoredLength;
  }

  #joinParted(): void {
    if (this.#parted.length > 0) this.#add(this.#parted.join());
    this.#parted = [];
  }

  #print(): void {
    this.#add(JSON.stringify(this.#pending).slice(1, -1));
    this.#pending = [];
  }

  #add(text: string | Buffer): void {
    this.#texts.push(text);
    this.#length += text.length + 1;
  }

  #addToRun(index: number, text: string): void {
    if (this.#run.length === 0) this.#begin = index;
    this.#run.push(text);
    this.#runLength += text.length;
    if (this.#run.length >= elementsPerText || this.#runLength >= maxRunLength) this.#endRun();
  }

  #endRun(): void {
    const [first] = this.#run;
    if (first === undefined) return;
    const isKept = this.#run.length > 1 && this.#runLength >= minRunLength;
    const elements = isKept ? this.list.slice(this.#begin, this.#begin + this.#run.length) : [];
    const bytes = isKept ? this.#kept?.keepRun(elements, this.#run) : undefined;
    this.#add(bytes ?? (this.#run.length === 1 ? first : this.#run.join()));
    this.#run = [];
    this.#runLength = 0;
  }
}
