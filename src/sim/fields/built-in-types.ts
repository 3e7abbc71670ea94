import { readFileSync } from 'node:fs';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { Model, ModelField, ScalarName, TypeReference } from '../../model/model.ts';
import { parseModel } from '../../model/model-document.ts';
import { type FieldType, type ScalarType, type StructType, untyped } from './field-types.ts';

const quantity: FieldType = { type: 'scalar', scalar: 'any', format: 'quantity' };
const bytes: FieldType = { type: 'scalar', scalar: 'string', format: 'bytes' };

const scalars: Readonly<Record<ScalarName, FieldType>> = {
  String: scalar('string'),
  Boolean: scalar('boolean'),
  Int: scalar('integer'),
  Int64: scalar('integer'),
  Float: scalar('number'),
  DateTime: scalar('string'),
  Bytes: bytes,
  Quantity: quantity,
  Duration: scalar('string'),
  IntOrString: scalar('any'),
  StringMap: mapOf(scalar('string')),
  JSON: untyped,
};

/**
 * Atomic types: each value has one owner as a whole. Kubernetes 1.36 marks them with `x-kubernetes-map-type: atomic`, which the model
 * lacks.
 */
const atomicTypes: ReadonlySet<string> = new Set([
  ...['MatchResources', 'NamedRuleWithOperations', 'ParamKind', 'ParamRef', 'Variable', 'CrossVersionObjectReference', 'EndpointAddress'],
  ...['ConfigMapKeySelector', 'EndpointPort', 'FileKeySelector', 'LocalObjectReference', 'NodeSelector', 'NodeSelectorTerm', 'Subject'],
  ...['ObjectFieldSelector', 'ObjectReference', 'ResourceFieldSelector', 'ScopeSelector', 'SecretKeySelector', 'SecretReference'],
  ...['TopologySelectorTerm', 'TypedLocalObjectReference', 'ServiceBackendPort', 'RoleRef', 'LabelSelector'],
]);

/**
 * Exceptions to `atomicTypes`: `atomicFields` are atomic although their type is not, and `granularFields` are not atomic although their
 * type is.
 */
const atomicFields: ReadonlySet<string> = new Set([
  ...['PodSpec.nodeSelector', 'ReplicationControllerSpec.selector', 'ServiceSpec.selector', 'Scheduling.nodeSelector'],
]);
const granularFields: ReadonlySet<string> = new Set(['PersistentVolumeSpec.claimRef']);

/** Fields that are maps of base64 text. The model does not distinguish them from other maps of text. */
const bytesFields: ReadonlySet<string> = new Set(['Secret.data', 'ConfigMap.binaryData']);

/** The metadata of every object. */
export const metadataType: StructType = structOf({
  ...texts('name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'selfLink', 'creationTimestamp', 'deletionTimestamp'),
  generation: scalar('integer'),
  deletionGracePeriodSeconds: scalar('integer'),
  labels: mapOf(scalar('string')),
  annotations: mapOf(scalar('string')),
  finalizers: { type: 'list', items: scalar('string'), listType: 'set', keys: [] },
  ownerReferences: {
    type: 'list',
    items: {
      ...structOf({
        ...texts('apiVersion', 'kind', 'name', 'uid'),
        controller: scalar('boolean'),
        blockOwnerDeletion: scalar('boolean'),
      }),
      isAtomic: true,
    },
    listType: 'map',
    keys: ['uid'],
  },
  managedFields: { type: 'list', items: untyped, listType: 'atomic', keys: [] },
});

/**
 * Returns the type of objects with these fields in addition to apiVersion, kind and metadata. `isOpen`: all other fields are allowed too.
 */
export function objectType(fields: Readonly<Record<string, FieldType>>, { isOpen }: { readonly isOpen: boolean }): StructType {
  return { ...structOf({ ...fields, ...texts('apiVersion', 'kind'), metadata: metadataType }), isOpen };
}

/** The type of the kind Scale. */
export const scaleType = objectType(
  { spec: structOf({ replicas: scalar('integer') }), status: structOf({ replicas: scalar('integer'), selector: scalar('string') }) },
  { isOpen: false },
);
/** The type of objects of kinds without a known schema: every field is allowed. */
export const unknownType = objectType({}, { isOpen: true });

const known = new Map<string, FieldType>();
let model: Model | undefined;

/**
 * Returns the type of a built-in kind from the committed model, with the fields of all its versions. A kind that the model lacks gets a
 * type that allows every field.
 */
export function builtInType(kind: GroupKind): FieldType {
  model ??= parseModel(JSON.parse(readFileSync(new URL('../../../schema/kubernetes.json', import.meta.url), 'utf8')));
  const found = model.kinds.get(keyOfKind(kind));
  if (found === undefined) return unknownType;
  const type = known.get(found.type) ?? objectType(Object.fromEntries(fieldsOf(model, found.type)), { isOpen: false });
  known.set(found.type, type);
  return type;
}

const types = new Map<string, FieldType>();

function typeOf(of: Model, reference: TypeReference, field?: ModelField): FieldType {
  if ('scalar' in reference) return scalars[reference.scalar];
  if ('list' in reference) {
    const { listType = 'atomic', listMapKeys = [] } = field ?? {};
    return { type: 'list', items: typeOf(of, reference.list), listType, keys: listMapKeys };
  }
  if (reference.type === 'ResourceList') return mapOf(quantity);
  const name = reference.type;
  const type = types.get(name) ?? namedType(of, name);
  types.set(name, type);
  return type;
}

function namedType(of: Model, name: string): FieldType {
  if (name === 'EmbeddedObjectMeta') return metadataType;
  const embedded = name.startsWith('Embedded') ? { metadata: metadataType, ...texts('apiVersion', 'kind') } : {};
  return { ...structOf({ ...Object.fromEntries(fieldsOf(of, name)), ...embedded }), isAtomic: atomicTypes.has(name) };
}

function fieldsOf(of: Model, name: string): readonly (readonly [string, FieldType])[] {
  return (of.types.get(name)?.fields ?? []).map((field) => {
    const place = `${name}.${field.key}`;
    const type = bytesFields.has(place) ? mapOf(bytes) : typeOf(of, field.type, field);
    if (type.type !== 'map' && type.type !== 'struct') return [field.key, type] as const;
    return [field.key, { ...type, isAtomic: (type.isAtomic || atomicFields.has(place)) && !granularFields.has(place) }] as const;
  });
}

function scalar(type: ScalarType): FieldType {
  return { type: 'scalar', scalar: type };
}

function mapOf(values: FieldType): FieldType {
  return { type: 'map', values, isAtomic: false };
}

function structOf(fields: Readonly<Record<string, FieldType>>): StructType {
  return { type: 'struct', fields: new Map(Object.entries(fields)), isAtomic: false, isOpen: false };
}

function texts(...keys: readonly string[]): Readonly<Record<string, FieldType>> {
  return Object.fromEntries(keys.map((key) => [key, scalar('string')]));
}
