/** Opcodes of RFC 6455 that a server sends. */
export const opcodes = { text: 1, close: 8, ping: 9 } as const;

/** Receives each frame. The payload is empty while the decoder only counts. Its bytes are valid during the call only. */
export type FrameListener = (opcode: number, payload: Buffer) => void;

const nothing = Buffer.alloc(0);

/** Splits the bytes of a WebSocket server into frames. It is very cheap, so that the bench does not measure its own client. */
export class FrameDecoder {
  /** While false, data frames are counted and their payloads are dropped. Set it between two frames only. */
  whole = true;
  readonly #listener: FrameListener;
  readonly #head = Buffer.alloc(10);
  #headLength = 0;
  #left = 0;
  #parts: Buffer[] = [];

  constructor(listener: FrameListener) {
    this.#listener = listener;
  }

  /** Decodes the next bytes. The caller may reuse the buffer afterwards. */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left === 0) {
        at = this.#readHead(bytes, at);
        continue;
      }
      const end = Math.min(bytes.length, at + this.#left);
      this.#left -= end - at;
      this.#take(bytes.subarray(at, end));
      at = end;
    }
  }

  #readHead(bytes: Buffer, from: number): number {
    let at = from;
    do {
      this.#head[this.#headLength++] = bytes[at++] ?? 0;
    } while (this.#headLength < this.#headSize() && at < bytes.length);
    if (this.#headLength < this.#headSize()) return at;
    this.#left = this.#payloadSize();
    if (this.#left === 0) this.#tell(nothing);
    return at;
  }

  #headSize(): number {
    if (this.#headLength < 2) return 2;
    const short = (this.#head[1] ?? 0) & 127;
    if (short < 126) return 2;
    return short === 126 ? 4 : 10;
  }

  #payloadSize(): number {
    const short = (this.#head[1] ?? 0) & 127;
    if (short < 126) return short;
    return short === 126 ? this.#head.readUInt16BE(2) : Number(this.#head.readBigUInt64BE(2));
  }

  #take(bytes: Buffer): void {
    const isKept = this.whole || ((this.#head[0] ?? 0) & 15) !== opcodes.text;
    if (this.#left > 0) {
      if (isKept) this.#parts.push(Buffer.from(bytes));
    } else this.#tell(isKept ? this.#joined(bytes) : nothing);
  }

  #joined(last: Buffer): Buffer {
    if (this.#parts.length === 0) return last;
    const payload = Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    return payload;
  }

  #tell(payload: Buffer): void {
    const [first = 0] = this.#head;
    this.#headLength = 0;
    if ((first & 128) === 0) throw new Error('expected whole messages, got a fragment');
    this.#listener(first & 15, payload);
  }
}

/** Creates a text or pong frame of a client. Clients must mask frames. The mask is zero, so it changes no byte. */
export function clientFrame(payload: string | Buffer, opcode = 1): Buffer {
  const bytes = Buffer.from(payload);
  const size = bytes.length;
  const head = size < 126 ? Buffer.from([128 | opcode, 128 | size]) : Buffer.from([128 | opcode, 128 | 126, size >> 8, size & 255]);
  if (size > 0xffff) throw new Error('expected a frame below 64 KiB');
  return Buffer.concat([head, Buffer.alloc(4), bytes]);
}
