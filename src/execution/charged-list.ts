/** The elements of a `ChargedList`. */
interface ChargedElements<T, Iterated> {
  readonly length: number;
  /** Returns the elements. Called at most once, and only if they are needed. */
  readonly list: () => readonly T[];
  readonly iterate: () => Iterator<Iterated>;
  /**
   * Equal (`===`) for two lists only if the JSON of their elements is equal in every selection whose fields depend on the object alone. Default: such
   * lists are not recognised.
   */
  readonly key?: object | undefined;
}

/**
 * A list whose elements the operation has paid for from its budget. graphql-js iterates over it: elements that do not fit into the current time slice
 * come as promises. Compiled code reads `list` instead, and pauses between its elements by itself.
 */
export class ChargedList<T, Iterated> implements Iterable<Iterated> {
  readonly #elements: ChargedElements<T, Iterated>;
  #list: readonly T[] | undefined;

  constructor(elements: ChargedElements<T, Iterated>) {
    this.#elements = elements;
  }

  get length(): number {
    return this.#elements.length;
  }

  get key(): object | undefined {
    return this.#elements.key;
  }

  get list(): readonly T[] {
    this.#list ??= this.#elements.list();
    return this.#list;
  }

  [Symbol.iterator](): Iterator<Iterated> {
    return this.#elements.iterate();
  }
}
