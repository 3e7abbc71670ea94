import { MusterError } from '../../core/errors.ts';
import type { ValueType } from '../../core/json/json-values.ts';
import { printTypeReference } from '../../model/model.ts';
import type { ModelPath } from '../../model/paths/paths.ts';
import { findInKinds, type PathKinds } from '../../model/paths/paths-of-kinds.ts';

/** A path to single values that can be compared. */
export interface ValuePath {
  readonly path: ModelPath;
  /** The type by which the values compare. */
  readonly type: ValueType;
}

/** The purpose of a path: its name for messages, and the types that it accepts. */
export interface PathUse {
  /** The argument or field that has the path, such as `orderBy`. */
  readonly name: string;
  /** Says in words what the path must lead to. */
  readonly expected: string;
  accepts(type: ValueType): boolean;
}

/** Accepts every path to values that can be compared. */
export function anySingleValue(name: string): PathUse {
  return { name, expected: 'a path to a single value', accepts: (type) => type !== 'StringMap' };
}

/**
 * Finds the path in each kind that has it. The keys of the result come from `keyOfKind`.
 *
 * @throws {MusterError} `BAD_INPUT` if no kind has a fitting path. The message names the path, the expected and the actual type.
 */
export function findValuePaths(kinds: PathKinds, text: string, { name, expected, accepts }: PathUse): ReadonlyMap<string, ValuePath> {
  return findInKinds<ValuePath>(kinds, text, (path) => {
    const { type } = path;
    if ('scalar' in type && accepts(type.scalar)) return { path, type: type.scalar };
    return new MusterError(
      'BAD_INPUT',
      `${name}: expected ${expected}, got ${path.text.slice(0, 80)}, which is a ${printTypeReference(type)}`,
    );
  });
}
