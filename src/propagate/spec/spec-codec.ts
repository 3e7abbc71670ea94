import { maxPatchOperations } from '../rendering/json-patch.ts';
import type { CompletionSpec, DeletionSpec, PropagationSpec, Requester, RolloutSpec, RunAs, SuspendSpec } from '../spec.ts';
import { checkUnique, clusterSet, maxClusters } from './cluster-sets.ts';
import { below, type Codec, checked, choice, defaulted, list, mapped, optional, type Place, record, required, tell } from './codec.ts';
import { operationsIn, override } from './override-codec.ts';
import { defaultReplicas, placement, replicas } from './placement-codec.ts';
import { template } from './template-codec.ts';
import { amount, anyText, clusterText, duration, flag, integer, partName, textLists, time } from './texts.ts';

const wave = record({ name: required(partName), set: defaulted(clusterSet, {}) });

const rolloutFields = record({
  waves: defaulted(list(wave, { max: 100 }), []),
  maxConcurrency: optional(amount(1)),
  maxFailures: defaulted(amount(0), 0),
  soak: defaulted(duration, 0),
  deadline: optional(duration),
  onFailure: defaulted(choice(['Pause', 'Rollback', 'Continue']), 'Pause'),
});

const rollout: Codec<RolloutSpec> = checked(
  mapped(rolloutFields, {
    to: ({ soak, deadline, ...rest }) => ({ ...rest, soakMs: soak, ...(deadline === undefined ? {} : { deadlineMs: deadline }) }),
    from: ({ soakMs, deadlineMs, ...rest }) => ({ ...rest, soak: soakMs, ...(deadlineMs === undefined ? {} : { deadline: deadlineMs }) }),
  }),
  ({ waves }, place) =>
    checkUnique(
      waves.map(({ name }) => name),
      (index) => below(below(below(place, 'waves'), index), 'name'),
    ),
);

const defaultRollout: RolloutSpec = { waves: [], maxFailures: 0, soakMs: 0, onFailure: 'Pause' };

const cascade = choice(['Background', 'Foreground', 'Orphan']);

/** What becomes of copies. */
export const deletion: Codec<DeletionSpec> = record({
  policy: defaulted(choice(['Delete', 'Orphan']), 'Delete'),
  cascade: defaulted(cascade, 'Background'),
});

const completion: Codec<CompletionSpec> = checked(
  record({ mode: defaulted(choice(['Any', 'All', 'Count']), 'All'), count: optional(integer(1)) }),
  ({ mode, count }, place) => {
    if ((mode === 'Count') === (count !== undefined)) return;
    tell(below(place, 'count'), mode === 'Count' ? 'is required with Count' : `expected none with ${mode}`);
  },
);

const suspend: Codec<SuspendSpec> = checked(
  record({
    scheduling: defaulted(flag, false),
    all: defaulted(flag, false),
    clusters: defaulted(list(clusterText, { max: maxClusters }), []),
  }),
  ({ all, clusters }, place) => {
    if (all && clusters.length > 0) tell(below(place, 'clusters'), 'expected either all or clusters');
  },
);

const serviceAccount = record({ namespace: required(partName), name: required(partName) });

const runAs: Codec<RunAs> = mapped(record({ requester: optional(flag), serviceAccount: optional(serviceAccount) }), {
  to({ requester, serviceAccount: account }, place): RunAs | undefined {
    if ((requester === undefined) === (account === undefined)) return tell(place, 'expected either requester or serviceAccount');
    if (requester === false) return tell(below(place, 'requester'), 'expected true');
    return account === undefined ? { type: 'requester' } : { type: 'serviceAccount', ...account };
  },
  from: (as) => (as.type === 'requester' ? { requester: true } : { serviceAccount: { namespace: as.namespace, name: as.name } }),
});

const requester: Codec<Requester> = record({
  user: required(anyText),
  uid: optional(anyText),
  groups: defaulted(list(anyText, { max: 1_000 }), []),
  extra: defaulted(textLists, {}),
  at: required(time),
});

/** What of a spec its end is decided by, without defaults. */
export const ending = record({ deletion: optional(deletion), runAs: optional(runAs), requester: optional(requester) });

/** `spec` of a Propagation (propagation.md 2.1), all of it. */
export const spec: Codec<PropagationSpec> = checked(
  record({
    template: required(template),
    dependencies: defaulted(flag, false),
    placement: required(placement),
    replicas: defaulted(replicas, defaultReplicas),
    overrides: defaulted(list(override, { max: 200 }), []),
    rollout: defaulted(rollout, defaultRollout),
    conflict: defaulted(choice(['Abort', 'Adopt', 'Overwrite', 'CreateOnly', 'ServerSideApply']), 'Abort'),
    write: defaulted(choice(['Apply', 'Replace']), 'Apply'),
    deletion: defaulted(deletion, { policy: 'Delete', cascade: 'Background' }),
    completion: optional(completion),
    suspend: defaulted(suspend, { scheduling: false, all: false, clusters: [] }),
    runAs: defaulted(runAs, { type: 'requester' }),
    requester: optional(requester),
    strict: defaulted(flag, false),
  }),
  checkWhole,
);

/** What no part can tell by itself. */
function checkWhole({ placement: { affinityGroups }, replicas: { mode, strategy }, overrides }: PropagationSpec, place: Place): void {
  const sum = overrides.reduce((operations, one) => operations + operationsIn(one), 0);
  if (sum > maxPatchOperations) {
    tell(below(place, 'overrides'), `expected at most ${maxPatchOperations} patch operations in all, got ${sum}`);
  }
  if (mode === 'Divided' && strategy !== 'Weighted') return;
  affinityGroups.forEach(({ overflow }, index) => {
    if (overflow.length === 0) return;
    const group = below(below(below(place, 'placement'), 'affinityGroups'), index);
    tell(below(group, 'overflow'), 'expected it with replicas Divided by Available or Aggregated only');
  });
}
