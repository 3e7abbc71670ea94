import type { Json } from '../../core/json.ts';
import type { Row } from '../../load/reads/reads.ts';
import type { ModelType, TypeReference } from '../../model/model.ts';

/** A value inside an object together with that object: a reference alone does not know from where it is followed. */
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

/** The names of the types through which a reference is reached, its own with them. */
export function typesWithReferences(types: ReadonlyMap<string, ModelType>): ReadonlySet<string> {
  const leading = new Set(types.has(referenceType) ? [referenceType] : []);
  for (let size = -1; size < leading.size; ) {
    size = leading.size;
    for (const { name, fields } of types.values()) if (fields.some(({ type }) => leadsToReference(leading, type))) leading.add(name);
  }
  return leading;
}

/** True if values of this type lead to references. */
export function leadsToReference(leading: ReadonlySet<string>, type: TypeReference): boolean {
  return 'list' in type ? leadsToReference(leading, type.list) : 'type' in type && leading.has(type.type);
}

/** The value, or each of the list, with the object that it stands in; nothing stays nothing. */
export function withRow(value: unknown, row: Row): unknown {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.map((element) => withRow(element, row)) : new ValueInRow(value as Json, row);
}
