import { MusterError } from '../core/errors.ts';
import type { NamedPlace } from './given-names.ts';
import { capitalised, isFieldName, legalPart } from './graphql-names.ts';
import type { ModelField, ModelType, TypeReference } from './model.ts';
import type { StructureNames } from './name-claims.ts';
import { resourceFieldNames } from './reserved-names.ts';
import type { ObjectShape, Shape, ShapeField } from './shapes.ts';

/** Maximum number of fields in one group, with equal structures counted once. The largest known group has 6,000. */
const maxFields = 60_000;

/** A kind whose type has a name. */
export interface NamedKind {
  /** `Kind/group`, under which its names are remembered. */
  readonly kind: string;
  readonly type: string;
  readonly description?: string;
  readonly shape: ObjectShape;
}

/** A structure with the name of its type. */
interface NamedStructure {
  readonly type: string;
  readonly shape: ObjectShape;
  readonly place: NamedPlace;
}

/**
 * Returns the types of all kinds of one group: the type of each kind, and one type for each structure in them.
 *
 * Equal structures share one type. Its name comes from the shortest path to it (`PostgresqlCnpgClusterSpecBackup`), or from the first of equally
 * short paths, and its descriptions come from that place. Names that were assigned before stay, even if structures have become equal since.
 *
 * @param kinds In the order in which they choose names.
 * @throws {MusterError} `BAD_INPUT` if the group has more fields than any real one.
 */
export function nameStructures(kinds: readonly NamedKind[], names: StructureNames): readonly ModelType[] {
  const structures = createStructures();
  const queue = kinds.map(
    ({ kind, type, shape }): NamedStructure => ({ type, shape: withFieldNames(shape, [kind], names), place: [kind] }),
  );
  const queued = new Set<string>();
  let fields = 0;

  const typeAt = ({ type, place }: NamedStructure, { key }: ShapeField, shape: ObjectShape): string => {
    const at = [...place, key];
    const name = names.typeName(at, structures.idOf(shape), `${type}${capitalised(legalPart(key))}`);
    if (!queued.has(name)) queue.push({ type: name, shape, place: at });
    queued.add(name);
    return name;
  };

  const types = new Map<string, ModelType>();
  for (const structure of queue) {
    fields += structure.shape.fields.length;
    if (fields > maxFields) throw new MusterError('BAD_INPUT', `expected at most ${maxFields} fields in one group, got more`);
    const modelFields = structure.shape.fields.map(({ name, shape, ...field }, index): ModelField => {
      const inner = objectIn(shape);
      const type = inner === undefined ? undefined : typeAt(structure, structure.shape.fields[index] ?? { ...field, shape }, inner);
      return { name: name ?? field.key, type: referenceTo(shape, type), ...field };
    });
    types.set(structure.type, { name: structure.type, fields: modelFields });
  }
  for (const { type, description } of kinds) {
    const found = types.get(type);
    if (found !== undefined && description !== undefined) types.set(type, { name: type, description, fields: found.fields });
  }
  return [...types.values()];
}

/** Returns the type of a field with this shape. `type` is the name of the object type that it leads to. */
function referenceTo(shape: Shape, type: string | undefined): TypeReference {
  if ('list' in shape) return { list: referenceTo(shape.list, type) };
  if (!('fields' in shape)) return shape;
  return type === undefined ? { scalar: 'JSON' } : { type };
}

/** Returns the shape with `name` set for each field whose name differs from its key. Returns the shape itself if no name differs. */
function withFieldNames(root: ObjectShape, place: NamedPlace, names: StructureNames): ObjectShape {
  const [kind = ''] = place;
  const isOdd = createOddity();
  const isRemembered = names.hasFieldNames(kind);

  const named = (shape: ObjectShape, at: NamedPlace, hidden?: ReadonlySet<string>): ObjectShape => {
    if (!isRemembered && !isOdd(shape, hidden)) return shape;
    const keys = shape.fields.map(({ key }) => key);
    const given = names.fieldNames(at, keys, hidden);
    return {
      fields: shape.fields.map((field, index) => {
        const name = given[index] ?? field.key;
        const inner = namedIn(field.shape, [...at, field.key]);
        return name === field.key ? { ...field, shape: inner } : { ...field, name, shape: inner };
      }),
    };
  };
  const namedIn = (shape: Shape, at: NamedPlace): Shape => {
    if ('list' in shape) return { list: namedIn(shape.list, at) };
    return 'fields' in shape ? named(shape, at) : shape;
  };

  return named(root, place, resourceFieldNames);
}

/** Returns a test for objects that have, at any depth, a key that cannot be a name. Each object is visited once. */
function createOddity(): (shape: ObjectShape, hidden?: ReadonlySet<string>) => boolean {
  const known = new Map<ObjectShape, boolean>();
  const isOdd = (shape: ObjectShape, hidden?: ReadonlySet<string>): boolean => {
    const seen = known.get(shape);
    if (seen !== undefined) return seen;
    const odd = shape.fields.some(({ key, shape: inner }) => {
      const below = objectIn(inner);
      return !isFieldName(key, hidden) || (below !== undefined && isOdd(below));
    });
    known.set(shape, odd);
    return odd;
  };
  return isOdd;
}

/**
 * Creates a numbering of structures. Equal structures have equal numbers. Descriptions do not count, but rules for merging lists do. Each
 * object is visited once.
 */
function createStructures(): { idOf(shape: ObjectShape): number } {
  const known = new Map<ObjectShape, number>();
  const bySignature = new Map<string, number>();
  const signatureOf = (shape: Shape): string => {
    if ('scalar' in shape) return shape.scalar;
    if ('type' in shape) return `@${shape.type}`;
    return 'list' in shape ? `[${signatureOf(shape.list)}]` : `#${idOf(shape)}`;
  };
  const fieldSignature = ({ key, name = key, shape, deprecated, listType, listMapKeys, patchMergeKey }: ShapeField): string =>
    `${JSON.stringify(key)}${name === key ? '' : ` as ${name}`}:${signatureOf(shape)}${rulesSignature([deprecated === undefined ? '' : '!', listType, listMapKeys, patchMergeKey])}`;
  const idOf = (shape: ObjectShape): number => {
    const seen = known.get(shape);
    if (seen !== undefined) return seen;
    const signature = shape.fields.map(fieldSignature).join();
    const id = bySignature.get(signature) ?? bySignature.size;
    bySignature.set(signature, id);
    known.set(shape, id);
    return id;
  };
  return { idOf };
}

function rulesSignature(rules: readonly unknown[]): string {
  return rules.every((rule) => rule === undefined || rule === '') ? '' : JSON.stringify(rules);
}

/** Returns the object that a field leads to, through lists. Undefined if there is none, or if it has no fields. */
function objectIn(shape: Shape): ObjectShape | undefined {
  if ('list' in shape) return objectIn(shape.list);
  return 'fields' in shape && shape.fields.length > 0 ? shape : undefined;
}
