import { keyOfKind } from '../core/kinds.ts';
import { joinKindSchemas } from '../model/join-kinds.ts';
import { anyCluster, type LockedKind } from '../model/schema-lock.ts';
import type { KindSchema } from '../model/shapes.ts';

/** What the clusters define now. */
export interface DefinitionsNow {
  /** By cluster. */
  readonly defined: ReadonlyMap<string, readonly KindSchema[]>;
  /** Groups with a definition that cannot be understood: their kinds stay as they were. */
  readonly broken: { has(group: string): boolean };
  /** True if a cluster may define a kind (`keyOfKind`) although that is not known now. `anyCluster` stands for all of them. */
  isAway(cluster: string, kind: string): boolean;
}

/** Custom kinds as the clusters define them, with what is remembered of clusters that are away. */
export interface DefinedKinds {
  /** Takes in what is defined now. */
  update(now: DefinitionsNow): void;
  /** Each kind once, joined. A kind that no cluster defines any more is as it was last. The same object as long as its definitions are the same. */
  all(): readonly KindSchema[];
  /** The definitions of a kind by cluster, as they are to be remembered. */
  definitionsOf(kind: string): ReadonlyMap<string, KindSchema>;
}

/** The kinds of earlier runs. */
export function createDefinedKinds(earlier: readonly LockedKind[]): DefinedKinds {
  const kinds = new Map(earlier.map(({ schema, by }) => [keyOfKind(schema), by ?? new Map([[anyCluster, schema]])]));
  const joined = new Map<string, { readonly parts: readonly KindSchema[]; readonly schema: KindSchema }>();

  function joinedOf(kind: string, definitions: ReadonlyMap<string, KindSchema>): readonly KindSchema[] {
    const parts = [...definitions.values()];
    const last = joined.get(kind);
    if (last !== undefined && last.parts.length === parts.length && parts.every((part, index) => part === last.parts[index])) {
      return [last.schema];
    }
    const [first, ...others] = parts;
    if (first === undefined) return [];
    const next = others.reduce(joinKindSchemas, first);
    const schema = last !== undefined && JSON.stringify(next) === JSON.stringify(last.schema) ? last.schema : next;
    joined.set(kind, { parts, schema });
    return [schema];
  }

  return {
    update({ defined, broken, isAway }) {
      const now = new Map<string, Map<string, KindSchema>>();
      for (const [cluster, schemas] of defined) {
        for (const schema of schemas) {
          const kind = keyOfKind(schema);
          const of = now.get(kind) ?? new Map<string, KindSchema>();
          const other = of.get(cluster);
          now.set(kind, of.set(cluster, other === undefined ? schema : joinKindSchemas(other, schema)));
        }
      }
      for (const [kind, of] of new Map([...kinds, ...now])) {
        const [schema] = of.values();
        if (schema === undefined || broken.has(schema.group)) continue;
        const current = now.get(kind) ?? new Map<string, KindSchema>();
        const away = [...(kinds.get(kind) ?? [])].filter(([cluster]) => !current.has(cluster) && isAway(cluster, kind));
        if (current.size + away.length > 0) kinds.set(kind, new Map([...current, ...away]));
      }
    },
    all: () => [...kinds].flatMap(([kind, definitions]) => joinedOf(kind, definitions)),
    definitionsOf: (kind) => kinds.get(kind) ?? new Map(),
  };
}
