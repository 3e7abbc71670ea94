import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Caller } from '../access/access.ts';
import type { FrameWriter } from './web-socket-frames.ts';
import type { OperationSocket, SocketOperation } from './web-socket-operation.ts';

/** So much may wait to be written before a stream is held back. */
const roomBytes = 64 << 10;

export interface ConnectionOptions {
  readonly ws: WebSocket;
  /** What `ws` writes to. */
  readonly raw: Socket;
  readonly caller: Caller;
  readonly writer: FrameWriter;
  /** When it is closed whatever happens, in milliseconds of the monotonic clock. */
  readonly endsMs: number;
}

/** One socket of a client after 101: what is written to it, and the operations that run on it. */
export class SocketConnection implements OperationSocket {
  readonly caller: Caller;
  readonly #ws: WebSocket;
  readonly #raw: Socket;
  readonly #writer: FrameWriter;
  readonly #endsMs: number;
  readonly #operations = new Set<SocketOperation>();
  /** Its size, asked for with each message. */
  #running = 0;
  #awaitsPong = false;
  /** How many bytes had left when the client was last asked for a sign of life, if some could not. */
  #stuckAt: number | undefined;

  constructor({ ws, raw, writer, caller, endsMs }: ConnectionOptions) {
    this.#ws = ws;
    this.#raw = raw;
    this.#writer = writer;
    this.caller = caller;
    this.#endsMs = endsMs;
    raw.on('drain', () => this.#drained());
    ws.on('pong', () => {
      this.#awaitsPong = false;
    });
  }

  /** Neither side has closed it. */
  get isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  get operations(): number {
    return this.#operations.size;
  }

  joined(operation: SocketOperation): void {
    this.#operations.add(operation);
    this.#running = this.#operations.size;
  }

  left(operation: SocketOperation): void {
    this.#operations.delete(operation);
    this.#running = this.#operations.size;
  }

  hasRoom(): boolean {
    return this.#raw.writableLength < roomBytes;
  }

  write(head: Buffer, json: Uint8Array, next: 'more' | 'nothing'): number {
    if (!this.isOpen) return 0;
    // Where there are other operations, these may have something to say in this turn too.
    if (next === 'nothing' && this.#running === 1) return this.#writer.writeLast(this.#raw, head, json);
    return this.#writer.write(this.#raw, head, json);
  }

  /** A message of the protocol itself. Who asks for more than it reads is not read either, until it has caught up. */
  reply(text: string): void {
    if (!this.isOpen) return;
    this.#ws.send(text);
    if (!this.hasRoom()) this.#ws.pause();
  }

  /** Ends its operations, and says goodbye with at most 123 bytes of reason. Twice is once. */
  close(code: number, reason: string): void {
    this.endOperations();
    if (!this.isOpen) return;
    this.#ws.resume();
    this.#ws.close(code, reason);
  }

  /** Cuts it, without a word. */
  terminate(): void {
    this.endOperations();
    this.#ws.terminate();
  }

  endOperations(): void {
    for (const operation of [...this.#operations]) operation.close();
  }

  /** Once per period: has it lived long enough, and is somebody there? */
  beat(nowMs: number): void {
    if (!this.isOpen) return;
    if (nowMs >= this.#endsMs) this.close(4403, 'this socket has lived for an hour: connect again, and resume with `after`');
    else if (this.#awaitsPong && !this.#hasMoved()) this.terminate();
    else this.#ask();
  }

  #ask(): void {
    this.#awaitsPong = true;
    this.#stuckAt = this.#raw.writableLength > 0 ? this.#leftBytes() : undefined;
    this.#ws.ping();
  }

  /** Whoever was stuck and takes bytes again is alive, though its pong may be a long way off. Without having been stuck it proves nothing: the
   * kernel takes megabytes for a client that is gone. */
  #hasMoved(): boolean {
    return this.#stuckAt !== undefined && this.#leftBytes() > this.#stuckAt;
  }

  #leftBytes(): number {
    return this.#raw.bytesWritten - this.#raw.writableLength;
  }

  #drained(): void {
    if (!this.isOpen) return;
    this.#ws.resume();
    // The first one may fill the socket again: next time it is the last.
    const [first] = this.#operations;
    for (const operation of [...this.#operations]) operation.resume();
    if (first !== undefined && this.#operations.delete(first)) this.#operations.add(first);
  }
}
