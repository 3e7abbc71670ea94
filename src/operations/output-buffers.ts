/** Sizes of pooled buffers: powers of two from 64 KiB to 4 MiB. */
const smallestBytes = 64 << 10;
const largestBytes = 4 << 20;

/** Maximum bytes of all buffers that wait in the pool. */
const maxPooledBytes = 32 << 20;

/**
 * Buffers for the bytes of large answers, used again and again. A new buffer is slower: the system must first find and clear its pages.
 *
 * A piece that is never released is collected like any other buffer.
 */
export class OutputBuffers {
  readonly #free = new Map<number, Buffer[]>();
  readonly #owners = new WeakMap<Buffer, Buffer>();
  #pooledBytes = 0;

  /** Returns a writer for about this many bytes. */
  write(bytes: number): PieceWriter {
    return new PieceWriter(this, bytes);
  }

  /** Returns a buffer of at least this size, with any content. */
  take(bytes: number): Buffer {
    if (bytes > largestBytes) return Buffer.allocUnsafeSlow(bytes);
    const size = Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(bytes)));
    const found = this.#free.get(size)?.pop();
    if (found === undefined) return Buffer.allocUnsafeSlow(size);
    this.#pooledBytes -= size;
    return found;
  }

  /** Returns the first bytes of a buffer of `take`, as a piece that can be released. */
  piece(buffer: Buffer, length: number): Buffer {
    const piece = buffer.subarray(0, length);
    this.#owners.set(piece, buffer);
    return piece;
  }

  /** Takes back pieces that no code reads any more. Ignores other buffers, and pieces that were released before. */
  release(pieces: Iterable<Uint8Array>): void {
    for (const piece of pieces) {
      const buffer = this.#owners.get(piece as Buffer);
      if (buffer === undefined) continue;
      this.#owners.delete(piece as Buffer);
      if (buffer.length > largestBytes || this.#pooledBytes + buffer.length > maxPooledBytes) continue;
      this.#pooledBytes += buffer.length;
      const free = this.#free.get(buffer.length) ?? [];
      free.push(buffer);
      this.#free.set(buffer.length, free);
    }
  }
}

/** Writes texts in UTF-8, and bytes, one after the other into pooled buffers. */
class PieceWriter {
  readonly #buffers: OutputBuffers;
  readonly #done: Buffer[] = [];
  #buffer: Buffer;
  #used = 0;
  #doneBytes = 0;

  constructor(buffers: OutputBuffers, bytes: number) {
    this.#buffers = buffers;
    this.#buffer = buffers.take(bytes);
  }

  /** Number of bytes that were written. */
  get length(): number {
    return this.#doneBytes + this.#used;
  }

  add(piece: string | Uint8Array): void {
    if (typeof piece === 'string') this.#addText(piece);
    else this.#addBytes(piece);
  }

  #addBytes(bytes: Uint8Array): void {
    if (bytes.length > this.#buffer.length - this.#used) this.#next(bytes.length);
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #addText(text: string): void {
    // A character of a text has at most three bytes in UTF-8. The exact number is counted only where it decides.
    const left = this.#buffer.length - this.#used;
    if (text.length * 3 > left) {
      const bytes = Buffer.byteLength(text);
      if (bytes > left) this.#next(bytes);
    }
    this.#used += this.#buffer.write(text, this.#used);
  }

  end(): readonly Buffer[] {
    return [...this.#done, this.#buffers.piece(this.#buffer, this.#used)];
  }

  #next(bytes: number): void {
    if (this.#used > 0) this.#done.push(this.#buffers.piece(this.#buffer, this.#used));
    this.#doneBytes += this.#used;
    this.#used = 0;
    this.#buffer = this.#buffers.take(Math.max(bytes, smallestBytes));
  }
}
