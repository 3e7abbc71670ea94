import { isJsonObject, type Json } from '../core/json.ts';

/**
 * Reads a document that begins with `{` as JSON, which is much faster than YAML. Undefined if it must be read as YAML: it is no JSON, or YAML
 * would read it in another way or refuse it with its line. These are duplicate keys, too many levels, integers beyond 2⁵³−1, numbers
 * that JSON cannot represent, and invalid Unicode.
 */
export function readJsonDocument(text: string, maxDepth: number): Json | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    // `JSON.parse` keeps the last one of duplicate keys, so the text then has more keys than the value.
    return countKeys(value, maxDepth) === countWrittenKeys(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the number of keys in a value. Not a number if YAML would read a part of the value in another way, or if it has too many levels. */
function countKeys(value: Json, levels: number): number {
  if (typeof value === 'string') return value.isWellFormed() ? 0 : Number.NaN;
  if (typeof value === 'number') return isReadAsInYaml(value) ? 0 : Number.NaN;
  if (Array.isArray(value)) return levels > 0 ? sumOf(value, (item) => countKeys(item, levels - 1)) : Number.NaN;
  if (!isJsonObject(value)) return 0;
  if (levels === 0) return Number.NaN;
  return sumOf(Object.entries(value), ([key, member]) => (key.isWellFormed() ? 1 + countKeys(member ?? null, levels - 1) : Number.NaN));
}

/**
 * True if the YAML reader reads the same number: a finite fraction, or an integer up to 2⁵³−1 except -0. The YAML reader keeps longer integers
 * exact, and reads -0 as 0 and 1e400 as a text.
 */
function isReadAsInYaml(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) && !Object.is(value, -0) : Number.isFinite(value);
}

function sumOf<T>(items: readonly T[], count: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += count(item);
  return sum;
}

/** Returns the number of keys in a text of valid JSON: the texts that a colon follows. */
function countWrittenKeys(text: string): number {
  const colon = /\s*:/y;
  let count = 0;
  for (let begin = text.indexOf('"'); begin !== -1; begin = text.indexOf('"', colon.lastIndex)) {
    const end = endOfText(text, begin);
    colon.lastIndex = end;
    if (colon.test(text)) count += 1;
    else colon.lastIndex = end;
  }
  return count;
}

/** Returns the offset after the text that begins at `begin`. A quote after an odd number of backslashes is a part of the text. */
function endOfText(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
}
