import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';

/**
 * The purpose of a request: a watch, a followed log (`follow`), or any other request (`request`). Watches and followed logs stay open for
 * minutes, so their number is limited, to leave capacity for other requests.
 */
export type Lane = 'watch' | 'follow' | 'request';

/** One HTTP request, independent of the HTTP version. */
export interface WireRequest {
  readonly method: string;
  /** The encoded path, with the path of the server's URL and the query. */
  readonly path: string;
  /** Names are in lower case. Values have no control characters. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  readonly lane: Lane;
}

/** The result of one read: bytes, the normal end of the body, or the failure that broke the body off. The last two are final. */
export type ByteRead =
  | { readonly type: 'bytes'; readonly chunks: readonly Uint8Array[] }
  | { readonly type: 'ended' }
  | { readonly type: 'broken'; readonly failure: ClusterFailure };

/** A body with one reader. Bytes that arrived before a failure are read first. */
export interface ByteSource {
  read(): Promise<ByteRead>;
}

/** The head of an answer and its body. The body ends when the signal of the request aborts. */
export interface WireResponse {
  readonly status: number;
  /** Returns the first value of a header, or undefined without the header. Names are in lower case. */
  header(name: string): string | undefined;
  /** Returns all values of a header, in order. Values that were sent in one line stay together. */
  headers(name: string): readonly string[];
  readonly body: ByteSource;
  /** Returns the monotonic time at which the connection last received something. */
  lastReceivedMs(): number;
}

export type WireAnswer =
  | { readonly type: 'answered'; readonly response: WireResponse }
  /** The server has certainly not processed the request, so any request may be sent again. */
  | { readonly type: 'refused'; readonly failure: ClusterFailure }
  | { readonly type: 'broken'; readonly failure: ClusterFailure };

/** Adapts the headers of Node's clients, which have one value or a list for each name. */
export function readHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Pick<WireResponse, 'header' | 'headers'> {
  const all = (name: string) => {
    const value = headers[name];
    return value === undefined ? [] : typeof value === 'string' ? [value] : value;
  };
  return { header: (name) => all(name)[0], headers: all };
}

/** Reads a body to its end. Returns a failure if the body broke off or is longer than `maxBytes`. */
export async function readWhole(source: ByteSource, maxBytes: number): Promise<Uint8Array | ClusterFailure> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const read = await source.read();
    if (read.type === 'broken') return read.failure;
    if (read.type === 'ended') return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    for (const chunk of read.chunks) {
      bytes += chunk.length;
      chunks.push(chunk);
    }
    if (bytes > maxBytes) return clusterFailure('TOO_LARGE', `the answer has more than ${maxBytes / 1024 / 1024} MiB`, 'NEVER');
  }
}
