import { compareApiVersions } from '../core/api-versions.ts';
import { MusterError } from '../core/errors.ts';
import { keyOfKind } from '../core/kinds.ts';
import { compareText } from '../core/text.ts';
import { embeddedObjectMeta } from './hand-written-types.ts';
import { joinKindSchemas } from './join-kinds.ts';
import type { Model, ModelKind, ModelType } from './model.ts';
import { createNameClaims, inOrderOfArrival, type KindNames, type NameClaims } from './name-claims.ts';
import { nameStructures } from './name-structures.ts';
import type { KindSchema } from './shapes.ts';

/** The input for a model. */
export interface ModelSources {
  /** The built-in kinds. Their types and names do not change. A custom kind with the same group and name adds nothing. */
  readonly baseline: Model;
  /** The custom kinds of all clusters, in any order, with repetitions. */
  readonly custom: readonly KindSchema[];
  /**
   * The names that the last call returned in `prefixes`: prefixes of groups, and names of types and fields. Empty for the first call. A
   * caller may add its own prefixes for groups.
   */
  readonly prefixes: ReadonlyMap<string, string>;
  /** Kinds (`keyOfKind`) that no cluster serves now. They stay in the model, deprecated. Default: none. */
  readonly unserved?: ReadonlySet<string>;
}

export interface CreatedModel {
  readonly model: Model;
  /** All names that were assigned so far, in order of arrival. Pass them to the next call, and keep them in the lock file. */
  readonly prefixes: ReadonlyMap<string, string>;
  /** Groups that could not be built, in order. None of their kinds is in the model. */
  readonly problems: readonly { readonly group: string; readonly message: string }[];
}

/**
 * Joins the kinds of all clusters, names them, and adds them to the built-in kinds.
 *
 * The order of `custom` does not matter, and an additional kind renames no other kind. A group that cannot be built is
 * left out and reported in `problems`. The other groups are still built.
 */
export function createModel({ baseline, custom, prefixes, unserved }: ModelSources): CreatedModel {
  const claims = createNameClaims(baseline, prefixes);
  const joined = joinAll(custom.filter((schema) => !baseline.kinds.has(keyOfKind(schema))));
  const named = inOrderOfArrival(joined, prefixes).map((schema) => ({ schema, names: claims.claimKind(schema) }));
  const kinds = new Map(baseline.kinds);
  const types = new Map<string, ModelType>([[embeddedObjectMeta.name, embeddedObjectMeta], ...baseline.types]);
  const problems: { group: string; message: string }[] = [];
  const groups = Map.groupBy(named, ({ schema }) => schema.group);
  for (const group of [...groups.keys()].sort(compareText)) {
    try {
      const members = groups.get(group) ?? [];
      for (const type of typesOf(members, claims)) types.set(type.name, type);
      for (const { schema, names } of members) kinds.set(keyOfKind(schema), modelKind(schema, names));
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      problems.push({ group, message: `group ${group} is left out: ${error.message}` });
    }
  }
  return { model: { kinds: deprecate(kinds, unserved), types }, prefixes: claims.remembered, problems };
}

interface NamedSchema {
  readonly schema: KindSchema;
  readonly names: KindNames;
}

function joinAll(custom: readonly KindSchema[]): readonly KindSchema[] {
  const joined = new Map<string, KindSchema>();
  for (const schema of custom) {
    const key = keyOfKind(schema);
    const known = joined.get(key);
    joined.set(key, known === undefined ? schema : joinKindSchemas(known, schema));
  }
  return [...joined.values()];
}

function typesOf(members: readonly NamedSchema[], claims: NameClaims): readonly ModelType[] {
  const roots = members.map(({ schema: { group, kind, shape, description }, names: { type } }) => ({
    kind: `${kind}/${group}`,
    type,
    shape,
    ...(description === undefined ? {} : { description }),
  }));
  return nameStructures(
    roots.sort((a, b) => compareText(a.type, b.type)),
    claims.structureNames(),
  );
}

function modelKind({ shape: _, description: __, versions, ...schema }: KindSchema, names: KindNames): ModelKind {
  return { ...schema, versions: versions.toSorted(compareApiVersions), ...names };
}

function deprecate(kinds: ReadonlyMap<string, ModelKind>, unserved: ReadonlySet<string> | undefined): ReadonlyMap<string, ModelKind> {
  if (unserved === undefined || unserved.size === 0) return kinds;
  const deprecated = 'No connected cluster serves this kind.';
  return new Map([...kinds].map(([key, kind]) => [key, unserved.has(key) ? { ...kind, deprecated } : kind]));
}
