import { isJsonObject, type Json } from '../core/json.ts';

/**
 * Parses a JSON pointer (RFC 6901) into unescaped keys. `''` is the whole document and gives no keys. Undefined if the text is not a
 * pointer: it must start with a slash, and `~` is allowed only before 0 and 1.
 */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Prints keys as a JSON pointer. */
export function printPointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Parses a key as an index of a list: decimal digits without leading zeros. Undefined for other keys, including `-`. */
export function listIndexOf(key: string): number | undefined {
  return /^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : undefined;
}

/** Returns the value at these keys: own members of maps, and items of lists. Undefined if there is none. */
export function valueAtKeys(document: Json | undefined, keys: readonly string[]): Json | undefined {
  let found = document;
  for (const key of keys) found = memberAt(found, key);
  return found;
}

/**
 * Returns the document with a value set at these keys. The keys must lead to an existing value, or to a new member of an existing map. For
 * other keys, the document stays as it is. The given document is not changed, and the result shares all values outside the path.
 */
export function withValueAtKeys(document: Json, keys: readonly string[], value: Json): Json {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  if (Array.isArray(document)) {
    const index = listIndexOf(key);
    return document.map((item: Json, at) => (at === index ? withValueAtKeys(item, rest, value) : item));
  }
  if (!isJsonObject(document)) return document;
  const member = memberAt(document, key);
  if (member === undefined && rest.length > 0) return document;
  return { ...document, [key]: withValueAtKeys(member ?? null, rest, value) };
}

function memberAt(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) {
    const index = listIndexOf(key);
    return index === undefined ? undefined : value[index];
  }
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Returns the path of a patch as a JSON pointer (RFC 6901). The Go library json-patch, which Karmada and KubeFed use, ignores the text before
 * the first slash, and reads `~` as itself unless 0 or 1 follows. A path without a slash stays, and fails there too.
 */
export function standardPatchPath(path: string): string {
  return path.includes('/') ? path.slice(path.indexOf('/')).replaceAll(/~(?![01])/g, '~0') : path;
}
