import type { Json } from '../../core/json.ts';
import type { Row } from '../../load/reads/reads.ts';
import type { ModelType, TypeReference } from '../../model/model.ts';

/** A value inside an object together with that object: a reference alone does not know from where it is followed. */
export class Within {
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
export function leadingTypes(types: ReadonlyMap<string, ModelType>): ReadonlySet<string> {
  const leading = new Set(types.has(referenceType) ? [referenceType] : []);
  for (let size = -1; size < leading.size; ) {
    size = leading.size;
    for (const { name, fields } of types.values()) if (fields.some(({ type }) => leads(leading, type))) leading.add(name);
  }
  return leading;
}

/** True if values of this type lead to references. */
export function leads(leading: ReadonlySet<string>, type: TypeReference): boolean {
  return 'list' in type ? leads(leading, type.list) : 'type' in type && leading.has(type.type);
}

/** The value, or each of the list, with the object that it stands in; nothing stays nothing. */
export function within(value: unknown, row: Row): unknown {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.map((element) => within(element, row)) : new Within(value as Json, row);
}
