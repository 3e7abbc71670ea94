import { MusterError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { keyOfKind } from '../core/kinds.ts';
import { parsePlaceKey } from './given-names.ts';
import { embeddedObjectMeta } from './hand-written-types.ts';
import { joinKindSchemas } from './join-kinds.ts';
import { type KindSource, scalarNames } from './model.ts';
import { parseListRules, textsIn } from './model-document.ts';
import { compareText, type KindSchema, listOf, type ObjectShape, type Shape, type ShapeField } from './shapes.ts';

/** A custom kind as the clusters of this run and earlier ones have defined it. */
export interface LockedKind {
  readonly schema: KindSchema;
  /** The last day on which a cluster served it: `YYYY-MM-DD`, of UTC. */
  readonly servedOn: string;
}

/** What is remembered of custom kinds from one run to the next, so that a cluster that is down takes no type away and no type another name. */
export interface SchemaLock {
  /** By `keyOfKind`. */
  readonly kinds: ReadonlyMap<string, LockedKind>;
  /** As `createModel` gives and takes them, in order of arrival. */
  readonly prefixes: ReadonlyMap<string, string>;
}

/** The only version of the lock file there is. */
export const schemaLockVersion = 'schema-lock.muster.dev/v1';

/** A kind that nobody has served for longer is forgotten. */
export const keptDays = 30;

/** Nothing remembered. */
export const emptySchemaLock: SchemaLock = { kinds: new Map(), prefixes: new Map() };

/** The lock as JSON with a line for each kind and each name: equal text for equal locks, whatever the order in which its kinds came. */
export function printSchemaLock({ kinds, prefixes }: SchemaLock): string {
  const lines = [...kinds].sort(([a], [b]) => compareText(a, b)).map(([, locked]) => printKind(locked));
  const names = [...prefixes].map((pair) => JSON.stringify(pair));
  return `{"apiVersion":${JSON.stringify(schemaLockVersion)},"names":[\n${names.join(',\n')}\n],"kinds":[\n${lines.join(',\n')}\n]}\n`;
}

/** In one order of keys, whoever has made the schema. */
function printKind({ schema, servedOn }: LockedKind): string {
  const { group, kind, versions, plural, singular, shortNames, categories, namespaced, source, description, shape, conflicts } = schema;
  const names = { group, kind, versions: versions.toSorted(compareText), plural, singular, shortNames, categories };
  return JSON.stringify({ schema: { ...names, namespaced, source, description, shape, conflicts }, servedOn });
}

/**
 * The lock that a document holds. A name that GraphQL cannot write, or that two things have, is not taken over: it is given anew.
 *
 * @throws {MusterError} `BAD_INPUT` if `printSchemaLock` cannot have made it: where, and what was expected.
 */
export function parseSchemaLock(document: unknown): SchemaLock {
  if (!isJsonObject(document)) throw malformed('the document', 'an object');
  if (document.apiVersion !== schemaLockVersion) throw malformed('apiVersion', schemaLockVersion);
  const { names, kinds } = document;
  if (!Array.isArray(names)) throw malformed('names', 'a list');
  if (!Array.isArray(kinds)) throw malformed('kinds', 'a list');
  const locked = (kinds as readonly Json[]).map((value, place) => parseKind(value, `kinds[${place}]`));
  const pairs = (names as readonly Json[]).flatMap((pair): [string, string][] => {
    if (!Array.isArray(pair) || pair.length !== 2) throw malformed('names', 'pairs of texts');
    const [key, name] = pair;
    if (typeof key !== 'string' || typeof name !== 'string') throw malformed('names', 'pairs of texts');
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !name.startsWith('__') ? [[key, name]] : [];
  });
  return {
    kinds: new Map(locked.map((kind) => [keyOfKind(kind.schema), kind])),
    prefixes: joinNames(new Map(), new Map(pairs)),
  };
}

/**
 * Both, joined: kinds field by field, each served on the later day. Where both have chosen names that cannot stand together, those of `kept`
 * stand: whoever starts next goes by them.
 */
export function joinSchemaLocks(kept: SchemaLock, ours: SchemaLock): SchemaLock {
  const kinds = new Map(kept.kinds);
  for (const [key, kind] of ours.kinds) {
    const known = kinds.get(key);
    kinds.set(key, known === undefined ? kind : joinLocked(known, kind));
  }
  return { kinds, prefixes: joinNames(kept.prefixes, ours.prefixes) };
}

/** The lock without kinds that nobody served in the last 30 days, and without their names. */
export function withoutForgotten({ kinds, prefixes }: SchemaLock, nowMs: number): SchemaLock {
  const firstDay = dayOf(nowMs - keptDays * 86_400_000);
  const rest = new Map([...kinds].filter(([, { servedOn }]) => servedOn >= firstDay));
  const named = new Set([...rest.values()].flatMap(({ schema: { group, kind } }) => [group, `${kind}/${group}`]));
  return { kinds: rest, prefixes: new Map([...prefixes].filter(([key]) => named.has(parsePlaceKey(key)?.place[0] ?? key))) };
}

/** The day of UTC on which a time is: `YYYY-MM-DD`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function joinLocked(a: LockedKind, b: LockedKind): LockedKind {
  return { schema: joinKindSchemas(a.schema, b.schema), servedOn: a.servedOn > b.servedOn ? a.servedOn : b.servedOn };
}

/**
 * Groups have prefixes, kinds (`Kind/group`) have types: two of a sort never have one name. Names within kinds may meet: whoever gives them out next
 * sees to that.
 */
function joinNames(kept: ReadonlyMap<string, string>, ours: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const joined = new Map(kept);
  const sortOf = (key: string, name: string) => `${key.includes('/') ? 'type' : 'prefix'} ${name}`;
  const taken = new Set([...kept].map(([key, name]) => sortOf(key, name)));
  for (const [key, name] of ours) {
    if (joined.has(key) || (!key.startsWith('[') && taken.has(sortOf(key, name)))) continue;
    joined.set(key, name);
    taken.add(sortOf(key, name));
  }
  return joined;
}

const customSources: readonly KindSource[] = ['CUSTOM', 'AGGREGATED'];

function parseKind(value: Json, at: string): LockedKind {
  if (!isJsonObject(value) || !isJsonObject(value.schema)) throw malformed(at, 'an object with a schema');
  const { schema, servedOn } = value;
  if (typeof servedOn !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(servedOn)) throw malformed(`${at}.servedOn`, 'a day');
  const text = (key: string): string => {
    const found = schema[key];
    if (typeof found === 'string') return found;
    throw malformed(`${at}.schema.${key}`, 'text');
  };
  const source = customSources.find((name) => name === schema.source);
  if (source === undefined) throw malformed(`${at}.schema.source`, customSources.join(' or '));
  return {
    schema: {
      group: text('group'),
      kind: text('kind'),
      versions: textsIn(schema.versions),
      plural: text('plural'),
      singular: text('singular'),
      shortNames: textsIn(schema.shortNames),
      categories: textsIn(schema.categories),
      namespaced: schema.namespaced === true,
      source,
      ...textOf(schema, 'description'),
      shape: parseObject(schema.shape, `${at}.schema.shape`),
      conflicts: textsIn(schema.conflicts),
    },
    servedOn,
  };
}

/** The types by name that shapes of custom kinds hold. */
const sharedTypes: ReadonlySet<string> = new Set(['ResourceList', embeddedObjectMeta.name]);

function parseShape(value: Json | undefined, at: string): Shape {
  if (!isJsonObject(value)) throw malformed(at, 'a shape');
  const scalar = scalarNames.find((name) => name === value.scalar);
  if (scalar !== undefined) return { scalar };
  if (typeof value.type === 'string' && sharedTypes.has(value.type)) return { type: value.type };
  if (value.list !== undefined) return listOf(parseShape(value.list, `${at}.list`));
  if (value.fields !== undefined) return parseObject(value, at);
  throw malformed(at, 'a shape');
}

/** In order of keys, each once: what joins go by. */
function parseObject(value: Json | undefined, at: string): ObjectShape {
  if (!isJsonObject(value) || !Array.isArray(value.fields)) throw malformed(`${at}.fields`, 'a list');
  const fields = (value.fields as readonly Json[]).map((field, place) => parseField(field, `${at}.fields[${place}]`));
  fields.sort((a, b) => compareText(a.key, b.key));
  const twice = fields.find(({ key }, place) => fields[place - 1]?.key === key);
  if (twice !== undefined) throw malformed(`${at}.fields`, `the key ${JSON.stringify(twice.key)} once`);
  return { fields };
}

function parseField(value: Json, at: string): ShapeField {
  if (!isJsonObject(value) || typeof value.key !== 'string') throw malformed(at, 'a field with a key');
  return {
    key: value.key,
    shape: parseShape(value.shape, `${at}.shape`),
    ...parseListRules(value),
    ...textOf(value, 'description'),
    ...textOf(value, 'deprecated'),
  };
}

function textOf<Key extends 'description' | 'deprecated'>(value: JsonObject, key: Key): { readonly [K in Key]?: string } {
  const text = value[key];
  return typeof text === 'string' ? ({ [key]: text } as { readonly [K in Key]?: string }) : {};
}

function malformed(at: string, expected: string): MusterError {
  return new MusterError('BAD_INPUT', `not a schema lock: ${at}: expected ${expected}`);
}
