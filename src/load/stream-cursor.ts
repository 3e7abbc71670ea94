import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import { type ClusterName, parseClusterName, parseResourceVersion, type ResourceVersion } from '../core/names.ts';

/** Up to where somebody knows one kind of one cluster, having begun with it. */
export type Position =
  /** All of it as of this version; `epoch` is `shortEpoch` of the store's. */
  | { readonly type: 'exact'; readonly epoch: string; readonly version: ResourceVersion }
  /** Some of it, or an unknown state: it can only be told again from the beginning. */
  | { readonly type: 'void' };

export const voidPosition: Position = { type: 'void' };

/** Positions by `sourceKey`. What was never begun with is not in it. */
export type Vector = ReadonlyMap<string, Position>;

/** The vector, but for what is said of single sources. */
export function withPositions(vector: Vector, over: ReadonlyMap<string, Position | undefined>): Vector {
  const changed = new Map(vector);
  for (const [key, position] of over) {
    if (position === undefined) changed.delete(key);
    else changed.set(key, position);
  }
  return changed;
}

/** What a cursor of a stream holds (docs/streams.md 4). */
export interface StreamCursor {
  /** `Scope.digest` of whoever it was made for. */
  readonly scope: string;
  readonly vector: Vector;
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

/** Beyond this many bytes a cursor is compressed: that of a few clusters would only grow. */
const compressedFrom = 1_024;
/** A cursor opens only if we sealed it, so this bounds our own mistakes. */
const maxBytes = 16 << 20;
const plain = 0;
const compressed = 1;

/** The bytes from which `parseStreamCursor` makes an equal cursor. They name clusters and are sealed before anybody sees them. */
export function printStreamCursor({ scope, vector }: StreamCursor): Uint8Array {
  const kinds = new Map<string, [cluster: string, epoch?: string, version?: string][]>();
  for (const [key, position] of vector) {
    const space = key.indexOf(' ');
    const kind = key.slice(0, space);
    const entries = kinds.get(kind) ?? [];
    const cluster = key.slice(space + 1);
    entries.push(position.type === 'void' ? [cluster] : [cluster, position.epoch, position.version]);
    kinds.set(kind, entries);
  }
  const bytes = Buffer.from(JSON.stringify([scope, [...kinds]]));
  if (bytes.length < compressedFrom) return Buffer.concat([Buffer.of(plain), bytes]);
  return Buffer.concat([Buffer.of(compressed), deflateRawSync(bytes, { level: 1 })]);
}

/** Undefined for what `printStreamCursor` did not make. */
export function parseStreamCursor(bytes: Uint8Array): StreamCursor | undefined {
  const content = parseContent(bytes);
  if (!Array.isArray(content)) return undefined;
  const [scope, kinds]: readonly unknown[] = content;
  if (typeof scope !== 'string' || !Array.isArray(kinds)) return undefined;
  const vector = new Map<string, Position>();
  for (const [kind, entries] of kinds.filter(isPair)) {
    for (const entry of Array.isArray(entries) ? entries : []) {
      const [cluster, epoch, version]: readonly unknown[] = Array.isArray(entry) ? entry : [];
      const position = positionOf(epoch, version);
      if (typeof cluster !== 'string' || position === undefined) return undefined;
      vector.set(`${String(kind)} ${cluster}`, position);
    }
  }
  return { scope, vector };
}

function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

function positionOf(epoch: unknown, text: unknown): Position | undefined {
  if (epoch === undefined) return voidPosition;
  const version = parseResourceVersion(text);
  return typeof epoch !== 'string' || version === undefined ? undefined : { type: 'exact', epoch, version };
}

function parseContent(bytes: Uint8Array): unknown {
  const [form] = bytes;
  const rest = bytes.subarray(1);
  try {
    return JSON.parse(new TextDecoder().decode(form === compressed ? inflateRawSync(rest, { maxOutputLength: maxBytes }) : rest));
  } catch {
    return undefined;
  }
}
