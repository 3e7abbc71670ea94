import type net from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../core/clock.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import { createByteQueue } from './byte-queue.ts';
import { ClusterFailureError, failureOfError } from './connection-errors.ts';
import type { DialResult, TlsIdentity } from './dial.ts';
import type { DialledConnection } from './http2-sessions.ts';
import { type ConnectionActivity, createConnectionActivity, superviseConnection } from './liveness.ts';
import { abandonedFailure, failureOfSignal } from './request-scope.ts';
import { type Lane, readHeaders, type WireAnswer, type WireRequest } from './wire.ts';

/** Sockets per lane. Each watch and each followed log holds a socket for minutes, so they have sockets of their own. */
const sockets: Readonly<Record<Lane, number>> = { watch: 80, follow: 100, request: 20 };
/**
 * Idle milliseconds before TCP keepalive starts. Linux then sends 10 probes, 1 s apart, so a dead peer is noticed after 40 s. The 60 s of
 * undici are too long.
 */
const keepAliveMs = 30_000;
/**
 * TCP keepalive only proves that the kernel answers. So the server itself gets a request after this many milliseconds without a byte,
 * while a stream is open.
 */
const probeMs = 30_000;
const drainMs = 30_000;
/** Milliseconds after which an unused connection is closed. Most servers close it later. */
const idleMs = 30_000;

/** The HTTP/1.1 connections to one API server with one identity. */
export interface Http1Pool {
  readonly identity: TlsIdentity;
  /** Takes over a connection that is already open. */
  adopt(connection: DialledConnection): void;
  request(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  /** Takes no new requests. Open requests have 30 s to end, and then the sockets are destroyed. */
  drain(): void;
  readonly dead: boolean;
}

export interface Http1PoolOptions {
  readonly origin: string;
  readonly identity: TlsIdentity;
  /** `/version` after the path of the server's URL. */
  readonly probePath: string;
  readonly clock: Clock;
  dial(identity: TlsIdentity, signal: AbortSignal): Promise<DialResult>;
}

/** Creates the pool. The first request opens the first connection. When `life` aborts, all sockets are destroyed. */
export function createHttp1Pool(options: Http1PoolOptions, life: AbortSignal): Http1Pool {
  return new UndiciPools(options, life);
}

class UndiciPools implements Http1Pool {
  readonly identity: TlsIdentity;
  readonly #options: Http1PoolOptions;
  readonly #ending = new AbortController();
  readonly #activity: ConnectionActivity;
  readonly #pools: Readonly<Record<Lane, Pool>>;
  #adopted: net.Socket | undefined;
  #streams = 0;

  constructor(options: Http1PoolOptions, life: AbortSignal) {
    this.identity = options.identity;
    this.#options = options;
    this.#activity = createConnectionActivity(options.clock);
    this.#pools = { watch: this.#poolFor('watch'), follow: this.#poolFor('follow'), request: this.#poolFor('request') };
    const abandon = () => this.#destroy(abandonedFailure);
    life.addEventListener('abort', abandon, { once: true });
    this.#ending.signal.addEventListener('abort', () => life.removeEventListener('abort', abandon), { once: true });
    if (life.aborted) abandon();
    this.#supervise();
  }

  get dead(): boolean {
    return this.#ending.signal.aborted;
  }

  adopt({ socket }: DialledConnection): void {
    this.#adopted?.destroy();
    this.#adopted = socket;
  }

  async request(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    if (signal.aborted || this.dead) return { type: 'broken', failure: failureOfSignal(signal) ?? abandonedFailure };
    this.#streams++;
    return await dispatch(this.#pools[request.lane], { request, activity: this.#activity, ended: () => this.#streams-- }, signal);
  }

  drain(): void {
    const reason = clusterFailure('UNREACHABLE', 'the connection was replaced, as the certificates changed', 'NOW');
    const ended = Promise.all(Object.values(this.#pools).map((pool) => pool.close())).catch(() => undefined);
    const late = this.#options.clock.sleep(drainMs, this.#ending.signal);
    void Promise.race([ended, late]).then(() => this.#destroy(reason));
  }

  #poolFor(lane: Lane): Pool {
    return new Pool(this.#options.origin, {
      connections: sockets[lane],
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      connect: (_options, callback) => void this.#connect(callback),
    });
  }

  async #connect(callback: (...args: [Error, null] | [null, net.Socket]) => void): Promise<void> {
    const adopted = this.#adopted?.destroyed === false ? this.#adopted : undefined;
    this.#adopted = undefined;
    const dialling =
      adopted === undefined ? this.#options.dial(this.identity, this.#ending.signal) : { type: 'dialled' as const, socket: adopted };
    // An open connection is awaited too: undici loses a request if `connect` calls back synchronously.
    const made = await dialling;
    if (made.type === 'broken') return callback(new ClusterFailureError(made.failure), null);
    made.socket.setKeepAlive(true, keepAliveMs);
    callback(null, made.socket);
  }

  #destroy(reason: ClusterFailure): void {
    if (this.dead) return;
    this.#ending.abort(reason);
    this.#adopted?.destroy();
    for (const pool of Object.values(this.#pools)) void pool.destroy(new ClusterFailureError(reason)).catch(() => undefined);
  }

  /** Sends the server a request while a stream is open and no byte arrives. Any answer is a sign of life. */
  #supervise(): void {
    const activity = this.#activity;
    const probe = () => {
      if (this.#streams === 0) return activity.markReceived();
      const request: WireRequest = {
        method: 'GET',
        path: this.#options.probePath,
        headers: { accept: 'application/json' },
        lane: 'request',
      };
      void dispatch(this.#pools.request, { request, activity, ended: () => undefined }, this.#ending.signal).then(readToEnd);
    };
    const onDead = () => this.#destroy(clusterFailure('UNREACHABLE', 'the API server has sent nothing for 40 s'));
    void superviseConnection({ clock: this.#options.clock, activity, probe, onDead, silenceMs: probeMs }, this.#ending.signal);
  }
}

/** Reads an answer to its end, so that its connection can be used again. */
async function readToEnd(answer: WireAnswer): Promise<void> {
  if (answer.type !== 'answered') return;
  while ((await answer.response.body.read()).type === 'bytes');
}

interface DispatchOptions {
  readonly request: WireRequest;
  /** The activity of the pool. Each byte of any stream marks a sign of life in it. */
  readonly activity: ConnectionActivity;
  readonly ended: () => void;
}

function dispatch(pool: Pool, { request, activity, ended }: DispatchOptions, signal: AbortSignal): Promise<WireAnswer> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    const queue = createByteQueue({ pause: () => controller?.pause(), resume: () => controller?.resume() });
    const finish = (broken: ClusterFailure | undefined) => {
      if (broken === undefined) queue.end();
      else queue.fail(broken);
      signal.removeEventListener('abort', abort);
      resolve({ type: 'broken', failure: broken ?? abandonedFailure });
    };
    const abort = () => {
      const because = failureOfSignal(signal) ?? abandonedFailure;
      finish(because);
      controller?.abort(new ClusterFailureError(because));
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (signal.aborted) started.abort(new ClusterFailureError(abandonedFailure));
      },
      onResponseStart(_controller, status, headers) {
        activity.markReceived();
        // Informational answers (1xx) precede the real one.
        if (status < 200) return;
        resolve({
          type: 'answered',
          response: { status, ...readHeaders(headers), body: queue, lastReceivedMs: () => activity.lastReceivedMs },
        });
      },
      onResponseData(_controller, chunk) {
        activity.markReceived();
        queue.push(chunk);
      },
      onResponseEnd() {
        finish(undefined);
        ended();
      },
      onResponseError(_controller, error) {
        finish(signal.aborted ? (failureOfSignal(signal) ?? abandonedFailure) : failureOfError(error));
        ended();
      },
    };
    const { method, path, headers, body } = request;
    pool.dispatch({ method, path, headers: flat(headers), body: body === undefined ? null : Buffer.from(body) }, handler);
  });
}

/** Returns headers as a flat list: name, value, name, value. In this form a name may occur twice. */
function flat(headers: WireRequest['headers']): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [name, value] : value.flatMap((one) => [name, one]),
  );
}
