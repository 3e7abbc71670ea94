import type { Socket } from 'node:net';
import { networkOf } from '../callers/peer-network.ts';

/** The peer of a connection. It is the same for a TLS connection and the TCP connection below it. */
type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/** The connections of one network or caller, by peer, the oldest first. */
type Group = Map<string, Socket>;

/**
 * Bounds the connections of a listener. A connection belongs to the network of its peer until a request on it has shown its caller, and then to
 * that caller. If there are too many connections, the network or caller with the most loses one: a new connection of its own, else its oldest.
 * So one network or caller cannot close the listener to the others.
 */
export class ConnectionLimit {
  readonly #max: number;
  readonly #groups = new Map<string, Group>();
  /** The group of each connection, by peer. */
  readonly #groupOf = new Map<string, string>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Adds a new connection. Cuts a connection if there are too many now. */
  add(socket: Socket): void {
    const peer = peerOf(socket);
    const group = `network ${networkOf(socket.remoteAddress)}`;
    this.#enter(peer, group, socket);
    socket.once('close', () => this.#leave(peer, socket));
    if (this.#groupOf.size > this.#max) this.#cutOne(socket, group);
  }

  /** Moves a connection to the caller who has sent a request on it. From now on it counts for this caller, and no longer for its network. */
  identified(peer: Peer, caller: string): void {
    const key = peerOf(peer);
    const [before, group] = [this.#groupOf.get(key), `caller ${caller}`];
    const socket = before === undefined || before === group ? undefined : this.#groups.get(before)?.get(key);
    if (socket === undefined) return;
    this.#leave(key, socket);
    this.#enter(key, group, socket);
  }

  #cutOne(newest: Socket, own: string): void {
    let largest = own;
    for (const [name, group] of this.#groups) if (group.size > (this.#groups.get(largest)?.size ?? 0)) largest = name;
    const [oldest = newest] = this.#groups.get(largest)?.values() ?? [];
    const cut = largest === own ? newest : oldest;
    this.#leave(peerOf(cut), cut);
    cut.destroy();
  }

  #enter(peer: string, name: string, socket: Socket): void {
    const group = this.#groups.get(name) ?? new Map<string, Socket>();
    this.#groups.set(name, group.set(peer, socket));
    this.#groupOf.set(peer, name);
  }

  /** Removes a connection. Does nothing if it was removed before, even if another connection has the same peer now. */
  #leave(peer: string, socket: Socket): void {
    const name = this.#groupOf.get(peer);
    const group = name === undefined ? undefined : this.#groups.get(name);
    if (name === undefined || group?.get(peer) !== socket) return;
    group.delete(peer);
    if (group.size === 0) this.#groups.delete(name);
    this.#groupOf.delete(peer);
  }
}

function peerOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress} ${remotePort}`;
}
