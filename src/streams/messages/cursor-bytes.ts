/** Writes whole numbers and texts one after the other. Small numbers take few bytes. */
export class ByteWriter {
  #bytes = Buffer.alloc(1_024);
  #length = 0;

  /**
   * Writes a number in groups of 7 bits, the lowest first (LEB128).
   *
   * @param number A whole number from 0 to 2⁵³−1.
   */
  number(number: number): void {
    this.#reserve(8);
    let rest = number;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = 0x80 | (rest % 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Writes the length of the text in bytes, then the text in UTF-8. */
  text(text: string): void {
    const bytes = Buffer.from(text);
    this.number(bytes.length);
    this.bytes(bytes);
  }

  /** Writes bytes without their length. The reader must know how many they are. */
  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.alloc(2 * (this.#length + more));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

/**
 * Reads numbers and texts in the order in which a `ByteWriter` wrote them. A method throws a `RangeError` if the bytes end early or have another
 * form.
 */
export class ByteReader {
  readonly #bytes: Buffer;
  #next = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#next === this.#bytes.length;
  }

  number(): number {
    let number = 0;
    for (let unit = 1; unit <= 2 ** 49; unit *= 0x80) {
      const byte = this.bytes(1)[0] ?? 0;
      number += (byte & 0x7f) * unit;
      if (byte < 0x80) return number;
    }
    throw new RangeError('the number has too many bytes');
  }

  text(): string {
    return this.bytes(this.number()).toString();
  }

  bytes(count: number): Buffer {
    const end = this.#next + count;
    if (end > this.#bytes.length) throw new RangeError('the bytes end too early');
    const bytes = this.#bytes.subarray(this.#next, end);
    this.#next = end;
    return bytes;
  }
}
