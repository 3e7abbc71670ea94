// Reads streams over many cheap connections, and reports how many messages came or how old they were. `readers.ts` starts it and controls
// it over IPC.
import { randomUUID } from 'node:crypto';

import { answerParent } from '../forked.ts';
import type { ReaderCommand, ReaderFigures } from '../programs/readers.ts';
import {
  openEventStream,
  openRaw,
  openWebSocket,
  type RawListener,
  type StreamSocket,
  type StreamSocketListener,
} from '../stream-socket.ts';

/** Sockets opened at a time. The gateway allows 20 sockets of one address that wait for their `connection_init`. */
const opening = 16;

const napMs = 10;
const napping = new Int32Array(new SharedArrayBuffer(4));

const stamp = /"bench":"(\d+)"/g;

let sockets: StreamSocket[] = [];
let held: StreamSocket[] = [];
/** Number of WebSockets that were opened. */
let dialled = 0;
let messages = 0;
let bytes = 0;
let frameBytes = 0;
let latencies: number[] | undefined;
let waiting: { readonly messages: number; readonly resolve: () => void } | undefined;

answerParent(act);

async function act(command: ReaderCommand): Promise<ReaderFigures> {
  switch (command.type) {
    case 'open':
      ({ frameBytes } = command);
      sockets.push(...(await openMany(command)));
      return {};
    case 'hold':
      held = sockets.splice(0, command.count);
      for (const socket of held) socket.pause();
      return {};
    case 'drop-held':
      for (const socket of held) socket.destroy();
      held = [];
      return {};
    case 'close':
      for (const socket of sockets) socket.destroy();
      sockets = [];
      return {};
    case 'count':
      for (const socket of sockets) socket.countOnly();
      messages = 0;
      bytes = 0;
      return {};
    case 'time':
      messages = 0;
      bytes = 0;
      latencies = [];
      return {};
    case 'until':
      await until(command.messages);
      return { messages, bytes };
    case 'figures':
      return { messages, bytes, ...latencyFigures() };
    default:
      return command satisfies never;
  }
}

async function openMany(command: ReaderCommand & { readonly type: 'open' }): Promise<StreamSocket[]> {
  const opened: StreamSocket[] = [];
  let left = command.sockets;
  await Promise.all(
    Array.from({ length: opening }, async () => {
      while (left > 0) {
        left -= 1;
        opened.push(await openOne(command));
      }
    }),
  );
  return opened;
}

/** Opens one connection with its streams. Resolves when every stream has received `SYNCED`. */
function openOne(command: ReaderCommand & { readonly type: 'open' }): Promise<StreamSocket> {
  const { query, streamsEach } = command;
  return new Promise((resolve, reject) => {
    let unsynced = streamsEach;
    const first = (text: string) => {
      if (text.includes('SYNCED')) unsynced -= 1;
      if (unsynced === 0) resolve(socket);
    };
    const message = (text: string) => {
      if (unsynced === 0) return heard(text);
      if (text.includes('"errors":') || text.includes('"type":"error"')) reject(new Error(`expected a stream, got ${text.slice(0, 500)}`));
      if (!text.startsWith('{"type":"connection_ack"')) return first(text);
      // Random ids, as usual clients make them, so no two streams receive the same frame.
      for (let n = 0; n < streamsEach; n += 1) socket.send(JSON.stringify({ id: randomUUID(), type: 'subscribe', payload: { query } }));
    };
    const read = (part: Buffer) => (unsynced === 0 ? heardRaw(part.length) : first(part.toString('latin1')));
    const socket = dial(command, { message, read, closed: (reason) => reject(new Error(`a stream ended: ${reason}`)) });
  });
}

function dial(
  { protocol, port, query }: ReaderCommand & { readonly type: 'open' },
  listener: StreamSocketListener & RawListener,
): StreamSocket {
  switch (protocol) {
    case 'raw':
      return openRaw(port, listener);
    case 'sse':
      return openEventStream(port, { query }, listener);
    case 'websocket': {
      const socket = openWebSocket(port, listener);
      // The credential is the number of the socket. A publisher with several callers gives each caller the same number of sockets.
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: String(dialled) } }));
      dialled += 1;
      return socket;
    }
    default:
      return protocol satisfies never;
  }
}

function heard(text: string): void {
  messages += 1;
  bytes += text.length;
  if (latencies !== undefined) {
    const nowUs = Number(process.hrtime.bigint() / 1000n);
    for (const [, sentUs] of text.matchAll(stamp)) if (sentUs !== '0') latencies.push(nowUs - Number(sentUs));
  }
  wake();
}

function heardRaw(length: number): void {
  bytes += length;
  messages = Math.floor(bytes / frameBytes);
  wake();
}

function wake(): void {
  if (waiting === undefined || messages < waiting.messages) return;
  waiting.resolve();
  waiting = undefined;
}

function until(count: number): Promise<void> {
  return new Promise((resolve) => {
    waiting = { messages: count, resolve };
    wake();
    if (latencies === undefined) nap();
  });
}

/**
 * Pauses reading for a moment while messages are only counted. Otherwise most writes of the server would also pay for waking this process.
 * Clients across a network do not cost a server that time.
 */
function nap(): void {
  if (waiting === undefined) return;
  Atomics.wait(napping, 0, 0, napMs);
  setImmediate(nap);
}

function latencyFigures(): ReaderFigures {
  const sorted = Float64Array.from(latencies ?? []).sort();
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN) / 1000;
  latencies = undefined;
  return sorted.length === 0 ? {} : { timed: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
