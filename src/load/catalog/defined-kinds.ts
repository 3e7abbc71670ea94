import { keyOfKind } from '../../core/kinds.ts';
import { joinKindSchemas } from '../../model/join-kinds.ts';
import { definitionsOf, type LockedDefinition, type LockedKind } from '../../model/schema-lock.ts';
import type { KindSchema } from '../../model/shapes.ts';

/** The kinds that the clusters define now. */
interface CurrentDefinitions {
  /** The kinds of each cluster, by its name. */
  readonly defined: ReadonlyMap<string, readonly KindSchema[]>;
  /** Groups with a definition that cannot be understood. Their kinds stay unchanged. */
  readonly broken: { has(group: string): boolean };
  /**
   * True if a cluster may define a kind (`keyOfKind`) although its definition is not known now. With `anyCluster`: true if any cluster may
   * define it.
   */
  isAway(cluster: string, kind: string): boolean;
  /** The current day, as `dayOf` gives it. */
  readonly today: string;
}

/** Custom kinds as the clusters define them, and the remembered definitions of clusters that are away. */
export interface DefinedKinds {
  /** Replaces the current definitions. */
  update(now: CurrentDefinitions): void;
  /**
   * Returns each kind once, joined from all its definitions. A kind that no cluster defines any more keeps its last definitions. The object
   * of a kind stays the same as long as the joined schema does.
   */
  all(): readonly KindSchema[];
  /**
   * Returns the definitions of a kind by cluster, in the form in which the schema lock remembers them. Current definitions get `today` as
   * `servedOn`.
   */
  definitionsOf(kind: string, today: string): ReadonlyMap<string, LockedDefinition>;
}

interface Definition extends LockedDefinition {
  /**
   * True if the cluster defines the kind now. False if the cluster is away or no longer defines it: `servedOn` is then the last day on
   * which it did.
   */
  readonly isCurrent: boolean;
}

/** Creates the collection with the kinds that earlier runs remembered. None of their definitions is current before the first `update`. */
export function createDefinedKinds(earlier: readonly LockedKind[]): DefinedKinds {
  const kinds = new Map<string, ReadonlyMap<string, Definition>>();
  for (const locked of earlier) {
    const definitions = [...definitionsOf(locked)].map(([cluster, definition]): [string, Definition] => [
      cluster,
      { ...definition, isCurrent: false },
    ]);
    kinds.set(keyOfKind(locked.schema), new Map(definitions));
  }
  const joined = new Map<string, { readonly parts: readonly KindSchema[]; readonly schema: KindSchema }>();

  function joinedOf(kind: string, definitions: ReadonlyMap<string, Definition>): readonly KindSchema[] {
    const parts = [...definitions.values()].map(({ schema }) => schema);
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
    update({ defined, broken, isAway, today }) {
      const now = byKind(defined, today);
      for (const kind of new Set([...kinds.keys(), ...now.keys()])) {
        const current = now.get(kind) ?? new Map<string, Definition>();
        const before = [...(kinds.get(kind) ?? [])].filter(([cluster]) => !current.has(cluster));
        const [any] = [...current.values(), ...before.map(([, definition]) => definition)];
        if (any === undefined || broken.has(any.schema.group)) continue;
        const away = before.filter(([cluster]) => isAway(cluster, kind));
        // If no cluster defines the kind and none is away, its last definitions stay.
        const kept = current.size + away.length > 0 ? away : before;
        kinds.set(kind, new Map([...current, ...kept.map(([cluster, last]) => [cluster, withoutCurrent(last, today)] as const)]));
      }
    },
    all: () => [...kinds].flatMap(([kind, definitions]) => joinedOf(kind, definitions)),
    definitionsOf(kind, today) {
      const definitions = [...(kinds.get(kind) ?? [])];
      return new Map(
        definitions.map(([cluster, { schema, servedOn, isCurrent }]) => [cluster, { schema, servedOn: isCurrent ? today : servedOn }]),
      );
    },
  };
}

function byKind(defined: CurrentDefinitions['defined'], today: string): ReadonlyMap<string, ReadonlyMap<string, Definition>> {
  const kinds = new Map<string, Map<string, Definition>>();
  for (const [cluster, schemas] of defined) {
    for (const schema of schemas) {
      const kind = keyOfKind(schema);
      const of = kinds.get(kind) ?? new Map<string, Definition>();
      const other = of.get(cluster);
      const joined = other === undefined ? schema : joinKindSchemas(other.schema, schema);
      kinds.set(kind, of.set(cluster, { schema: joined, servedOn: today, isCurrent: true }));
    }
  }
  return kinds;
}

function withoutCurrent(definition: Definition, today: string): Definition {
  return definition.isCurrent ? { ...definition, servedOn: today, isCurrent: false } : definition;
}
