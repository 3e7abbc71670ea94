import type { Json } from '../../core/json.ts';
import type { Row } from '../../load/reads/reads.ts';
import type { ModelType, TypeReference } from '../../model/model.ts';

/** A value inside an object, together with the row of that object. To follow a reference, its cluster and namespace must be known. */
export class ValueInRow {
  readonly value: Json | undefined;
  readonly row: Row;

  constructor(value: Json | undefined, row: Row) {
    this.value = value;
    this.row = row;
  }
}

/** The type of references to objects of any kind. */
export const referenceType = 'ObjectReference';

/** Returns the names of the types that contain references at any depth, including the type of references itself. */
export function typesWithReferences(types: ReadonlyMap<string, ModelType>): ReadonlySet<string> {
  const leading = new Set(types.has(referenceType) ? [referenceType] : []);
  for (let size = -1; size < leading.size; ) {
    size = leading.size;
    for (const { name, fields } of types.values()) if (fields.some(({ type }) => leadsToReference(leading, type))) leading.add(name);
  }
  return leading;
}

/** True if values of this type contain references. */
export function leadsToReference(leading: ReadonlySet<string>, type: TypeReference): boolean {
  return 'list' in type ? leadsToReference(leading, type.list) : 'type' in type && leading.has(type.type);
}

/** Adds the row to the value, or to each element of a list. Undefined and null become undefined. */
export function withRow(value: unknown, row: Row): unknown {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.map((element) => withRow(element, row)) : new ValueInRow(value as Json, row);
}
