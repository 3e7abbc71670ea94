import { invariant } from '../../core/errors.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { type ClusterName, parseClusterName, parseResourceVersion, type ResourceVersion } from '../../core/names.ts';
import { ByteReader, ByteWriter } from './cursor-bytes.ts';

/** Up to where somebody knows one kind of one cluster, having begun with it. */
export type SourcePosition =
  /** All of it as of this version; `epoch` is 8 characters of base64url, which stand for the store's and for what is selected from it. */
  | { readonly type: 'exact'; readonly epoch: string; readonly version: ResourceVersion }
  /** As of this version, the objects whose place (`listPlaceOf`) is not after `through`: a reader in the middle of a first state. */
  | { readonly type: 'partial'; readonly epoch: string; readonly version: ResourceVersion; readonly through: string }
  /** Some of it, or an unknown state: it can only be told again from the beginning. */
  | { readonly type: 'void' };

export const voidPosition: SourcePosition = { type: 'void' };

/** Positions by `sourceKey`. What was never begun with is not in it. */
export type SourcePositions = ReadonlyMap<string, SourcePosition>;

/** The positions, but for what is said of single sources. */
export function withPositions(positions: SourcePositions, over: ReadonlyMap<string, SourcePosition | undefined>): SourcePositions {
  const changed = new Map(positions);
  for (const [key, position] of over) {
    if (position === undefined) changed.delete(key);
    else changed.set(key, position);
  }
  return changed;
}

/** What a cursor of a stream holds (docs/internals/streams.md 4). */
export interface StreamCursor {
  /** `WatchScope.digest` of whoever it was made for. */
  readonly scope: string;
  readonly positions: SourcePositions;
  /** The positions cannot be read: all that was told is to be told anew. Not printed. */
  readonly isUnreadable?: true;
}

/** Where a reader resumes. */
export interface ResumePoint {
  /** Equal for equal cursors, whoever sealed them and when. */
  readonly digest: string;
  readonly cursor: StreamCursor;
}

/** One kind of one cluster, as a text. */
export function sourceKey(cluster: ClusterName, kind: GroupKind): string {
  return `${keyOfKind(kind)} ${cluster}`;
}

/** What a key was made of: `kind` is `keyOfKind`. Undefined for what is none. */
export function parseSourceKey(key: string): { readonly cluster: ClusterName; readonly kind: string } | undefined {
  // No name of a kind or group has a space in it, whereas one of a cluster may.
  const space = key.indexOf(' ');
  const cluster = parseClusterName(key.slice(space + 1));
  return space <= 0 || cluster === undefined ? undefined : { cluster, kind: key.slice(0, space) };
}

/** The first byte: of another one nothing is known. */
const form = 2;
/** What follows of a kind in a cluster. */
const absent = 0;
const unknown = 1;
/** The epoch, and the version as the difference to the one before it: kinds of one cluster count on together. */
const counted = 2;
/** The epoch, and the version as a text. */
const named = 3;
/** The same two, then the place of the last object. */
const partlyCounted = 4;
const partlyNamed = 5;
const epochBytes = 6;
/** Differences of what is less are exact, and twice as much is. */
const maxCounted = 2 ** 51;

/**
 * The bytes from which `parseStreamCursor` makes an equal cursor, and the same bytes for every equal one. They name clusters and are sealed before
 * anybody sees them. Ten bytes a source, most of it the epoch: a stream's cursor has to fit into the message that asks for the rest of it.
 */
export function printStreamCursor({ scope, positions }: StreamCursor): Uint8Array {
  const { clusters, kinds } = axesOf(positions);
  const writer = new ByteWriter();
  writer.number(form);
  writer.text(scope);
  writeSorted(writer, kinds);
  writeSorted(writer, clusters);
  for (const cluster of clusters) {
    let last = 0;
    for (const kind of kinds) last = writePosition(writer, positions.get(`${kind} ${cluster}`), last);
  }
  return writer.written();
}

/** Undefined for what `printStreamCursor` did not make. */
export function parseStreamCursor(bytes: Uint8Array): StreamCursor | undefined {
  try {
    return readCursor(new ByteReader(bytes));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Kinds and clusters that a positions names, in order. */
function axesOf(positions: SourcePositions): { readonly clusters: readonly string[]; readonly kinds: readonly string[] } {
  const clusters = new Set<string>();
  const kinds = new Set<string>();
  for (const key of positions.keys()) {
    const space = key.indexOf(' ');
    kinds.add(key.slice(0, space));
    clusters.add(key.slice(space + 1));
  }
  return { clusters: [...clusters].sort(), kinds: [...kinds].sort() };
}

function readCursor(reader: ByteReader): StreamCursor | undefined {
  if (reader.number() !== form) return undefined;
  const scope = reader.text();
  const kinds = readSorted(reader);
  const clusters = readSorted(reader);
  const positions = new Map<string, SourcePosition>();
  for (const cluster of clusters) {
    let last = 0;
    for (const kind of kinds) {
      const read = readPosition(reader, last);
      if (read !== undefined) positions.set(`${kind} ${cluster}`, read.position);
      last = read?.last ?? last;
    }
  }
  return reader.atEnd ? { scope, positions } : undefined;
}

/** Each text by how much of it is that of the one before. */
function writeSorted(writer: ByteWriter, texts: readonly string[]): void {
  writer.number(texts.length);
  let before = '';
  for (const text of texts) {
    const shared = sharedLength(before, text);
    writer.number(shared);
    writer.text(text.slice(shared));
    before = text;
  }
}

function readSorted(reader: ByteReader): readonly string[] {
  const texts: string[] = [];
  for (let left = reader.number(); left > 0; left--) {
    const shared = reader.number();
    texts.push((texts.at(-1) ?? '').slice(0, shared) + reader.text());
  }
  return texts;
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  // Half a character is no text.
  return one.slice(0, length).isWellFormed() ? length : length - 1;
}

/** @returns What the version after it is told by. */
function writePosition(writer: ByteWriter, position: SourcePosition | undefined, last: number): number {
  if (position === undefined || position.type === 'void') {
    writer.number(position === undefined ? absent : unknown);
    return last;
  }
  const { type, epoch, version } = position;
  const count = Number(version);
  const isCounted = count >= 0 && count < maxCounted && String(count) === version;
  if (type === 'partial') writer.number(isCounted ? partlyCounted : partlyNamed);
  else writer.number(isCounted ? counted : named);
  const bytes = Buffer.from(epoch, 'base64url');
  invariant(bytes.length === epochBytes, `an epoch has 8 characters, not those of ${epoch}`);
  writer.bytes(bytes);
  if (!isCounted) writer.text(version);
  else writer.number(count >= last ? (count - last) * 2 : (last - count) * 2 - 1);
  if (type === 'partial') writer.text(position.through);
  return isCounted ? count : last;
}

function readPosition(reader: ByteReader, last: number): { readonly position: SourcePosition; readonly last: number } | undefined {
  const tag = reader.number();
  if (tag === absent) return undefined;
  if (tag === unknown) return { position: voidPosition, last };
  if (tag > partlyNamed) throw new RangeError('no position is told so');
  const isCounted = tag === counted || tag === partlyCounted;
  const epoch = reader.bytes(epochBytes).toString('base64url');
  const step = isCounted ? reader.number() : 0;
  const next = step % 2 === 0 ? last + step / 2 : last - (step + 1) / 2;
  const version = parseResourceVersion(isCounted ? String(next) : reader.text());
  if (version === undefined) throw new RangeError('no version is so long');
  if (tag === partlyCounted || tag === partlyNamed)
    return { position: { type: 'partial', epoch, version, through: reader.text() }, last: next };
  return { position: { type: 'exact', epoch, version }, last: next };
}
