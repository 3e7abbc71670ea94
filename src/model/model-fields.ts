import { fieldNamesOf } from './graphql-names.ts';
import type { ModelField, TypeReference } from './model.ts';
import type { Shape, ShapeField } from './shapes.ts';

/**
 * The fields of a generated type: each with its name in GraphQL and, through `reference`, what it leads to. In the order of `fields`.
 *
 * @param hidden Names that belong to an interface of the type.
 */
export function modelFields(
  fields: readonly ShapeField[],
  reference: (shape: Shape) => TypeReference,
  hidden?: ReadonlySet<string>,
): readonly ModelField[] {
  const names = fieldNamesOf(
    fields.map(({ key }) => key),
    hidden,
  );
  return fields.map(({ shape, ...field }, index) => ({ name: names[index] ?? field.key, type: reference(shape), ...field }));
}
