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

/** What a model is made of. */
export interface ModelSources {
  /** The built-in kinds. Its kinds, types and names stand as they are; a custom kind of the same group and name adds nothing. */
  readonly baseline: Model;
  /** Of all clusters, in any order, any kind any number of times. */
  readonly custom: readonly KindSchema[];
  /** What the last call gave back; empty at first. Aliases for groups are put in here. */
  readonly prefixes: ReadonlyMap<string, string>;
  /** Kinds (`keyOfKind`) that no cluster serves now: they stay, deprecated. */
  readonly unserved?: ReadonlySet<string>;
}

export interface CreatedModel {
  readonly model: Model;
  /** Names given so far, in order of arrival: to be handed to the next call, and kept in the lock file. Plain text to plain text. */
  readonly prefixes: ReadonlyMap<string, string>;
  /** Groups that could not be built, in order: none of their kinds is in the model. */
  readonly problems: readonly { readonly group: string; readonly message: string }[];
}

/**
 * Joins the kinds of all clusters, names them, and puts them beside the built-in ones.
 *
 * The order of `custom` does not matter, and a kind more renames no other kind. Nothing is thrown for a bad group: it is left out and told.
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
