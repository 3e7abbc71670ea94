import type { SourceMatches } from '../query/query.ts';

/** Objects in numbered groups. An object may be in several groups, or in none. */
export interface GroupedObjects {
  readonly matches: readonly SourceMatches[];
  /** The number of groups. */
  readonly size: number;
  /**
   * Returns the numbers of the groups of an object. The next call may overwrite the returned list.
   *
   * @param index The index of the object among the objects of all `matches`.
   */
  groupsOf(index: number): readonly number[];
}

/** Puts all objects in group 0. */
export function inOneGroup(matches: readonly SourceMatches[]): GroupedObjects {
  const groups = [0];
  return { matches, size: 1, groupsOf: () => groups };
}
