import { createReadStream } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import type { ConfiguredHook } from '../../config/config.ts';
import { isSecureUrl } from '../../config/host.ts';
import { readToken } from '../../config/token.ts';
import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import { untilAborted } from '../../core/scheduling/until-aborted.ts';
import type { HookRequest } from './hook-request.ts';

/** Maximum bytes of the body of a call. */
const maxCallBytes = 1 << 20;

/** Maximum bytes of the file with the certificates of authorities. The usual bundle of all public authorities has 0.2 MiB. */
const maxAuthorityBytes = 4 << 20;

/** Milliseconds until the first repetition of a call, and the longest time between two calls. */
const firstRetryMs = 800;
const longestRetryMs = 30_000;

/** The statuses below 500 with which a server asks to send the same request later: timeout, too early, too many requests. */
const retriedStatuses = [408, 425, 429];

/** The result of one call. Messages name the hook, and contain no URL, token or answer. */
export type HookResult =
  | { readonly result: 'done' }
  /** The same call may succeed after `afterMs`. */
  | { readonly result: 'again'; readonly afterMs: number; readonly message: string }
  /** `HOOK_FAILED`: the hook refused the operation, or the call cannot be made as the hook is configured. */
  | { readonly result: 'failed'; readonly message: string };

export interface HookCallOptions {
  readonly request: HookRequest;
  /** The number of earlier calls of this operation. It determines the time until the next one: 0.8 s, doubled with each, up to 30 s. */
  readonly attempts: number;
  readonly clock: Clock;
}

/**
 * Calls a hook once, and never rejects. Reads the token and the certificates of the hook from their files first. Does not follow
 * redirects, and closes the connection without reading the body of the answer.
 *
 * The call ends after the timeout of the hook, which also covers the files, with `again`. An abort ends it in the same way; the aborted
 * caller ignores the result. The server may have received the call nevertheless.
 */
export async function callHook(hook: ConfiguredHook, options: HookCallOptions, signal: AbortSignal): Promise<HookResult> {
  const { request, attempts, clock } = options;
  const again = (why: string): HookResult => {
    const afterMs = Math.min(longestRetryMs, firstRetryMs * 2 ** attempts);
    return { result: 'again', afterMs, message: `the hook ${hook.name} ${why}` };
  };
  const failed = (why: string): HookResult => ({ result: 'failed', message: `the hook ${hook.name} ${why}` });
  const body = Buffer.from(JSON.stringify(request));
  if (body.length > maxCallBytes) return failed(`was not called: expected a request of at most ${maxCallBytes} bytes, got ${body.length}`);
  if (!isSecureUrl(new URL(hook.url))) return failed('was not called: expected a URL with https, or with http to this machine');
  const ended = new AbortController();
  const limit = AbortSignal.any([signal, ended.signal]);
  const timer = clock.sleep(hook.timeoutMs, limit).then(() => ended.abort());
  try {
    const status = await post(hook, body, limit);
    if (status >= 200 && status < 300) return { result: 'done' };
    const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
    const why = `answered with status ${status}${redirect}`;
    return status >= 500 || retriedStatuses.includes(status) ? again(why) : failed(why);
  } catch (error) {
    if (limit.aborted) return again(`did not answer within ${hook.timeoutMs / 1_000} s`);
    if (error instanceof MusterError) return failed(`was not called: ${error.message}`);
    return again(`could not be reached${codeOf(error)}`);
  } finally {
    ended.abort();
    await timer;
  }
}

/**
 * Sends the body and returns the status of the answer.
 *
 * @throws {MusterError} if the files of the hook cannot be used. Any other error means that there was no answer.
 */
async function post({ url, tokenFile, caFile }: ConfiguredHook, body: Buffer, signal: AbortSignal): Promise<number> {
  const token = tokenFile === undefined ? undefined : await untilAborted(readToken(tokenFile), signal);
  const ca = caFile === undefined ? undefined : await untilAborted(readAuthorities(caFile), signal);
  signal.throwIfAborted();
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  // A connection of its own for each call. A pooled connection may belong to a server that is gone, or use older certificates.
  const options = { method: 'POST', headers, agent: false, signal } as const;
  const request = url.startsWith('https:') ? https.request(url, { ...options, ca }) : http.request(url, options);
  request.on('response', (response) => {
    resolve(response.statusCode ?? 0);
    response.on('error', () => undefined).destroy();
  });
  request.on('error', reject);
  request.end(body);
  return promise;
}

async function readAuthorities(file: string): Promise<string> {
  const read = await text(createReadStream(file, { end: maxAuthorityBytes })).catch((error: unknown) => {
    throw new MusterError('BAD_INPUT', `the CA file ${file} cannot be read${codeOf(error)}`, { cause: error });
  });
  if (read.length <= maxAuthorityBytes && read.includes('-----BEGIN CERTIFICATE-----')) return read;
  throw new MusterError('BAD_INPUT', `the CA file ${file}: expected certificates in PEM, at most ${maxAuthorityBytes} bytes`);
}

/** Returns the code of a system error in parentheses. Its message may contain an address. */
function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? ` (${code})` : '';
}
