import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The condition that silences a line. */
export interface LineGate {
  readonly isSilent: boolean;
}

/**
 * One connection as TLS sees it. While the gate is silent, incoming bytes stay in the kernel, outgoing bytes wait, and neither end is
 * notified, as if all packets were lost.
 */
export class Line extends Duplex {
  readonly #socket: Socket;
  readonly #gate: LineGate;
  #waiting: (() => void)[] = [];

  constructor(socket: Socket, gate: LineGate) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#gate = gate;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Uint8Array) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    if (gate.isSilent) socket.pause();
  }

  /** Adapts to the gate. Call it when the gate has opened or closed. */
  regulate(): void {
    if (this.#gate.isSilent) {
      this.#socket.pause();
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
    this.#socket.resume();
  }

  /** Resets the connection. */
  cut(): void {
    this.#socket.resetAndDestroy();
    this.destroy();
  }

  override _read(): void {
    if (!this.#gate.isSilent) this.#socket.resume();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#pass(() => this.#socket.write(chunk, (error) => done(error)));
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#pass(() => this.#socket.end(() => done()));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#waiting = [];
    // A server that disappeared silently sends no close. The socket is closed at the latest with the cluster.
    if (!this.#gate.isSilent) this.#socket.destroy();
    done(error);
  }

  #pass(go: () => void): void {
    if (this.#gate.isSilent) this.#waiting.push(go);
    else go();
  }
}
