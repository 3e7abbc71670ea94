import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { YogaServerOptions } from 'graphql-yoga';
import { isLoopback, parseHostHeader } from '../../config/host.ts';
import type { GraphqlOperation } from '../../operations/operation.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { HttpOperation } from './http-operation.ts';

export interface GuardOptions {
  /**
   * The address that the gateway listens on. Undefined with authentication: the header `Host` is not checked, because each request needs
   * credentials.
   */
  readonly host: string | undefined;
  readonly allowOrigins: readonly string[];
  /** The bearer token that requests must carry. Default: no token is required. */
  readonly token?: string | undefined;
}

/** The checks that every request must pass, on every path and transport. */
export interface Guard {
  /**
   * Refuses requests that a web page of another origin may have sent. Checks the header `Origin`, and in local mode the header `Host`, which
   * DNS rebinding cannot forge.
   *
   * @returns The CORS headers that let an allowed origin read the answer. Empty if the browser needs none.
   * @throws {RequestRefusal} 403.
   */
  checkOrigin(headers: IncomingHttpHeaders): Readonly<Record<string, string>>;
  /**
   * Checks the bearer token, if the gateway has one.
   *
   * @throws {RequestRefusal} 401.
   */
  checkToken(headers: IncomingHttpHeaders): void;
  /** Replaces the bearer token. Requests with the former one are refused from then on. */
  setToken(token: string): void;
}

/** Yoga's `cors` option. Lets the allowed origins read answers. Other origins get no CORS headers. */
export function corsOf(allowOrigins: readonly string[]): NonNullable<YogaServerOptions<HttpOperation, GraphqlOperation>['cors']> {
  return (request) => {
    const origin = request.headers.get('origin');
    if (origin === null || !allowOrigins.includes(origin)) return false;
    return {
      // With a list of one origin, Yoga would not send `vary: Origin`. So the list always has at least two entries.
      origin: [...allowOrigins, origin],
      methods: ['GET', 'POST', 'OPTIONS'],
      allowedHeaders: ['content-type', 'authorization'],
      credentials: false,
      maxAge: 600,
    };
  };
}

/** Creates the guard. It compares tokens in constant time. */
export function createGuard({ host, allowOrigins, token }: GuardOptions): Guard {
  let expected = token === undefined ? undefined : digest(token);
  return {
    checkOrigin: (headers) => {
      if (host !== undefined) checkHost(host, headers.host);
      return admitOrigin(headers, allowOrigins);
    },
    checkToken: (headers) => {
      if (expected === undefined) return;
      const shown = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
      // All digests have the same length, so the time of the comparison reveals neither the length nor a prefix of the token.
      if (shown !== undefined && timingSafeEqual(digest(shown), expected)) return;
      const message = shown === undefined ? 'expected a bearer token in the Authorization header' : 'the bearer token is wrong';
      throw new RequestRefusal({ status: 401, code: 'UNAUTHENTICATED', message, headers: { 'www-authenticate': 'Bearer' } });
    },
    setToken: (next) => {
      expected = digest(next);
    },
  };
}

function checkHost(host: string, header = ''): void {
  const named = parseHostHeader(header);
  if (named === undefined || (isLoopback(host) && !isLoopback(named)))
    throw new RequestRefusal({ status: 403, code: 'FORBIDDEN', message: 'the Host header does not name this gateway' });
}

function admitOrigin({ origin, host }: IncomingHttpHeaders, allowOrigins: readonly string[]): Readonly<Record<string, string>> {
  if (origin === undefined) return {};
  if (isOwnOrigin(origin, host ?? '')) return {};
  if (allowOrigins.includes(origin)) return { 'access-control-allow-origin': origin, vary: 'Origin' };
  throw new RequestRefusal({
    status: 403,
    code: 'FORBIDDEN',
    message: 'the Origin header is neither that of this gateway nor an allowed one',
  });
}

/** True if the origin is our own page. Ignores the scheme, because a proxy in front of the gateway may end TLS. */
function isOwnOrigin(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  return url !== null && origin === url.origin && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
