import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { YogaServerOptions } from 'graphql-yoga';
import { hostOf, isLoopback } from '../config/host.ts';
import type { HttpOperation } from './front.ts';
import type { Operation, ServePlugin } from './operations.ts';
import { Refusal } from './refusal.ts';

export interface GuardOptions {
  /** The address that is listened on. */
  readonly host: string;
  readonly allowOrigins: readonly string[];
  /** The bearer token that requests must show. Absent: none is asked for. */
  readonly token?: string;
}

/** What stands before every request, whatever its path and transport. */
export interface Guard {
  /**
   * Refuses what a web page of another origin may have sent: by `Host`, which DNS rebinding cannot forge, and by `Origin`. Costs nothing.
   *
   * @returns The headers that let an allowed origin read the answer; none where the browser needs none.
   * @throws {Refusal} 403.
   */
  admit(headers: IncomingHttpHeaders): Readonly<Record<string, string>>;
  /**
   * Demands the token, where there is one.
   *
   * @throws {Refusal} 401.
   */
  identify(headers: IncomingHttpHeaders): void;
}

/** Yoga's `cors`: lets the allowed origins read answers, and says nothing to others. */
export function corsOf(allowOrigins: readonly string[]): NonNullable<YogaServerOptions<HttpOperation, Operation>['cors']> {
  return (request) => {
    const origin = request.headers.get('origin');
    if (origin === null || !allowOrigins.includes(origin)) return false;
    return {
      // With one origin alone Yoga would not say that the answer varies by it.
      origin: [...allowOrigins, origin],
      methods: ['GET', 'POST', 'OPTIONS'],
      allowedHeaders: ['content-type', 'authorization'],
      credentials: false,
      maxAge: 600,
    };
  };
}

/** Demands the token of requests over HTTP, before their body is read. */
export function useIdentity(guard: Pick<Guard, 'identify'>): ServePlugin {
  return { onRequestParse: ({ serverContext: { req } }) => guard.identify(req.headers) };
}

/** Makes the guard of local mode. The token is compared in constant time. */
export function createGuard({ host, allowOrigins, token }: GuardOptions): Guard {
  const onlyLoopback = isLoopback(host);
  const expected = token === undefined ? undefined : digest(token);
  return {
    admit: (headers) => {
      const named = hostOf(headers.host ?? '');
      if (named === undefined || (onlyLoopback && !isLoopback(named)))
        throw new Refusal({ status: 403, code: 'FORBIDDEN', message: 'the Host header is not one of this gateway' });
      return admitOrigin(headers, allowOrigins);
    },
    identify: (headers) => {
      if (expected === undefined) return;
      const shown = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
      // Digests are of one length, so the comparison tells neither length nor prefix.
      if (shown !== undefined && timingSafeEqual(digest(shown), expected)) return;
      const message = shown === undefined ? 'expected a bearer token in the Authorization header' : 'the bearer token is not the right one';
      throw new Refusal({ status: 401, code: 'UNAUTHENTICATED', message, headers: { 'www-authenticate': 'Bearer' } });
    },
  };
}

function admitOrigin({ origin, host }: IncomingHttpHeaders, allowOrigins: readonly string[]): Readonly<Record<string, string>> {
  if (origin === undefined) return {};
  if (isOwn(origin, host ?? '')) return {};
  if (allowOrigins.includes(origin)) return { 'access-control-allow-origin': origin, vary: 'Origin' };
  throw new Refusal({ status: 403, code: 'FORBIDDEN', message: 'the Origin header is neither our own nor an allowed one' });
}

/** Our own page, whether TLS ends before us or not. */
function isOwn(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  return url !== null && origin === url.origin && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
