import type { ModelField, ModelType, ScalarName, TypeReference } from './model.ts';

/** The type of the metadata of every stored object. It is written by hand in the schema, so it is not among the types of a model. */
export const objectMeta: ModelType = {
  name: 'ObjectMeta',
  fields: [
    scalarField('annotations', 'StringMap'),
    scalarField('creationTimestamp', 'DateTime'),
    scalarField('deletionTimestamp', 'DateTime'),
    listField('finalizers', { scalar: 'String' }),
    scalarField('generation', 'Int64'),
    scalarField('labels', 'StringMap'),
    scalarField('name', 'String'),
    scalarField('namespace', 'String'),
    listField('ownerReferences', { type: 'OwnerReference' }),
    scalarField('resourceVersion', 'String'),
    scalarField('uid', 'String'),
  ],
};

/** The reference to an owner, written by hand like `ObjectMeta`. */
export const ownerReference: ModelType = {
  name: 'OwnerReference',
  fields: [
    scalarField('apiVersion', 'String'),
    scalarField('controller', 'Boolean'),
    scalarField('kind', 'String'),
    scalarField('name', 'String'),
    scalarField('uid', 'String'),
  ],
};

/** The fields of a cluster that a path can read. */
export const clusterPathFields: ModelType = {
  name: 'Cluster',
  fields: [
    scalarField('labels', 'StringMap'),
    scalarField('name', 'String'),
    scalarField('phase', 'String'),
    scalarField('provider', 'String'),
    scalarField('region', 'String'),
    scalarField('version', 'String'),
    listField('zones', { scalar: 'String' }),
  ],
};

/** The progress of a workload towards its spec. */
export const rollout: ModelType = { name: 'Rollout', fields: [scalarField('done', 'Boolean'), scalarField('message', 'String')] };

/**
 * The metadata of an object inside another object, such as a Pod template. It is not stored by itself, so it has neither version nor times, and
 * its name may be absent. Generated fields refer to it, so every model has it.
 */
export const embeddedObjectMeta: ModelType = {
  name: 'EmbeddedObjectMeta',
  description: 'The metadata of an object inside another object, such as a Pod template. Any field may be null.',
  fields: [
    scalarField('annotations', 'StringMap'),
    { ...listField('finalizers', { scalar: 'String' }), listType: 'set' },
    scalarField('generateName', 'String'),
    scalarField('labels', 'StringMap'),
    scalarField('name', 'String'),
    scalarField('namespace', 'String'),
  ],
};

function scalarField(name: string, scalar: ScalarName): ModelField {
  return { name, key: name, type: { scalar } };
}

function listField(name: string, list: TypeReference): ModelField {
  return { name, key: name, type: { list } };
}
