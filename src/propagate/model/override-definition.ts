import type { z } from 'zod';
import { checkedSchema, listSchema, structureSchema } from '../../core/json/documents.ts';
import {
  annotations,
  anyObject,
  anyText,
  describedEnum,
  graphqlHints,
  labels,
  partName,
  pointer,
  rules,
} from '../../core/json/field-definitions.ts';
import { patchOperations } from '../../manifests/json-patch-definition.ts';
import { clusterSet, labelSelector } from './cluster-set-definition.ts';

const maxItems = 100;

const operator = describedEnum('OverrideOperator', 'The operation of an override.', {
  Add: 'Sets a value or appends to it.',
  Replace: 'Changes a value that exists.',
  Remove: 'Removes a value.',
});

const objects = structureSchema({
  apiVersion: anyText.exactOptional().describe('Only objects of this API version, such as `apps/v1`.'),
  kind: anyText.exactOptional().describe('Only objects of this kind, such as `Deployment`.'),
  namespace: anyText.exactOptional().describe('Only objects of this namespace.'),
  name: anyText.exactOptional().describe('Only the object of this name.'),
  labels: labelSelector
    .exactOptional()
    .describe('Only objects that match this label selector. In GraphQL it is a text as for `kubectl get -l`, without `<` and `>`.'),
})
  .register(graphqlHints, { name: 'ObjectMatchInput' })
  .describe('A selection of objects of the template. It contains the objects that meet every condition.');

const image = checkedSchema(
  structureSchema({
    component: describedEnum('ImageComponent', 'A part of an image reference.', {
      registry: 'The part before the first slash, if it is a host.',
      repository: 'The path of the image.',
      tag: 'The part after the colon. If the image has a digest: the digest.',
      digest: 'The part after the at sign.',
    }).describe('The part of the image reference to change.'),
    operator: operator.describe('The operation on `component`. `Add` appends `value` to it.'),
    value: anyText
      .exactOptional()
      .describe('The new value of `component`, or the text that `Add` appends to it. Not needed with `Remove`.'),
    scope: describedEnum('ContainerScope', 'A group of containers of a Pod.', {
      All: 'Every container, including init containers.',
      Main: 'Every container except init containers.',
      Init: 'Only init containers.',
    })
      .default('All')
      .describe('The group of containers to change.'),
    containers: listSchema(anyText, { max: maxItems })
      .exactOptional()
      .describe('Only the containers with these names. Default: all containers of `scope`.'),
    path: pointer
      .exactOptional()
      .describe('A JSON pointer to an image reference in an object of any kind. Cannot be combined with `containers`.'),
  })
    .register(graphqlHints, { name: 'ImageOverrideInput' })
    .meta({
      description: 'Changes a part of image references.',
      ...rules(
        [`self.operator == 'Remove' || (has(self.value) && self.value != '')`, 'expected a value with Add and Replace'],
        ['!has(self.containers) || !has(self.path)', 'expected either containers or a path'],
      ),
    }),
  ({ operator: how, value, containers, path }, report) => {
    if (how !== 'Remove' && (value ?? '') === '') report(`is required with ${how}`, 'value');
    if (containers !== undefined && path !== undefined) report('expected either containers or a path', 'path');
  },
);

const command = structureSchema({
  container: anyText.describe('The name of the container.'),
  operator: operator.describe(
    'The operation on the list. `Add` appends elements, `Remove` removes equal elements, `Replace` sets the whole list.',
  ),
  values: listSchema(anyText, { max: 1_000 }).describe('The elements to add, remove or set.'),
})
  .register(graphqlHints, { name: 'CommandOverrideInput' })
  .describe('Changes the command or the arguments of a container.');

const env = checkedSchema(
  structureSchema({
    container: anyText.exactOptional().describe('The name of the container. Default: all containers, including init containers.'),
    operator: operator.describe('The operation on the variable.'),
    name: anyText.describe('The name of the variable.'),
    value: anyText.exactOptional().describe('The value of the variable. Cannot be combined with `valueFrom`.'),
    valueFrom: anyObject
      .exactOptional()
      .describe('The source of the value, as in a container: a field, a ConfigMap or a Secret. Cannot be combined with `value`.'),
  })
    .register(graphqlHints, { name: 'EnvOverrideInput' })
    .meta({
      description: 'Changes an environment variable.',
      ...rules(['!has(self.value) || !has(self.valueFrom)', 'expected either a value or valueFrom']),
    }),
  ({ name, value, valueFrom }, report) => {
    if (name === '' || name.includes('=')) report('expected the name of a variable, without =', 'name');
    if (value !== undefined && valueFrom !== undefined) report('expected either a value or valueFrom', 'valueFrom');
  },
);

function mapOverride(values: typeof labels) {
  return structureSchema({
    operator: operator.describe('The operation on the map. `Add` sets values. `Replace` and `Remove` change only keys that exist.'),
    values: values.describe('The keys and values. With `Remove`, only the keys count.'),
  })
    .register(graphqlHints, { name: 'MapOverrideInput' })
    .describe('Changes labels or annotations of an object.');
}

const fieldOverride = structureSchema({
  path: pointer.describe('A JSON pointer to the string that contains the document.'),
  format: describedEnum('DocumentFormat', 'The format of a document in a string.', {
    json: 'A JSON document.',
    yaml: 'A YAML document.',
  }).describe('The format of the document in the string.'),
  patch: patchOperations.describe('The operations of a JSON patch (RFC 6902) on the document.'),
})
  .register(graphqlHints, { name: 'FieldOverrideInput' })
  .describe('Changes a document in a string, such as a configuration file in a ConfigMap.');

/** One entry of `overrides`. Its parts take effect in the order in which they are declared here (docs/internals/propagation.md 3.5). */
export const override = structureSchema({
  name: partName.exactOptional().describe('The name of the override, which plans show.'),
  set: clusterSet.default({}).describe('The clusters in which the override changes objects. Default: all clusters.'),
  objects: objects.default({}).describe('The objects that the override changes. Default: all objects of the template.'),
  image: listSchema(image, { max: maxItems }).default([]).describe('Changes of image references.'),
  command: listSchema(command, { max: maxItems }).default([]).describe('Changes of the commands of containers.'),
  args: listSchema(command, { max: maxItems }).default([]).describe('Changes of the arguments of containers.'),
  env: listSchema(env, { max: maxItems }).default([]).describe('Changes of environment variables.'),
  labels: listSchema(mapOverride(labels), { max: maxItems }).default([]).describe('Changes of the labels of objects.'),
  annotations: listSchema(mapOverride(annotations), { max: maxItems }).default([]).describe('Changes of the annotations of objects.'),
  fields: listSchema(fieldOverride, { max: maxItems })
    .default([])
    .describe('Changes of documents in strings, such as configuration files.'),
  jsonPatch: patchOperations.default([]).describe('The operations of a JSON patch (RFC 6902) on the object, applied as one patch.'),
  merge: anyObject.exactOptional().describe('A merge patch (RFC 7396) on the object. Lists whose items have a key are merged by that key.'),
})
  .register(graphqlHints, { name: 'OverrideInput' })
  .describe(
    'Changes of the objects for some clusters. They take effect in this order: image, command, args, env, labels, annotations, fields, jsonPatch, merge.',
  );

/** Returns the number of patch operations of an entry, including those in `fields`. */
export function operationsIn({ fields, jsonPatch }: z.output<typeof override>): number {
  return jsonPatch.length + fields.reduce((sum, { patch }) => sum + patch.length, 0);
}
