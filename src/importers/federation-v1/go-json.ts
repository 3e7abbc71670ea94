import { tryParseJson } from '../../core/json.ts';

/** A JSON value as Go's encoding/json reads it: a `bigint` is an integer of 64 bits, and a `number` is any other number. */
export type GoJson = string | bigint | number | boolean | null | readonly GoJson[] | GoObject;

/** The members of a JSON object in their order. A key can appear several times. */
export class GoObject {
  readonly members: readonly (readonly [key: string, value: GoJson])[];

  constructor(members: GoObject['members']) {
    this.members = members;
  }
}

/** Parses JSON as Go does: keeps members of equal names, and integers of 64 bits. Undefined if the text is not JSON. */
export function tryParseGoJson(text: string): GoJson | undefined {
  // The syntax is checked here. So the parser below needs no checks, and its depth is one that `JSON.parse` accepts.
  if (tryParseJson(text) === undefined) return undefined;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[[\]{}]/g) ?? [];
  const stack: { readonly isObject: boolean; readonly values: GoJson[] }[] = [{ isObject: false, values: [] }];
  for (const token of tokens) {
    if (token === '{' || token === '[') stack.push({ isObject: token === '{', values: [] });
    else if (token !== '}' && token !== ']') stack.at(-1)?.values.push(leafOf(token));
    else {
      const { isObject, values } = stack.pop() ?? { isObject: false, values: [] };
      stack.at(-1)?.values.push(isObject ? new GoObject(membersOf(values)) : values);
    }
  }
  return stack[0]?.values[0];
}

/** Returns the members of an object whose keys and values alternate. */
function membersOf(values: readonly GoJson[]): GoObject['members'] {
  return values.flatMap((key, index) => (index % 2 === 0 ? [[String(key), values[index + 1] ?? null] as const] : []));
}

function leafOf(token: string): GoJson {
  const isInt64 = /^-?\d{1,19}$/.test(token) && BigInt.asIntN(64, BigInt(token)) === BigInt(token);
  return isInt64 ? BigInt(token) : (JSON.parse(token) as string | number | boolean | null);
}

/** Thrown for a value in the JSON of an annotation that Federation v1 does not accept. `path` is the path of the value in the JSON. */
export class RefusedJson extends Error {
  readonly path: string;

  constructor(path: string, expected: string) {
    super(`expected ${expected}`);
    this.path = path;
  }
}

/** Returns the result of `read`. If it throws a `RefusedJson`, returns a refusal instead. Other errors are thrown. */
export function catchRefusedJson<Result>(
  read: () => Result,
): Result | { readonly result: 'refused'; readonly path: string; readonly message: string } {
  try {
    return read();
  } catch (error) {
    if (error instanceof RefusedJson) return { result: 'refused', path: error.path, message: error.message };
    throw error;
  }
}

/** The path of an object in the JSON, and the list that receives the paths of its unknown fields. */
export interface JsonPlace {
  readonly path: string;
  readonly unknownFields: string[];
}

/**
 * Returns the values of those fields of an object that `names` lists, and adds the paths of all other fields to `unknownFields`. As in Go's
 * encoding/json, upper and lower case of a key do not matter. A field has a value for each of its keys, in their order.
 *
 * @throws {RefusedJson} if the value is neither an object nor null.
 */
export function goFieldsOf<const Name extends string>(
  value: GoJson,
  names: readonly Name[],
  { path, unknownFields }: JsonPlace,
): Readonly<Record<Name, readonly GoJson[]>> {
  const fields = Object.fromEntries(names.map((name): [string, GoJson[]] => [name, []])) as Record<Name, GoJson[]>;
  for (const [key, member] of goMembersOf(value, path)) {
    const name = names.find((known) => known.toLowerCase() === key.toLowerCase());
    if (name === undefined) unknownFields.push(path === '' ? key : `${path}.${key}`);
    else fields[name].push(member);
  }
  return fields;
}

/**
 * Returns the members of an object. Null has none.
 *
 * @throws {RefusedJson} if the value has another type.
 */
export function goMembersOf(value: GoJson, path: string): GoObject['members'] {
  if (value === null) return [];
  if (!(value instanceof GoObject)) throw new RefusedJson(path, 'an object');
  return value.members;
}

/**
 * Returns the items of a list. If the field has several values, the last one counts. Null counts as an empty list.
 *
 * @throws {RefusedJson} if a value has another type.
 */
export function goListIn(values: readonly GoJson[], path: string): readonly GoJson[] {
  const lists = values.map((value) => (value === null ? [] : typed(value, isList, path, 'a list')));
  return lists.at(-1) ?? [];
}

/**
 * Returns the last value of a field that is not null. Undefined if there is no such value. Use it for fields that are no pointers: in Go, null
 * leaves such a field as it is.
 *
 * @throws {RefusedJson} if a value is neither null nor accepted by `isExpected`.
 */
export function goValueIn<Value extends GoJson>(
  values: readonly GoJson[],
  isExpected: (value: GoJson) => value is Value,
  { path, expected }: { readonly path: string; readonly expected: string },
): Value | undefined {
  const found = values.filter((value) => value !== null).map((value) => typed(value, isExpected, path, expected));
  return found.at(-1);
}

/**
 * Returns a text as `goValueIn` does. Empty if there is none.
 *
 * @throws {RefusedJson} if a value has another type.
 */
export function goTextIn(values: readonly GoJson[], path: string): string {
  return goValueIn(values, (value) => typeof value === 'string', { path, expected: 'a text' }) ?? '';
}

function isList(value: GoJson): value is readonly GoJson[] {
  return Array.isArray(value);
}

function typed<Value extends GoJson>(value: GoJson, isExpected: (value: GoJson) => value is Value, path: string, expected: string): Value {
  if (!isExpected(value)) throw new RefusedJson(path, expected);
  return value;
}
