import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** What holds a line back. */
export interface LineGate {
  readonly isSilent: boolean;
}

/**
 * One connection as TLS sees it: the socket, or nothing at all while the gate is silent. Bytes that come then stay in the kernel, bytes that
 * would go wait, and neither end is told: as if all packets vanished.
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

  /** Follows the gate: call it when that opened or closed. */
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
    // A server that went away in silence does not say so: the socket is closed at the latest with the cluster.
    if (!this.#gate.isSilent) this.#socket.destroy();
    done(error);
  }

  #pass(go: () => void): void {
    if (this.#gate.isSilent) this.#waiting.push(go);
    else go();
  }
}
