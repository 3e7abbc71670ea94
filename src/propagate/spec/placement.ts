import type { z } from 'zod';
import { checked, list, structure, type Tell } from '../../core/json/documents.ts';
import { isLabelKey } from '../../core/selectors.ts';
import { checkUnique, clusterSet, isNarrow, setFields } from './cluster-sets.ts';
import { anyText, choice, count, flag, inGraph, integer, labelKey, partName, rules, time } from './values.ts';

const toleration = checked(
  structure({
    key: anyText.exactOptional().describe('The key of the taint. Absent, with Exists: every taint.'),
    operator: choice('TolerationOperator', 'How a toleration meets a taint.', {
      Equal: 'Key and value are equal.',
      Exists: 'The key is equal, or no key is given.',
    })
      .default('Equal')
      .describe('How the toleration meets the taint.'),
    value: anyText.exactOptional().describe('The value of the taint, with Equal.'),
    effect: choice('TaintEffect', 'What a taint does.', {
      NoSchedule: 'Nothing new comes to the cluster.',
      PreferNoSchedule: 'Other clusters are preferred.',
      NoExecute: 'Nothing new comes to the cluster, and copies in it are removed.',
    })
      .exactOptional()
      .describe('The effect of the taint. Absent: every effect.'),
    tolerationSeconds: integer(-(2 ** 53) + 1, 2 ** 53 - 1)
      .register(inGraph, { scalar: 'Int64' })
      .exactOptional()
      .describe('How long a NoExecute taint is tolerated, in seconds. Absent: for ever.'),
  })
    .register(inGraph, { name: 'TolerationInput' })
    .meta({
      description: 'A taint of clusters that is no obstacle: as a Toleration of Pods is for taints of Nodes.',
      ...rules(
        [
          `(has(self.key) && self.key != '') || (has(self.operator) && self.operator == 'Exists')`,
          'expected operator Exists without a key',
        ],
        [`!has(self.value) || self.value == '' || !has(self.operator) || self.operator != 'Exists'`, 'expected no value with Exists'],
        [
          `!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')`,
          'expected tolerationSeconds with NoExecute only',
        ],
      ),
    }),
  ({ key = '', operator, value = '', effect, tolerationSeconds }, tell) => {
    if (key !== '' && !isLabelKey(key)) tell('expected the key of a taint, such as example.com/dedicated', 'key');
    if (key === '' && operator !== 'Exists') tell('expected Exists without a key', 'operator');
    if (value !== '' && operator === 'Exists') tell('expected no value with Exists', 'value');
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') tell('expected it with NoExecute only', 'tolerationSeconds');
  },
);

const overflow = structure({
  name: partName.describe('A name that no other group and no other overflow of this group has.'),
  set: clusterSet.describe('The clusters of the overflow.'),
})
  .register(inGraph, { name: 'OverflowInput' })
  .describe('Clusters for the replicas that have no room in the clusters above.');

const group = checked(
  structure({
    name: partName.describe('A name that no other group has.'),
    set: clusterSet.describe('The clusters of the group.'),
    overflow: list(overflow, { max: 20 })
      .default([])
      .describe(
        'Further clusters in order, for replicas without room in the set. Only with replicas that are Divided by Available or Aggregated.',
      ),
  })
    .register(inGraph, { name: 'AffinityGroupInput' })
    .describe('One of several sets of clusters, tried in order.'),
  ({ name, set, overflow: tiers }, tell) => {
    checkUnique([name, ...tiers.map((tier) => tier.name)], tell, 'overflow', (index) => index - 1, 'name');
    if (tiers.length > 0 && !isNarrow(set)) tell('expected a set that is not empty above an overflow', 'overflow');
  },
);

const spread = checked(
  structure({
    by: choice('SpreadBy', 'What copies are spread over.', {
      cluster: 'Clusters.',
      region: 'Regions.',
      zone: 'Zones: of each cluster the first in order of names.',
      provider: 'Providers.',
      label: 'The values of one label of clusters.',
    })
      .default('cluster')
      .describe('What the copies are spread over. Besides cluster, at most one other.'),
    label: labelKey.meta({ minLength: 1 }).exactOptional().describe('The key of the label: with label only.'),
    min: count.default(1).describe('The smallest number of them.'),
    max: count.exactOptional().describe('The largest number of them. Absent: no bound.'),
  })
    .register(inGraph, { name: 'SpreadInput' })
    .meta({
      description: 'Over how many clusters, regions, zones, providers or values of a label the copies are spread.',
      ...rules(
        [`has(self.label) == (has(self.by) && self.by == 'label')`, 'expected a label by label, and only there'],
        ['!has(self.max) || self.max >= (has(self.min) ? self.min : 1)', 'expected max to be at least min'],
      ),
    }),
  ({ by, label, min, max }, tell) => {
    if (by === 'label' && label === undefined) tell('is required by label', 'label');
    if (by !== 'label' && label !== undefined) tell('expected it by label only', 'label');
    checkBounds({ min, max }, tell);
  },
);

function checkBounds({ min, max }: { readonly min: number; readonly max?: number | undefined }, tell: Tell): void {
  if (max !== undefined && max < min) tell(`expected at least min, which is ${min}, got ${max}`, 'max');
}

/** The `placement` of a spec: which clusters get copies. */
export const placement = checked(
  structure({
    ...setFields,
    tolerations: list(toleration, { max: 50 }).default([]).describe('Taints of clusters that are no obstacle.'),
    affinityGroups: list(group, { max: 20 })
      .meta(rules(['self.all(g, self.exists_one(o, o.name == g.name))', 'expected groups of different names']))
      .default([])
      .describe('Several sets of clusters in order, in place of clusters, selector, fields and exclude: the first set that fits is used.'),
    spread: list(spread, { max: 5 })
      .meta(
        rules(
          [
            `self.all(s, self.exists_one(o, (has(o.by) ? o.by : 'cluster') == (has(s.by) ? s.by : 'cluster')))`,
            'expected each of by only once',
          ],
          [`self.filter(s, has(s.by) && s.by != 'cluster').size() <= 1`, 'expected one grouping beside cluster'],
        ),
      )
      .default([])
      .describe('Over how many clusters the copies are spread, and over how many regions, zones, providers or values of a label.'),
  })
    .register(inGraph, { name: 'PlacementInput' })
    .meta({
      description: 'Which clusters get copies: those that meet every condition. `{}` is every cluster.',
      ...rules([
        '!has(self.affinityGroups) || size(self.affinityGroups) == 0 || (!has(self.clusters) && !has(self.selector) && !has(self.fields) && !has(self.exclude))',
        'expected either affinityGroups, or clusters, selector, fields and exclude',
      ]),
    }),
  ({ affinityGroups, spread: spreads, tolerations: _, ...set }, tell) => {
    checkUnique(
      affinityGroups.map(({ name }) => name),
      tell,
      'affinityGroups',
      (index) => index,
      'name',
    );
    const isGiven = Object.values(set).some((part) => part !== undefined);
    if (affinityGroups.length > 0 && isGiven) tell('expected either groups or clusters, selector, fields and exclude', 'affinityGroups');
    checkUnique(
      spreads.map(({ by }) => by),
      tell,
      'spread',
      (index) => index,
      'by',
    );
    const groupings = new Set(spreads.map(({ by }) => by).filter((by) => by !== 'cluster'));
    if (groupings.size > 1) tell(`expected one grouping beside cluster, got ${[...groupings].join(', ')}`, 'spread');
  },
);

const rule = checked(
  structure({
    set: clusterSet.default({}).describe('The clusters that the rule is for. Absent: every cluster.'),
    weight: count.default(1).describe('The weight of each cluster, with Weighted.'),
    min: count.default(0).describe('The smallest number of replicas in each cluster.'),
    max: count.exactOptional().describe('The largest number of replicas in each cluster. Absent: no bound.'),
  })
    .register(inGraph, { name: 'ReplicaRuleInput' })
    .meta({
      description:
        'Weight and bounds of some clusters. Of several rules for one cluster the largest weight, the largest minimum and the smallest maximum hold.',
      ...rules(['!has(self.max) || self.max >= (has(self.min) ? self.min : 0)', 'expected max to be at least min']),
    }),
  checkBounds,
);

/** The way in which replicas are divided, with mode `Divided`. */
export const replicaStrategy = choice('ReplicaStrategy', 'How divided replicas are divided.', {
  Weighted: 'By the weights of the rules.',
  Available: 'By the room that clusters have.',
  Aggregated: 'By the room that clusters have, into as few clusters as possible.',
});

/** The `replicas` of a spec: how many replicas each cluster gets. */
export const replicas = checked(
  structure({
    mode: choice('ReplicaMode', 'Which cluster gets how many replicas.', {
      Duplicated: 'Every cluster gets the whole number.',
      Divided: 'The clusters together get the number.',
      External: 'An autoscaler decides: the number is never sent.',
    })
      .default('Duplicated')
      .describe('Which cluster gets how many replicas.'),
    strategy: replicaStrategy.default('Weighted').describe('How Divided replicas are divided.'),
    total: count.exactOptional().describe('The number of replicas. Absent: the number of the template.'),
    rules: list(rule, { max: 500 }).default([]).describe('Weights and bounds of clusters.'),
    rebalance: flag.default(false).describe('True: every plan divides from zero. False: only the difference moves.'),
    rescheduleAt: time.exactOptional().describe('Divides from zero once, if this time is later than `status.scheduledAt`.'),
  })
    .register(inGraph, { name: 'ReplicasInput' })
    .meta({
      description: 'How many replicas each cluster gets.',
      ...rules([
        `!has(self.strategy) || self.strategy == 'Weighted' || (has(self.mode) && self.mode == 'Divided')`,
        'expected this strategy with mode Divided only',
      ]),
    }),
  ({ mode, strategy }, tell) => {
    if (mode !== 'Divided' && strategy !== 'Weighted') tell(`expected ${strategy} with mode Divided only`, 'strategy');
  },
);

/** The value for a spec without `replicas`. */
export const defaultReplicas: z.output<typeof replicas> = { mode: 'Duplicated', strategy: 'Weighted', rules: [], rebalance: false };
