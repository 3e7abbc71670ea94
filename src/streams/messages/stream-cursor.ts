import { invariant } from '../../core/errors.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { type ClusterName, parseClusterName, parseResourceVersion, type ResourceVersion } from '../../core/names.ts';
import { ByteReader, ByteWriter } from './cursor-bytes.ts';

/** The position of a reader in one source, which is one kind of one cluster. */
export type SourcePosition =
  /**
   * The reader knows all objects of this version. `epoch` is 8 characters of base64url: a hash of the epoch of the store and of the meaning
   * of the filter.
   */
  | { readonly type: 'exact'; readonly epoch: string; readonly version: ResourceVersion }
  /**
   * The reader is in the middle of a first state. It knows the objects of this version whose sort key (`listPlaceOf`) is not after
   * `through`.
   */
  | { readonly type: 'partial'; readonly epoch: string; readonly version: ResourceVersion; readonly through: string }
  /** The reader has received messages about the source, but its objects match no known version. It can resume only with `RESET`. */
  | { readonly type: 'void' };

export const voidPosition: SourcePosition = { type: 'void' };

/** Positions by `sourceKey`. A source that the reader has received nothing about has no entry. */
export type SourcePositions = ReadonlyMap<string, SourcePosition>;

/** Returns the positions, with those in `over` in place of the old ones. An undefined position removes the entry. */
export function withPositions(positions: SourcePositions, over: ReadonlyMap<string, SourcePosition | undefined>): SourcePositions {
  const changed = new Map(positions);
  for (const [key, position] of over) {
    if (position === undefined) changed.delete(key);
    else changed.set(key, position);
  }
  return changed;
}

/** The content of a cursor (docs/internals/streams.md 4). */
export interface StreamCursor {
  /** `WatchScope.digest` of the caller for whom the cursor was made. */
  readonly scope: string;
  readonly positions: SourcePositions;
  /**
   * True if the positions cannot be read, because another key sealed the cursor. Each source then begins with `RESET`. Never written into a
   * cursor.
   */
  readonly isUnreadable?: true;
}

/** The point at which a reader resumes. */
export interface ResumePoint {
  /** A hash of the cursor. Equal for equal cursors, no matter when and by which gateway they were sealed. */
  readonly digest: string;
  readonly cursor: StreamCursor;
}

/** Returns the key of one kind of one cluster. */
export function sourceKey(cluster: ClusterName, kind: GroupKind): string {
  return `${keyOfKind(kind)} ${cluster}`;
}

/** Parses a key of `sourceKey`. `kind` is a `keyOfKind`. Undefined for any other text. */
export function parseSourceKey(key: string): { readonly cluster: ClusterName; readonly kind: string } | undefined {
  // The name of a cluster may contain spaces, but a kind and a group do not.
  const space = key.indexOf(' ');
  const cluster = parseClusterName(key.slice(space + 1));
  return space <= 0 || cluster === undefined ? undefined : { cluster, kind: key.slice(0, space) };
}

/** The version of the format, as the first byte. A cursor with another version of the format is not read. */
const form = 2;
/**
 * The first byte of a position says which fields follow. `absent`: the reader has no position in the source. `unknown`: the position is
 * `void`. No fields follow these two.
 */
const absent = 0;
const unknown = 1;
/**
 * An `exact` position whose version is a number. The epoch follows, then the difference from the last such version that was written. Kinds
 * of one cluster share one counter, so differences are small.
 */
const counted = 2;
/** An `exact` position with any other version. The epoch follows, then the version as text. */
const named = 3;
/**
 * A `partial` position: `partlyCounted` has the fields of `counted`, `partlyNamed` those of `named`. `through` follows at the end: the sort
 * key of the last object that the reader has.
 */
const partlyCounted = 4;
const partlyNamed = 5;
const epochBytes = 6;
/** Maximum version that is written as a difference. Twice the difference must still be an exact number. */
const maxCounted = 2 ** 51;

/**
 * Writes a cursor as bytes. Equal cursors give equal bytes. The bytes name clusters, so they are sealed before a client gets them.
 *
 * A source takes about ten bytes, most of them for the epoch. So a cursor of 12,000 sources fits into one WebSocket message.
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

/** Reads the bytes of `printStreamCursor`. Undefined for any other bytes. */
export function parseStreamCursor(bytes: Uint8Array): StreamCursor | undefined {
  try {
    return readCursor(new ByteReader(bytes));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns the kinds and clusters of the positions, both sorted. */
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

/** Writes each text as two fields: the length of the prefix that it shares with the text before it, then the remaining characters. */
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
  // A prefix must not end in the middle of a surrogate pair.
  return one.slice(0, length).isWellFormed() ? length : length - 1;
}

/**
 * Writes one position. Returns the last version that is a number. The version of the next position is written as the difference from it.
 */
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
  invariant(bytes.length === epochBytes, `expected an epoch of 8 characters, got ${epoch}`);
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
  if (tag > partlyNamed) throw new RangeError('unknown type of position');
  const isCounted = tag === counted || tag === partlyCounted;
  const epoch = reader.bytes(epochBytes).toString('base64url');
  const step = isCounted ? reader.number() : 0;
  const next = step % 2 === 0 ? last + step / 2 : last - (step + 1) / 2;
  const version = parseResourceVersion(isCounted ? String(next) : reader.text());
  if (version === undefined) throw new RangeError('the version is too long');
  if (tag === partlyCounted || tag === partlyNamed)
    return { position: { type: 'partial', epoch, version, through: reader.text() }, last: next };
  return { position: { type: 'exact', epoch, version }, last: next };
}
