import { maxPatchOperations } from '../rendering/json-patch.ts';
import type {
  EnvOverride,
  FieldOverride,
  ImageOverride,
  JsonPatchOperation,
  ListOverride,
  MapOverride,
  ObjectMatch,
  Override,
} from '../spec.ts';
import { clusterSet } from './cluster-sets.ts';
import { anyJson, anyObject, below, type Codec, checked, choice, defaulted, list, optional, record, required, tell } from './codec.ts';
import { labelSelector } from './selector.ts';
import { annotations, anyText, labels, partName, pointer } from './texts.ts';

const maxItems = 100;

const operator = choice(['Add', 'Replace', 'Remove']);

const objects: Codec<ObjectMatch> = record({
  apiVersion: optional(anyText),
  kind: optional(anyText),
  namespace: optional(anyText),
  name: optional(anyText),
  labels: optional(labelSelector),
});

const image: Codec<ImageOverride> = checked(
  record({
    component: required(choice(['registry', 'repository', 'tag', 'digest'])),
    operator: required(operator),
    value: optional(anyText),
    scope: defaulted(choice(['All', 'Main', 'Init']), 'All'),
    containers: optional(list(anyText, { max: maxItems })),
    path: optional(pointer),
  }),
  ({ operator: how, value, containers, path }, place) => {
    if (how !== 'Remove' && (value ?? '') === '') tell(below(place, 'value'), `is required with ${how}`);
    if (containers !== undefined && path !== undefined) tell(below(place, 'path'), 'expected either containers or a path');
  },
);

const listOverride: Codec<ListOverride> = record({
  container: required(anyText),
  operator: required(operator),
  values: required(list(anyText, { max: 1_000 })),
});

const env: Codec<EnvOverride> = checked(
  record({
    container: optional(anyText),
    operator: required(operator),
    name: required(anyText),
    value: optional(anyText),
    valueFrom: optional(anyObject),
  }),
  ({ name, value, valueFrom }, place) => {
    if (name === '' || name.includes('=')) tell(below(place, 'name'), 'expected the name of a variable, without =');
    if (value !== undefined && valueFrom !== undefined) tell(below(place, 'valueFrom'), 'expected either a value or valueFrom');
  },
);

const labelOverride: Codec<MapOverride> = record({ operator: required(operator), values: required(labels) });
const annotationOverride: Codec<MapOverride> = record({ operator: required(operator), values: required(annotations) });

const operation: Codec<JsonPatchOperation> = checked(
  record({
    op: required(choice(['add', 'remove', 'replace', 'move', 'copy', 'test'], 'same')),
    path: required(pointer),
    from: optional(pointer),
    value: optional(anyJson),
  }),
  ({ op, from }, place) => {
    const needsFrom = op === 'move' || op === 'copy';
    if (needsFrom !== (from !== undefined)) tell(below(place, 'from'), needsFrom ? `is required with ${op}` : `expected none with ${op}`);
  },
);

/** A JSON patch (RFC 6902), as far as it can be checked without the document. */
export const operations: Codec<readonly JsonPatchOperation[]> = list(operation, { max: maxPatchOperations });

const fieldOverride: Codec<FieldOverride> = record({
  path: required(pointer),
  format: required(choice(['json', 'yaml'])),
  patch: required(operations),
});

/** One entry of `overrides`. */
export const override: Codec<Override> = record({
  name: optional(partName),
  set: defaulted(clusterSet, {}),
  objects: defaulted(objects, {}),
  image: defaulted(list(image, { max: maxItems }), []),
  command: defaulted(list(listOverride, { max: maxItems }), []),
  args: defaulted(list(listOverride, { max: maxItems }), []),
  env: defaulted(list(env, { max: maxItems }), []),
  labels: defaulted(list(labelOverride, { max: maxItems }), []),
  annotations: defaulted(list(annotationOverride, { max: maxItems }), []),
  fields: defaulted(list(fieldOverride, { max: maxItems }), []),
  jsonPatch: defaulted(operations, []),
  merge: optional(anyObject),
});

/** How many operations an entry has, those within fields too. */
export function operationsIn({ fields, jsonPatch }: Override): number {
  return jsonPatch.length + fields.reduce((sum, { patch }) => sum + patch.length, 0);
}
