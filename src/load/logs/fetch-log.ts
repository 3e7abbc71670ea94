import type { ClusterApi, LogRequest } from '../../cluster/cluster-api.ts';
import type { Fault } from '../../core/faults.ts';
import type { CheckedExtent } from './log-arguments.ts';
import { compareInstants, parseLogInstant, parseLogLine } from './log-times.ts';
import type { LogLineView } from './logs.ts';

/** The container of a log, and the API server to read it from. */
interface LogPlace {
  readonly api: ClusterApi;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The result of reading one log that is not followed. With a fault, `lines` are those that came before it. */
interface FetchedLog {
  readonly lines: readonly LogLineView[];
  readonly truncated: boolean;
  readonly fault?: Fault;
}

/**
 * Reads at most `limitBytes` of one log. The time at the start of each line counts too, as in the API server. Ends after 10 s with a fault.
 * Never throws.
 */
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
    // The request asks for one byte more than the limit, which shows whether the log continues. A longer answer is cut at the limit, even
    // if the server has ignored the limit.
    if (excess > 0) return { lines: since(withoutTornTime(texts), extent), truncated: true };
  }
  return { lines: since(texts, extent), truncated: false };
}

/** Creates the query of the request. It asks for one byte more than the limit. */
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

/**
 * Removes the last `excess` bytes from the lines. A line break counts as one byte. If `isCut` is true, the last line has no line break. A
 * character that is cut in the middle is removed.
 */
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

/** Removes an incomplete UTF-8 character at the end. */
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

/** Removes the last line if only a part of its time was read. */
function withoutTornTime(lines: readonly LogLineView[]): readonly LogLineView[] {
  const last = lines.at(-1);
  return last !== undefined && last.time === undefined && /^[\dTZ:.+-]{0,35}$/.test(last.text) ? lines.slice(0, -1) : lines;
}

/**
 * Removes the lines before `since`. API servers round `sinceTime` to seconds, so they may send such lines. A line without a time continues
 * the line before it, and is removed with that line.
 */
function since(lines: readonly LogLineView[], { since: from }: CheckedExtent): readonly LogLineView[] {
  if (from === undefined) return lines;
  const first = lines.findIndex(({ time }) => {
    const instant = time === undefined ? undefined : parseLogInstant(time);
    return instant !== undefined && compareInstants(instant, from.instant) >= 0;
  });
  return first < 0 ? [] : lines.slice(first);
}
