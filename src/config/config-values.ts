import { z } from 'zod';
import { MusterError } from '../core/errors.ts';
import { listSchema, typeError } from '../core/json/documents.ts';

// Definitions of the values in a config file.

/** A text of 1 to 4,096 characters. */
export const configText = textLike('text', { max: 4_096 });

/** The value of a label, which may be empty. Numbers and booleans that YAML reads become text again. */
export const labelText = z.codec(
  z
    .custom<string | number | boolean>(
      (value) => typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= 253),
      typeError('text of at most 253 characters'),
    )
    .meta({ type: ['string', 'number', 'boolean'], maxLength: 253 }),
  z.string(),
  { decode: String, encode: (value) => value },
);

/** Defines a text that is not empty. If there is a pattern, the whole text must match it. Default of `max`: 253 characters. */
export function textLike(what: string, { max = 253, pattern }: { readonly max?: number; readonly pattern?: RegExp }) {
  const expected = typeError(what);
  const some = z.string(expected).max(max, expected);
  return pattern === undefined ? some.min(1, expected) : some.regex(new RegExp(`^(?:${pattern.source})$`), expected);
}

/** Defines an integer from `min` to `max`. */
export function integerBetween({ min, max }: { readonly min: number; readonly max: number }) {
  const expected = typeError(`an integer from ${min} to ${max}`);
  return z.int(expected).min(min, expected).max(max, expected);
}

/** Defines one of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, typeError(words.join(', ')));
}

/** Defines a list of at most 1,000 members. Default of `min`: 0. */
export function configList<S extends z.ZodType>(of: S, { min = 0 }: { readonly min?: number } = {}) {
  return listSchema(of, { min, max: 1_000 });
}

/** Defines a mapping with these keys and no others. */
export function mapping<Keys extends z.core.$ZodLooseShape>(keys: Keys) {
  return z.strictObject(keys, typeError('a mapping')).readonly();
}

/** @throws {MusterError} `BAD_INPUT` if two entries of the list have one name. */
export function demandUniqueNames(list: string, entries: readonly { readonly name: string }[]): void {
  const seen = new Map<string, number>();
  for (const [index, { name }] of entries.entries()) {
    const before = seen.get(name);
    if (before !== undefined)
      throw new MusterError('BAD_INPUT', `${list}[${index}].name: ${JSON.stringify(name)} is already the name of ${list}[${before}]`);
    seen.set(name, index);
  }
}
