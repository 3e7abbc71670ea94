import type net from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../core/clock.ts';
import { byteQueue } from './byte-queue.ts';
import { type Breakage, breakage } from './classify.ts';
import { BreakageError, breakageOfError } from './connection-errors.ts';
import type { Dialled, TlsIdentity } from './dial.ts';
import { createPulse, type Pulse, watchOver } from './liveness.ts';
import { abandoned, breakageIn, untilAborted } from './request-scope.ts';
import type { Connection } from './sessions.ts';
import type { Lane, WireAnswer, WireRequest } from './wire.ts';

/** 100 sockets in all. Each watch holds one for minutes, so they have their own. */
const sockets: Readonly<Record<Lane, number>> = { watch: 80, request: 20 };
/** Then Linux probes 10 times at 1 s: a dead peer is noticed after 40 s. undici's own 60 s would be too late. */
const keepAliveMs = 30_000;
/** TCP keepalive proves a kernel only: so often the server itself is asked, while a stream stands and nothing comes. */
const probeMs = 30_000;
const drainMs = 30_000;

/** The HTTP/1.1 connections to one API server as one identity. */
export interface Http1Pool {
  readonly identity: TlsIdentity;
  /** Takes over a connection that was made already. */
  adopt(connection: Connection): void;
  request(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  /** Lets open requests end, for 30 s. */
  drain(): void;
  readonly dead: boolean;
}

export interface Http1PoolOptions {
  readonly origin: string;
  readonly identity: TlsIdentity;
  readonly clock: Clock;
  dial(identity: TlsIdentity, signal: AbortSignal): Promise<Dialled>;
}

/** Nothing is opened before the first request. At the end of `life` all sockets are destroyed. */
export function createHttp1Pool({ origin, identity, clock, dial }: Http1PoolOptions, life: AbortSignal): Http1Pool {
  const ending = new AbortController();
  const pulse = createPulse(clock);
  const spare: net.Socket[] = [];
  let streams = 0;

  const connector = async (callback: (...args: [Error, null] | [null, net.Socket]) => void) => {
    const adopted = spare.find((socket) => !socket.destroyed);
    spare.length = 0;
    // Awaited in either case: undici forgets a request whose connection is there in the turn in which it was asked for.
    const made = await (adopted === undefined ? dial(identity, ending.signal) : { type: 'dialled' as const, socket: adopted });
    if (made.type === 'broken') return callback(new BreakageError(made.breakage), null);
    made.socket.setKeepAlive(true, keepAliveMs);
    callback(null, made.socket);
  };
  const poolFor = (lane: Lane) =>
    new Pool(origin, {
      connections: sockets[lane],
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 30_000,
      connect: (_options, callback) => void connector(callback),
    });
  const pools: Readonly<Record<Lane, Pool>> = { watch: poolFor('watch'), request: poolFor('request') };

  const destroy = (because: Breakage) => {
    if (ending.signal.aborted) return;
    ending.abort(because);
    for (const socket of spare) socket.destroy();
    for (const pool of Object.values(pools)) void pool.destroy(new BreakageError(because)).catch(() => undefined);
  };
  const abandon = () => destroy(abandoned);
  life.addEventListener('abort', abandon, { once: true });
  ending.signal.addEventListener('abort', () => life.removeEventListener('abort', abandon), { once: true });

  const request = async (wanted: WireRequest, signal: AbortSignal): Promise<WireAnswer> => {
    if (signal.aborted) return { type: 'broken', breakage: breakageIn(signal) ?? abandoned };
    streams++;
    return await dispatch(pools[wanted.lane], { request: wanted, pulse, clock, ended: () => streams-- }, signal);
  };
  const ask = () => {
    if (streams === 0) return pulse.beat();
    const probe: WireRequest = { method: 'GET', path: '/version', headers: { accept: 'application/json' }, lane: 'request' };
    void dispatch(pools.request, { request: probe, pulse, clock, ended: () => undefined }, ending.signal).then(drained);
  };
  const dead = () => destroy(breakage('UNREACHABLE', 'the API server has not been heard for 40 s'));
  void watchOver({ clock, pulse, ask, dead, silenceMs: probeMs }, ending.signal);

  return {
    identity,
    request,
    adopt: ({ socket }) => void spare.push(socket),
    get dead() {
      return ending.signal.aborted;
    },
    drain() {
      const closed = Promise.all(Object.values(pools).map((pool) => pool.close())).catch(() => undefined);
      void untilAborted(Promise.race([closed, clock.sleep(drainMs, ending.signal)]), ending.signal).then(() =>
        destroy(breakage('UNREACHABLE', 'the connection was replaced, as the certificates changed', 'NOW')),
      );
    },
  };
}

/** Reads an answer to its end, so that its connection can be used again. */
async function drained(answer: WireAnswer): Promise<void> {
  if (answer.type !== 'answered') return;
  while ((await answer.response.body.read()).type === 'bytes');
}

interface DispatchOptions {
  readonly request: WireRequest;
  /** Beats at each byte of any stream. */
  readonly pulse: Pulse;
  readonly clock: Clock;
  readonly ended: () => void;
}

function dispatch(pool: Pool, { request, pulse, ended }: DispatchOptions, signal: AbortSignal): Promise<WireAnswer> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    const queue = byteQueue({ pause: () => controller?.pause(), resume: () => controller?.resume() });
    const finish = (broken: Breakage | undefined) => {
      if (broken === undefined) queue.end();
      else queue.fail(broken);
      signal.removeEventListener('abort', abort);
      resolve({ type: 'broken', breakage: broken ?? abandoned });
    };
    const abort = () => {
      const because = breakageIn(signal) ?? abandoned;
      finish(because);
      controller?.abort(new BreakageError(because));
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (signal.aborted) started.abort(new BreakageError(abandoned));
      },
      onResponseStart(_controller, status, headers) {
        pulse.beat();
        // Informational answers come before the answer.
        if (status < 200) return;
        const header = (name: string) => firstOf(headers[name]);
        resolve({ type: 'answered', response: { status, header, body: queue, heardMs: () => pulse.heardMs } });
      },
      onResponseData(_controller, chunk) {
        pulse.beat();
        queue.push(chunk);
      },
      onResponseEnd() {
        finish(undefined);
        ended();
      },
      onResponseError(_controller, error) {
        finish(signal.aborted ? (breakageIn(signal) ?? abandoned) : breakageOfError(error));
        ended();
      },
    };
    const { method, path, headers, body } = request;
    pool.dispatch({ method, path, headers: flat(headers), body: body === undefined ? null : Buffer.from(body) }, handler);
  });
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Name, value, name, value: the form in which a name may come twice. */
function flat(headers: WireRequest['headers']): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [name, value] : value.flatMap((one) => [name, one]),
  );
}
