import type { Socket } from 'node:net';
import * as ws from 'ws';

/** A frame longer than this is written in its parts: copying them costs more than three writes at once. */
const copiedBytes = 16 << 10;

/** So much is not held back until the end of the turn: whether there is room is told by what the kernel has not taken. */
const heldBytes = 16 << 10;

const closing = Buffer.from('}');

/** Exported by ws, but missing in its types. */
const { Sender } = ws as unknown as { readonly Sender: { frame(data: { readonly length: number }, options: object): readonly [Buffer] } };

/** One text frame: whole, and not masked, as a server sends. */
const frameOptions = { fin: true, rsv1: false, opcode: 1, mask: false, readOnly: true };

/**
 * The pieces of one text frame that holds these bytes and a closing brace after them. `ws` makes the beginning of the frame. It reads nothing of the
 * payload but its length, so the bytes of a long message are never copied.
 */
function piecesOf(head: Buffer, json: readonly Uint8Array[]): readonly [Buffer, Buffer, ...Uint8Array[]] {
  const length = json.reduce((sum, piece) => sum + piece.length, head.length + 1);
  const [lead] = Sender.frame({ length }, frameOptions);
  return [lead, head, ...json, closing];
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
    const pieces = piecesOf(head, [json]);
    if (json.length > copiedBytes) for (const piece of pieces) socket.write(piece);
    else socket.write(Buffer.concat(pieces));
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
    socket.cork();
    for (const piece of piecesOf(head, json).slice(0, -1)) socket.write(piece);
    socket.write(closing, onTaken);
    socket.uncork();
  }

  #frameOf(head: Buffer, json: Uint8Array): LatestFrame {
    const latest = this.#latest;
    if (latest !== undefined && latest.json === json && latest.headBytes === head.length) {
      latest.bytes.set(head, latest.headAt);
      return latest;
    }
    const pieces = piecesOf(head, [json]);
    this.#latest = { json, bytes: Buffer.concat(pieces), headBytes: head.length, headAt: pieces[0].length };
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
