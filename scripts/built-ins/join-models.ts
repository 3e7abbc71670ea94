import { compareApiVersions } from '../../src/core/api-versions.ts';
import { invariant } from '../../src/core/errors.ts';
import { compareText } from '../../src/core/text.ts';
import { joinObjects } from '../../src/model/join-shapes.ts';
import type { Model, ModelField, ModelKind, ModelType, TypeReference } from '../../src/model/model.ts';
import { resourceFieldNames } from '../../src/model/reserved-names.ts';
import type { Shape } from '../../src/model/shapes.ts';
import { modelFields } from './convert-built-ins.ts';

/** A joined model, and the fields whose types could not be joined. */
export interface JoinedModels {
  readonly model: Model;
  /** Fields that became `JSON` in the join, such as `PodSpec.replicas`, in order. */
  readonly conflicts: readonly string[];
}

/**
 * Joins two models of built-in kinds of two releases: all kinds, types and fields of both, each field by the join of its types (see
 * `joinShapes`). The join is commutative, associative and idempotent. The result is in the order of names.
 */
export function joinModels(a: Model, b: Model): JoinedModels {
  const conflicts: string[] = [];
  const kindTypes = new Set([...a.kinds.values(), ...b.kinds.values()].map(({ type }) => type));
  const types = joinMaps(a.types, b.types, (left, right) => joinTypes(left, right, { conflicts, kindTypes }));
  return { model: { kinds: joinMaps(a.kinds, b.kinds, joinKinds), types }, conflicts: conflicts.sort(compareText) };
}

interface TypeJoin {
  readonly conflicts: string[];
  readonly kindTypes: ReadonlySet<string>;
}

function joinTypes(a: ModelType, b: ModelType, { conflicts, kindTypes }: TypeJoin): ModelType {
  if (a === b) return a;
  const { fields } = joinObjects(
    { fields: a.fields.map(shapeField) },
    { fields: b.fields.map(shapeField) },
    {
      path: [a.name],
      conflict: (path) => conflicts.push(path.join('.')),
    },
  );
  return { name: a.name, fields: modelFields(fields, reference, kindTypes.has(a.name) ? resourceFieldNames : undefined) };
}

function shapeField({ name: _, type, ...field }: ModelField): Omit<ModelField, 'name' | 'type'> & { readonly shape: Shape } {
  return { ...field, shape: type };
}

function reference(shape: Shape): TypeReference {
  if ('list' in shape) return { list: reference(shape.list) };
  invariant(!('fields' in shape), 'the join of two references is a reference');
  return shape;
}

function joinKinds(a: ModelKind, b: ModelKind): ModelKind {
  return {
    ...a,
    versions: union(a.versions, b.versions).sort(compareApiVersions),
    shortNames: union(a.shortNames, b.shortNames),
    categories: union(a.categories, b.categories),
    conflicts: union(a.conflicts, b.conflicts),
  };
}

function joinMaps<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>, join: (a: T, b: T) => T): ReadonlyMap<string, T> {
  const keys = [...new Set([...a.keys(), ...b.keys()])].sort(compareText);
  return new Map(
    keys.flatMap((key): [string, T][] => {
      const [left, right] = [a.get(key), b.get(key)];
      if (left === undefined) return right === undefined ? [] : [[key, right]];
      return [[key, right === undefined ? left : join(left, right)]];
    }),
  );
}

function union(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set([...a, ...b])].sort(compareText);
}
