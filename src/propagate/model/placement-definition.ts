import type { z } from 'zod';
import { checkedSchema, listSchema, type ReportProblem, structureSchema } from '../../core/json/documents.ts';
import {
  anyText,
  count,
  describedEnum,
  flag,
  graphqlHints,
  integer,
  labelKey,
  partName,
  rules,
  time,
} from '../../core/json/field-definitions.ts';
import { isLabelKey } from '../../core/selectors.ts';
import { checkUnique, clusterSet, hasConditions, setFields } from './cluster-set-definition.ts';

const toleration = checkedSchema(
  structureSchema({
    key: anyText
      .exactOptional()
      .describe('The key of the taint. Without a key, the operator must be `Exists`, and every taint is tolerated.'),
    operator: describedEnum('TolerationOperator', 'How a toleration is compared with a taint.', {
      Equal: 'The key and the value must be equal.',
      Exists: 'The key must be equal. Without a key, every taint matches.',
    })
      .default('Equal')
      .describe('How the toleration is compared with the taint.'),
    value: anyText.exactOptional().describe('The value of the taint. Only with `Equal`.'),
    effect: describedEnum('TaintEffect', 'The effect of a taint.', {
      NoSchedule: 'The cluster gets no new copies.',
      PreferNoSchedule: 'Other clusters are preferred.',
      NoExecute: 'The cluster gets no new copies, and existing copies are removed.',
    })
      .exactOptional()
      .describe('The effect of the taint. Default: every effect.'),
    tolerationSeconds: integer(-(2 ** 53) + 1, 2 ** 53 - 1)
      .register(graphqlHints, { scalar: 'Int64' })
      .exactOptional()
      .describe('The number of seconds for which a `NoExecute` taint is tolerated. Default: no limit.'),
  })
    .register(graphqlHints, { name: 'TolerationInput' })
    .meta({
      description: 'A taint of clusters that is tolerated, as a toleration of a Pod tolerates a taint of Nodes.',
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
  ({ key = '', operator, value = '', effect, tolerationSeconds }, report) => {
    if (key !== '' && !isLabelKey(key)) report('expected the key of a taint, such as example.com/dedicated', 'key');
    if (key === '' && operator !== 'Exists') report('expected Exists without a key', 'operator');
    if (value !== '' && operator === 'Exists') report('expected no value with Exists', 'value');
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') report('expected none without effect NoExecute', 'tolerationSeconds');
  },
);

const overflow = structureSchema({
  name: partName.describe('The name of the overflow. No group and no other overflow of this group may have it.'),
  set: clusterSet.describe('The clusters of the overflow.'),
})
  .register(graphqlHints, { name: 'OverflowInput' })
  .describe('Additional clusters for replicas that have no room in the sets before.');

const group = checkedSchema(
  structureSchema({
    name: partName.describe('The name of the group. No other group may have it.'),
    set: clusterSet.describe('The clusters of the group.'),
    overflow: listSchema(overflow, { max: 20 })
      .default([])
      .describe(
        'Additional sets of clusters, in order, for replicas that have no room in `set`. Only with replicas in mode `Divided` ' +
          'and strategy `Available` or `Aggregated`.',
      ),
  })
    .register(graphqlHints, { name: 'AffinityGroupInput' })
    .describe('A set of clusters. Several sets are tried in order.'),
  ({ name, set, overflow: tiers }, report) => {
    checkUnique([name, ...tiers.map((tier) => tier.name)], report, 'overflow', (index) => index - 1, 'name');
    if (tiers.length > 0 && !hasConditions(set)) report('expected none, because the set of the group has no conditions', 'overflow');
  },
);

const spread = checkedSchema(
  structureSchema({
    by: describedEnum('SpreadBy', 'The property of clusters over which copies are spread.', {
      cluster: 'The cluster itself.',
      region: 'The region of the cluster.',
      zone: 'The zone of the cluster. If it has several, the first by name.',
      provider: 'The provider of the cluster.',
      label: 'The value of one label of the cluster.',
    })
      .default('cluster')
      .describe(
        'The property over which the copies are spread. `spread` may have one entry for the cluster itself, and one for another property.',
      ),
    label: labelKey
      .meta({ minLength: 1 })
      .exactOptional()
      .describe('The key of the label. Required if copies are spread over the values of a label. Not allowed otherwise.'),
    min: count.default(1).describe('The minimum number of different values, such as regions, that get copies.'),
    max: count.exactOptional().describe('The maximum number of different values that get copies. Default: no limit.'),
  })
    .register(graphqlHints, { name: 'SpreadInput' })
    .meta({
      description: 'The minimum and maximum number of clusters, regions, zones, providers or label values that get copies.',
      ...rules(
        [`has(self.label) == (has(self.by) && self.by == 'label')`, 'expected label if by is label, and no label otherwise'],
        ['!has(self.max) || self.max >= (has(self.min) ? self.min : 1)', 'expected max to be at least min'],
      ),
    }),
  ({ by, label, min, max }, report) => {
    if (by === 'label' && label === undefined) report('is required if by is label', 'label');
    if (by !== 'label' && label !== undefined) report(`expected none, because by is ${by}`, 'label');
    checkBounds({ min, max }, report);
  },
);

function checkBounds({ min, max }: { readonly min: number; readonly max?: number | undefined }, report: ReportProblem): void {
  if (max !== undefined && max < min) report(`expected at least min, which is ${min}, got ${max}`, 'max');
}

/** The `placement` of a spec: which clusters get copies. */
export const placement = checkedSchema(
  structureSchema({
    ...setFields,
    tolerations: listSchema(toleration, { max: 50 }).default([]).describe('The cluster taints that this placement tolerates.'),
    affinityGroups: listSchema(group, { max: 20 })
      .meta(rules(['self.all(g, self.exists_one(o, o.name == g.name))', 'expected groups of different names']))
      .default([])
      .describe(
        'Several sets of clusters, tried in order. The first set that has a matching cluster and satisfies `spread` is used. ' +
          'Cannot be combined with `clusters`, `selector`, `fields` or `exclude`.',
      ),
    spread: listSchema(spread, { max: 5 })
      .meta(
        rules(
          [
            `self.all(s, self.exists_one(o, (has(o.by) ? o.by : 'cluster') == (has(s.by) ? s.by : 'cluster')))`,
            'expected different values of by',
          ],
          [`self.filter(s, has(s.by) && s.by != 'cluster').size() <= 1`, 'expected at most one grouping besides cluster'],
        ),
      )
      .default([])
      .describe('The minimum and maximum numbers of clusters, regions, zones, providers or label values that get copies.'),
  })
    .register(graphqlHints, { name: 'PlacementInput' })
    .meta({
      description: 'The clusters that get copies: those that meet every condition. `{}` means all clusters.',
      ...rules([
        '!has(self.affinityGroups) || size(self.affinityGroups) == 0 || (!has(self.clusters) && !has(self.selector) && ' +
          '!has(self.fields) && !has(self.exclude))',
        'expected either affinityGroups, or clusters, selector, fields and exclude',
      ]),
    }),
  ({ affinityGroups, spread: spreads, tolerations: _, ...set }, report) => {
    checkUnique(
      affinityGroups.map(({ name }) => name),
      report,
      'affinityGroups',
      (index) => index,
      'name',
    );
    const isGiven = Object.values(set).some((part) => part !== undefined);
    if (affinityGroups.length > 0 && isGiven) report('expected either groups or clusters, selector, fields and exclude', 'affinityGroups');
    checkUnique(
      spreads.map(({ by }) => by),
      report,
      'spread',
      (index) => index,
      'by',
    );
    const groupings = new Set(spreads.map(({ by }) => by).filter((by) => by !== 'cluster'));
    if (groupings.size > 1) report(`expected at most one grouping besides cluster, got ${[...groupings].join(', ')}`, 'spread');
  },
);

const rule = checkedSchema(
  structureSchema({
    set: clusterSet.default({}).describe('The clusters to which the rule applies. Default: all clusters.'),
    weight: count.default(1).describe('The weight of each cluster of `set`. Only with strategy `Weighted`.'),
    min: count.default(0).describe('The minimum number of replicas in each cluster of `set`.'),
    max: count.exactOptional().describe('The maximum number of replicas in each cluster of `set`. Default: no limit.'),
  })
    .register(graphqlHints, { name: 'ReplicaRuleInput' })
    .meta({
      description:
        'The weight of some clusters, and the minimum and maximum number of their replicas. If several rules match a cluster, the largest weight, the largest minimum and the ' +
        'smallest maximum count.',
      ...rules(['!has(self.max) || self.max >= (has(self.min) ? self.min : 0)', 'expected max to be at least min']),
    }),
  checkBounds,
);

/** How replicas are divided. Only mode `Divided` uses the strategy. */
export const replicaStrategy = describedEnum('ReplicaStrategy', 'How replicas are divided between clusters.', {
  Weighted: 'Replicas are divided by the weights of the rules.',
  Available: 'Replicas are divided by the free room of the clusters.',
  Aggregated: 'Replicas are divided by the free room of the clusters, into as few clusters as possible.',
});

/** The `replicas` of a spec: how many replicas each cluster gets. */
export const replicas = checkedSchema(
  structureSchema({
    mode: describedEnum('ReplicaMode', 'How the number of replicas applies to clusters.', {
      Duplicated: 'Every cluster gets the whole number.',
      Divided: 'The number is divided between the clusters.',
      External: 'An autoscaler decides. Muster never sends the number.',
    })
      .default('Duplicated')
      .describe('How the number of replicas applies to clusters.'),
    strategy: replicaStrategy.default('Weighted').describe('How replicas are divided between clusters. Only with mode `Divided`.'),
    total: count.exactOptional().describe('The number of replicas. Default: the number in the template.'),
    rules: listSchema(rule, { max: 500 })
      .default([])
      .describe('The weights of clusters, and the minimum and maximum numbers of their replicas.'),
    rebalance: flag
      .default(false)
      .describe('True: every plan divides all replicas anew. False: only the difference to the previous plan is divided.'),
    rescheduleAt: time.exactOptional().describe('Divides all replicas anew, once, if this time is later than `status.scheduledAt`.'),
  })
    .register(graphqlHints, { name: 'ReplicasInput' })
    .meta({
      description: 'The number of replicas in each cluster.',
      ...rules([
        `!has(self.strategy) || self.strategy == 'Weighted' || (has(self.mode) && self.mode == 'Divided')`,
        'expected this strategy with mode Divided only',
      ]),
    }),
  ({ mode, strategy }, report) => {
    if (mode !== 'Divided' && strategy !== 'Weighted') report(`expected ${strategy} with mode Divided only`, 'strategy');
  },
);

/** The value for a spec without `replicas`. */
export const defaultReplicas: z.output<typeof replicas> = { mode: 'Duplicated', strategy: 'Weighted', rules: [], rebalance: false };
