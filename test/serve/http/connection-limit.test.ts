import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ConnectionLimit } from '../../../src/serve/http/connection-limit.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  isCut = false;

  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  destroy(): void {
    this.isCut = true;
    this.emit('close');
  }
}

/** A limit with connections that are written as address and port: `10.0.0.1 1`. */
function limitOf(most: number) {
  const limit = new ConnectionLimit(most);
  const open = new Map<string, FakeSocket>();
  const connect = (...peers: readonly string[]) => {
    for (const peer of peers) {
      const [address = '', port] = peer.split(' ');
      const socket = new FakeSocket(address, Number(port));
      open.set(peer, socket);
      limit.add(socket as unknown as Socket);
    }
  };
  const identify = (caller: string, ...peers: readonly string[]) => {
    for (const peer of peers) limit.identified(open.get(peer) as unknown as Socket, caller);
  };
  return {
    connect,
    identify,
    close: (peer: string) => open.get(peer)?.destroy(),
    cut: () => [...open].filter(([, { isCut }]) => isCut).map(([peer]) => peer),
  };
}

test('one network alone loses its new connections, and keeps those it has', () => {
  const { connect, close, cut } = limitOf(2);
  connect('10.0.0.1 1', '10.0.0.1 2', '10.0.0.1 3');
  expect(cut()).toEqual(['10.0.0.1 3']);
  close('10.0.0.1 1');
  connect('10.0.0.1 4');
  expect(cut()).not.toContain('10.0.0.1 4');
});

test('a network with many connections loses its oldest to other networks, until all have equally many', () => {
  const { connect, cut } = limitOf(4);
  connect('10.0.0.1 1', '10.0.0.1 2', '10.0.0.1 3', '10.0.0.1 4', '10.0.0.2 1', '10.0.0.2 2', '10.0.0.2 3');
  expect(cut()).toEqual(['10.0.0.1 1', '10.0.0.1 2', '10.0.0.2 3']);
});

test('connections of callers count for the caller, from whatever network they come', () => {
  const { connect, identify, cut } = limitOf(4);
  connect('10.0.0.1 1', '10.0.0.1 2', '10.0.0.2 1', '10.0.0.1 3');
  identify('ann', '10.0.0.1 3');
  identify('eve', '10.0.0.1 1', '10.0.0.1 2', '10.0.0.2 1');
  identify('eve', '10.0.0.1 1');
  connect('10.0.0.1 4');
  expect(cut()).toEqual(['10.0.0.1 1']);
});

test('a connection that has ended does not count, and its caller is forgotten', () => {
  const { connect, identify, close, cut } = limitOf(2);
  connect('10.0.0.1 1', '10.0.0.1 2');
  close('10.0.0.1 1');
  identify('eve', '10.0.0.1 1');
  connect('10.0.0.1 3');
  expect(cut()).toEqual(['10.0.0.1 1']);
});
