import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { acceptedEncoding, type CompressedBytes, compressWithGzip, matchesEtag } from '../../operations/compressed-bytes.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { ServedSchema } from '../../operations/served-schema.ts';
import type { UnsentBytes } from '../../operations/unsent-bytes.ts';
import type { RequestAuthenticator } from '../callers/request-authenticator.ts';
import { type GatewayHealth, readyzText } from '../monitoring/health.ts';
import type { Metrics } from '../monitoring/metrics.ts';
import type { ConsolePages } from './console-pages.ts';
import type { GraphqlHandler } from './graphql-handler.ts';
import type { Guard } from './guard.ts';
import { type HttpAnswer, sendHttpAnswer, textAnswer } from './http-answer.ts';

export interface RouterOptions {
  readonly handler: GraphqlHandler;
  readonly guard: Pick<Guard, 'checkOrigin'>;
  readonly requestAuthenticator: RequestAuthenticator;
  readonly consolePages: ConsolePages;
  /** True if this router serves /metrics. False: it answers 404. */
  readonly servesMetrics: boolean;
  readonly health: GatewayHealth;
  readonly metrics: Metrics;
  readonly served: () => ServedSchema;
  readonly unsent: UnsentBytes;
  readonly onRefused: (refusal: RequestRefusal) => void;
  readonly onBug: (error: unknown) => void;
}

type Page = (request: IncomingMessage) => HttpAnswer | Promise<HttpAnswer>;

/**
 * Routes each request to its handler, after the guard has checked its headers.
 *
 * Next: requests to /graphql continue in graphql-handler.ts.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #sdl = new WeakMap<object, Promise<CompressedBytes>>();
  readonly #pages: ReadonlyMap<string, Page>;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#pages = new Map<string, Page>([
      ['/schema.graphql', (request) => this.#schema(request)],
      ...(options.servesMetrics ? [['/metrics', (request: IncomingMessage) => this.#metrics(request)] as const] : []),
      ['/livez', () => textAnswer(200, 'ok\n')],
      ['/readyz', (request) => this.#readyz(request)],
    ]);
  }

  /** Answers one request. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const cors = this.#options.guard.checkOrigin(request.headers);
      const path = pathOf(request);
      if (path === '/graphql') return await this.#graphql(request, response, cors);
      const answer = await this.#page(path, request, cors);
      sendHttpAnswer(response, { ...answer, headers: { ...answer.headers, ...cors } });
      await this.#options.unsent.untilTaken(response);
    } catch (error) {
      if (!(error instanceof RequestRefusal)) this.#options.onBug(error);
      else this.#options.onRefused(error);
      const refusal = error instanceof RequestRefusal ? error : undefined;
      sendHttpAnswer(response, textAnswer(refusal?.status ?? 500, `${refusal?.message ?? 'Unexpected error.'}\n`, refusal?.headers));
    }
  }

  #page(path: string, request: IncomingMessage, cors: OutgoingHttpHeaders): HttpAnswer | Promise<HttpAnswer> {
    const own = this.#pages.get(path);
    const page = own === undefined ? this.#options.consolePages.at(path, request) : () => own(request);
    if (page === undefined) {
      const paths = ['/', '/graphql', ...this.#pages.keys()].join(', ');
      return textAnswer(404, `nothing is served at this path: expected one of ${paths}\n`);
    }
    const allow = 'GET, HEAD, OPTIONS';
    if (request.method === 'OPTIONS') return preflight(cors, allow);
    if (request.method !== 'GET' && request.method !== 'HEAD') return textAnswer(405, `expected ${allow}\n`, { allow });
    return page();
  }

  #graphql(request: IncomingMessage, response: ServerResponse, cors: OutgoingHttpHeaders): Promise<void> {
    if (request.method === 'OPTIONS') response.setHeader('allow', 'GET, HEAD, POST, OPTIONS');
    return this.#options.handler(request, response, { cors });
  }

  async #schema(request: IncomingMessage): Promise<HttpAnswer> {
    await this.#options.requestAuthenticator.authenticate(request);
    const served = this.#options.served();
    const etag = `"${served.hash}"`;
    const headers = { 'content-type': 'application/graphql; charset=utf-8', 'cache-control': 'no-cache', etag };
    if (matchesEtag(request.headers['if-none-match'], etag)) return { status: 304, headers };
    const bytes = this.#sdl.get(served.schema) ?? compressWithGzip(Buffer.from(served.sdl()));
    this.#sdl.set(served.schema, bytes);
    const found = acceptedEncoding(request.headers['accept-encoding'], await bytes);
    return { status: 200, headers: { ...headers, ...found.headers }, body: [found.body] };
  }

  async #metrics(request: IncomingMessage): Promise<HttpAnswer> {
    await this.#options.requestAuthenticator.authenticate(request);
    return metricsAnswer(this.#options.metrics);
  }

  async #readyz(request: IncomingMessage): Promise<HttpAnswer> {
    const { health, requestAuthenticator } = this.#options;
    const status = health.isReady() ? 200 : 503;
    if (!new URLSearchParams(request.url?.split('?', 2)[1]).has('verbose'))
      return textAnswer(status, status === 200 ? 'ok\n' : 'not ready\n');
    // The details name clusters, so they need a caller.
    const { caller } = await requestAuthenticator.authenticate(request);
    return textAnswer(status, await readyzText(health, caller));
  }
}

/** Returns the metrics in the format of Prometheus. */
async function metricsAnswer(metrics: Metrics): Promise<HttpAnswer> {
  return textAnswer(200, await metrics.text(), { 'content-type': metrics.contentType });
}

/** Answers the requests of a listener that serves /metrics and nothing else, to anyone who can reach its port. Never rejects. */
export function createMetricsHandler({ metrics, onBug }: Pick<RouterOptions, 'metrics' | 'onBug'>): RequestHandler {
  return async (request, response) => {
    try {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (pathOf(request) !== '/metrics') return sendHttpAnswer(response, textAnswer(404, 'expected /metrics\n'));
      if (!isRead) return sendHttpAnswer(response, textAnswer(405, 'expected GET, HEAD\n', { allow: 'GET, HEAD' }));
      sendHttpAnswer(response, await metricsAnswer(metrics));
    } catch (error) {
      onBug(error);
      sendHttpAnswer(response, textAnswer(500, 'Unexpected error.\n'));
    }
  };
}

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function preflight(cors: OutgoingHttpHeaders, allow: string): HttpAnswer {
  if (Object.keys(cors).length === 0) return { status: 204, headers: { allow } };
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': allow,
      'access-control-allow-headers': 'content-type, authorization',
      'access-control-max-age': '600',
    },
  };
}
