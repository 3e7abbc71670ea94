import type { GraphBuilder } from '../builder.ts';
import type { IntentEnums } from './intent-enums.ts';
import type { PlacementInputs } from './placement-inputs.ts';

/** Adds `OverrideInput` and its parts. @returns it. */
export function addOverrideInputs(builder: GraphBuilder, enums: IntentEnums, { set }: PlacementInputs) {
  const { pothos } = builder;
  const objects = pothos.inputType('ObjectMatchInput', {
    description: 'Some objects of the template: those for which all that is said holds.',
    fields: (t) => ({
      apiVersion: t.string({ description: 'Such as `apps/v1`.' }),
      kind: t.string({ description: 'Such as `Deployment`.' }),
      namespace: t.string({ description: 'Its namespace.' }),
      name: t.string({ description: 'Its name.' }),
      labels: t.string({ description: 'Its labels: what kubectl takes after `-l`, without `<` and `>`.' }),
    }),
  });
  const patch = pothos.inputType('JsonPatchInput', {
    description: 'One operation of RFC 6902.',
    fields: (t) => ({
      op: t.field({ type: enums.jsonPatchOp, required: true, description: 'What it does.' }),
      path: t.string({ required: true, description: 'A JSON pointer (RFC 6901), such as `/spec/replicas`.' }),
      from: t.string({ description: 'A JSON pointer, with `move` and `copy`.' }),
      value: t.field({ type: 'JSON', description: 'With `add`, `replace` and `test`; absent it is null.' }),
    }),
  });
  const values = addValueOverrides(builder, enums);
  const document = pothos.inputType('FieldOverrideInput', {
    description: 'Changes a document that stands in a string, such as one of a ConfigMap.',
    fields: (t) => ({
      path: t.string({ required: true, description: 'A JSON pointer to the string.' }),
      format: t.field({ type: enums.documentFormat, required: true, description: 'What it holds.' }),
      patch: t.field({ type: [patch], required: true, description: 'What is changed in the document.' }),
    }),
  });
  return pothos.inputType('OverrideInput', {
    description: 'What is different in some clusters. Its parts take effect in the order in which they stand here.',
    fields: (t) => ({
      name: t.string({ description: 'What plans call it.' }),
      set: t.field({ type: set, description: 'Where. Absent: everywhere.' }),
      objects: t.field({ type: objects, description: 'In which objects. Absent: in all.' }),
      image: t.field({ type: [values.image], description: 'Parts of references of images.' }),
      command: t.field({ type: [values.command], description: 'Commands of containers.' }),
      args: t.field({ type: [values.command], description: 'Arguments of containers.' }),
      labels: t.field({ type: [values.map], description: 'Labels.' }),
      annotations: t.field({ type: [values.map], description: 'Annotations.' }),
      env: t.field({ type: [values.env], description: 'Environment variables. They take effect before labels.' }),
      fields: t.field({ type: [document], description: 'Documents in strings.' }),
      jsonPatch: t.field({ type: [patch], description: 'RFC 6902, all as one patch.' }),
      merge: t.field({ type: 'JSON', description: 'RFC 7396; lists whose items have a key are merged by it.' }),
    }),
  });
}

function addValueOverrides({ pothos }: GraphBuilder, enums: IntentEnums) {
  const image = pothos.inputType('ImageOverrideInput', {
    description: 'Changes a part of the reference of images.',
    fields: (t) => ({
      component: t.field({ type: enums.imageComponent, required: true, description: 'Which part.' }),
      operator: t.field({ type: enums.overrideOperator, required: true, description: 'What it does. `ADD` concatenates.' }),
      value: t.string({ description: 'What with. None for `REMOVE`.' }),
      scope: t.field({ type: enums.containerScope, defaultValue: 'ALL', description: 'In which containers.' }),
      containers: t.stringList({ description: 'Only in those of these names.' }),
      path: t.string({ description: 'A JSON pointer to a string of any kind, instead of containers.' }),
    }),
  });
  const command = pothos.inputType('CommandOverrideInput', {
    description: 'Changes a command, or its arguments.',
    fields: (t) => ({
      container: t.string({ required: true, description: 'The name of the container.' }),
      operator: t.field({
        type: enums.overrideOperator,
        required: true,
        description: '`ADD` appends, `REMOVE` takes away equal elements, `REPLACE` sets the whole.',
      }),
      values: t.stringList({ required: true, description: 'What with.' }),
    }),
  });
  const map = pothos.inputType('MapOverrideInput', {
    description: 'Changes labels or annotations of the object.',
    fields: (t) => ({
      operator: t.field({
        type: enums.overrideOperator,
        required: true,
        description: '`ADD` sets; `REPLACE` and `REMOVE` touch keys that are there.',
      }),
      values: t.field({ type: 'StringMap', required: true, description: 'Which, with what. For `REMOVE` the values mean nothing.' }),
    }),
  });
  const env = pothos.inputType('EnvOverrideInput', {
    description: 'Changes an environment variable.',
    fields: (t) => ({
      container: t.string({ description: 'The name of the container. Absent: every one, init containers too.' }),
      operator: t.field({ type: enums.overrideOperator, required: true, description: 'As for labels.' }),
      name: t.string({ required: true, description: 'Of the variable.' }),
      value: t.string({ description: 'Its value. Excludes `valueFrom`.' }),
      valueFrom: t.field({ type: 'JSON', description: 'Where its value comes from: an EnvVarSource.' }),
    }),
  });
  return { image, command, map, env };
}
