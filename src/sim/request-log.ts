import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Clock } from '../core/clock.ts';
import type { RequestedResource, SimRequest } from './sim-cluster.ts';

/** A request while it is served: the log shows it, the server completes it. */
export interface ServedRequest extends SimRequest {
  status?: number;
  endedMs?: number;
  resource?: RequestedResource;
  user?: string;
}

/** The latest requests that are kept. */
const maxRequests = 100_000;

/** What the server was asked, the oldest first. */
export class RequestLog {
  readonly #clock: Clock;
  #requests: ServedRequest[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): readonly SimRequest[] {
    return this.#requests;
  }

  begin(message: IncomingMessage | Http2ServerRequest): ServedRequest {
    const [path = '/', search = ''] = (message.url ?? '/').split('?');
    const request: ServedRequest = {
      method: message.method ?? 'GET',
      path,
      query: Object.fromEntries(new URLSearchParams(search)),
      headers: headersOf(message),
      protocol: message.httpVersionMajor === 2 ? 'h2' : 'http1',
      startedMs: this.#clock.monotonic(),
    };
    if (this.#requests.length >= maxRequests * 1.25) this.#requests = this.#requests.slice(-maxRequests);
    this.#requests.push(request);
    return request;
  }
}

function headersOf(message: IncomingMessage | Http2ServerRequest): Record<string, string> {
  const entries = Object.entries(message.headers).filter(([name, value]) => value !== undefined && !name.startsWith(':'));
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]));
}
