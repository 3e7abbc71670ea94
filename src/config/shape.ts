import { MusterError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';

/**
 * What a place in the config file may hold: reads it, and describes itself as JSON Schema, so that parser and schema cannot disagree.
 */
export interface Shape<T> {
  /** The value. Throws {MusterError} `BAD_INPUT` with the path, what was expected and what came. */
  read(value: unknown, path: string): T;
  readonly schema: JsonSchema;
}

/** The part of JSON Schema (2020-12) that shapes need. */
export interface JsonSchema {
  readonly [key: string]: unknown;
}

/** One key of an object: its shape, whether it must stand there, and what it means. */
export interface Key<T> {
  readonly shape: Shape<T>;
  readonly required: boolean;
  readonly description: string;
}

/** A key that may be left out. */
export function optional<T>(shape: Shape<T>, description: string): Key<T | undefined> & { readonly required: false } {
  return { shape, required: false, description };
}

/** A key that must stand there. */
export function required<T>(shape: Shape<T>, description: string): Key<T> & { readonly required: true } {
  return { shape, required: true, description };
}

type Keys = Readonly<Record<string, Key<unknown>>>;

/** The values of the keys: those that may be left out are absent then. */
export type ValuesOf<K extends Keys> = {
  readonly [Name in keyof K as K[Name]['required'] extends true ? Name : never]: ReturnType<K[Name]['shape']['read']>;
} & {
  readonly [Name in keyof K as K[Name]['required'] extends true ? never : Name]?: Exclude<ReturnType<K[Name]['shape']['read']>, undefined>;
};

/** A mapping with these keys and no others: an unknown one is an error with its path and the key that was probably meant. */
export function mapping<K extends Keys>(keys: K): Shape<ValuesOf<K>> {
  const names = Object.keys(keys);
  return {
    read: (value, path) => {
      if (!isMapping(value)) throw expected(path, 'a mapping', value);
      for (const name of Object.keys(value)) if (!Object.hasOwn(keys, name)) throw unknownKey(path, name, names);
      const entries: [string, unknown][] = [];
      for (const [name, key] of Object.entries(keys)) {
        const given = Object.hasOwn(value, name) ? value[name] : undefined;
        if (given !== undefined && given !== null) entries.push([name, Object.freeze(key.shape.read(given, joined(path, name)))]);
        else if (key.required) throw new MusterError('BAD_INPUT', `${joined(path, name)} is missing`);
      }
      return Object.fromEntries(entries) as ValuesOf<K>;
    },
    schema: {
      type: 'object',
      additionalProperties: false,
      ...requiredOf(keys),
      properties: Object.fromEntries(names.map((name) => [name, { ...keys[name]?.shape.schema, description: keys[name]?.description }])),
    },
  };
}

/** A mapping with keys of the writer's choice. */
export function mapOf<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    read: (value, path) => {
      if (!isMapping(value)) throw expected(path, 'a mapping', value);
      return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, shape.read(entry, joined(path, name))]));
    },
    schema: { type: 'object', additionalProperties: shape.schema },
  };
}

/** A list, of at most 1,000. */
export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    read: (value, path) => {
      if (!Array.isArray(value)) throw expected(path, 'a list', value);
      if (value.length > 1000) throw new MusterError('BAD_INPUT', `${path}: expected at most 1000 entries, got ${value.length}`);
      return value.map((entry, place) => Object.freeze(shape.read(entry, `${path}[${place}]`)));
    },
    schema: { type: 'array', maxItems: 1000, items: shape.schema },
  };
}

/** Text that is not empty, of at most 4,096 characters. */
export const text: Shape<string> = {
  read: (value, path) => {
    if (typeof value !== 'string' || value === '' || value.length > 4096) throw expected(path, 'text', value);
    return value;
  },
  schema: { type: 'string', minLength: 1, maxLength: 4096 },
};

/** Text as a label's value may be: also empty; numbers and booleans that YAML made of it are text again. */
export const labelText: Shape<string> = {
  read: (value, path) => {
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (typeof value !== 'string' || value.length > 253) throw expected(path, 'text of at most 253 characters', value);
    return value;
  },
  schema: { type: ['string', 'number', 'boolean'], maxLength: 253 },
};

/** Text of at most 253 characters that matches the whole of a pattern; `what` says in words what that is, with an example. */
export function textLike(pattern: RegExp, what: string): Shape<string> {
  const whole = `^(?:${pattern.source})$`;
  return {
    read: (value, path) => {
      if (typeof value !== 'string' || value.length > 253 || !new RegExp(whole).test(value)) throw expected(path, what, value);
      return value;
    },
    schema: { type: 'string', maxLength: 253, pattern: whole },
  };
}

/** True or false. */
export const flag: Shape<boolean> = {
  read: (value, path) => {
    if (typeof value !== 'boolean') throw expected(path, 'true or false', value);
    return value;
  },
  schema: { type: 'boolean' },
};

/** An integer within bounds, both included. */
export function integer({ min, max }: { readonly min: number; readonly max: number }): Shape<number> {
  return {
    read: (value, path) => {
      if (!Number.isInteger(value) || Number(value) < min || Number(value) > max)
        throw expected(path, `an integer from ${min} to ${max}`, value);
      return Number(value);
    },
    schema: { type: 'integer', minimum: min, maximum: max },
  };
}

/** One of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Shape<Word> {
  return {
    read: (value, path) => {
      const found = words.find((word) => word === value);
      if (found === undefined) throw expected(path, words.join(', '), value);
      return found;
    },
    schema: { enum: words },
  };
}

/** What a value looks like in a message: short, and on one line. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isMapping(value)) return 'a mapping';
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function expected(path: string, what: string, value: unknown): MusterError {
  return new MusterError('BAD_INPUT', `${path === '' ? 'the file' : path}: expected ${what}, got ${shown(value)}`);
}

function unknownKey(path: string, name: string, names: readonly string[]): MusterError {
  const meant = nearest(name, names);
  const advice = meant === undefined ? `expected one of ${names.join(', ')}` : `did you mean ${joined(path, meant)}?`;
  return new MusterError('BAD_INPUT', `unknown key ${joined(path, name)}; ${advice}`);
}

function requiredOf(keys: Keys): JsonSchema {
  const names = Object.keys(keys).filter((name) => keys[name]?.required);
  return names.length === 0 ? {} : { required: names };
}
