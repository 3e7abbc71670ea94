import { isLabelKey } from '../../core/selectors.ts';
import type { AffinityGroup, Placement, ReplicaRule, ReplicasSpec, Spread, Toleration } from '../spec.ts';
import { checkUnique, clusterSet, isNarrow, setFields } from './cluster-sets.ts';
import { below, type Codec, checked, choice, defaulted, list, optional, type Place, record, required, tell } from './codec.ts';
import { anyText, flag, integer, labelKey, partName, time } from './texts.ts';

const toleration: Codec<Toleration> = checked(
  record({
    key: optional(anyText),
    operator: defaulted(choice(['Equal', 'Exists']), 'Equal'),
    value: optional(anyText),
    effect: optional(choice(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
    tolerationSeconds: optional(integer(-(2 ** 53) + 1, 2 ** 53 - 1)),
  }),
  checkToleration,
);

function checkToleration({ key = '', operator, value = '', effect, tolerationSeconds }: Toleration, place: Place): void {
  if (key !== '' && !isLabelKey(key)) tell(below(place, 'key'), 'expected the key of a taint, such as example.com/dedicated');
  if (key === '' && operator !== 'Exists') tell(below(place, 'operator'), 'expected Exists without a key');
  if (value !== '' && operator === 'Exists') tell(below(place, 'value'), 'expected no value with Exists');
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') tell(below(place, 'tolerationSeconds'), 'expected it with NoExecute only');
}

const overflow: Codec<AffinityGroup['overflow'][number]> = record({ name: required(partName), set: required(clusterSet) });

const group: Codec<AffinityGroup> = checked(
  record({ name: required(partName), set: required(clusterSet), overflow: defaulted(list(overflow, { max: 20 }), []) }),
  ({ name, set, overflow: tiers }, place) => {
    checkUnique([name, ...tiers.map((tier) => tier.name)], (index) => below(below(below(place, 'overflow'), index - 1), 'name'));
    if (tiers.length > 0 && !isNarrow(set)) tell(below(place, 'overflow'), 'expected a set that is not empty above an overflow');
  },
);

const spread: Codec<Spread> = checked(
  record({
    by: defaulted(choice(['cluster', 'region', 'zone', 'provider', 'label']), 'cluster'),
    label: optional(labelKey),
    min: defaulted(integer(0), 1),
    max: optional(integer(0)),
  }),
  ({ by, label, min, max }, place) => {
    if (by === 'label' && label === undefined) tell(below(place, 'label'), 'is required by label');
    if (by !== 'label' && label !== undefined) tell(below(place, 'label'), 'expected it by label only');
    checkBounds({ min, max }, place);
  },
);

function checkBounds({ min, max }: { readonly min: number; readonly max?: number | undefined }, place: Place): void {
  if (max !== undefined && max < min) tell(below(place, 'max'), `expected at least min, which is ${min}, got ${max}`);
}

/** Where to: all of `placement`. */
export const placement: Codec<Placement> = checked(
  record({
    ...setFields,
    tolerations: defaulted(list(toleration, { max: 50 }), []),
    affinityGroups: defaulted(list(group, { max: 20 }), []),
    spread: defaulted(list(spread, { max: 5 }), []),
  }),
  ({ affinityGroups, spread: spreads, tolerations: _, ...set }, place) => {
    const groups = below(place, 'affinityGroups');
    checkUnique(
      affinityGroups.map(({ name }) => name),
      (index) => below(below(groups, index), 'name'),
    );
    const isGiven = Object.values(set).some((part) => part !== undefined);
    if (affinityGroups.length > 0 && isGiven) tell(groups, 'expected either groups or clusters, selector, fields and exclude');
    checkSpread(spreads, below(place, 'spread'));
  },
);

function checkSpread(spreads: readonly Spread[], place: Place): void {
  checkUnique(
    spreads.map(({ by }) => by),
    (index) => below(below(place, index), 'by'),
  );
  const groupings = new Set(spreads.map(({ by }) => by).filter((by) => by !== 'cluster'));
  if (groupings.size > 1) tell(place, `expected one grouping beside cluster, got ${[...groupings].join(', ')}`);
}

const rule: Codec<ReplicaRule> = checked(
  record({
    set: defaulted(clusterSet, {}),
    weight: defaulted(integer(0), 1),
    min: defaulted(integer(0), 0),
    max: optional(integer(0)),
  }),
  checkBounds,
);

const noReplicas = { mode: 'Duplicated', strategy: 'Weighted', rules: [], rebalance: false } as const satisfies ReplicasSpec;

/** How many where: all of `replicas`. */
export const replicas: Codec<ReplicasSpec> = checked(
  record({
    mode: defaulted(choice(['Duplicated', 'Divided', 'External']), noReplicas.mode),
    strategy: defaulted(choice(['Weighted', 'Available', 'Aggregated']), noReplicas.strategy),
    total: optional(integer(0)),
    rules: defaulted(list(rule, { max: 500 }), noReplicas.rules),
    rebalance: defaulted(flag, noReplicas.rebalance),
    rescheduleAt: optional(time),
  }),
  ({ mode, strategy }, place) => {
    if (mode !== 'Divided' && strategy !== 'Weighted') tell(below(place, 'strategy'), `expected ${strategy} with mode Divided only`);
  },
);

/** What no `replicas` means. */
export const defaultReplicas: ReplicasSpec = noReplicas;
