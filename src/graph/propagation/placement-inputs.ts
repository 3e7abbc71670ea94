import type { GraphBuilder } from '../builder.ts';
import type { IntentEnums } from './intent-enums.ts';

/** The inputs that choose clusters. */
export type PlacementInputs = ReturnType<typeof addPlacementInputs>;

/** Adds `PlacementInput`, `ClusterSetInput` and their parts. */
export function addPlacementInputs(builder: GraphBuilder, enums: IntentEnums) {
  const { pothos } = builder;
  const field = pothos.inputType('ClusterFieldInput', {
    description: 'A condition on a fact of clusters.',
    fields: (t) => ({
      field: t.field({ type: enums.clusterField, required: true, description: 'The fact.' }),
      operator: t.field({ type: enums.matchOperator, required: true, description: 'How it is compared.' }),
      values: t.stringList({ description: 'What with: at least one for `IN` and `NOT_IN`, none otherwise.' }),
    }),
  });
  const set = pothos.inputType('ClusterSetInput', {
    description: 'Some clusters: those for which all that is said holds. What is absent holds for every cluster.',
    fields: (t) => ({
      clusters: t.stringList({ description: 'Only these. An empty list is no cluster.' }),
      selector: t.string({ description: 'Only those with such labels: what kubectl takes after `-l`, without `<` and `>`.' }),
      fields: t.field({ type: [field], description: 'Only those of such facts.' }),
      exclude: t.stringList({ description: 'Not these, whatever else is said.' }),
    }),
  });
  const overflow = pothos.inputType('OverflowInput', {
    description: 'Clusters for what has no room in the set above.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Unique among groups and overflows.' }),
      set: t.field({ type: set, required: true, description: 'Which clusters.' }),
    }),
  });
  const group = pothos.inputType('AffinityGroupInput', {
    description: 'One of several sets of clusters, tried in order.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Unique.' }),
      set: t.field({ type: set, required: true, description: 'Which clusters.' }),
      overflow: t.field({
        type: [overflow],
        description: 'In order, where the set has no room. With the strategies `AVAILABLE` and `AGGREGATED` only.',
      }),
    }),
  });
  const { toleration, spread } = addNarrowing(builder, enums);
  const placement = pothos.inputType('PlacementInput', {
    description: 'Which clusters. `{}` is every cluster.',
    fields: (t) => ({
      clusters: t.stringList({ description: 'Only these. An empty list is no cluster.' }),
      selector: t.string({ description: 'Only those with such labels: what kubectl takes after `-l`, without `<` and `>`.' }),
      fields: t.field({ type: [field], description: 'Only those of such facts.' }),
      exclude: t.stringList({ description: 'Not these, whatever else is said.' }),
      tolerations: t.field({ type: [toleration], description: 'Taints of clusters that are no obstacle.' }),
      affinityGroups: t.field({ type: [group], description: 'Several sets instead of this one: the first that fits is taken.' }),
      spread: t.field({ type: [spread], description: 'Over how many clusters, and over how many of one thing besides.' }),
    }),
  });
  return { set, placement };
}

function addNarrowing({ pothos }: GraphBuilder, enums: IntentEnums) {
  const toleration = pothos.inputType('TolerationInput', {
    description: 'A taint of clusters that is no obstacle: as a Toleration of Pods is for taints of Nodes.',
    fields: (t) => ({
      key: t.string({ description: 'Of the taint. Absent, with `EXISTS`: every taint.' }),
      operator: t.field({ type: enums.tolerationOperator, defaultValue: 'EQUAL', description: 'How it meets the taint.' }),
      value: t.string({ description: 'Of the taint, with `EQUAL`.' }),
      effect: t.field({ type: enums.taintEffect, description: 'Of the taint. Absent: every effect.' }),
      tolerationSeconds: t.field({ type: 'Int64', description: 'How long a taint of `NO_EXECUTE` is tolerated. Absent: for ever.' }),
    }),
  });
  const spread = pothos.inputType('SpreadInput', {
    description: 'Over how many of something copies must be spread.',
    fields: (t) => ({
      by: t.field({ type: enums.spreadBy, defaultValue: 'CLUSTER', description: 'Of what.' }),
      label: t.string({ description: 'The key of the label, with `LABEL`.' }),
      min: t.int({ defaultValue: 1, description: 'At least.' }),
      max: t.int({ description: 'At most. Absent: no bound.' }),
    }),
  });
  return { toleration, spread };
}
