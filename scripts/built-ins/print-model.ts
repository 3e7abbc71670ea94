import type { Json, JsonObject } from '../../src/core/json.ts';
import { keyOfKind } from '../../src/core/kinds.ts';
import { compareText } from '../../src/core/text.ts';
import { embeddedObjectMeta } from '../../src/model/hand-written-types.ts';
import type { Model, ModelField } from '../../src/model/model.ts';
import { printTypeReference } from '../../src/model/model.ts';

/**
 * Prints the model as JSON with one line for each kind and each type, in the order of their names, so that a diff can be reviewed.
 *
 * A field is the text of its type, or an object if there is more information. Descriptions are left out, because they come from clusters.
 * Otherwise `parseModel` reads an equal model.
 */
export function printModel(model: Model): string {
  const kinds = [...model.kinds.values()].sort((a, b) => compareText(keyOfKind(a), keyOfKind(b)));
  const types = [...model.types.values()].filter((type) => type !== embeddedObjectMeta).sort((a, b) => compareText(a.name, b.name));
  const lines = types.map(({ name, fields }) => {
    const printed = Object.fromEntries(fields.map((field) => [field.name, printedField(field)]));
    return `${JSON.stringify(name)}:${JSON.stringify(printed)}`;
  });
  return `{"kinds":[\n${kinds.map((kind) => JSON.stringify(kind)).join(',\n')}\n],"types":{\n${lines.join(',\n')}\n}}\n`;
}

function printedField({ name, key, type, description: _, ...rest }: ModelField): Json {
  const text = printTypeReference(type);
  if (key === name && Object.keys(rest).length === 0) return text;
  return { type: text, ...(key === name ? {} : { key }), ...rest } as JsonObject;
}
