import { MusterError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { keyOfKind } from '../core/kinds.ts';
import { compareText } from '../core/text.ts';
import { kindOfPlaceKey } from './given-names.ts';
import { embeddedObjectMeta } from './hand-written-types.ts';
import { joinKindSchemas } from './join-kinds.ts';
import { type KindSource, scalarNames } from './model.ts';
import { parseListRules, parseTexts } from './model-document.ts';
import { type KindSchema, listOf, type ObjectShape, type Shape, type ShapeField } from './shapes.ts';

/** A custom kind with its last definitions in the clusters. */
export interface LockedKind {
  /** The joined definitions. */
  readonly schema: KindSchema;
  /** The definition of each cluster, by its name. A definition of an unknown cluster has the name `anyCluster`. Undefined if no cluster is known. */
  readonly by?: ReadonlyMap<string, LockedDefinition>;
  /** The last day on which a cluster served the kind: `YYYY-MM-DD` in UTC. */
  readonly servedOn: string;
}

/** The last definition of a custom kind in one cluster, and the last day on which the cluster had it. */
export interface LockedDefinition {
  readonly schema: KindSchema;
  readonly servedOn: string;
}

/** The name for an unknown cluster. Earlier releases did not write the clusters of definitions. */
export const anyCluster = '';

/** The custom kinds that are remembered between runs. So a cluster that is down removes no type, and no type changes its name. */
export interface SchemaLock {
  /** The remembered kinds, by `keyOfKind`. */
  readonly kinds: ReadonlyMap<string, LockedKind>;
  /** The names that `createModel` returns and accepts, in order of arrival. */
  readonly prefixes: ReadonlyMap<string, string>;
  /**
   * The clusters whose definitions are all in this lock. Definitions of these clusters in other locks are older. Default: none. Not written to
   * the file.
   */
  readonly clusters?: ReadonlySet<string>;
}

/** The version of the format of the lock file. No other version exists yet. */
export const schemaLockVersion = 'schema-lock.muster.dev/v1';

/** A kind is forgotten after this number of days without a cluster that serves it. */
const keptDays = 30;

/** A lock without kinds. */
export const emptySchemaLock: SchemaLock = { kinds: new Map(), prefixes: new Map() };

/** Prints the lock as JSON with a line for each definition and each name. Equal locks give equal texts, whatever the order of their kinds. */
export function printSchemaLock({ kinds, prefixes }: SchemaLock): string {
  const lines = [...kinds].sort(([a], [b]) => compareText(a, b)).flatMap(([, locked]) => printKind(locked));
  const names = [...prefixes].map((pair) => JSON.stringify(pair));
  return `{"apiVersion":${JSON.stringify(schemaLockVersion)},"names":[\n${names.join(',\n')}\n],"kinds":[\n${lines.join(',\n')}\n]}\n`;
}

/** Prints a line for each different definition, with its clusters. */
function printKind({ schema, by, servedOn }: LockedKind): readonly string[] {
  if (by === undefined) return [JSON.stringify(printedDefinition({ schema, servedOn }))];
  const names = [...by.keys()].sort(compareText);
  const clusters = Map.groupBy(names, (cluster) => JSON.stringify(printedDefinition(by.get(cluster) ?? { schema, servedOn })));
  return [...clusters].map(([text, all]) => {
    const known = all.filter((name) => name !== anyCluster);
    return known.length === 0 ? text : `${text.slice(0, -1)},"clusters":${JSON.stringify(known)}}`;
  });
}

/** Returns the definition as it is printed, with its keys in a fixed order. */
function printedDefinition({ schema, servedOn }: LockedDefinition) {
  const { group, kind, versions, plural, singular, shortNames, categories, namespaced, source, description, shape, conflicts } = schema;
  const names = { group, kind, versions: versions.toSorted(compareText), plural, singular, shortNames, categories };
  return { schema: { ...names, namespaced, source, description, shape, conflicts }, servedOn };
}

/**
 * Parses a lock. A name that is illegal in GraphQL, or that two groups or two kinds have, is dropped and assigned again later.
 *
 * @throws {MusterError} `BAD_INPUT` if `printSchemaLock` cannot have written the document. The message names the path and the expected value.
 */
export function parseSchemaLock(document: unknown): SchemaLock {
  if (!isJsonObject(document)) throw malformed('the document', 'an object');
  if (document.apiVersion !== schemaLockVersion) throw malformed('apiVersion', schemaLockVersion);
  const { names, kinds } = document;
  if (!Array.isArray(names)) throw malformed('names', 'a list');
  if (!Array.isArray(kinds)) throw malformed('kinds', 'a list');
  const lines = Map.groupBy(
    (kinds as readonly Json[]).map((value, place) => parseKind(value, `kinds[${place}]`)),
    ({ schema }) => keyOfKind(schema),
  );
  const pairs = (names as readonly Json[]).flatMap((pair): [string, string][] => {
    if (!Array.isArray(pair) || pair.length !== 2) throw malformed('names', 'pairs of texts');
    const [key, name] = pair;
    if (typeof key !== 'string' || typeof name !== 'string') throw malformed('names', 'pairs of texts');
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !name.startsWith('__') ? [[key, name]] : [];
  });
  return {
    kinds: new Map([...lines].map(([key, definitions]) => [key, definitions.reduce(joinDefinitions)])),
    prefixes: joinNames(new Map(), new Map(pairs)),
  };
}

/**
 * Joins the lock in the file (`kept`) with the lock of this gateway (`ours`). Each kind has the definitions of both, and the later day. For
 * clusters in `ours.clusters`, only the definitions of `ours` count. If the two have chosen names that conflict, the names of `kept` win,
 * because the next gateway to start uses the file.
 */
export function joinSchemaLocks(kept: SchemaLock, ours: SchemaLock): SchemaLock {
  const kinds = new Map(kept.kinds);
  for (const [key, kind] of ours.kinds) {
    const known = kinds.get(key);
    kinds.set(key, known === undefined ? kind : joinLocked(known, kind, ours.clusters));
  }
  return { kinds, prefixes: joinNames(kept.prefixes, ours.prefixes) };
}

/** Removes kinds that no cluster has served in the last 30 days, their names, and old definitions of clusters. */
export function withoutForgotten({ kinds, prefixes }: SchemaLock, nowMs: number): SchemaLock {
  const firstDay = dayOf(nowMs - keptDays * 86_400_000);
  const rest = new Map(
    [...kinds].filter(([, { servedOn }]) => servedOn >= firstDay).map(([key, kind]) => [key, definedSince(kind, firstDay)]),
  );
  const named = new Set([...rest.values()].flatMap(({ schema: { group, kind } }) => [group, `${kind}/${group}`]));
  return { kinds: rest, prefixes: new Map([...prefixes].filter(([key]) => named.has(kindOfPlaceKey(key) ?? key))) };
}

function definedSince(kind: LockedKind, firstDay: string): LockedKind {
  const by = new Map([...(kind.by ?? [])].filter(([, { servedOn }]) => servedOn >= firstDay));
  return by.size === 0 || by.size === kind.by?.size ? kind : { ...kind, schema: joined(by), by };
}

/** Returns the UTC day of a time as `YYYY-MM-DD`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function joinLocked(kept: LockedKind, ours: LockedKind, clusters: ReadonlySet<string> = new Set()): LockedKind {
  const servedOn = kept.servedOn > ours.servedOn ? kept.servedOn : ours.servedOn;
  if (ours.by === undefined) return { ...joinDefinitions(kept, ours), servedOn };
  const others = [...(kept.by ?? [])].filter(([cluster]) => cluster !== anyCluster && !clusters.has(cluster));
  const by = new Map([...others, ...ours.by]);
  return { schema: joined(by), servedOn, by };
}

function joined(by: ReadonlyMap<string, LockedDefinition>): KindSchema {
  return [...by.values()].map(({ schema }) => schema).reduce(joinKindSchemas);
}

function joinDefinitions(a: LockedKind, b: LockedKind): LockedKind {
  const schema = joinKindSchemas(a.schema, b.schema);
  const servedOn = a.servedOn > b.servedOn ? a.servedOn : b.servedOn;
  if (a.by === undefined && b.by === undefined) return { schema, servedOn };
  return { schema, servedOn, by: new Map([...definitionsOf(a), ...definitionsOf(b)]) };
}

/** Returns the definition of each cluster, by its name or `anyCluster`. */
export function definitionsOf({ schema, servedOn, by }: LockedKind): ReadonlyMap<string, LockedDefinition> {
  return by ?? new Map([[anyCluster, { schema, servedOn }]]);
}

/**
 * Returns the names in `kept`, and those in `ours` that do not conflict with them. So two groups never get the same prefix, and two kinds
 * (`Kind/group`) never get the same type. Names within kinds may still conflict. The next process that assigns names resolves such conflicts.
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
  const locked: KindSchema = {
    group: text('group'),
    kind: text('kind'),
    versions: parseTexts(schema.versions),
    plural: text('plural'),
    singular: text('singular'),
    shortNames: parseTexts(schema.shortNames),
    categories: parseTexts(schema.categories),
    namespaced: schema.namespaced === true,
    source,
    ...textOf(schema, 'description'),
    shape: parseObject(schema.shape, `${at}.schema.shape`),
    conflicts: parseTexts(schema.conflicts),
  };
  const clusters = parseTexts(value.clusters);
  return {
    schema: locked,
    servedOn,
    ...(clusters.length === 0 ? {} : { by: new Map(clusters.map((cluster) => [cluster, { schema: locked, servedOn }])) }),
  };
}

/** The named types that shapes of custom kinds refer to. */
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

/** Parses the fields of an object. They are sorted by key, each key once, as joins require. */
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
