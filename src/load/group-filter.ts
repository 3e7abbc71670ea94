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

function matches(pattern: string, group: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? group.endsWith(pattern.slice(1)) : group === pattern;
}
