import { canonicalJson } from '../../core/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { nearest } from '../../core/nearest.ts';
import type { SpecProblem } from '../propagation.ts';
import type { Shape, ShapeField } from './shape.ts';

/**
 * How values of one type stand in a document. `print` gives the canonical form, which `read` reads as an equal value; `shape` describes it, so that
 * reading, printing and describing cannot disagree.
 */
export interface Codec<T> {
  readonly shape: Shape;
  /** Undefined if it was no such value: then at least one problem was told. Other problems beside it are told too. */
  read(value: Json, place: Place): T | undefined;
  print(value: T): Json;
}

/** Where in the document, and where problems are told. */
export interface Place {
  /** `overrides[0].jsonPatch`; empty for the document itself. */
  readonly path: string;
  readonly problems: SpecProblem[];
}

/** One member of a record. */
export interface Field<T, Presence extends ShapeField['presence'] = ShapeField['presence']> {
  readonly codec: Codec<T>;
  readonly presence: Presence;
  /** What its absence means. */
  readonly fallback: T | undefined;
}

/** A member that must stand there. */
export function required<T>(codec: Codec<T>): Field<T, 'required'> {
  return { codec, presence: 'required', fallback: undefined };
}

/** A member whose absence means something of its own. */
export function optional<T>(codec: Codec<T>): Field<T, 'optional'> {
  return { codec, presence: 'optional', fallback: undefined };
}

/** A member whose absence means this value: then it is never printed. */
export function defaulted<T>(codec: Codec<T>, fallback: NoInfer<T>): Field<T, 'defaulted'> {
  return { codec, presence: 'defaulted', fallback };
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type ValueOf<F> = F extends Field<infer T> ? T : never;

/** The value of a record with these members. */
export type RecordOf<F extends Fields> = {
  readonly [Name in keyof F as F[Name]['presence'] extends 'optional' ? never : Name]: ValueOf<F[Name]>;
} & {
  readonly [Name in keyof F as F[Name]['presence'] extends 'optional' ? Name : never]?: ValueOf<F[Name]>;
};

/** A place below; a member of a list is named by its index. */
export function below(place: Place, member: string | number): Place {
  const path = typeof member === 'number' ? `${place.path}[${member}]` : place.path === '' ? member : `${place.path}.${member}`;
  return { path, problems: place.problems };
}

/** Tells a problem. Returns undefined, which is what reading comes to then. */
export function tell({ path, problems }: Place, message: string): undefined {
  problems.push({ path, message });
  return undefined;
}

/** What came, without what it says where that may be long: `"webb"`, `a list`. */
export function shown(value: Json): string {
  if (typeof value === 'string') return value.length > 80 ? `a text of ${value.length} characters` : JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  return isJsonObject(value) ? 'an object' : JSON.stringify(value);
}

/** An object with these members and no others; null is as good as absent. Its members are printed in the order of `fields`. */
export function record<F extends Fields>(fields: F): Codec<RecordOf<F>> {
  const entries = Object.entries(fields);
  return {
    shape: {
      type: 'record',
      fields: Object.fromEntries(entries.map(([name, { codec, presence }]) => [name, { shape: codec.shape, presence }])),
    },
    read(value, place) {
      if (!isJsonObject(value)) return tell(place, `expected an object, got ${shown(value)}`);
      const before = place.problems.length;
      for (const name of Object.keys(value)) if (!Object.hasOwn(fields, name)) tellUnknown(below(place, name), name, fields);
      const values = entries.map(([name, field]): readonly [string, unknown] => {
        const given = Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
        return [name, readField(given, field, below(place, name))];
      });
      if (place.problems.length > before) return undefined;
      return Object.fromEntries(values.filter(([, read]) => read !== undefined)) as RecordOf<F>;
    },
    print(value) {
      const values = new Map(Object.entries(value));
      return Object.fromEntries(entries.flatMap(([name, field]) => printField(name, field, values.get(name))));
    },
  };
}

function readField(given: Json | undefined, { codec, presence, fallback }: Field<unknown>, place: Place): unknown {
  if (given !== undefined) return codec.read(given, place);
  return presence === 'required' ? tell(place, 'is required') : fallback;
}

function printField(name: string, { codec, presence, fallback }: Field<unknown>, value: unknown): readonly [string, Json][] {
  if (value === undefined) return [];
  const printed = codec.print(value);
  if (presence === 'defaulted' && canonicalJson(printed) === canonicalJson(codec.print(fallback))) return [];
  return [[name, printed]];
}

function tellUnknown(place: Place, name: string, fields: Fields): void {
  const meant = nearest(name, Object.keys(fields));
  tell(place, meant === undefined ? 'is no field here' : `is no field here: did you mean ${meant}?`);
}

/** A list of so many members. */
export function list<T>(of: Codec<T>, { min = 0, max }: { readonly min?: number; readonly max: number }): Codec<readonly T[]> {
  return {
    shape: { type: 'list', of: of.shape, min, max },
    read(value, place) {
      if (!Array.isArray(value)) return tell(place, `expected a list, got ${shown(value)}`);
      if (value.length < min || value.length > max) return tell(place, `expected ${min} to ${max} members, got ${value.length}`);
      const before = place.problems.length;
      const values = value.flatMap((member: Json, index) => {
        const read = of.read(member, below(place, index));
        return read === undefined ? [] : [read];
      });
      return place.problems.length > before ? undefined : values;
    },
    print: (values) => values.map((value) => of.print(value)),
  };
}

/** One of these texts. */
export function choice<const T extends string>(values: readonly T[], spelling: 'capitals' | 'same' = 'capitals'): Codec<T> {
  return {
    shape: { type: 'choice', values, spelling },
    read: (value, place) =>
      values.find((known) => known === value) ?? tell(place, `expected one of ${values.join(', ')}, got ${shown(value)}`),
    print: (value) => value,
  };
}

/** The same document, read as another type; `to` may tell problems of its own. */
export function mapped<T, U>(
  codec: Codec<T>,
  { to, from }: { readonly to: (value: T, place: Place) => U | undefined; readonly from: (value: U) => T },
): Codec<U> {
  return {
    shape: codec.shape,
    read(value, place) {
      const read = codec.read(value, place);
      return read === undefined ? undefined : to(read, place);
    },
    print: (value) => codec.print(from(value)),
  };
}

/** The same values, but for those of which `check` tells a problem. It is asked only of what is right so far. */
export function checked<T>(codec: Codec<T>, check: (value: T, place: Place) => void): Codec<T> {
  return mapped(codec, {
    to: (value, place) => {
      const before = place.problems.length;
      check(value, place);
      return place.problems.length > before ? undefined : value;
    },
    from: (value) => value,
  });
}

/** Any object, as it is. */
export const anyObject: Codec<JsonObject> = {
  shape: { type: 'object' },
  read: (value, place) => (isJsonObject(value) ? value : tell(place, `expected an object, got ${shown(value)}`)),
  print: (value) => value,
};

/** Any value, as it is. */
export const anyJson: Codec<Json> = { shape: { type: 'json' }, read: (value) => value, print: (value) => value };
