import type { ModelField, ModelType, ScalarName, TypeReference } from './model.ts';

/** The metadata of every object that has a cluster: written by hand in the schema, so not among a model's types. */
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

/** Who an object belongs to: written by hand as `ObjectMeta` is. */
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

/** What a path may ask of the cluster an object lives in. */
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

/** How far a workload has come to be what its spec says. */
export const rollout: ModelType = { name: 'Rollout', fields: [scalarField('done', 'Boolean'), scalarField('message', 'String')] };

/**
 * The metadata of an object inside another, such as a pod template: nobody has stored it, so it has neither version nor times and its name may
 * be absent. Generated fields refer to it, so it is among the types of every model.
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
