import type { GraphBuilder } from '../builder.ts';
import type { Changing } from '../changing.ts';
import { addIntentEnums, type IntentEnums } from './intent-enums.ts';
import { addOverrideInputs } from './override-inputs.ts';
import { addPlacementInputs, type PlacementInputs } from './placement-inputs.ts';

/** The inputs and enums that the root fields of propagation are declared by. */
export type IntentInputs = ReturnType<typeof addPropagationInput>;

/** Adds `PropagationInput` and all it is made of. */
export function addPropagationInput(builder: GraphBuilder, { resourceRef, cascade }: Changing) {
  const { pothos } = builder;
  const enums = addIntentEnums(builder);
  const placing = addPlacementInputs(builder, enums);
  const override = addOverrideInputs(builder, enums, placing);
  const template = pothos.inputType('TemplateInput', {
    description: 'One object to propagate.',
    isOneOf: true,
    fields: (t) => ({
      yaml: t.string({ description: 'Its manifest as YAML, read as kubectl reads it.' }),
      json: t.field({ type: 'JSON', description: 'Its manifest.' }),
      ref: t.field({ type: resourceRef, description: 'An object of a cluster, which is followed. A Secret can be given so only.' }),
    }),
  });
  const deletion = pothos.inputType('DeletionInput', {
    description: 'What becomes of copies that go.',
    fields: (t) => ({
      policy: t.field({ type: enums.deletionPolicy, defaultValue: 'DELETE', description: 'Of the copies themselves.' }),
      cascade: t.field({ type: cascade, defaultValue: 'BACKGROUND', description: 'Of what they own.' }),
    }),
  });
  const parts = { ...addReplicas(builder, enums, placing), ...addRollout(builder, enums, placing), ...addRest(builder, enums) };
  const input = pothos.inputType('PropagationInput', {
    description: 'An intent: what is to be where, how many of it, and how it differs.',
    fields: (t) => ({
      namespace: t.string({ required: true, description: 'Of the Propagation on the hub.' }),
      name: t.string({ required: true, description: 'Of the Propagation on the hub.' }),
      labels: t.field({ type: 'StringMap', description: 'Of the Propagation on the hub.' }),
      template: t.field({ type: [template], required: true, description: 'What is propagated: 1 to 20 objects.' }),
      dependencies: t.boolean({
        defaultValue: false,
        description: 'What workloads refer to goes with them: ConfigMaps, Secrets and their like.',
      }),
      placement: t.field({ type: placing.placement, required: true, description: 'Where.' }),
      replicas: t.field({ type: parts.replicas, description: 'How many where. Absent: as the template says, everywhere.' }),
      overrides: t.field({ type: [override], description: 'What is different where, in order.' }),
      rollout: t.field({ type: parts.rollout, description: 'In which order, and when it stops. Absent: everywhere at once.' }),
      conflict: t.field({ type: enums.conflictMode, defaultValue: 'ABORT', description: 'What is done where something is there already.' }),
      write: t.field({ type: enums.writeMode, defaultValue: 'APPLY', description: 'How copies are written.' }),
      deletion: t.field({ type: deletion, description: 'What becomes of copies that go.' }),
      completion: t.field({ type: parts.completion, description: 'When Jobs count as done together. Absent: `ALL`.' }),
      suspend: t.field({ type: parts.suspend, description: 'What is held still.' }),
      runAs: t.field({ type: parts.runAs, description: 'Whose rights count in the clusters. Absent: those of whoever asks.' }),
      strict: t.boolean({ defaultValue: false, description: 'Warnings are errors.' }),
    }),
  });
  return { input, deletion, enums, namespacedName: parts.namespacedName };
}

function addReplicas({ pothos }: GraphBuilder, enums: IntentEnums, { set }: PlacementInputs) {
  const rule = pothos.inputType('ReplicaRuleInput', {
    description:
      'What holds for some clusters. Of several rules that match one, the largest weight, the largest minimum and the smallest maximum.',
    fields: (t) => ({
      set: t.field({ type: set, description: 'Which clusters. Absent: all.' }),
      weight: t.int({ defaultValue: 1, description: 'With `WEIGHTED`.' }),
      min: t.int({ defaultValue: 0, description: 'At least so many replicas.' }),
      max: t.int({ description: 'At most so many. Absent: no bound.' }),
    }),
  });
  const replicas = pothos.inputType('ReplicasInput', {
    description: 'How many replicas where.',
    fields: (t) => ({
      mode: t.field({ type: enums.replicaMode, defaultValue: 'DUPLICATED', description: 'Who gets how many.' }),
      strategy: t.field({ type: enums.replicaStrategy, defaultValue: 'WEIGHTED', description: 'With `DIVIDED`: by what.' }),
      total: t.int({ description: 'How many. Absent: as the template says.' }),
      rules: t.field({ type: [rule], description: 'Weights and bounds of clusters.' }),
      rebalance: t.boolean({ defaultValue: false, description: 'True: divided from zero each time. False: only the difference moves.' }),
      rescheduleAt: t.field({ type: 'DateTime', description: 'Divided from zero once, when this is later than the last time.' }),
    }),
  });
  return { replicas };
}

function addRollout({ pothos }: GraphBuilder, enums: IntentEnums, { set }: PlacementInputs) {
  const wave = pothos.inputType('WaveInput', {
    description: 'Clusters that are changed together, before those of later waves.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Unique.' }),
      set: t.field({
        type: set,
        required: true,
        description: 'Which clusters. The first wave that matches counts; the unmatched come last.',
      }),
    }),
  });
  const rollout = pothos.inputType('RolloutInput', {
    description: 'In which order clusters are changed, and when that stops.',
    fields: (t) => ({
      waves: t.field({ type: [wave], description: 'In order. Absent: one wave.' }),
      maxConcurrency: t.field({ type: 'IntOrString', description: 'Clusters at a time, or their percentage, rounded up. Absent: all.' }),
      maxFailures: t.field({
        type: 'IntOrString',
        defaultValue: 0,
        description: 'More failures than this stop it. A percentage is rounded up.',
      }),
      soak: t.field({ type: 'Duration', defaultValue: '0s', description: 'How long a cluster must be well before it counts as done.' }),
      deadline: t.field({ type: 'Duration', description: 'How long a cluster may take before it counts as failed. Absent: for ever.' }),
      onFailure: t.field({ type: enums.onFailure, defaultValue: 'PAUSE', description: 'What follows when it stops.' }),
    }),
  });
  return { rollout };
}

function addRest({ pothos }: GraphBuilder, enums: IntentEnums) {
  const completion = pothos.inputType('CompletionInput', {
    description: 'When Jobs in many clusters count as done.',
    fields: (t) => ({
      mode: t.field({ type: enums.completionMode, required: true, description: 'How they are counted.' }),
      count: t.int({ description: 'How many must be complete, with `COUNT`.' }),
    }),
  });
  const suspend = pothos.inputType('SuspendInput', {
    description: 'What is held still.',
    fields: (t) => ({
      scheduling: t.boolean({ defaultValue: false, description: 'No new decision about clusters and counts.' }),
      all: t.boolean({ defaultValue: false, description: 'No write anywhere. Excludes `clusters`.' }),
      clusters: t.stringList({ description: 'No write in these.' }),
    }),
  });
  const namespacedName = pothos.inputType('NamespacedName', {
    description: 'An object of a known kind and cluster.',
    fields: (t) => ({
      namespace: t.string({ required: true, description: 'Its namespace.' }),
      name: t.string({ required: true, description: 'Its name.' }),
    }),
  });
  const runAs = pothos.inputType('RunAsInput', {
    description: 'Whose rights count in the clusters.',
    isOneOf: true,
    fields: (t) => ({
      requester: t.boolean({ description: 'Those of whoever asked, as they were: for one generation.' }),
      serviceAccount: t.field({ type: namespacedName, description: 'Those of a ServiceAccount of each cluster, from then on.' }),
    }),
  });
  return { completion, suspend, namespacedName, runAs };
}
