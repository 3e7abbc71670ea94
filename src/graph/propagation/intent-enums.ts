import type { GraphBuilder, Pothos } from '../builder.ts';
import { enumsOf } from '../faults.ts';

/** The enums that an intent is written in. */
export type IntentEnums = ReturnType<typeof addIntentEnums>;

/** Adds the enums of `PropagationInput`. */
export function addIntentEnums({ pothos }: GraphBuilder) {
  return { ...addPlacingEnums(pothos), ...addOverridingEnums(pothos), ...addDoingEnums(pothos) };
}

/** Where, and how many. */
function addPlacingEnums(pothos: Pothos) {
  const make = enumsOf(pothos);
  return {
    clusterField: make('ClusterField', 'A fact of a cluster.', {
      PROVIDER: 'Who runs its machines.',
      REGION: 'Where its machines stand.',
      ZONE: 'The zones its machines stand in: a list.',
    }),
    matchOperator: make('MatchOperator', 'How a fact is compared.', {
      IN: 'It is one of the values; of zones, at least one is.',
      NOT_IN: 'It is none of the values, or absent.',
      EXISTS: 'There is one.',
      DOES_NOT_EXIST: 'There is none.',
    }),
    tolerationOperator: make('TolerationOperator', 'How a toleration meets a taint.', {
      EQUAL: 'Key and value are equal.',
      EXISTS: 'The key is equal, or none is given.',
    }),
    taintEffect: make('TaintEffect', 'What a taint does.', {
      NO_SCHEDULE: 'Nothing new comes to the cluster.',
      PREFER_NO_SCHEDULE: 'Others are preferred.',
      NO_EXECUTE: 'Nothing new comes, and what is there has to go.',
    }),
    spreadBy: make('SpreadBy', 'What copies are spread over.', {
      CLUSTER: 'Clusters.',
      REGION: 'Regions.',
      ZONE: 'Zones: the first of each cluster, sorted.',
      PROVIDER: 'Providers.',
      LABEL: 'The values of one label of clusters.',
    }),
    replicaMode: make('ReplicaMode', 'Who gets how many replicas.', {
      DUPLICATED: 'Every cluster as many as the template says.',
      DIVIDED: 'The clusters together as many as the template says.',
      EXTERNAL: 'An autoscaler decides: the count is never sent.',
    }),
    replicaStrategy: make('ReplicaStrategy', 'What divided replicas are divided by.', {
      WEIGHTED: 'The weights of the rules.',
      AVAILABLE: 'The room that clusters have.',
      AGGREGATED: 'The same, in as few clusters as will do.',
    }),
  };
}

/** What is different. */
function addOverridingEnums(pothos: Pothos) {
  const make = enumsOf(pothos);
  return {
    overrideOperator: make('OverrideOperator', 'What an override does.', {
      ADD: 'Sets it, or appends to it.',
      REPLACE: 'Sets it where it is there already.',
      REMOVE: 'Takes it away.',
    }),
    imageComponent: make('ImageComponent', 'A part of the reference of an image.', {
      REGISTRY: 'What stands before the first slash, if that is a host.',
      REPOSITORY: 'The path of the image.',
      TAG: 'What follows a colon; with a digest, that.',
      DIGEST: 'What follows an at sign.',
    }),
    containerScope: make('ContainerScope', 'Which containers.', {
      ALL: 'All.',
      MAIN: 'All but init containers.',
      INIT: 'Init containers.',
    }),
    documentFormat: make('DocumentFormat', 'What a string holds.', { JSON: 'A JSON document.', YAML: 'A YAML document.' }),
    jsonPatchOp: make('JsonPatchOp', 'An operation of RFC 6902.', {
      add: 'Adds a value, or inserts it in a list.',
      remove: 'Removes a value that must be there.',
      replace: 'Replaces a value that must be there.',
      move: 'Moves a value that must be there.',
      copy: 'Copies a value that must be there.',
      test: 'Refuses the patch unless the value is equal.',
    }),
  };
}

/** How it is done, and when it is over. */
function addDoingEnums(pothos: Pothos) {
  const make = enumsOf(pothos);
  return {
    onFailure: make('OnFailure', 'What follows when more clusters failed than may.', {
      PAUSE: 'Nothing new begins until it is resumed.',
      ROLLBACK: 'The clusters of this generation go back to what they had.',
      CONTINUE: 'It goes on.',
    }),
    conflictMode: make('ConflictMode', 'What is done where something is there already that is not ours.', {
      ABORT: 'It is left alone: a conflict.',
      ADOPT: 'It becomes ours; a field of another manager is a conflict.',
      OVERWRITE: 'It becomes ours, and so do the fields of other managers.',
      CREATE_ONLY: 'It is left alone; ours is never updated either.',
      SERVER_SIDE_APPLY: 'Our fields are added; it stays theirs, and is never deleted.',
    }),
    writeMode: make('WriteMode', 'How copies are written.', {
      APPLY: 'By server-side apply: only the fields that template and overrides set.',
      REPLACE: 'As a whole, keeping what members own.',
    }),
    deletionPolicy: make('DeletionPolicy', 'What becomes of copies that go.', {
      DELETE: 'They are deleted.',
      ORPHAN: 'They stay, without our marks and fields.',
    }),
    completionMode: make('CompletionMode', 'When Jobs in many clusters count as done.', {
      ANY: 'One is complete.',
      ALL: 'Every one is complete.',
      COUNT: 'So many are complete.',
    }),
  };
}
