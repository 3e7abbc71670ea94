/**
 * A list whose elements the operation has paid for from its budget. graphql-js iterates over it: elements that do not fit into the current time slice
 * come as promises. Compiled code reads `list` instead, and pauses between its elements by itself.
 */
export class ChargedList<T, Iterated> implements Iterable<Iterated> {
  readonly list: readonly T[];
  readonly #iterate: () => Iterator<Iterated>;

  constructor(list: readonly T[], iterate: () => Iterator<Iterated>) {
    this.list = list;
    this.#iterate = iterate;
  }

  [Symbol.iterator](): Iterator<Iterated> {
    return this.#iterate();
  }
}
