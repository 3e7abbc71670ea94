import { z } from 'zod';
import { describeValue, isJsonObject, isRawNumber, type Json, type JsonObject } from '../json.ts';
import { nearestWord } from '../nearest-word.ts';

/**
 * One problem of a document. `path` is the path of the value, such as `overrides[0].jsonPatch`. `message` has the expected and the actual
 * value.
 */
export interface DocumentProblem {
  readonly path: string;
  readonly message: string;
}

/** The result of reading a document: its value, or all problems. */
export type DocumentRead<T> = { readonly value: T } | { readonly problems: readonly DocumentProblem[] };

/**
 * Reports a problem of the checked value, at `path` within the value. Without `path`, the problem is that of the value itself. Returns
 * undefined, so a check can end with `return report(…)`.
 */
export type ReportProblem = (message: string, ...path: readonly (string | number)[]) => undefined;

/** Options for reading a document. */
export interface ReadOptions {
  /** The prefix of all paths of problems. Default: empty. */
  readonly path?: string;
  /** Makes the message for an unknown member. Default: a message with the most similar known name. */
  readonly unknown?: typeof unknownMember;
  /** Receives each unknown member, which is then ignored. Default: an unknown member is a problem of the document. */
  readonly ignoreUnknown?: (problem: DocumentProblem) => void;
}

/**
 * Reads a document by its definition. Returns the value with its defaults, or all problems. A null member of a structure counts as absent.
 * An unknown member is a problem, unless `ignoreUnknown` is given. Never throws.
 */
export function readDocument<S extends z.ZodType>(
  schema: S,
  document: Json,
  { path = '', unknown = unknownMember, ignoreUnknown }: ReadOptions = {},
): DocumentRead<z.output<S>> {
  const problems: DocumentProblem[] = [];
  const known = new KnownMemberFilter(problems, { path, unknown, ignoreUnknown }).of(document, schema);
  const read = parsed(schema, known);
  if (read === undefined) return { problems: [{ path, message: 'expected fewer problems, got more than can be listed' }] };
  const ofWrongType = new Set<string>();
  for (const { path: keys, code, message } of read.error?.issues ?? []) {
    const at = pathBelow(path, keys);
    // `KnownMemberFilter` has reported these members already, each with its own path.
    if (code === 'unrecognized_keys') continue;
    if (code === 'invalid_type') ofWrongType.add(at);
    // zod also checks the length of a value of the wrong type: a text in place of a list, or a list in place of a text.
    if ((code === 'too_small' || code === 'too_big') && ofWrongType.has(at)) continue;
    problems.push({ path: at, message });
  }
  return problems.length > 0 || !read.success ? { problems } : { value: read.data };
}

/** Reads with zod. Undefined if the problems overflow the stack, because zod passes all problems of a member as arguments of one call. */
function parsed<S extends z.ZodType>(schema: S, document: unknown): z.ZodSafeParseResult<z.output<S>> | undefined {
  try {
    return parserOf(schema).safeParse(document);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Prints a value as a document in canonical form. It omits absent members and defaults, and keeps the order of the definition. `readDocument` reads an
 * equal value from the document.
 *
 * `z.encode` is not used: it prints defaults, and it throws for a value that breaks a limit of the definition. A status must always be writable.
 */
export function printDocument<S extends z.ZodType>(schema: S, value: z.output<S>): Json {
  return printed(schema, value) ?? null;
}

function printed(schema: z.core.$ZodType, value: unknown): Json | undefined {
  if (value === undefined) return undefined;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'readonly':
      return printed(def.innerType, value);
    case 'default': {
      const text = printed(def.innerType, value);
      return JSON.stringify(text) === JSON.stringify(printed(def.innerType, def.defaultValue)) ? undefined : text;
    }
    case 'pipe':
      return printed(def.in, (def as z.core.$ZodCodecDef).reverseTransform(value, { value, issues: [] }));
    case 'array':
      return (value as readonly unknown[]).map((member) => printed(def.element, member) ?? null);
    case 'object': {
      const members = value as Readonly<Record<string, unknown>>;
      const entries = Object.entries(def.shape).map(([name, field]) => [name, printed(field, members[name])] as const);
      return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
    }
    default:
      return value as Json;
  }
}

/** Returns the definition inside an optional, default, readonly or translated definition. Undefined for a structure, a list or a value. */
export function innerSchemaOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'optional' || def.type === 'default' || def.type === 'readonly') return def.innerType;
  return def.type === 'pipe' ? def.in : undefined;
}

/** Returns the innermost definition: that of a structure, a list or a value. It unwraps everything that `innerSchemaOf` unwraps. */
export function innermostSchemaOf(schema: z.core.$ZodType): z.core.$ZodTypes {
  const inner = innerSchemaOf(schema);
  return inner === undefined ? (schema as z.core.$ZodTypes) : innermostSchemaOf(inner);
}

/** Returns one bound in the definition of a list or a number. Undefined if the definition does not have it. */
export function schemaBoundOf(
  part: z.core.$ZodType,
  bound: 'max_length' | 'min_length' | 'greater_than' | 'less_than',
): number | undefined {
  for (const check of part._zod.def.checks ?? []) {
    const { def } = (check as z.core.$ZodChecks)._zod;
    if (def.check !== bound) continue;
    if (def.check === 'max_length') return def.maximum;
    return def.check === 'min_length' ? def.minimum : Number((def as z.core.$ZodCheckLessThanDef).value);
  }
  return undefined;
}

/** Returns the default of a definition as a document spells it. Undefined if there is no default. */
export function schemaDefaultOf(schema: z.core.$ZodType): Json | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'default') return printed(def.innerType, def.defaultValue);
  const inner = innerSchemaOf(schema);
  return inner === undefined ? undefined : schemaDefaultOf(inner);
}

/**
 * Returns the description of the innermost definition, or undefined if it has none. A field that uses the definition may have another
 * description.
 */
export function baseDescriptionOf(schema: z.core.$ZodType): string | undefined {
  const inner = innerSchemaOf(schema);
  const { parent } = schema._zod;
  return (inner && baseDescriptionOf(inner)) ?? (parent && baseDescriptionOf(parent)) ?? z.globalRegistry.get(schema)?.description;
}

/** A definition is compiled at its 20th read. Compiling takes about 20 ms and makes reading seven times as fast. */
const readsBeforeCompiling = 20;
const parsers = new WeakMap<z.ZodType, { reads: number; parser: z.ZodType }>();

function parserOf<S extends z.ZodType>(schema: S): S {
  const known = parsers.get(schema) ?? { reads: 0, parser: schema };
  parsers.set(schema, known);
  known.reads += 1;
  if (known.reads === readsBeforeCompiling) known.parser = z.compile(schema);
  return known.parser as S;
}

/**
 * One step of the path to a member, linked to the step above. The text of a path is made only for problems, because most documents have
 * none.
 */
interface PathStep {
  readonly above: PathStep | undefined;
  readonly key: string | number;
}

/**
 * The name that all unknown members get before zod checks a structure. zod refuses a member of this name. Refinements of the structure, and
 * of the structures around it, then do not run. Otherwise a misspelled `json` would cause a second problem: "expected one of json, yaml and
 * ref".
 */
const unknownMembers = '';

type MemberFilterOptions = Required<Pick<ReadOptions, 'path' | 'unknown'>> & {
  readonly ignoreUnknown: ReadOptions['ignoreUnknown'] | undefined;
};

/**
 * Copies a document without its null members, and with one empty name for all unknown members of a structure. Reports each unknown member
 * as a problem, or leaves it out and reports it to `ignoreUnknown`.
 */
class KnownMemberFilter {
  readonly #path: string;
  readonly #unknown: typeof unknownMember;
  readonly #ignoreUnknown: ((problem: DocumentProblem) => void) | undefined;
  readonly #problems: DocumentProblem[];

  constructor(problems: DocumentProblem[], { path, unknown, ignoreUnknown }: MemberFilterOptions) {
    this.#path = path;
    this.#unknown = unknown;
    this.#ignoreUnknown = ignoreUnknown;
    this.#problems = problems;
  }

  of(value: Json, schema: z.core.$ZodType, at?: PathStep): unknown {
    const part = innermostSchemaOf(schema);
    const { def } = part._zod;
    switch (def.type) {
      case 'array':
        return Array.isArray(value) ? this.#inList(value, part as z.core.$ZodArray, at) : value;
      case 'object':
        // zod would accept a RawNumber as an object. It refuses a bigint, and messages show all digits of a bigint.
        return isJsonObject(value) ? this.#inStructure(value, def.shape, at) : isRawNumber(value) ? BigInt(value.rawJSON) : value;
      case 'record':
        return isJsonObject(value) ? this.#inMap(value, part, at) : isRawNumber(value) ? BigInt(value.rawJSON) : value;
      default:
        return value;
    }
  }

  #inList(values: readonly Json[], list: z.core.$ZodArray, at: PathStep | undefined): unknown {
    // zod checks the length before it reads members. So a list of a million wrong members gives one problem, not a million.
    if (values.length > (schemaBoundOf(list, 'max_length') ?? values.length)) return values;
    return values.map((member, key) => this.of(member, list._zod.def.element, { above: at, key }));
  }

  #inMap(value: JsonObject, map: z.core.$ZodType, at: PathStep | undefined): JsonObject {
    const size = Object.keys(value).length;
    const max = Number(z.globalRegistry.get(map)?.maxProperties ?? size);
    // zod drops this key of a map without reporting a problem.
    if (Object.hasOwn(value, '__proto__')) this.#report('is no field here', { above: at, key: '__proto__' });
    if (size <= max) return value;
    this.#report(`expected at most ${max} members, got ${size}`, at);
    return {};
  }

  #inStructure(value: JsonObject, shape: z.core.$ZodShape, above: PathStep | undefined): unknown {
    const members: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const schema = Object.hasOwn(shape, key) ? shape[key] : undefined;
      const member = value[key] ?? null;
      if (schema === undefined) {
        const path = this.#pathOf({ above, key: key === '' ? '[""]' : key });
        const problem = { path, message: this.#unknown(key, Object.keys(shape), path) };
        if (this.#ignoreUnknown === undefined) {
          this.#problems.push(problem);
          members[unknownMembers] = null;
        } else this.#ignoreUnknown(problem);
      } else if (member !== null) members[key] = this.of(member, schema, { above, key });
    }
    return members;
  }

  #report(message: string, at: PathStep | undefined): void {
    this.#problems.push({ path: this.#pathOf(at), message });
  }

  #pathOf(at: PathStep | undefined): string {
    const keys: (string | number)[] = [];
    for (let step = at; step !== undefined; step = step.above) keys.unshift(step.key);
    return pathBelow(this.#path, keys);
  }
}

function unknownMember(name: string, names: readonly string[], _path: string): string {
  const meant = nearestWord(name, names);
  if (meant !== undefined) return `is no field here: did you mean ${meant}?`;
  return names.length === 0 || names.length > maxExpected ? 'is no field here' : `is no field here: expected ${names.join(', ')}`;
}

/** Maximum number of fields that a message lists. A longer list would hide the path. */
const maxExpected = 6;

function pathBelow(path: string, keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = String(key);
    return text === '' || name === '' || name.startsWith('[') ? `${text}${name}` : `${text}.${name}`;
  }, path);
}

/**
 * Makes the error for a value that a definition refuses. After this error, later checks of the value and of the structure around
 * it do not run.
 */
export function typeError(what: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      input === undefined ? requiredMessage : `expected ${what}, got ${describeValue(input)}`,
    abort: true,
  };
}

/** The message for a required member that is absent. */
export const requiredMessage = 'is required';

function lengthExpected(min: number, max: number, { length }: { readonly length: number }): string {
  return `expected ${min} to ${max} members, got ${length}`;
}

/** Defines a structure with these members and no others. */
export function structureSchema<Shape extends z.core.$ZodLooseShape>(fields: Shape) {
  return z.strictObject(fields, typeError('an object')).readonly();
}

/** Defines a list of `min` to `max` members. Default of `min`: 0. */
export function listSchema<S extends z.core.$ZodType>(of: S, { min = 0, max }: { readonly min?: number; readonly max: number }) {
  const bounds = { error: ({ input }: { readonly input?: unknown }) => lengthExpected(min, max, input as readonly unknown[]), abort: true };
  const members = z.array(of, typeError('a list')).max(max, bounds);
  return (min === 0 ? members : members.min(min, bounds)).readonly();
}

/**
 * Adds a check to a definition. If `check` reports a problem, the value is refused. `check` sees only values that passed all earlier
 * checks and have no unknown members.
 */
export function checkedSchema<S extends z.ZodType>(schema: S, check: (value: z.output<S>, report: ReportProblem) => void): S {
  return schema.check((payload) => {
    if (payload.issues.every(({ code }) => code !== 'unrecognized_keys')) check(payload.value as z.output<S>, reportingTo(payload));
  });
}

/** Defines a value that code holds in another type than documents, such as a duration in milliseconds. `decode` may report problems. */
export function translatedSchema<S extends z.ZodType, T>(
  schema: S,
  {
    decode,
    encode,
  }: { readonly decode: (value: z.output<S>, report: ReportProblem) => T | undefined; readonly encode: (value: T) => z.output<S> },
) {
  return z.codec(schema, z.custom<T>(), {
    decode: (value, payload) => decode(value, reportingTo(payload)) as T & z.core.util.MaybeAsync<T>,
    encode: (value) => encode(value) as never,
  });
}

function reportingTo(payload: z.core.ParsePayload): ReportProblem {
  return (message, ...path) => {
    payload.issues.push({ code: 'custom', message, path: [...path], input: payload.value });
    return undefined;
  };
}
