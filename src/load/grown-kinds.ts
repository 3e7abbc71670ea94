import { keyOfKind } from '../core/kinds.ts';
import { joinKindSchemas } from '../model/join-kinds.ts';
import type { KindSchema } from '../model/shapes.ts';

/** Custom kinds as all clusters have ever defined them: they only grow, so that no client's query breaks because a cluster left. */
export interface GrownKinds {
  /** Joins it with what is known of its kind. True if that changed anything. */
  add(schema: KindSchema): boolean;
  /** Each kind once. */
  all(): readonly KindSchema[];
  /** What it is now, for `restore`. */
  snapshot(): ReadonlyMap<string, KindSchema>;
  /** Makes the kinds of a group what they were then: the others stay. */
  restore(group: string, then: ReadonlyMap<string, KindSchema>): void;
}

/** Nothing yet. */
export function createGrownKinds(): GrownKinds {
  const kinds = new Map<string, KindSchema>();
  const joined = new WeakSet<KindSchema>();
  return {
    add(schema) {
      if (joined.has(schema)) return false;
      joined.add(schema);
      const key = keyOfKind(schema);
      const known = kinds.get(key);
      const grown = known === undefined ? schema : joinKindSchemas(known, schema);
      if (known !== undefined && JSON.stringify(grown) === JSON.stringify(known)) return false;
      kinds.set(key, grown);
      return true;
    },
    all: () => [...kinds.values()],
    snapshot: () => new Map(kinds),
    restore(group, then) {
      for (const [key, schema] of kinds) if (schema.group === group) kinds.delete(key);
      for (const [key, schema] of then) if (schema.group === group) kinds.set(key, schema);
    },
  };
}
