import { type Breakage, breakage } from '../classify.ts';

/** What a request is for: watches and followed logs stand for minutes, so they may not take all the room of a connection. */
export type Lane = 'watch' | 'follow' | 'request';

/** One HTTP request, whatever the protocol. */
export interface WireRequest {
  readonly method: string;
  /** With the server's own prefix and the query, encoded. */
  readonly path: string;
  /** Names in lower case. Values hold no control characters. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  readonly lane: Lane;
}

/** What a body gave: some bytes, its clean end, or the reason why no more can come. The last two are final. */
export type ByteRead =
  | { readonly type: 'bytes'; readonly chunks: readonly Uint8Array[] }
  | { readonly type: 'ended' }
  | { readonly type: 'broken'; readonly breakage: Breakage };

/** A body, pulled by one reader. What arrived before it broke is read first. */
export interface ByteSource {
  read(): Promise<ByteRead>;
}

/** The head of an answer; its body follows. Ends with the signal it was asked with. */
export interface WireResponse {
  readonly status: number;
  /** By name in lower case; of several the first. */
  header(name: string): string | undefined;
  /** All values of that name, in order; those that came in one line stay together. */
  headers(name: string): readonly string[];
  readonly body: ByteSource;
  /** The monotonic time of the last sign of life of the connection beneath. */
  heardMs(): number;
}

export type WireAnswer =
  | { readonly type: 'answered'; readonly response: WireResponse }
  /** The server has certainly not seen it: it may be sent again, whatever it is. */
  | { readonly type: 'refused'; readonly breakage: Breakage }
  | { readonly type: 'broken'; readonly breakage: Breakage };

/** Headers as Node's clients give them, one value or several of a name, as `WireResponse` reads them. */
export function readHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Pick<WireResponse, 'header' | 'headers'> {
  const all = (name: string) => {
    const value = headers[name];
    return value === undefined ? [] : typeof value === 'string' ? [value] : value;
  };
  return { header: (name) => all(name)[0], headers: all };
}

/** Reads a body to its end. A breakage if it broke, or has more bytes than that. */
export async function readWhole(source: ByteSource, maxBytes: number): Promise<Uint8Array | Breakage> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const read = await source.read();
    if (read.type === 'broken') return read.breakage;
    if (read.type === 'ended') return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    for (const chunk of read.chunks) {
      bytes += chunk.length;
      chunks.push(chunk);
    }
    if (bytes > maxBytes) return breakage('TOO_LARGE', `the answer has more than ${maxBytes / 1024 / 1024} MiB`, 'NEVER');
  }
}
