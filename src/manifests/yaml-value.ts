import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../core/json.ts';
import { readPlainScalar } from './yaml-scalars.ts';

/** The reason why a document cannot be read, with the offset in its text. Messages never contain values. */
export class YamlRefusal extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** The maximum number of characters that all aliases together may add to a document. */
const maxAliasedCharacters = 3 * 1024 * 1024;

/** The state while one document is read. */
interface ReadingState {
  /** The value of each anchor, and its number of characters. */
  readonly anchors: Map<string, { readonly value: Json; readonly characters: number }>;
  /** The number of characters so far, with aliases expanded. */
  characters: number;
  aliased: number;
}

/**
 * Returns the value of a document as kubectl reads it. The scalars of the document must have been parsed as texts.
 *
 * Plain scalars are read by `readPlainScalar`, and keys become texts. `<<` merges maps at its position: a later key or merge overrides
 * earlier ones. An alias and its anchor give the same JavaScript value in the result.
 *
 * @throws {YamlRefusal} For tags other than those of text, numbers, booleans, null, lists and maps. For duplicate keys, and keys that are
 * null, a list or a map. For aliases of an anchor that is not complete yet, and aliases that add more than 3 MiB.
 */
export function valueOfDocument(document: Document.Parsed): Json {
  return readNode(document.contents, { anchors: new Map(), characters: 0, aliased: 0 });
}

function readNode(node: unknown, reading: ReadingState): Json {
  if (node === null || node === undefined) return null;
  if (isAlias(node)) return readAlias(node, reading);
  const before = reading.characters;
  const value = readContents(node, reading);
  const anchor = (node as { readonly anchor?: string }).anchor;
  if (anchor !== undefined) reading.anchors.set(anchor, { value, characters: reading.characters - before });
  return value;
}

function readContents(node: unknown, reading: ReadingState): Json {
  reading.characters += 1;
  if (isScalar(node)) return readScalar(node, reading);
  if (isMap(node)) return readMap(node, reading);
  if (isSeq(node)) return readList(node, reading);
  throw new YamlRefusal('expected a scalar, a list or a map', 0);
}

function readAlias(alias: Alias, reading: ReadingState): Json {
  const meant = reading.anchors.get(alias.source);
  if (meant === undefined) throw new YamlRefusal('expected an alias of an anchor before it', offsetOf(alias));
  reading.characters += meant.characters;
  reading.aliased += meant.characters;
  if (reading.aliased > maxAliasedCharacters) throw new YamlRefusal('expected aliases that add at most 3 MiB', offsetOf(alias));
  return meant.value;
}

const prefix = 'tag:yaml.org,2002:';
const scalarTags: ReadonlySet<string> = new Set(['int', 'float', 'bool', 'null'].map((name) => prefix + name));

function readScalar(scalar: Scalar, reading: ReadingState): Json {
  const text = typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? '');
  reading.characters += text.length;
  // An escape can produce half of a surrogate pair, which UTF-8 cannot encode.
  if (!text.isWellFormed()) throw new YamlRefusal('expected valid Unicode text', offsetOf(scalar));
  const { tag } = scalar;
  if (tag === undefined && scalar.type !== 'PLAIN') return text;
  // The tag `!` marks a text, even if it looks like a number.
  if (tag === '!' || tag === `${prefix}str`) return text;
  if (tag !== undefined && !scalarTags.has(tag)) throw new YamlRefusal('expected no custom tag', offsetOf(scalar));
  const read = readPlainScalar(text);
  if (read.result === 'refused') throw new YamlRefusal(read.message, offsetOf(scalar));
  if (tag !== undefined && !fits(read.value, tag)) throw new YamlRefusal('expected a value that its tag allows', offsetOf(scalar));
  return read.value;
}

function fits(value: Json, tag: string): boolean {
  switch (tag.slice(prefix.length)) {
    case 'null':
      return value === null;
    case 'bool':
      return typeof value === 'boolean';
    default:
      return typeof value === 'number' || isRawNumber(value);
  }
}

function readList(list: YAMLSeq, reading: ReadingState): Json {
  refuseTag(list, 'seq');
  return list.items.map((item) => (isPair(item) ? mapOf([item], reading) : readNode(item, reading)));
}

function readMap(map: YAMLMap, reading: ReadingState): Json {
  refuseTag(map, 'map');
  return mapOf(map.items, reading);
}

function refuseTag(collection: YAMLMap | YAMLSeq, own: string): void {
  const { tag } = collection;
  if (tag !== undefined && tag !== prefix + own) throw new YamlRefusal('expected no custom tag', offsetOf(collection));
}

function mapOf(pairs: readonly Pair[], reading: ReadingState): JsonObject {
  // A Map, because `__proto__` is an ordinary key.
  const entries = new Map<string, Json>();
  const written = new Set<string>();
  for (const { key, value } of pairs) {
    if (isMerge(key)) {
      for (const [name, member] of mergedEntries(readNode(value, reading), offsetOf(key))) entries.set(name, member);
      continue;
    }
    const name = keyOf(readNode(key, reading), offsetOf(key));
    if (written.has(name)) throw new YamlRefusal('expected each key once', offsetOf(key));
    written.add(name);
    entries.set(name, readNode(value, reading));
  }
  return Object.fromEntries(entries);
}

function isMerge(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<' && key.tag === undefined;
}

/** Returns the entries to merge. If several maps have the same key, the first map wins. */
function mergedEntries(merged: Json, offset: number): readonly (readonly [string, Json])[] {
  const maps: readonly Json[] = Array.isArray(merged) ? merged.toReversed() : [merged];
  if (!maps.every(isJsonObject)) throw new YamlRefusal('expected a map, or a list of maps, to merge', offset);
  return maps.flatMap((map) => Object.entries(map)).map(([name, member]) => [name, member ?? null]);
}

function keyOf(key: Json, offset: number): string {
  if (typeof key === 'string') return key;
  if (isRawNumber(key)) return key.rawJSON;
  if (typeof key === 'number' || typeof key === 'boolean') return String(key);
  throw new YamlRefusal('expected a key that is a text, a number, true or false', offset);
}

function offsetOf(node: unknown): number {
  return (node as { readonly range?: readonly number[] | null } | null)?.range?.[0] ?? 0;
}
