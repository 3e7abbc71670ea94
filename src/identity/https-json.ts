import { readFile } from 'node:fs/promises';
import { get } from 'node:https';

/** Maximum bytes of an answer. */
const maxBytes = 1 << 20;

/**
 * Fetches a JSON document over HTTPS. The file with authorities (`caFile`) is read for each request, so that it can be replaced while the
 * gateway runs. Without it, the authorities of Node.js count. Redirects are not followed, because they would lead to a server that the config
 * does not name.
 *
 * @throws {Error} if the answer does not come, has another status than 200, is larger than 1 MiB, or is no JSON. An abort ends the request.
 */
export async function fetchJson(url: string, { caFile, signal }: { readonly caFile: string | undefined; readonly signal: AbortSignal }) {
  const ca = caFile === undefined ? undefined : await readFile(caFile);
  const text = await new Promise<string>((resolve, reject) => {
    const request = get(url, { signal, headers: { accept: 'application/json' }, ...(ca === undefined ? {} : { ca }) }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > maxBytes) request.destroy(new Error(`expected at most ${maxBytes} bytes`));
      });
      response.once('error', reject);
      response.once('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString());
        else reject(new Error(`expected status 200, got ${response.statusCode}`));
      });
    });
    request.once('error', reject);
  });
  return JSON.parse(text) as unknown;
}
