import { z } from 'zod';
import { describeValue, isJsonObject, type Json, type JsonObject } from '../json.ts';
import { parseClusterName } from '../names.ts';
import { isLabelKey, isLabelValue } from '../selectors.ts';
import { checkedSchema, innerSchemaOf, type ReportProblem, translatedSchema, typeError } from './documents.ts';
import { schemaSpelling } from './enum-spelling.ts';
import { parseDuration, parseInstant } from './json-values.ts';

/** Facts about a definition for the GraphQL schema, in addition to its description and default. */
interface GraphqlHints {
  /** The name of the input type of a structure, or of the enum. */
  readonly name?: string;
  /**
   * The GraphQL scalar of a value. Default: the input or enum called `name`, or, without a name, `String`, `Int` or `Boolean`, as the Zod
   * type says.
   */
  readonly scalar?: 'DateTime' | 'Duration' | 'Float' | 'Int64' | 'IntOrString' | 'JSON' | 'StringMap' | 'String';
  /** True: a `@oneOf` input, in which exactly one member is given. */
  readonly isOneOf?: true;
  /** True: the member is required in inputs, but optional in resources. */
  readonly isRequired?: true;
  /** True: only resources have this member, no input has it. */
  readonly isAbsent?: true;
  /** True: the schema spells enum values as resources do. Default: in capitals. */
  readonly isSpelledSame?: true;
}

/** The `GraphqlHints` of each definition. For a field, use `graphqlHintsOf`. */
export const graphqlHints = z.registry<GraphqlHints>();

/** Returns the `GraphqlHints` of a field. A wrapper, such as optional or a default, wins over the definition inside it. */
export function graphqlHintsOf(schema: z.core.$ZodType): GraphqlHints {
  const inner = innerSchemaOf(schema);
  return { ...(inner === undefined ? {} : graphqlHintsOf(inner)), ...graphqlHints.get(schema) };
}

/** The meaning of each value of an enum, by the definition of the enum. */
export const meanings = z.registry<Readonly<Record<string, string>>>();

const describedValues = new Set<string>();

/**
 * Returns a description in the form of the GraphQL schema: enum values in backticks, which definitions spell as resources do (`NotIn`),
 * become capitals (`NOT_IN`).
 */
export function graphqlDescriptionOf(description: string): string {
  return description.replaceAll(/(?<=`)[A-Z][A-Za-z]*(?=`)/g, (word) => (describedValues.has(word) ? schemaSpelling(word) : word));
}

/**
 * Defines an enum. `values` has the meaning of each of its values, `name` is its name in the GraphQL schema, and `about` its description.
 * Also registers the values for `graphqlDescriptionOf`.
 */
export function describedEnum<const Name extends string>(name: string, about: string, values: Readonly<Record<Name, string>>) {
  for (const value of Object.keys(values)) describedValues.add(value);
  return textEnum(Object.keys(values) as Name[])
    .register(graphqlHints, { name })
    .register(meanings, values)
    .describe(about);
}

/** Defines an enum of these values, which need no description. */
export function textEnum<const Name extends string>(names: readonly Name[]) {
  return z.enum(names, typeError(`one of ${names.join(', ')}`));
}

/**
 * Returns the schema member with validation rules in CEL, which the API server checks. Each rule has the error message for an object that
 * breaks it.
 */
export function rules(...given: readonly (readonly [rule: string, message: string])[]) {
  return { 'x-kubernetes-validations': given.map(([rule, message]) => ({ rule, message })) };
}

/** Defines a text of at most `max` characters. */
export function text(max: number) {
  const tooLong = ({ input }: { readonly input?: unknown }) => `expected at most ${max} characters, got ${String(input).length}`;
  return z.string(typeError('a text')).max(max, { error: tooLong, abort: true });
}

/** Any text of at most 4,096 characters. The bound keeps resources small and texts readable. */
export const anyText = text(4_096);

/** Returns the first 1,024 characters of a message. A status keeps no more. */
export function shortened(message: string): string {
  return message.slice(0, 1_024).toWellFormed();
}

/** A message for people. Printing cuts it after 1,024 characters. */
export const message = translatedSchema(anyText, { decode: (read) => read, encode: shortened });

const aName = typeError('a name of 1 to 253 characters');

/** The name of a part of a spec, such as a wave. */
export const partName = z.string(typeError('a text')).min(1, aName).max(253, aName);

const aCluster = typeError('a cluster name of 1 to 253 characters without control characters');

/** The name of a cluster. It may also name a cluster that is not in the fleet. */
export const clusterText = z
  .string(typeError('a text'))
  .min(1, aCluster)
  .max(253, aCluster)
  .refine((name) => parseClusterName(name) !== undefined, aCluster);

/** A JSON pointer (RFC 6901). */
export const pointer = anyText.regex(/^(\/([^~/]|~[01])*)*$/, typeError('a JSON pointer such as /spec/replicas'));

const aKey = typeError('a key such as app or example.com/app');

/** The key of a label, an annotation or a taint: an optional prefix of up to 253 characters and a slash, then a name of up to 63 characters. */
export const labelKey = z.string(typeError('a text')).max(317, aKey).refine(isLabelKey, aKey);

/** The value of a label. */
export const labelValue = z
  .string(typeError('a text'))
  .refine(isLabelValue, { error: 'expected the value of a label: at most 63 letters, digits, - _ and .', abort: true })
  .meta({ maxLength: 63 });

/** A time as RFC 3339 text of at most 64 characters. The day must exist: an API server refuses February 30. */
export const time = anyText
  .refine(isTime, typeError('a time such as 2026-01-31T12:00:00Z'))
  .meta({ format: 'date-time', maxLength: 64 })
  .register(graphqlHints, { scalar: 'DateTime' });

/**
 * True if the text is an RFC 3339 time. RFC 3339 also allows a small `t` and `z`. `parseInstant` reads capitals only, so the text is
 * converted first.
 */
function isTime(read: string): boolean {
  return parseInstant(read.toUpperCase()) !== undefined;
}

const aDuration = typeError('a duration such as 90s, 10m or 2h');
const maxDurationMs = 100 * 365 * 86_400_000;
const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** A duration such as `90s`, `10m` or `1h30m`, read as milliseconds. At most 100 years. Printed in the largest unit that is exact. */
export const duration = translatedSchema(
  z
    .string(aDuration)
    .regex(/^([0-9]+(ms|s|m|h))+$/, aDuration)
    .meta({ maxLength: 64 })
    .register(graphqlHints, { scalar: 'Duration' }),
  {
    decode(read, report): number | undefined {
      const nanoseconds = parseDuration(read);
      if (nanoseconds === undefined) return report(`expected a duration such as 90s, 10m or 2h, got ${describeValue(read)}`);
      const ms = Number(nanoseconds / 1_000_000n);
      return ms <= maxDurationMs ? ms : report(`expected a duration of at most 100 years, got ${JSON.stringify(read.slice(0, 80))}`);
    },
    encode(ms) {
      const [unit, length] = units.find(([, one]) => ms % one === 0 && ms >= one) ?? (['s', 1_000] as const);
      return `${ms / length}${unit}`;
    },
  },
);

/** A Boolean. Any other value is refused with a message. */
export const flag = z.boolean(typeError('true or false'));

const largest = 2 ** 31 - 1;

/** Defines a whole number from `min` to 2³¹−1, or to `max`. */
export function integer(min: number, max = largest) {
  const whole = typeError(`a whole number from ${min} to ${max}`);
  return z.int(whole).min(min, whole).max(max, whole);
}

/** A number of things: a whole number from 0. */
export const count = integer(0);

/** Defines a whole number of at least `min`, or a percentage from `min` to 100, such as `25%`. */
export function amount(min: 0 | 1) {
  const what = `a whole number of at least ${min}, or a percentage from ${min}% to 100%`;
  const percentages = min === 0 ? '^(0|[1-9][0-9]?|100)%$' : '^([1-9][0-9]?|100)%$';
  const written = z
    .custom<number | string>((value) => amountOf(value, min) !== undefined, typeError(what))
    .meta({
      'x-kubernetes-int-or-string': true,
      ...rules([`type(self) == int ? self >= ${min} : self.matches('${percentages}')`, `expected ${what}`]),
    })
    .register(graphqlHints, { scalar: 'IntOrString' });
  return translatedSchema(written, { decode: (value) => amountOf(value, min), encode: (value) => value });
}

function amountOf(value: unknown, min: number): number | string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value >= min && value <= largest ? value : undefined;
  const percent = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
  return percent !== undefined && Number(percent) >= min && Number(percent) <= 100 ? `${Number(percent)}%` : undefined;
}

type TextMap = Readonly<Record<string, string>>;

function textMap(check: (key: string, value: string, report: ReportProblem) => void) {
  const written = z
    .record(z.string(), z.string(typeError('a text')), typeError('texts by keys'))
    .meta({ maxProperties: 500 })
    .register(graphqlHints, { scalar: 'StringMap' });
  const read = checkedSchema(written, (map, report) => {
    for (const [key, value] of Object.entries(map)) check(key, value, report);
  });
  return translatedSchema(read, {
    decode: (map): TextMap => map,
    // Sorted by key, so that maps with equal entries are printed equally. The order in a document has no meaning.
    encode: (map) => Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))),
  });
}

function checkKey(key: string, report: ReportProblem): boolean {
  if (!isLabelKey(key)) report(`expected a key such as app or example.com/app, got ${JSON.stringify(key.slice(0, 80))}`, key);
  return isLabelKey(key);
}

/** Labels, with the keys and values that Kubernetes accepts. */
export const labels = textMap((key, value, report) => {
  if (checkKey(key, report) && !isLabelValue(value)) report('expected the value of a label: at most 63 letters, digits, - _ and .', key);
});

/** Annotations, with the keys that Kubernetes accepts and any values. */
export const annotations = textMap((key, _value, report) => checkKey(key, report));

/** A map of lists of texts. Keys are not checked. */
export const textLists = z
  .record(z.string(), z.array(z.string(typeError('a text')), typeError('a list of texts')).readonly(), typeError('lists of texts by keys'))
  .meta({ maxProperties: 500 })
  .readonly();

const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/** Any JSON object, unchanged. */
export const anyObject = z
  .custom<JsonObject>(isJsonObject, typeError('an object'))
  .meta({ type: 'object', ...anything })
  .register(graphqlHints, { scalar: 'JSON' });

/** Any JSON value, unchanged. */
export const anyJson = z
  .custom<Json>((value) => value !== undefined, typeError('a value'))
  .meta({ nullable: true, ...anything })
  .register(graphqlHints, { scalar: 'JSON' });
