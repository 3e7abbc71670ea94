import { InvalidArgumentError } from 'commander';
import { schemaPath } from '../../core/filters/where-text.ts';
import type { JsonObject } from '../../core/json.ts';

/** One condition of `--field-selector`. */
export interface FieldCondition {
  /** A path of the schema. */
  readonly path: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/**
 * Parses `a=b,c!=d` as kubectl does: `=` and `==` mean the same, and a backslash escapes a comma, an equals sign or a backslash.
 *
 * @throws {InvalidArgumentError} for a term without an operator.
 */
export function parseFieldConditions(text: string): readonly FieldCondition[] {
  const terms = text.match(/(?:[^,\\]|\\.)+/gs) ?? [];
  return terms.map((term) => {
    const [, path, operator, value = ''] = /^((?:[^=!\\]|\\.)+)(!=|==|=)(.*)$/s.exec(term) ?? [];
    if (path === undefined) throw new InvalidArgumentError(`Expected PATH=VALUE or PATH!=VALUE, got ${JSON.stringify(term)}.`);
    return { path: schemaPath(path), isEqual: operator !== '!=', value: value.replaceAll(/\\([\\,=])/g, '$1') };
  });
}

/**
 * Returns the filter of the gateway for a condition. An absent value counts as an empty text.
 *
 * @param type The scalar type of the path, such as `Int`. Undefined: text.
 */
export function whereOfField({ path, isEqual, value }: FieldCondition, type: string | undefined): JsonObject {
  const alternatives = valuesOfText(value, type).map((eq) => ({ path, eq }));
  const absent = value === '' ? [{ path, exists: false }] : [];
  const equal = { or: [...alternatives, ...absent] };
  return isEqual ? equal : { not: equal };
}

/** Returns the values of a type whose text is the given text. Empty if there is none, such as for `many` in an `Int`. */
function valuesOfText(text: string, type: string | undefined): readonly (string | number | boolean)[] {
  const numbers = text.trim() === text && text !== '' && String(Number(text)) === text ? [Number(text)] : [];
  const booleans = text === 'true' || text === 'false' ? [text === 'true'] : [];
  switch (type) {
    case 'Int':
    case 'Float':
      return numbers;
    case 'Int64':
      return /^-?\d+$/.test(text) ? [text] : [];
    case 'Boolean':
      return booleans;
    case 'Quantity':
    case 'Duration':
    case 'DateTime':
      return text === '' ? [] : [text];
    case 'IntOrString':
    case 'JSON':
      return [text, ...numbers, ...booleans.filter(() => type === 'JSON')];
    default:
      return [text];
  }
}
