import { keyOfKind } from '../../core/kinds.ts';
import type { Model } from '../../model/model.ts';
import type { LockedKind, SchemaLock } from '../../model/schema-lock.ts';

/** Which groups' custom kinds the schema has: lists of groups, or of all below one, such as `*.crossplane.io`; `*` is every group. */
export interface GroupRules {
  /** Absent: all. */
  readonly allow?: readonly string[] | undefined;
  /** Wins over `allow`. */
  readonly deny?: readonly string[] | undefined;
}

/** True for a group whose kinds belong into the schema. It keeps a schema small; it is no permission. */
export function createGroupFilter({ allow, deny = [] }: GroupRules): (group: string) => boolean {
  return (group) =>
    (allow === undefined || allow.some((pattern) => matches(pattern, group))) && !deny.some((pattern) => matches(pattern, group));
}

/** The groups of the built-in kinds, which are never left out, and those that belong by the rules. */
export function createGroupTest(baseline: Model, rules: GroupRules): (group: string) => boolean {
  const builtIn = new Set([...baseline.kinds.values()].map(({ group }) => group));
  const isAllowed = createGroupFilter(rules);
  return (group) => builtIn.has(group) || isAllowed(group);
}

/** Kinds of earlier runs that belong into the schema beside those of the baseline. */
export function rememberedKinds({ kinds }: SchemaLock, baseline: Model, belongs: (group: string) => boolean): readonly LockedKind[] {
  return [...kinds.values()].filter(({ schema }) => !baseline.kinds.has(keyOfKind(schema)) && belongs(schema.group));
}

function matches(pattern: string, group: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? group.endsWith(pattern.slice(1)) : group === pattern;
}
