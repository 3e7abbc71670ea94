import type { Socket } from 'node:net';

/** A frame longer than this is written in its parts: copying them costs more than three writes at once. */
const copiedBytes = 16 << 10;

/** So much is not held back until the end of the turn: whether there is room is told by what the kernel has not taken. */
const heldBytes = 16 << 10;

const brace = 0x7d;

const closing = Buffer.from([brace]);

/**
 * One text frame (RFC 6455, 5.2: whole, not masked) that holds these bytes and a closing brace after them. `ws` would build the same, but it asks
 * for the message as one piece, and writes frame by frame.
 *
 * @returns What is to be written, in order; `json` itself is never copied when it is long.
 */
export function textFrame(head: Buffer, json: Uint8Array): readonly Uint8Array[] {
  const length = head.length + json.length + 1;
  return length > copiedBytes ? [framed(length, head, head.length), json, closing] : [copied(head, json)];
}

/** The same in one piece. */
function copied(head: Buffer, json: Uint8Array): Buffer {
  const length = head.length + json.length + 1;
  const whole = framed(length, head, length);
  whole.set(json, whole.length - length + head.length);
  whole[whole.length - 1] = brace;
  return whole;
}

/** The beginning of a frame of that length: what leads it, `head`, and room for the rest of `size` bytes. */
function framed(length: number, head: Buffer, size: number): Buffer {
  const leadBytes = length < 126 ? 2 : length < 1 << 16 ? 4 : 10;
  const bytes = Buffer.allocUnsafe(leadBytes + size);
  bytes[0] = 0x81;
  if (leadBytes === 2) bytes[1] = length;
  else if (leadBytes === 4) bytes.writeUInt16BE(length, bytes.writeUInt8(126, 1));
  else bytes.writeBigUInt64BE(BigInt(length), bytes.writeUInt8(127, 1));
  bytes.set(head, leadBytes);
  return bytes;
}

/**
 * Writes the frames of streams. What a socket is to be written in one turn of the loop is gathered, so that it leaves in one system call: those are
 * most of a message's price. The last, or the only one, leaves at once.
 */
export class FrameWriter {
  #corked: Socket[] = [];
  /** Of what was written last. The next reader's differs in its head only, so it is written into the same bytes. */
  #latest: LatestFrame | undefined;

  /**
   * Gathers it with what else is written to the socket in this turn.
   *
   * @returns How many bytes are written at the end of the turn only.
   */
  write(socket: Socket, head: Buffer, json: Uint8Array): number {
    if (socket.writableCorked === 0) this.#cork(socket);
    for (const piece of textFrame(head, json)) socket.write(piece);
    if (socket.writableLength < heldBytes) return json.length;
    socket.uncork();
    return 0;
  }

  /** Writes it now, with what was gathered before it: nothing more is expected in this turn. */
  writeLast(socket: Socket, head: Buffer, json: Uint8Array): number {
    if (socket.writableLength > 0 || json.length > copiedBytes) {
      const putOff = this.write(socket, head, json);
      if (putOff > 0) socket.uncork();
      return 0;
    }
    const frame = this.#frameOf(head, json);
    socket.write(frame.bytes);
    // What the kernel has not taken is the socket's.
    if (socket.writableLength > 0) this.#latest = undefined;
    return 0;
  }

  /** Writes a long or short message that no other socket gets. Calls back once the kernel has taken it, or never will. */
  writePieces(socket: Socket, head: Buffer, json: readonly Uint8Array[], onTaken: () => void): void {
    const length = json.reduce((sum, piece) => sum + piece.length, head.length + 1);
    socket.cork();
    for (const piece of [framed(length, head, head.length), ...json]) socket.write(piece);
    socket.write(closing, onTaken);
    socket.uncork();
  }

  #frameOf(head: Buffer, json: Uint8Array): LatestFrame {
    const latest = this.#latest;
    if (latest !== undefined && latest.json === json && latest.headBytes === head.length) {
      latest.bytes.set(head, latest.headAt);
      return latest;
    }
    const bytes = copied(head, json);
    this.#latest = { json, bytes, headBytes: head.length, headAt: bytes.length - head.length - json.length - 1 };
    return this.#latest;
  }

  #cork(socket: Socket): void {
    // After the promises of the turn, which is where streams are pumped.
    if (this.#corked.length === 0) process.nextTick(() => this.#uncork());
    socket.cork();
    this.#corked.push(socket);
  }

  #uncork(): void {
    const corked = this.#corked;
    this.#corked = [];
    // Without effect on those that were full before.
    for (const socket of corked) socket.uncork();
  }
}

interface LatestFrame {
  readonly json: Uint8Array;
  readonly bytes: Buffer;
  readonly headAt: number;
  readonly headBytes: number;
}
