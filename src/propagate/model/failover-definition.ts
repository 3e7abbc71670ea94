import type { z } from 'zod';
import { checkedSchema, listSchema, structureSchema, translatedSchema } from '../../core/json/documents.ts';
import {
  anyText,
  clusterText,
  describedEnum,
  duration,
  graphqlHints,
  labelKey,
  labels,
  rules,
  textEnum,
  time,
} from '../../core/json/field-definitions.ts';
import { type JsonPath, parseJsonPath } from '../../core/json/json-path.ts';
import { checkUnique, maxClusters } from './cluster-set-definition.ts';
import { objectKeyFields, withKey } from './object-key-definition.ts';

const tenMinutesMs = 600_000;
/** Maximum number of labels that a failover preserves. */
const maxPreserved = 20;

const preserve = checkedSchema(
  structureSchema({
    label: labelKey
      .meta({ minLength: 1 })
      .describe('The key of the label. The copy that replaces the old one after a failover has the value under it.'),
    jsonPath: anyText.describe('The path of the value below `status`, as a JSONPath of kubectl, such as `{.jobStatus.jobID}`.'),
  })
    .register(graphqlHints, { name: 'PreserveInput' })
    .describe('A value of the old status that the new copy gets as a label.'),
  ({ label, jsonPath }, report) => {
    if (label === '') report('expected the key of a label', 'label');
    if (parsePreservedPath(jsonPath) === undefined) report('expected a path such as {.jobStatus.jobID}', 'jsonPath');
  },
);

/** The fields of `failover` as documents spell them. */
const failoverFields = structureSchema({
  after: duration
    .exactOptional()
    .describe('The time after which the copies of a cluster that does not answer run elsewhere, such as 5m. Default: never.'),
  unhealthyAfter: duration
    .exactOptional()
    .describe('The time for which a copy must be unhealthy before the copies of its cluster run elsewhere. Default: never.'),
  purge: describedEnum('PurgeMode', 'When the old copies are removed.', {
    Directly: 'At once.',
    Gracefully: 'When the new copies are healthy, at the latest after `grace`. Not while the cluster of a new copy does not answer.',
    Never: 'The old copies stay, without the marks and fields of Muster.',
  })
    .default('Gracefully')
    .describe('When the old copies are removed. If their cluster does not answer: not before it answers again.'),
  grace: duration
    .default(tenMinutesMs)
    .describe(
      'The maximum time for which old copies stay while the new ones are not healthy, from when their cluster answers. Only with purge ' +
        '`Gracefully`.',
    ),
  preserve: listSchema(preserve, { max: maxPreserved })
    .meta(rules(['self.all(p, self.exists_one(o, o.label == p.label))', 'expected different labels']))
    .default([])
    .describe('Values of the old status that the new copies get as labels. Only with purge `Directly`, and if one new cluster takes over.'),
  return: describedEnum('ReturnMode', 'Whether copies return to a cluster that they left, when the cause for leaving is over.', {
    Stay: 'The copies stay where they are.',
    Back: 'After `returnAfter`, a new plan chooses all clusters and replicas, without regard to the present ones.',
  })
    .default('Stay')
    .describe('Whether copies return to a cluster that they left, when the cause for leaving is over.'),
  returnAfter: duration
    .default(tenMinutesMs)
    .describe(
      'The time for which the cluster must answer, without a `NoExecute` taint that evicts copies, before copies return to it. Only with ' +
        'return `Back`.',
    ),
})
  .register(graphqlHints, { name: 'FailoverInput' })
  .describe(
    'The rules of failover: when copies move away because their cluster does not answer, has a `NoExecute` taint or runs them unhealthily, how the ' +
      'old copies are removed, and whether copies return to that cluster later.',
  );

interface FailoverRules extends Omit<z.output<typeof failoverFields>, 'after' | 'unhealthyAfter' | 'grace' | 'returnAfter'> {
  readonly afterMs?: number;
  readonly unhealthyAfterMs?: number;
  readonly graceMs: number;
  readonly returnAfterMs: number;
}

/** `failover` of a spec. */
export const failover = checkedSchema(
  translatedSchema(failoverFields, {
    decode: ({ after, unhealthyAfter, grace: graceMs, returnAfter: returnAfterMs, ...rest }): FailoverRules => ({
      ...rest,
      graceMs,
      returnAfterMs,
      ...(after === undefined ? {} : { afterMs: after }),
      ...(unhealthyAfter === undefined ? {} : { unhealthyAfterMs: unhealthyAfter }),
    }),
    encode: ({ afterMs, unhealthyAfterMs, graceMs: grace, returnAfterMs: returnAfter, ...rest }) => ({
      ...rest,
      grace,
      returnAfter,
      ...(afterMs === undefined ? {} : { after: afterMs }),
      ...(unhealthyAfterMs === undefined ? {} : { unhealthyAfter: unhealthyAfterMs }),
    }),
  }),
  ({ preserve: kept }, report) =>
    checkUnique(
      kept.map(({ label }) => label),
      report,
      'preserve',
      (index) => index,
      'label',
    ),
);

/** The rules for a cluster with a `NoExecute` taint if the spec has no `failover`. */
export const defaultFailover: FailoverRules = {
  purge: 'Gracefully',
  graceMs: tenMinutesMs,
  preserve: [],
  return: 'Stay',
  returnAfterMs: tenMinutesMs,
};

/** Parses a path of `preserve`, with or without braces. Undefined if it is not valid. */
export function parsePreservedPath(text: string): JsonPath | undefined {
  const inner = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text;
  const path = inner.trim().replace(/^\$/, '');
  return path === '' ? undefined : parseJsonPath(path);
}

/** The labels that one copy gets from the status of the copy before it. */
const preservedLabels = translatedSchema(structureSchema({ ...objectKeyFields, labels: labels.describe('The labels.') }), {
  decode(flat) {
    const [key, rest] = withKey(flat);
    return { key, ...rest };
  },
  encode: ({ key, ...rest }) => ({ ...key, ...rest }),
});

const preservedList = listSchema(preservedLabels, { max: 200 });

/** A cluster whose copies must run elsewhere. */
export const eviction = structureSchema({
  cluster: clusterText.describe('The cluster.'),
  cause: textEnum(['Unreachable', 'Taint', 'Unhealthy', 'Return']).describe(
    'The cause. Return: its copies went back to a cluster that was left before. Such a cluster may be chosen again at any time.',
  ),
  since: time.describe('The time at which the eviction began.'),
  to: listSchema(clusterText, { max: maxClusters })
    .exactOptional()
    .describe('The clusters that took over. Not set as long as copies are still planned in the cluster.'),
  reachableSince: time
    .exactOptional()
    .describe('The time since which the cluster answers. Not set while it does not answer. `grace` counts from then.'),
  backSince: time.exactOptional().describe('The time since which the cause is over. Only with `return: Back`.'),
  preserved: preservedList.exactOptional().describe('The labels that the copies in a single new cluster get.'),
  notPreserved: listSchema(anyText, { max: maxPreserved }).exactOptional().describe('The labels for which the old status has no value.'),
});

/** The labels of the copies in one cluster that have their values from the status of the copies that they replace. */
export const preservedIn = structureSchema({
  cluster: clusterText.describe('The cluster.'),
  objects: preservedList.describe('The labels of each object.'),
  notPreserved: listSchema(anyText, { max: maxPreserved }).exactOptional().describe('The labels for which the old status has no value.'),
});
