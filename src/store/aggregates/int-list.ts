/**
 * A growing list of 32-bit integers. Its items are outside of the JavaScript heap, so the garbage collector neither visits nor moves them.
 */
export class IntList {
  #items = new Int32Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: number): void {
    if (this.#length === this.#items.length) {
      const larger = new Int32Array(2 * this.#length);
      larger.set(this.#items);
      this.#items = larger;
    }
    this.#items[this.#length] = item;
    this.#length += 1;
  }

  /** Returns the item at this index, which must be below `length`. */
  at(index: number): number {
    return this.#items[index] ?? 0;
  }

  set(index: number, item: number): void {
    this.#items[index] = item;
  }
}

/** Gives each different pair of non-negative integers a number: 0, 1, 2 …, in order of first appearance. */
export class PairNumbers {
  readonly #first = new IntList();
  readonly #second = new IntList();
  /** An open hash table, at most half full. A slot holds a number plus 1, or 0 if it is empty. */
  #slots = new Int32Array(1_024);

  get size(): number {
    return this.#first.length;
  }

  numberOf(first: number, second: number): number {
    const slot = this.#slotOf(first, second);
    const found = this.#slots[slot] ?? 0;
    if (found !== 0) return found - 1;
    this.#first.push(first);
    this.#second.push(second);
    this.#slots[slot] = this.size;
    if (this.size * 2 > this.#slots.length) this.#grow();
    return this.size - 1;
  }

  /** Returns the pair with this number, which must be below `size`. */
  pairOf(number: number): readonly [first: number, second: number] {
    return [this.#first.at(number), this.#second.at(number)];
  }

  /** Returns the slot that holds this pair, or the empty slot where it must be inserted. */
  #slotOf(first: number, second: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = mix(first, second) & mask; ; slot = (slot + 1) & mask) {
      const number = (this.#slots[slot] ?? 0) - 1;
      if (number < 0 || (this.#first.at(number) === first && this.#second.at(number) === second)) return slot;
    }
  }

  #grow(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let number = 0; number < this.size; number += 1) {
      this.#slots[this.#slotOf(this.#first.at(number), this.#second.at(number))] = number + 1;
    }
  }
}

/** Returns a hash that spreads pairs over all bits. The multipliers are odd, so that multiplying loses no bit. */
function mix(first: number, second: number): number {
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
  return Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35) >>> 7;
}
