import {
  type GraphQLFieldConfig,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLNullableOutputType,
  GraphQLObjectType,
  isOutputType,
} from 'graphql';
import { invariant } from '../../core/errors.ts';
import { isSecret } from '../../core/redaction.ts';
import type { TextSource } from '../../execution/kept-texts.ts';
import { keptTextsOf, repeatableResolverWithInfo, storedResolver } from '../../execution/known-resolvers.ts';
import type { Row } from '../../load/reads/reads.ts';
import type { ModelField, ModelKind, ModelType, TypeReference } from '../../model/model.ts';
import { asServed, type GraphBuilder } from '../builder/builder.ts';
import { enterRow, inlineFitOf, resolveStored, type StoredResolver } from '../builder/stored-values.ts';
import { leadsToReference, ValueInRow, withRow } from '../builder/value-in-row.ts';
import type { GraphContext } from '../context/context.ts';

/**
 * Adds the types of the model: the kinds with their fields, and the types of these fields still without fields. `partWithFields` adds the
 * missing fields later.
 */
export function addGenerated(builder: GraphBuilder): void {
  const { kinds, partTypes: parts, modelTypes, model } = builder;
  for (const [name, ref] of parts) {
    const type = modelTypes.get(name);
    if (type !== undefined) ref.implement(describe(type));
  }
  for (const kind of model.kinds.values()) {
    const type = modelTypes.get(kind.type);
    const ref = kinds.get(kind.type);
    if (ref === undefined) continue;
    ref.implement({
      ...keptTextsOf(textSourceOfRow),
      description: type?.description ?? descriptionOf(kind),
      interfaces: builder.isPodOwner(kind) ? [builder.types.resource, builder.types.podOwner] : [builder.types.resource],
      fields: (t) => fieldsOf(type, (field) => t.field({ ...optionsOf(builder, field), resolve: kindResolverOf(builder, field) })),
    });
  }
}

/**
 * Returns the values on which the JSON text of a row depends: its object, and the values that fields of `ofObject` resolvers show. Undefined for
 * sensitive kinds: their objects are copied for each answer, and must not stay in memory.
 */
export function textSourceOfRow(value: unknown): TextSource | undefined {
  const row = value as Row | null;
  if (row === null || row.metadataOnly === true || isSecret(row.kind)) return undefined;
  return { object: row.object, others: [row.cluster.name, row.kind, row.resource] };
}

/**
 * Returns the type with the fields that the model declares, if it is one of `builder.partTypes`. Returns other types as they are.
 *
 * Most fields of a schema are declared here and not with Pothos. Pothos keeps about ten objects for each field, and builds all fields in
 * one synchronous step.
 *
 * @param types All types of the schema by name. The map must be complete when the fields are first read.
 * @throws {InvariantError} when the fields are read, if the model refers to a type that it does not have.
 */
export function partWithFields(
  builder: GraphBuilder,
  type: GraphQLObjectType,
  types: ReadonlyMap<string, GraphQLNamedType>,
): GraphQLObjectType {
  const { name, description } = type;
  const declared = builder.partTypes.has(name) ? builder.modelTypes.get(name) : undefined;
  if (declared === undefined) return type;
  const fields = () => {
    const ofModel = fieldsOf(declared, (field): GraphQLFieldConfig<unknown, GraphContext> => {
      const resolve = partResolverOf(builder, name, field);
      return {
        type: outputTypeOf(builder, types, field.type),
        description: field.description,
        deprecationReason: field.deprecated,
        resolve: resolve === asServed ? undefined : resolve,
      };
    });
    // Pothos adds relations to a few of these types.
    return { ...ofModel, ...(builder.pothos.configStore.getFields(name).size === 0 ? {} : type.toConfig().fields) };
  };
  return new GraphQLObjectType({ name, description, fields });
}

function outputTypeOf(
  builder: GraphBuilder,
  types: ReadonlyMap<string, GraphQLNamedType>,
  reference: TypeReference,
): GraphQLNullableOutputType {
  if ('list' in reference) return new GraphQLList(new GraphQLNonNull(outputTypeOf(builder, types, reference.list)));
  const type = types.get('scalar' in reference ? reference.scalar : reference.type);
  const isKnown = isOutputType(type) && !builder.kinds.has(type.name);
  invariant(isKnown, `the model refers to ${JSON.stringify(reference)}, which is not among its types`);
  return type;
}

function optionsOf(builder: GraphBuilder, { type, description, deprecated }: ModelField) {
  return {
    type: builder.outputOf(type),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecationReason: deprecated }),
  };
}

function partResolverOf({ referenceTypes: leading }: GraphBuilder, name: string, field: ModelField): StoredResolver<unknown> {
  const resolve = resolveStored(field.type, readerOf(field));
  if (!leading.has(name)) return storedResolver({ path: [], key: field.key, fit: inlineFitOf(field.type) }, resolve);
  const carry = leadsToReference(leading, field.type) ? withRow : onlyValue;
  return repeatableResolverWithInfo((source, args, context, info) => {
    if (!(source instanceof ValueInRow)) return resolve(source, args, context, info);
    return carry(resolve(source.value, args, context, info), source.row);
  });
}

function kindResolverOf({ referenceTypes: leading }: GraphBuilder, field: ModelField): StoredResolver<Row> {
  const resolve = resolveStored(field.type, readerInObject(field));
  const carriesRow = leadsToReference(leading, field.type);
  const resolver: StoredResolver<Row> = (row, args, context, info) => {
    enterRow(row, context, info);
    const value = resolve(row, args, context, info);
    return carriesRow ? withRow(value, row) : value;
  };
  if (carriesRow) return repeatableResolverWithInfo(resolver);
  return storedResolver({ path: ['object'], key: field.key, fit: inlineFitOf(field.type) }, resolver);
}

function onlyValue(value: unknown): unknown {
  return value;
}

/**
 * Returns the resolver of a field. Most fields read the property of their own name, like the default resolver of graphql-js. A name that
 * every JavaScript object inherits, such as `constructor`, is read only if the value has it as its own property.
 */
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
  return group === '' ? `An object of the kind ${kind}.` : `An object of the kind ${kind} of ${group}.`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
