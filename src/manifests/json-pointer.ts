import { isJsonObject, type Json } from '../core/json.ts';

/** The keys of a JSON pointer (RFC 6901), unescaped; `''` is the whole document, no key. Undefined if the text is none: `~` before 0 and 1 alone. */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer to these keys. */
export function printPointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The index that a key names in a list: decimal digits without a zero before them. Undefined if it is none, `-` too. */
export function listIndexOf(key: string): number | undefined {
  return /^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : undefined;
}

/** What stands at these keys: own members of maps, items of lists. Undefined where nothing does. */
export function valueAtKeys(document: Json | undefined, keys: readonly string[]): Json | undefined {
  let found = document;
  for (const key of keys) found = memberAt(found, key);
  return found;
}

/**
 * The document with that value at these keys. They must lead somewhere that is there, or to a new member of a map that is: else the document as it is.
 * Nothing is changed in place; what is not on the way is shared.
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
