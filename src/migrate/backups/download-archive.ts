import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
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
  { allowHttp, idleMs }: DownloadOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const url = URL.parse(text);
  if (url === null || !(isSecureUrl(url) || (allowHttp && url.protocol === 'http:')))
    throw new DownloadFailure('its download URL is not https. `backups.allowHttp` of the config file allows http');
  if (`${url.username}${url.password}` !== '') throw new DownloadFailure('its download URL has a user or a password');
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (url.protocol === 'https:' ? https : http).get(url, { agent: false, signal });
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
    for await (const chunk of response) yield chunk as Buffer;
  } catch (error) {
    if (signal.aborted || error instanceof DownloadFailure) throw error;
    if (isStalled) throw new DownloadFailure(`the download stopped for ${idleMs / 1_000} s`, { cause: error });
    // The message of the error may contain the host.
    const { code } = error as NodeJS.ErrnoException;
    throw new DownloadFailure(`the download failed${code === undefined ? '' : ` (${code})`}`, { cause: error });
  } finally {
    request.destroy();
  }
}
