import { invariant, MusterError } from '../core/errors.ts';
import { capitalised, legalPart } from './graphql-names.ts';
import type { ModelType, TypeReference } from './model.ts';
import { modelFields } from './model-fields.ts';
import { resourceFieldNames } from './reserved-names.ts';
import type { ObjectShape, Shape, ShapeField } from './shapes.ts';

/** Fields of one group, equal structures counted once. The largest known group has 6,000. */
const maxFields = 60_000;

/** A kind whose type has its name already. */
export interface NamedKind {
  readonly type: string;
  readonly description?: string;
  readonly shape: ObjectShape;
}

/**
 * The types of all kinds of one group: each kind's own, and one for each structure within them. Equal structures share one type, called by the
 * shortest path that leads to it (`PostgresqlCnpgClusterSpecBackup`); of paths as short, by the first. Texts of that place describe it.
 *
 * @param kinds In the order in which they choose.
 * @param claim Makes a name that nobody else has.
 * @throws {MusterError} `BAD_INPUT` if the group has more fields than any real one.
 */
export function nameStructures(kinds: readonly NamedKind[], claim: (name: string) => string): readonly ModelType[] {
  const structures = createStructures();
  const queue: { readonly type: string; readonly shape: ObjectShape }[] = [...kinds];
  const named = new Map<number, string>();
  let fields = 0;
  for (const { type, shape } of queue) {
    fields += shape.fields.length;
    if (fields > maxFields) throw new MusterError('BAD_INPUT', `expected at most ${maxFields} fields in one group, got more`);
    for (const field of shape.fields) {
      const inner = objectIn(field.shape);
      if (inner === undefined || named.has(structures.idOf(inner))) continue;
      const name = claim(`${type}${capitalised(legalPart(field.key))}`);
      named.set(structures.idOf(inner), name);
      queue.push({ type: name, shape: inner });
    }
  }
  const reference = (shape: Shape): TypeReference => {
    if ('list' in shape) return { list: reference(shape.list) };
    if (!('fields' in shape)) return shape;
    if (shape.fields.length === 0) return { scalar: 'JSON' };
    const type = named.get(structures.idOf(shape));
    invariant(type !== undefined, 'every structure that a kind leads to has a name');
    return { type };
  };
  const descriptions = new Map(kinds.map(({ type, description }) => [type, description]));
  return queue.map(({ type, shape }): ModelType => {
    const description = descriptions.get(type);
    const hidden = descriptions.has(type) ? resourceFieldNames : undefined;
    return { name: type, ...(description === undefined ? {} : { description }), fields: modelFields(shape.fields, reference, hidden) };
  });
}

/** Tells equal structures by number. Descriptions do not count, how lists merge does. Each object is looked at once. */
function createStructures(): { idOf(shape: ObjectShape): number } {
  const known = new Map<ObjectShape, number>();
  const bySignature = new Map<string, number>();
  const signatureOf = (shape: Shape): string => {
    if ('scalar' in shape) return shape.scalar;
    if ('type' in shape) return `@${shape.type}`;
    return 'list' in shape ? `[${signatureOf(shape.list)}]` : `#${idOf(shape)}`;
  };
  const fieldSignature = ({ key, shape, deprecated, listType, listMapKeys, patchMergeKey }: ShapeField): string =>
    `${JSON.stringify(key)}:${signatureOf(shape)}${rulesSignature([deprecated === undefined ? '' : '!', listType, listMapKeys, patchMergeKey])}`;
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

/** The object that a field leads to, through lists; undefined if there is none, or nothing in it. */
function objectIn(shape: Shape): ObjectShape | undefined {
  if ('list' in shape) return objectIn(shape.list);
  return 'fields' in shape && shape.fields.length > 0 ? shape : undefined;
}
