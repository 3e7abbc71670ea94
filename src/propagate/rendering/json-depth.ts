import { isJsonObject, type Json } from '../../core/json.ts';

/** True if lists and maps stand in each other deeper than so many levels; a value that is neither has none. Without recursion, so any depth is fine. */
export function isDeeperThan(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap(membersOf);
    if (level.length === 0) return false;
  }
  return true;
}

function membersOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value).filter((member) => member !== undefined) : [];
}
