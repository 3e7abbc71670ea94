import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Caller } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import { invariant } from '../../core/errors.ts';
import type { CallerSession } from '../../identity/authenticator.ts';
import { watchSession } from '../../identity/session-watch.ts';
import type { SocketBacklog, UnsentBytes } from '../../operations/unsent-bytes.ts';
import type { CallerLoad } from '../callers/caller-load.ts';
import { sessionEnds } from '../callers/stream-session.ts';
import type { FrameWriter } from './frame-writer.ts';
import type { OperationSocket, SocketOperation } from './socket-operation.ts';

/** Bytes that may wait to be written before streams have to pause. */
const roomBytes = 64 << 10;

/** Maximum bytes that the kernel takes for a client that does not read: `net.ipv4.tcp_wmem` of Linux. */
const kernelBytes = 4 << 20;

/** A client that reads slower than 32 KiB/s may be cut. */
const slowestBytesPerMs = (32 << 10) / 1000;

export interface SocketConnectionOptions {
  readonly ws: WebSocket;
  /** The socket below `ws`. */
  readonly raw: Socket;
  readonly writer: FrameWriter;
  readonly unsent: UnsentBytes;
  /** The end of the lifetime of the socket, in milliseconds of the monotonic clock. */
  readonly endsMs: number;
}

/** One open WebSocket of a client: writes its frames, checks that the client is alive, and has its operations. */
export class SocketConnection implements OperationSocket {
  #caller: Caller | undefined;
  readonly #ws: WebSocket;
  readonly #raw: Socket;
  readonly #writer: FrameWriter;
  readonly #endsMs: number;
  readonly #operations = new Set<SocketOperation>();
  /** Number of operations. Kept in a field because each message reads it. */
  #running = 0;
  readonly #backlog: SocketBacklog;
  #awaitsPong = false;
  #pingedMs = 0;
  /** Bytes written before the last ping. */
  #bytesAtPing = 0;
  /** Bytes written before the last ping that the client has answered. */
  #bytesAtPong = 0;
  /** Bytes that the client may have to read before it sees the last ping. */
  #bytesBeforePing = 0;

  constructor({ ws, raw, writer, endsMs, unsent }: SocketConnectionOptions) {
    this.#backlog = unsent.watch(raw);
    this.#ws = ws;
    this.#raw = raw;
    this.#writer = writer;
    this.#endsMs = endsMs;
    raw.on('drain', () => this.#onDrain());
    ws.on('pong', () => {
      this.#awaitsPong = false;
      this.#bytesAtPong = this.#bytesAtPing;
    });
    raw.once('close', () => this.#backlog[Symbol.dispose]());
  }

  /** True if neither side has closed the socket. */
  get isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  get caller(): Caller {
    invariant(this.#caller !== undefined, 'expected a socket that was acknowledged');
    return this.#caller;
  }

  /**
   * Gives the socket its caller, before its first operation. Closes it when the credentials of the caller end: with 4403 if they have expired,
   * with 4401 if they are no longer accepted.
   *
   * @throws {RequestRefusal} 429 if the caller has too many sockets.
   */
  identify(session: CallerSession, { load, clock }: { readonly load: CallerLoad; readonly clock: Clock }): void {
    const taken = load.take('sockets', session.caller.key);
    const life = new AbortController();
    this.#ws.once('close', () => {
      life.abort();
      taken[Symbol.dispose]();
    });
    this.#caller = session.caller;
    const onEnd = (reason: keyof typeof sessionEnds) => this.close(reason === 'expired' ? 4403 : 4401, sessionEnds[reason]);
    void watchSession(session, { clock, onEnd }, life.signal);
  }

  addOperation(operation: SocketOperation): void {
    this.#operations.add(operation);
    this.#running = this.#operations.size;
  }

  removeOperation(operation: SocketOperation): void {
    this.#operations.delete(operation);
    this.#running = this.#operations.size;
  }

  hasRoom(): boolean {
    if (this.#raw.writableLength < roomBytes) return true;
    this.#backlog.update();
    return false;
  }

  write(head: Buffer, json: Uint8Array, next: 'more' | 'nothing'): number {
    if (!this.isOpen) return 0;
    // The only operation of the socket sends its last message of this turn, so no frame needs to wait for others.
    if (next === 'nothing' && this.#running === 1) return this.#writer.writeLast(this.#raw, head, json);
    return this.#writer.write(this.#raw, head, json);
  }

  writeAnswer(head: Buffer, json: readonly Uint8Array[]): Promise<void> {
    if (!this.isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      this.#writer.writePieces(this.#raw, head, json, () => resolve());
      this.#backlog.update();
      if (!this.hasRoom()) this.#ws.pause();
    });
  }

  /** Sends a message of the protocol. If the client does not read its replies, reading its messages pauses until it has caught up. */
  reply(text: string): void {
    if (!this.isOpen) return;
    this.#ws.send(text);
    this.#backlog.update();
    if (!this.hasRoom()) this.#ws.pause();
  }

  /** Ends the operations and closes the socket, with at most 123 bytes of reason. A second call does nothing. */
  close(code: number, reason: string): void {
    this.endOperations();
    if (!this.isOpen) return;
    this.#ws.resume();
    this.#ws.close(code, reason);
  }

  /** Cuts the socket without a close frame. */
  terminate(): void {
    this.endOperations();
    this.#ws.terminate();
  }

  endOperations(): void {
    for (const operation of [...this.#operations]) operation.close();
  }

  /** Called every 12 s. Closes the socket at the end of its lifetime, cuts it if the client does not answer, or sends a ping. */
  checkLiveness(nowMs: number): void {
    if (!this.isOpen) return;
    if (nowMs >= this.#endsMs) this.close(4403, 'this socket has lived for an hour: connect again, and resume with `after`');
    else if (this.#backlog.isStalled(nowMs) || this.#isPongLate(nowMs)) this.terminate();
    else if (!this.#awaitsPong) this.#ping(nowMs);
  }

  #ping(nowMs: number): void {
    const sent = this.#raw.bytesWritten;
    this.#awaitsPong = true;
    this.#pingedMs = nowMs;
    this.#bytesBeforePing = Math.min(sent - this.#bytesAtPong, kernelBytes);
    this.#bytesAtPing = sent;
    this.#ws.ping();
  }

  /**
   * True if the pong is late. A fast client must send it within one period after the ping. A slow client has more time, because it must
   * first read the bytes before the ping, which the kernel has taken. While bytes wait in this process, `SocketBacklog` decides whether
   * the client is alive.
   */
  #isPongLate(nowMs: number): boolean {
    if (!this.#awaitsPong || this.#raw.writableLength > 0) return false;
    return nowMs - Math.max(this.#pingedMs, this.#backlog.waitedMs) >= this.#bytesBeforePing / slowestBytesPerMs;
  }

  #onDrain(): void {
    if (!this.isOpen) return;
    this.#ws.resume();
    // The first operation may fill the socket again, so next time it comes last.
    const [first] = this.#operations;
    for (const operation of [...this.#operations]) operation.resume();
    if (first !== undefined && this.#operations.delete(first)) this.#operations.add(first);
  }
}
