import { MusterError } from '../../core/errors.ts';
import type { ValueType } from '../../core/json/json-values.ts';
import { printTypeReference } from '../../model/model.ts';
import type { ModelPath } from '../../model/paths/paths.ts';
import { type AskedOfKinds, findInKinds } from '../../model/paths/paths-of-kinds.ts';

/** A path to single values, which have an order. */
export interface ValuePath {
  readonly path: ModelPath;
  /** How they compare. */
  readonly type: ValueType;
}

/** What a path is for, to put into messages, and which types it may lead to. */
export interface PathUse {
  /** The argument or field it was given to, such as `orderBy`. */
  readonly name: string;
  /** In words. */
  readonly expected: string;
  accepts(type: ValueType): boolean;
}

/** Any values that compare. */
export function anySingleValue(name: string): PathUse {
  return { name, expected: 'a path to a single value', accepts: (type) => type !== 'StringMap' };
}

/**
 * The path in each of the kinds that has it, by `keyOfKind`.
 *
 * @throws {MusterError} `BAD_INPUT` if it fits none of them: the path, what was expected there, and what came.
 */
export function findValuePaths(
  asked: AskedOfKinds,
  text: string,
  { name, expected, accepts: takes }: PathUse,
): ReadonlyMap<string, ValuePath> {
  return findInKinds<ValuePath>(asked, text, (path) => {
    const { type } = path;
    if ('scalar' in type && takes(type.scalar)) return { path, type: type.scalar };
    return new MusterError(
      'BAD_INPUT',
      `${name}: expected ${expected}, got ${path.text.slice(0, 80)}, which is a ${printTypeReference(type)}`,
    );
  });
}
