import type { z } from 'zod';
import { checkedSchema, listSchema, type ReportProblem, structureSchema, translatedSchema } from '../../core/json/documents.ts';
import {
  amount,
  anyText,
  clusterText,
  describedEnum,
  duration,
  flag,
  graphqlHints,
  integer,
  labels,
  partName,
  rules,
  textLists,
  time,
} from '../../core/json/field-definitions.ts';
import { maxPatchOperations } from '../../manifests/json-patch-definition.ts';
import { checkUnique, clusterSet, maxClusters } from './cluster-set-definition.ts';
import { failover } from './failover-definition.ts';
import { operationsIn, override } from './override-definition.ts';
import { defaultReplicas, placement, replicas } from './placement-definition.ts';
import { exact, source } from './source-definition.ts';
import { template } from './template-definition.ts';

const wave = structureSchema({
  name: partName.describe('The name of the wave. No other wave may have it.'),
  set: clusterSet
    .default({})
    .register(graphqlHints, { isRequired: true })
    .describe('The clusters of the wave. A cluster belongs to the first wave that matches it. Clusters without a wave come last.'),
})
  .register(graphqlHints, { name: 'WaveInput' })
  .describe('A group of clusters that is changed before the clusters of later waves.');

/** The reaction to a failure, of clusters of a rollout or of an application of a migration. */
export const onFailure = describedEnum(
  'OnFailure',
  'The reaction to too many failed clusters of a rollout, or to a failed application of a migration.',
  {
    Pause: 'No further cluster or application is changed until the work is resumed.',
    Rollback: 'The clusters that were changed, or the failed application, get their previous state back.',
    Continue: 'The work on the other clusters or applications continues.',
  },
);

/** The fields of `rollout` as documents spell them. */
const rolloutFields = structureSchema({
  waves: listSchema(wave, { max: 100 })
    .meta(rules(['self.all(w, self.exists_one(o, o.name == w.name))', 'expected waves of different names']))
    .default([])
    .describe('The waves, in order. Default: one wave of all clusters.'),
  maxConcurrency: amount(1)
    .exactOptional()
    .describe(
      'The maximum number of clusters of a wave that are changed at the same time: a number, or a percentage of the wave, rounded up. Default: all.',
    ),
  maxFailures: amount(0)
    .default(0)
    .describe('The number of clusters of the whole rollout that may fail: a number, or a percentage of all its clusters, rounded up.'),
  soak: duration.default(0).describe('The time for which copies must be healthy before their cluster counts as done, such as 90s or 10m.'),
  deadline: duration
    .exactOptional()
    .describe('The time after which a cluster that is not done counts as failed, such as 10m. Default: no limit.'),
  onFailure: onFailure.default('Pause').describe('The reaction when more clusters have failed than `maxFailures` allows.'),
})
  .register(graphqlHints, { name: 'RolloutInput' })
  .describe('The order in which clusters are changed, and when the rollout stops.');

const rollout = checkedSchema(
  translatedSchema(rolloutFields, {
    decode: ({ soak: soakMs, deadline, ...rest }): RolloutSpec => ({
      ...rest,
      soakMs,
      ...(deadline === undefined ? {} : { deadlineMs: deadline }),
    }),
    encode: ({ soakMs: soak, deadlineMs, ...rest }) => ({ ...rest, soak, ...(deadlineMs === undefined ? {} : { deadline: deadlineMs }) }),
  }),
  ({ waves }, report) =>
    checkUnique(
      waves.map(({ name }) => name),
      report,
      'waves',
      (index) => index,
      'name',
    ),
);

const cascade = describedEnum('Cascade', 'How to treat the objects that a deleted object owns.', {
  Background: 'Owned objects are deleted afterwards.',
  Foreground: 'Owned objects are deleted first.',
  Orphan: 'Owned objects stay.',
});

/** How copies are removed. */
export const deletion = structureSchema({
  policy: describedEnum('DeletionPolicy', 'Whether removed copies are deleted or stay in their cluster.', {
    Delete: 'The copies are deleted.',
    Orphan: 'The copies stay, without the marks and fields of Muster.',
  })
    .default('Delete')
    .describe('Whether the copies are deleted or stay in their cluster.'),
  cascade: cascade.default('Background').describe('How to treat the objects that the copies own, as with `kubectl delete --cascade`.'),
})
  .register(graphqlHints, { name: 'DeletionInput' })
  .describe('How copies are removed.');

/** How many clusters must be complete until Jobs in many clusters count as complete together. */
export const completionMode = describedEnum(
  'CompletionMode',
  'The number of clusters that must be complete: all, any one, or a given count.',
  {
    Any: 'One cluster must be complete.',
    All: 'Every cluster must be complete.',
    Count: 'The given number of clusters must be complete.',
  },
);

const completion = checkedSchema(
  structureSchema({
    mode: completionMode
      .default('All')
      .register(graphqlHints, { isRequired: true })
      .describe('The number of clusters that must be complete: all, any one, or a given count.'),
    count: integer(1).exactOptional().describe('The number of clusters that must be complete. Only with mode `Count`.'),
  })
    .register(graphqlHints, { name: 'CompletionInput' })
    .meta({
      description: 'The condition under which Jobs in many clusters count as complete together.',
      ...rules([`has(self.count) == (has(self.mode) && self.mode == 'Count')`, 'expected count if mode is Count, and no count otherwise']),
    }),
  ({ mode, count }, report) => {
    if ((mode === 'Count') === (count !== undefined)) return;
    report(mode === 'Count' ? 'is required with Count' : `expected none with ${mode}`, 'count');
  },
);

const suspend = checkedSchema(
  structureSchema({
    scheduling: flag.default(false).describe('True: the chosen clusters and their numbers of replicas do not change.'),
    all: flag.default(false).describe('True: no cluster is written to. Cannot be combined with `clusters`.'),
    clusters: listSchema(clusterText, { max: maxClusters }).default([]).describe('The names of clusters that are not written to.'),
  })
    .register(graphqlHints, { name: 'SuspendInput' })
    .meta({
      description: 'Suspends a part of the work: the choice of clusters and replicas, all writes, or the writes to some clusters.',
      ...rules(['!has(self.all) || !self.all || !has(self.clusters) || size(self.clusters) == 0', 'expected either all or clusters']),
    }),
  ({ all, clusters }, report) => {
    if (all && clusters.length > 0) report('expected either all or clusters', 'clusters');
  },
);

/** The namespace and the name of an object whose kind is known. */
export const namespacedName = structureSchema({
  namespace: partName.describe('The namespace of the object.'),
  name: partName.describe('The name of the object.'),
})
  .register(graphqlHints, { name: 'NamespacedName' })
  .describe('The namespace and name of an object. The field that contains it determines the kind and the cluster.');

/** The identity with whose permissions clusters are written. */
export const runAs = translatedSchema(
  structureSchema({
    requester: flag
      .exactOptional()
      .describe('True: use the permissions that the requester of this generation had at the time of the request.'),
    serviceAccount: namespacedName.exactOptional().describe('Use the permissions that this service account has in each cluster.'),
  })
    .register(graphqlHints, { name: 'RunAsInput', isOneOf: true })
    .meta({
      description: 'The identity with which copies are written in the clusters.',
      ...rules(
        ['has(self.requester) != has(self.serviceAccount)', 'expected either requester or serviceAccount'],
        ['!has(self.requester) || self.requester', 'expected requester to be true'],
      ),
    }),
  {
    decode({ requester: asRequester, serviceAccount: account }, report): RunAs | undefined {
      if ((asRequester === undefined) === (account === undefined)) return report('expected either requester or serviceAccount');
      if (asRequester === false) return report('expected true', 'requester');
      return account === undefined ? { type: 'requester' } : { type: 'serviceAccount', ...account };
    },
    encode: (as: RunAs) => (as.type === 'requester' ? { requester: true } : { serviceAccount: { namespace: as.namespace, name: as.name } }),
  },
);

/** The user who made the request, and the time of the request. */
export const requester = structureSchema({
  user: anyText.describe('The name of the user.'),
  uid: anyText.exactOptional().describe('The uid of the user.'),
  groups: listSchema(anyText, { max: 1_000 }).default([]).describe('The groups of the user.'),
  extra: textLists.default({}).describe('Further attributes of the user.'),
  at: time.describe('The time of the request.'),
  sources: anyText
    .exactOptional()
    .describe('A hash of the references and dependencies that the request was planned with. The generation is refused with other content.'),
}).describe('The user who made the request.');

/** Maximum number of overrides of a Propagation. */
export const maxOverrides = 200;

const fields = {
  template: template.describe('The objects to propagate: 1 to 20.'),
  dependencies: flag
    .default(false)
    .describe('True: also propagate the ConfigMaps, Secrets, ServiceAccounts and PersistentVolumeClaims that workloads refer to.'),
  placement: placement.describe('The clusters that get copies. `{}` means all clusters.'),
  replicas: replicas
    .default(defaultReplicas)
    .describe('The number of replicas in each cluster. Default: each cluster gets the number in the template.'),
  overrides: listSchema(override, { max: maxOverrides })
    .default([])
    .describe('Changes of the objects for some clusters. The overrides take effect in order.'),
  rollout: rollout
    .default({ waves: [], maxFailures: 0, soakMs: 0, onFailure: 'Pause' })
    .describe('The order in which clusters are changed, and when the rollout stops. Default: all clusters at once.'),
  conflict: describedEnum('ConflictMode', 'How to treat an existing object that has the name of a copy but is none.', {
    Abort: 'The object is not changed. The copy has the fault `CONFLICT`.',
    Adopt: 'The object becomes a copy. If another field manager owns one of the fields, the copy has the fault `CONFLICT`.',
    Overwrite: 'The object becomes a copy. Muster also takes over fields that other field managers own.',
    CreateOnly: 'The object is not changed. Copies are only created and never updated.',
    ServerSideApply: 'The fields of the template are added to the object. The object stays that of its owner and is never deleted.',
  })
    .default('Abort')
    .describe('How to treat an object that already exists under the name of a copy.'),
  write: describedEnum('WriteMode', 'How copies are written.', {
    Apply: 'Copies are written by server-side apply. Only the fields that the template and the overrides set are sent.',
    Replace: 'Copies are replaced as a whole. Values that the cluster itself has set are kept.',
  })
    .default('Apply')
    .describe('How copies are written.'),
  deletion: deletion.default({ policy: 'Delete', cascade: 'Background' }).describe('How copies are removed.'),
  completion: completion
    .exactOptional()
    .describe('The condition under which Jobs in many clusters count as complete together. Default: all clusters are complete.'),
  suspend: suspend
    .default({ scheduling: false, all: false, clusters: [] })
    .describe('Suspends a part of the work: the choice of clusters and replicas, all writes, or the writes to some clusters.'),
  failover: failover
    .exactOptional()
    .describe(
      'The rules by which copies move away from a cluster. Default: copies leave only clusters with a `NoExecute` taint, by the defaults of the fields of `failover`.',
    ),
  runAs: runAs
    .default({ type: 'requester' })
    .describe('The identity with which copies are written in the clusters. Default: the requester.'),
  requester: requester
    .exactOptional()
    .register(graphqlHints, { isAbsent: true })
    .describe('The user who made the request. The gateway sets this field, and the admission policy next to this definition protects it.'),
  strict: flag.default(false).describe('True: warnings of the plan count as errors.'),
  exact: exact
    .exactOptional()
    .describe('The system whose rules the planner follows, for an imported Propagation. Default: the planner follows the rules of Muster.'),
  source: source
    .exactOptional()
    .describe(
      'The origin of an imported Propagation. It has no effect on plans. Its JSON has the form of `spec.source` of the resource on the hub. ' +
        'Default: the Propagation was not imported.',
    ),
};

/** With `purge` Never the old copies are released, so a return meets objects of the same names that are no copies. */
const neverBackMessage =
  'expected conflict Adopt or Overwrite with purge Never and return Back: released copies are in the way of a return';

/** `spec` of a Propagation (docs/internals/propagation.md 2.1). */
export const spec = checkedSchema(
  structureSchema(fields).meta({
    description: 'The objects to run, the clusters that get them, and the rollout.',
    ...rules(
      [
        '!has(self.placement.affinityGroups) || self.placement.affinityGroups.all(g, !has(g.overflow) || size(g.overflow) == 0) || (has(self.replicas)' +
          " && has(self.replicas.mode) && self.replicas.mode == 'Divided' && has(self.replicas.strategy) && self.replicas.strategy != 'Weighted')",
        'expected an overflow with replicas Divided by Available or Aggregated only',
      ],
      [
        "!has(self.failover) || !has(self.failover.purge) || self.failover.purge != 'Never' || !has(self.failover.return) ||" +
          " self.failover.return != 'Back' || (has(self.conflict) && self.conflict in ['Adopt', 'Overwrite'])",
        neverBackMessage,
      ],
    ),
  }),
  checkWhole,
);

/** The input of the GraphQL schema for a Propagation. */
export const propagationInput = structureSchema({
  namespace: partName.describe('The namespace of the Propagation on the hub.'),
  name: partName.describe('The name of the Propagation.'),
  labels: labels.exactOptional().describe('The labels of the Propagation.'),
  ...fields,
})
  .register(graphqlHints, { name: 'PropagationInput' })
  .describe('An intent: the objects to run, the clusters that get them, the replicas, and the differences between clusters.');

interface SpecMembers {
  readonly placement: z.output<typeof placement>;
  readonly replicas: z.output<typeof replicas>;
  readonly overrides: readonly z.output<typeof override>[];
  readonly failover?: Pick<z.output<typeof failover>, 'purge' | 'return'>;
  readonly conflict: string;
}

/** Checks the rules that concern several members together. */
function checkWhole(
  { placement: { affinityGroups }, replicas: { mode, strategy }, overrides, failover: moves, conflict }: SpecMembers,
  report: ReportProblem,
): void {
  const sum = overrides.reduce((operations, one) => operations + operationsIn(one), 0);
  if (sum > maxPatchOperations) report(`expected at most ${maxPatchOperations} patch operations in all, got ${sum}`, 'overrides');
  const takesOver = conflict === 'Adopt' || conflict === 'Overwrite';
  if (moves?.purge === 'Never' && moves.return === 'Back' && !takesOver) report(neverBackMessage, 'failover', 'return');
  if (mode === 'Divided' && strategy !== 'Weighted') return;
  affinityGroups.forEach(({ overflow }, index) => {
    if (overflow.length === 0) return;
    report(
      'expected none without replicas of mode Divided and strategy Available or Aggregated',
      'placement',
      'affinityGroups',
      index,
      'overflow',
    );
  });
}

/** The members of a spec that the deletion of a Propagation needs. */
export const deletionParts = structureSchema({
  deletion: deletion.exactOptional(),
  runAs: runAs.exactOptional(),
  requester: requester.exactOptional(),
});

export interface RolloutSpec extends Omit<z.output<typeof rolloutFields>, 'soak' | 'deadline'> {
  readonly soakMs: number;
  /** The milliseconds after which a cluster that is not done counts as failed. Default: no limit. */
  readonly deadlineMs?: number;
}

type RunAs = { readonly type: 'requester' } | { readonly type: 'serviceAccount'; readonly namespace: string; readonly name: string };
