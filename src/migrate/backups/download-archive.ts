import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { createPublicLookup, isForbiddenAddress } from '../../cluster/transport/public-addresses.ts';
import { isSecureUrl } from '../../config/host.ts';

/** Reports that an archive could not be downloaded. The message is for users, and contains no URL: a download URL is a credential. */
export class DownloadFailure extends Error {
  override readonly name = 'DownloadFailure';
}

export interface DownloadOptions {
  /** True: http is allowed for every host. False: only for loopback. */
  readonly allowHttp: boolean;
  /** Maximum milliseconds without a byte. */
  readonly idleMs: number;
  /**
   * Present if users share the gateway. A user with rights in one namespace can write a download URL, so it must not lead to what only the
   * gateway can reach. Private addresses are then refused, except in these networks, and all failures have one message. Default: any address.
   */
  readonly allowPrivate?: readonly string[] | undefined;
}

/**
 * Downloads with one GET, without credentials and without following redirects. The bytes arrive as fast as the caller reads them. An abort,
 * or the end of the iteration, closes the connection.
 *
 * @throws {DownloadFailure} at the first read if the URL is refused or the answer is not 200, and later if the connection breaks or is idle
 * for too long.
 */
export async function* downloadArchive(
  text: string,
  options: DownloadOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const { allowHttp, idleMs, allowPrivate } = options;
  const url = URL.parse(text);
  if (url === null || !(isSecureUrl(url) || (allowHttp && url.protocol === 'http:')))
    throw new DownloadFailure('its download URL is not https. `backups.allowHttp` of the config file allows http');
  if (`${url.username}${url.password}` !== '') throw new DownloadFailure('its download URL has a user or a password');
  const rule = allowPrivate && { allowPrivate, where: 'status.downloadURL' };
  if (rule && isForbiddenAddress(url.hostname.replaceAll(/[[\]]/g, ''), rule)) throw new DownloadFailure(failed);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const lookup = rule && { lookup: createPublicLookup(rule) };
  const request = (url.protocol === 'https:' ? https : http).get(url, { agent: false, signal, ...lookup });
  let isStalled = false;
  request.setTimeout(idleMs, () => {
    isStalled = true;
    request.destroy();
  });
  request.on('response', resolve);
  request.on('error', reject);
  try {
    const response = await promise;
    if (response.statusCode !== 200) throw new DownloadFailure(`the download was answered with status ${response.statusCode}`);
    yield* rule === undefined ? response : startingWithGzip(response);
  } catch (error) {
    if (signal.aborted) throw error;
    if (rule !== undefined) throw new DownloadFailure(failed, { cause: error });
    if (error instanceof DownloadFailure) throw error;
    if (isStalled) throw new DownloadFailure(`the download stopped for ${idleMs / 1_000} s`, { cause: error });
    // The message of the error may contain the host.
    const { code } = error as NodeJS.ErrnoException;
    throw new DownloadFailure(`${failed}${code === undefined ? '' : ` (${code})`}`, { cause: error });
  } finally {
    request.destroy();
  }
}

/** The message of every failure whose reason would tell a user about the network of the gateway. */
const failed = 'the download failed';

/**
 * Yields the bytes unchanged if they begin like a gzip file.
 *
 * @throws {DownloadFailure} if they do not. Its message is the same as for other failures: another one would tell the user that a server answered
 * with status 200.
 */
async function* startingWithGzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === undefined) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < 2) continue;
      if (head.readUInt16BE() !== 0x1f8b) throw new DownloadFailure(failed);
      yield head;
      head = undefined;
    }
  }
  if (head !== undefined) throw new DownloadFailure(failed);
}
