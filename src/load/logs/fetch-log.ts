import type { ClusterApi, LogRequest } from '../../cluster/cluster-api.ts';
import type { Fault } from '../../core/faults.ts';
import type { CheckedExtent } from './log-arguments.ts';
import { compareInstants, parseLogInstant, parseLogLine } from './log-times.ts';
import type { LogLineView } from './logs.ts';

/** Which container's log, from which API server. */
interface LogPlace {
  readonly api: ClusterApi;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** What came of one log that is not followed. With a fault, `lines` are what came before it. */
interface FetchedLog {
  readonly lines: readonly LogLineView[];
  readonly truncated: boolean;
  readonly fault?: Fault;
}

/** Reads one log, at most `limitBytes` of it, times included, as the API server counts. Ends after 10 s with a fault; throws nothing. */
export async function fetchLog({ api, ...place }: LogPlace, extent: CheckedExtent, signal: AbortSignal): Promise<FetchedLog> {
  const { limitBytes } = extent;
  const texts: LogLineView[] = [];
  let bytes = 0;
  for await (const part of api.logs({ ...place, ...requestOf(extent) }, signal)) {
    if (part.type === 'failed') return { lines: since(texts, extent), truncated: false, fault: part.fault };
    if (part.type !== 'lines') continue;
    bytes += part.bytes;
    const excess = bytes - limitBytes;
    texts.push(...(excess > 0 ? cut(part, excess) : part.lines).map(parseLogLine));
    // One byte more was asked for, to know whether there is more; a server that does not count is not listened to.
    if (excess > 0) return { lines: since(withoutTornTime(texts), extent), truncated: true };
  }
  return { lines: since(texts, extent), truncated: false };
}

/** The query: one byte more than may be given. */
function requestOf({
  previous,
  tailLines,
  limitBytes,
  sinceSeconds,
  since: from,
}: CheckedExtent): Omit<LogRequest, keyof Omit<LogPlace, 'api'>> {
  return {
    follow: false,
    previous,
    timestamps: true,
    tailLines,
    limitBytes: limitBytes + 1,
    sinceSeconds,
    sinceTime: from?.text,
  };
}

/** The part without so many bytes at its end. Of a line that is cut, what is left of a torn character goes too. */
function cut({ lines, isCut }: { readonly lines: readonly Uint8Array[]; readonly isCut: boolean }, excess: number): readonly Uint8Array[] {
  const kept = [...lines];
  let left = excess;
  for (let line = kept.pop(), hasEnd = !isCut; line !== undefined; line = kept.pop(), hasEnd = true) {
    if (hasEnd) left--;
    if (left <= 0) return [...kept, line];
    if (line.length > left) return [...kept, wholeCharacters(line.subarray(0, line.length - left))];
    left -= line.length;
  }
  return kept;
}

/** Without the first bytes of a character whose rest is missing. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) return back < lengthOf(byte) ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}

/** A last line that was cut within its time says nothing. */
function withoutTornTime(lines: readonly LogLineView[]): readonly LogLineView[] {
  const last = lines.at(-1);
  return last !== undefined && last.time === undefined && /^[\dTZ:.+-]{0,35}$/.test(last.text) ? lines.slice(0, -1) : lines;
}

/** API servers read `sinceTime` by the second. The rest of a long line goes with its beginning. */
function since(lines: readonly LogLineView[], { since: from }: CheckedExtent): readonly LogLineView[] {
  if (from === undefined) return lines;
  const first = lines.findIndex(({ time }) => {
    const instant = time === undefined ? undefined : parseLogInstant(time);
    return instant !== undefined && compareInstants(instant, from.instant) >= 0;
  });
  return first < 0 ? [] : lines.slice(first);
}
