import type { z } from 'zod';
import { invariant } from '../../core/errors.ts';
import { checked, list, printDocument, readDocument, structure, type Tell, translated } from '../../core/json/documents.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { SpecDocument } from '../plan.ts';
import type { SpecProblem } from '../propagation.ts';
import { maxPatchOperations } from '../rendering/json-patch.ts';
import type { PropagationSpec, RolloutSpec, RunAs } from '../spec.ts';
import { checkUnique, clusterSet, maxClusters } from './cluster-sets.ts';
import { operationsIn, override } from './overrides.ts';
import { defaultReplicas, placement, replicas } from './placement.ts';
import { template } from './template.ts';
import {
  amount,
  anyText,
  choice,
  clusterText,
  duration,
  flag,
  inGraph,
  integer,
  labels,
  partName,
  rules,
  textLists,
  time,
} from './values.ts';

const wave = structure({
  name: partName.describe('A name that no other wave has.'),
  set: clusterSet
    .default({})
    .register(inGraph, { isRequired: true })
    .describe('The clusters of the wave. A cluster belongs to the first wave that matches it. Clusters without a wave come last.'),
})
  .register(inGraph, { name: 'WaveInput' })
  .describe('Clusters that are changed before those of later waves.');

/** The fields of `rollout` as documents spell them. */
export const rolloutFields = structure({
  waves: list(wave, { max: 100 })
    .meta(rules(['self.all(w, self.exists_one(o, o.name == w.name))', 'expected waves of different names']))
    .default([])
    .describe('The waves, in order. Absent: one wave of all clusters.'),
  maxConcurrency: amount(1)
    .exactOptional()
    .describe('How many clusters of a wave are changed at a time: a number, or a percentage that is rounded up. Absent: all.'),
  maxFailures: amount(0).default(0).describe('How many clusters of a wave may fail: a number, or a percentage that is rounded up.'),
  soak: duration.default(0).describe('How long copies must have been healthy before their cluster counts as done, such as 90s or 10m.'),
  deadline: duration.exactOptional().describe('How long a cluster may take before it counts as failed, such as 10m. Absent: for ever.'),
  onFailure: choice('OnFailure', 'What happens when too many clusters have failed.', {
    Pause: 'No further cluster is changed until the rollout is resumed.',
    Rollback: 'The clusters that were changed get back what they had.',
    Continue: 'The rollout goes on.',
  })
    .default('Pause')
    .describe('What happens when more clusters have failed than `maxFailures`.'),
})
  .register(inGraph, { name: 'RolloutInput' })
  .describe('In which order clusters are changed, and when the rollout stops.');

const rollout = checked(
  translated(rolloutFields, {
    decode: ({ soak: soakMs, deadline, ...rest }): RolloutSpec => ({
      ...rest,
      soakMs,
      ...(deadline === undefined ? {} : { deadlineMs: deadline }),
    }),
    encode: ({ soakMs: soak, deadlineMs, ...rest }) => ({ ...rest, soak, ...(deadlineMs === undefined ? {} : { deadline: deadlineMs }) }),
  }),
  ({ waves }, tell) =>
    checkUnique(
      waves.map(({ name }) => name),
      tell,
      'waves',
      (index) => index,
      'name',
    ),
);

const cascade = choice('Cascade', 'What happens to the objects that a deleted object owns.', {
  Background: 'Owned objects are deleted afterwards.',
  Foreground: 'Owned objects are deleted first.',
  Orphan: 'Owned objects stay.',
});

/** What happens to copies that are removed. */
export const deletion = structure({
  policy: choice('DeletionPolicy', 'What happens to copies that are removed.', {
    Delete: 'The copies are deleted.',
    Orphan: 'The copies stay, without the marks and fields of Muster.',
  })
    .default('Delete')
    .describe('What happens to the copies.'),
  cascade: cascade.default('Background').describe('What happens to the objects that the copies own, as with `kubectl delete --cascade`.'),
})
  .register(inGraph, { name: 'DeletionInput' })
  .describe('What happens to copies that are removed.');

/** How many clusters must be complete until Jobs in many clusters count as complete together. */
export const completionMode = choice('CompletionMode', 'How complete clusters are counted.', {
  Any: 'One cluster is complete.',
  All: 'Every cluster is complete.',
  Count: 'The given number of clusters is complete.',
});

const completion = checked(
  structure({
    mode: completionMode.default('All').register(inGraph, { isRequired: true }).describe('How complete clusters are counted.'),
    count: integer(1).exactOptional().describe('How many clusters must be complete: with Count only.'),
  })
    .register(inGraph, { name: 'CompletionInput' })
    .meta({
      description: 'When Jobs in many clusters are complete together.',
      ...rules([`has(self.count) == (has(self.mode) && self.mode == 'Count')`, 'expected a count with Count, and only there']),
    }),
  ({ mode, count }, tell) => {
    if ((mode === 'Count') === (count !== undefined)) return;
    tell(mode === 'Count' ? 'is required with Count' : `expected none with ${mode}`, 'count');
  },
);

const suspend = checked(
  structure({
    scheduling: flag.default(false).describe('True: clusters and numbers of replicas are not decided anew.'),
    all: flag.default(false).describe('True: nothing is written in any cluster. Excludes `clusters`.'),
    clusters: list(clusterText, { max: maxClusters }).default([]).describe('Nothing is written in these clusters.'),
  })
    .register(inGraph, { name: 'SuspendInput' })
    .meta({
      description: 'Work that is suspended: scheduling, all of it, or that of some clusters.',
      ...rules(['!has(self.all) || !self.all || !has(self.clusters) || size(self.clusters) == 0', 'expected either all or clusters']),
    }),
  ({ all, clusters }, tell) => {
    if (all && clusters.length > 0) tell('expected either all or clusters', 'clusters');
  },
);

/** The namespace and the name of an object whose kind is known. */
export const namespacedName = structure({
  namespace: partName.describe('The namespace.'),
  name: partName.describe('The name.'),
})
  .register(inGraph, { name: 'NamespacedName' })
  .describe('An object of a known kind, in a known cluster.');

const runAs = translated(
  structure({
    requester: flag.exactOptional().describe('True: the rights of the requester at the time of the request, for this generation.'),
    serviceAccount: namespacedName.exactOptional().describe('The rights of this service account of each cluster.'),
  })
    .register(inGraph, { name: 'RunAsInput', isOneOf: true })
    .meta({
      description: 'With whose rights copies are written in the clusters.',
      ...rules(
        ['has(self.requester) != has(self.serviceAccount)', 'expected either requester or serviceAccount'],
        ['!has(self.requester) || self.requester', 'expected requester to be true'],
      ),
    }),
  {
    decode({ requester: asked, serviceAccount: account }, tell): RunAs | undefined {
      if ((asked === undefined) === (account === undefined)) return tell('expected either requester or serviceAccount');
      if (asked === false) return tell('expected true', 'requester');
      return account === undefined ? { type: 'requester' } : { type: 'serviceAccount', ...account };
    },
    encode: (as: RunAs) => (as.type === 'requester' ? { requester: true } : { serviceAccount: { namespace: as.namespace, name: as.name } }),
  },
);

/** The user who made the request, and the time of the request. */
export const requester = structure({
  user: anyText.describe('The name of the user.'),
  uid: anyText.exactOptional().describe('The uid of the user.'),
  groups: list(anyText, { max: 1_000 }).default([]).describe('The groups of the user.'),
  extra: textLists.default({}).describe('Further attributes of the user.'),
  at: time.describe('The time of the request.'),
}).describe('Who made the request.');

const fields = {
  template: template.describe('The objects to propagate: 1 to 20.'),
  dependencies: flag
    .default(false)
    .describe('True: ConfigMaps, Secrets, ServiceAccounts and PersistentVolumeClaims that workloads refer to are propagated too.'),
  placement: placement.describe('Which clusters get copies. `{}` is every cluster.'),
  replicas: replicas.default(defaultReplicas).describe('How many replicas each cluster gets. Absent: the number of the template, in each.'),
  overrides: list(override, { max: 200 }).default([]).describe('What differs in some clusters. The entries take effect in order.'),
  rollout: rollout
    .default({ waves: [], maxFailures: 0, soakMs: 0, onFailure: 'Pause' })
    .describe('In which order clusters are changed, and when the rollout stops. Absent: all clusters at once.'),
  conflict: choice('ConflictMode', 'What is done with an existing object that is not a copy.', {
    Abort: 'The object is left alone: a conflict.',
    Adopt: 'The object becomes a copy. A field of another manager is a conflict.',
    Overwrite: 'The object becomes a copy, also its fields of other managers.',
    CreateOnly: 'The object is left alone. Copies are never updated either.',
    ServerSideApply: 'The fields of the template are added. The object belongs to its owner, and is never deleted.',
  })
    .default('Abort')
    .describe('What is done in a cluster that already has an object of the same name.'),
  write: choice('WriteMode', 'How copies are written.', {
    Apply: 'By server-side apply: only the fields of template and overrides.',
    Replace: 'As a whole, with the values that the cluster itself has set.',
  })
    .default('Apply')
    .describe('How copies are written.'),
  deletion: deletion.default({ policy: 'Delete', cascade: 'Background' }).describe('What happens to copies that are removed.'),
  completion: completion.exactOptional().describe('When Jobs in many clusters are complete together. Absent: All.'),
  suspend: suspend
    .default({ scheduling: false, all: false, clusters: [] })
    .describe('Work that is suspended: scheduling, all of it, or that of some clusters.'),
  runAs: runAs
    .default({ type: 'requester' })
    .describe('With whose rights copies are written in the clusters. Absent: the rights of the requester.'),
  requester: requester
    .exactOptional()
    .register(inGraph, { isAbsent: true })
    .describe('Who made the request. The gateway sets it; the admission policy next to this definition protects it.'),
  strict: flag.default(false).describe('True: warnings of the plan are errors.'),
};

/** `spec` of a Propagation (docs/internals/propagation.md 2.1). */
export const spec = checked(
  structure(fields).meta({
    description: 'What is to run where.',
    ...rules([
      '!has(self.placement.affinityGroups) || self.placement.affinityGroups.all(g, !has(g.overflow) || size(g.overflow) == 0) || (has(self.replicas)' +
        " && has(self.replicas.mode) && self.replicas.mode == 'Divided' && has(self.replicas.strategy) && self.replicas.strategy != 'Weighted')",
      'expected an overflow with replicas Divided by Available or Aggregated only',
    ]),
  }),
  checkWhole,
);

/** The input of the GraphQL schema for a Propagation. */
export const propagationInput = structure({
  namespace: partName.describe('The namespace of the Propagation on the hub.'),
  name: partName.describe('The name of the Propagation.'),
  labels: labels.exactOptional().describe('The labels of the Propagation.'),
  ...fields,
})
  .register(inGraph, { name: 'PropagationInput' })
  .describe('An intent: what is to run, where, how many, and what differs in which cluster.');

interface Whole {
  readonly placement: z.output<typeof placement>;
  readonly replicas: z.output<typeof replicas>;
  readonly overrides: readonly z.output<typeof override>[];
}

/** Checks the rules that concern several members together. */
function checkWhole({ placement: { affinityGroups }, replicas: { mode, strategy }, overrides }: Whole, tell: Tell): void {
  const sum = overrides.reduce((operations, one) => operations + operationsIn(one), 0);
  if (sum > maxPatchOperations) tell(`expected at most ${maxPatchOperations} patch operations in all, got ${sum}`, 'overrides');
  if (mode === 'Divided' && strategy !== 'Weighted') return;
  affinityGroups.forEach(({ overflow }, index) => {
    if (overflow.length === 0) return;
    tell('expected it with replicas Divided by Available or Aggregated only', 'placement', 'affinityGroups', index, 'overflow');
  });
}

/**
 * Reads the spec of a document, with its defaults (docs/internals/propagation.md 2.1). If the document is wrong, returns all problems, each with the path
 * of its field. Checks everything, because users also write resources without the gateway. Never throws.
 */
export function parseSpec(document: JsonObject): PropagationSpec | { readonly problems: readonly SpecProblem[] } {
  const read = readDocument(spec, document);
  return 'problems' in read ? read : read.value;
}

/** Prints a spec as a document in canonical form: without defaults, and equal for equal specs. `parseSpec` reads an equal spec from it. */
export function printSpec(of: PropagationSpec): SpecDocument {
  const document = printDocument(spec, of);
  invariant(isJsonObject(document) && Array.isArray(document.template), 'a spec is printed as an object with a template');
  return document as SpecDocument;
}

/** The parts of a spec that the deletion of a Propagation needs: how copies are removed, and with whose rights. */
export type EndingParts = Pick<PropagationSpec, 'deletion' | 'runAs' | 'requester'>;

const endingParts = structure({
  deletion: deletion.exactOptional(),
  runAs: runAs.exactOptional(),
  requester: requester.exactOptional(),
});

/**
 * Reads the members that the deletion of a Propagation needs, without defaults. Returns them, or their problems. Ignores problems of other members, so
 * that a Propagation with a wrong spec can be deleted. Never throws.
 */
export function parseEnding(document: JsonObject): z.output<typeof endingParts> | { readonly problems: readonly SpecProblem[] } {
  const read = readDocument(endingParts, {
    deletion: document.deletion,
    runAs: document.runAs,
    requester: document.requester,
  });
  return 'problems' in read ? read : read.value;
}
