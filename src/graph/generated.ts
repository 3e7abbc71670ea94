import type { Row } from '../load/reads.ts';
import type { ModelField, ModelKind, ModelType } from '../model/model.ts';
import { asServed, type GraphBuilder } from './builder.ts';
import { leads, Within, within } from './relations/within.ts';
import { enterRow, type StoredResolver, storedAs } from './stored-values.ts';

/** Adds the types of the model: what kinds of objects hold, and the kinds themselves. */
export function addGenerated(builder: GraphBuilder): void {
  const { kinds, parts, modelTypes, model } = builder;
  for (const [name, ref] of parts) {
    const type = modelTypes.get(name);
    if (type !== undefined)
      ref.implement({
        ...describe(type),
        fields: (t) => fieldsOf(type, (field) => t.field({ ...optionsOf(builder, field), resolve: partResolverOf(builder, name, field) })),
      });
  }
  for (const kind of model.kinds.values()) {
    const type = modelTypes.get(kind.type);
    const ref = kinds.get(kind.type);
    if (ref === undefined) continue;
    ref.implement({
      description: type?.description ?? descriptionOf(kind),
      interfaces: builder.ownPods(kind) ? [builder.types.resource, builder.types.podOwner] : [builder.types.resource],
      fields: (t) => fieldsOf(type, (field) => t.field({ ...optionsOf(builder, field), resolve: kindResolverOf(builder, field) })),
    });
  }
}

function optionsOf(builder: GraphBuilder, { type, description, deprecated }: ModelField) {
  return {
    type: builder.outputOf(type),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecationReason: deprecated }),
  };
}

function partResolverOf({ leading }: GraphBuilder, name: string, field: ModelField): StoredResolver<unknown> {
  const resolve = storedAs(field.type, readerOf(field));
  if (!leading.has(name)) return resolve;
  const carry = leads(leading, field.type) ? within : onlyValue;
  return (source, args, context, info) => {
    if (!(source instanceof Within)) return resolve(source, args, context, info);
    return carry(resolve(source.value, args, context, info), source.row);
  };
}

function kindResolverOf({ leading }: GraphBuilder, field: ModelField): StoredResolver<Row> {
  const resolve = storedAs(field.type, readerInObject(field));
  const carry = leads(leading, field.type) ? within : onlyValue;
  return (row, args, context, info) => {
    enterRow(row, context, info);
    return carry(resolve(row, args, context, info), row);
  };
}

function onlyValue(value: unknown): unknown {
  return value;
}

/** Most fields read what their own name says, as graphql-js would by itself. A name that every object inherits must be the value's own. */
function readerOf({ name, key }: ModelField): StoredResolver<unknown> {
  if (name === key && !(name in Object.prototype)) return asServed;
  return (source) => (isRecord(source) && Object.hasOwn(source, key) ? source[key] : undefined);
}

function readerInObject({ key }: ModelField): StoredResolver<{ readonly object: object }> {
  return ({ object }) => (isRecord(object) && Object.hasOwn(object, key) ? object[key] : undefined);
}

function fieldsOf<Field>(type: ModelType | undefined, fieldOf: (field: ModelField) => Field): Record<string, Field> {
  return Object.fromEntries((type?.fields ?? []).map((field) => [field.name, fieldOf(field)]));
}

function describe({ description }: ModelType) {
  return description === undefined ? {} : { description };
}

function descriptionOf({ group, kind }: ModelKind): string {
  return group === '' ? `The kind ${kind}.` : `The kind ${kind} of ${group}.`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
