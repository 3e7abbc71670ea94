import { keyOfKind } from '../../core/kinds.ts';
import type { Model } from '../../model/model.ts';
import type { LockedKind, SchemaLock } from '../../model/schema-lock.ts';

/**
 * The groups whose custom kinds the schema has. Entries are groups, patterns such as `*.crossplane.io` for all groups below one, or `*` for every
 * group.
 */
export interface GroupRules {
  /** Default: all groups. */
  readonly allow?: readonly string[] | undefined;
  /** Groups that the schema does not have, even if `allow` contains them. Default: none. */
  readonly deny?: readonly string[] | undefined;
}

/**
 * Returns a test that is true for a group whose custom kinds belong to the schema. Its purpose is a small schema: it does not protect the
 * objects of other groups.
 */
export function createGroupFilter({ allow, deny = [] }: GroupRules): (group: string) => boolean {
  return (group) =>
    (allow === undefined || allow.some((pattern) => matches(pattern, group))) && !deny.some((pattern) => matches(pattern, group));
}

/** Returns a test that accepts the groups of built-in kinds, and the groups that the rules accept. */
export function createGroupTest(baseline: Model, rules: GroupRules): (group: string) => boolean {
  const builtIn = new Set([...baseline.kinds.values()].map(({ group }) => group));
  const isAllowed = createGroupFilter(rules);
  return (group) => builtIn.has(group) || isAllowed(group);
}

/** Returns the kinds of earlier runs that belong to the schema, in addition to those of the baseline. */
export function rememberedKinds({ kinds }: SchemaLock, baseline: Model, belongs: (group: string) => boolean): readonly LockedKind[] {
  return [...kinds.values()].filter(({ schema }) => !baseline.kinds.has(keyOfKind(schema)) && belongs(schema.group));
}

function matches(pattern: string, group: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? group.endsWith(pattern.slice(1)) : group === pattern;
}
