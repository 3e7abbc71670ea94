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
  if (length > copiedBytes) return [framed(length, head, head.length), json, closing];
  const whole = framed(length, head, length);
  whole.set(json, whole.length - length + head.length);
  whole[whole.length - 1] = brace;
  return [whole];
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

/** Gathers what is written to each socket in one turn of the loop, so that it leaves in one system call: those are most of a message's price. */
export class FrameWriter {
  #corked: Socket[] = [];

  write(socket: Socket, pieces: readonly Uint8Array[]): void {
    if (socket.writableCorked === 0) this.#cork(socket);
    for (const piece of pieces) socket.write(piece);
    if (socket.writableLength >= heldBytes) socket.uncork();
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
