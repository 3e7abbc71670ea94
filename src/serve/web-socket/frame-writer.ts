import type { Socket } from 'node:net';
import * as ws from 'ws';

/** A longer frame is written in pieces. Copying it would cost more than three writes. */
const copiedBytes = 16 << 10;

/**
 * Maximum bytes of a socket that wait for the end of the event-loop turn. `hasRoom` counts these bytes too, although the kernel could take
 * them. So a higher limit would pause streams without need.
 */
const heldBytes = 16 << 10;

const closing = Buffer.from('}');

/** Exported by ws, but missing in its types. */
const { Sender } = ws as unknown as { readonly Sender: { frame(data: { readonly length: number }, options: object): readonly [Buffer] } };

/** The options of one text frame: complete and not masked, as servers send frames. */
const frameOptions = { fin: true, rsv1: false, opcode: 1, mask: false, readOnly: true };

/**
 * Returns the pieces of one text frame: the frame header, `head`, `json` and a closing brace. `ws` makes the frame header from the length of
 * the payload alone, so the bytes of a long message are not copied.
 */
function piecesOf(head: Buffer, json: readonly Uint8Array[]): readonly [Buffer, Buffer, ...Uint8Array[]] {
  const length = json.reduce((sum, piece) => sum + piece.length, head.length + 1);
  const [lead] = Sender.frame({ length }, frameOptions);
  return [lead, head, ...json, closing];
}

/**
 * Writes the frames of streams to sockets. System calls are most of the cost of a message. So `write` collects the frames of one socket,
 * and sends them together at the end of the event-loop turn. `writeLast` sends a frame at once.
 */
export class FrameWriter {
  #corked: Socket[] = [];
  /**
   * The last frame of `writeLast`. The next reader often gets the same message, and its frame differs only in the head. The head is then
   * written into the same bytes. Undefined before the first frame, and if a socket still has to send the bytes.
   */
  #latest: LatestFrame | undefined;

  /**
   * Adds a frame to those that the socket sends at the end of this event-loop turn.
   *
   * @returns Number of bytes that will be written only at the end of the turn.
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

  /** Writes a frame now, after those that were added before. Use it for the last frame of this turn. Always returns 0: no bytes wait. */
  writeLast(socket: Socket, head: Buffer, json: Uint8Array): number {
    if (socket.writableLength > 0 || json.length > copiedBytes) {
      const putOff = this.write(socket, head, json);
      if (putOff > 0) socket.uncork();
      return 0;
    }
    const frame = this.#frameOf(head, json);
    socket.write(frame.bytes);
    // The socket now holds the bytes that the kernel has not taken, so they must not change.
    if (socket.writableLength > 0) this.#latest = undefined;
    return 0;
  }

  /** Writes a message that no other socket gets. Calls back once the kernel has taken it, or when the socket is gone. */
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
    // Runs after the promises of the turn, which send the messages of streams.
    if (this.#corked.length === 0) process.nextTick(() => this.#uncork());
    socket.cork();
    this.#corked.push(socket);
  }

  #uncork(): void {
    const corked = this.#corked;
    this.#corked = [];
    // A socket that reached its limit of bytes was uncorked earlier. A second `uncork` does nothing.
    for (const socket of corked) socket.uncork();
  }
}

interface LatestFrame {
  readonly json: Uint8Array;
  readonly bytes: Buffer;
  readonly headAt: number;
  readonly headBytes: number;
}
