import type { z } from 'zod';
import { invariant } from '../../core/errors.ts';
import {
  checkedSchema,
  listSchema,
  printDocument,
  type ReportProblem,
  structureSchema,
  translatedSchema,
} from '../../core/json/documents.ts';
import { anyText, clusterText, describedEnum, graphqlHints, labelKey, labels, labelValue } from '../../core/json/field-definitions.ts';
import type { Json } from '../../core/json.ts';
import { type LabelRequirement, type LabelSelector, printLabelSelector } from '../../core/selectors.ts';

/** Maximum number of clusters of a Propagation (docs/internals/propagation.md 2.1). */
export const maxClusters = 500;

const operators = { In: 'in', NotIn: 'notIn', Exists: 'exists', DoesNotExist: 'absent' } as const satisfies Readonly<
  Record<string, LabelRequirement['operator']>
>;

const matchOperator = describedEnum('MatchOperator', 'How a label or a fact of a cluster is compared with values.', {
  In: 'The label or fact is one of the values. If a cluster has several zones, one of them is enough.',
  NotIn: 'The label or fact is none of the values, or is absent.',
  Exists: 'The label or fact is present.',
  DoesNotExist: 'The label or fact is absent.',
});

const expression = checkedSchema(
  structureSchema({
    key: labelKey.describe('The key of the label.'),
    operator: matchOperator.describe('How the label is compared.'),
    values: listSchema(labelValue, { max: 500 })
      .default([])
      .describe('The values to compare with: at least one with `In` and `NotIn`, none otherwise.'),
  }),
  checkValues,
);

type Expression = z.output<typeof expression>;

/** Reports a wrong number of values for the operator: `In` and `NotIn` need at least one value, the other operators take none. */
function checkValues(
  { operator, values }: { readonly operator: keyof typeof operators; readonly values: readonly string[] },
  report: ReportProblem,
): void {
  const needsSome = operator === 'In' || operator === 'NotIn';
  if (needsSome === values.length > 0) return;
  report(needsSome ? `expected at least one value with ${operator}` : `expected no values with ${operator}`, 'values');
}

const matchLabels = labels.meta({ maxProperties: 100, additionalProperties: { type: 'string', maxLength: 63 } });

/**
 * A LabelSelector of Kubernetes. Reading sorts its conditions, so their order in the document does not matter. Printing uses `matchLabels`
 * for a key that must have exactly one value. A selector that was read from a LabelSelector never contains `>` or `<`: only `-l` of kubectl
 * has them.
 */
export const labelSelector = translatedSchema(
  structureSchema({
    matchLabels: matchLabels.default({}).describe('Labels that must have exactly these values.'),
    matchExpressions: listSchema(expression, { max: 100 }).default([]).describe('Further conditions. All of them must hold.'),
  })
    .meta({ 'x-kubernetes-map-type': 'atomic' })
    .register(graphqlHints, { scalar: 'String' }),
  {
    decode: ({ matchLabels: exact, matchExpressions }): LabelSelector => ({
      requirements: inOrder([
        ...Object.entries(exact).map(([key, value]): LabelRequirement => ({ operator: 'in', key, values: new Set([value]) })),
        ...matchExpressions.map(requirementOf),
      ]),
    }),
    encode: selectorFieldsOf,
  },
);

/**
 * Returns the selector as the document of a LabelSelector. Undefined for a selector with `>` or `<`, because a LabelSelector cannot compare
 * numbers.
 */
export function selectorDocument(selector: LabelSelector): Json | undefined {
  const comparesNumbers = selector.requirements.some(({ operator }) => operator === 'above' || operator === 'below');
  return comparesNumbers ? undefined : printDocument(labelSelector, selector);
}

function requirementOf({ key, operator, values }: Expression): LabelRequirement {
  const known = operators[operator];
  return known === 'in' || known === 'notIn' ? { operator: known, key, values: new Set([...values].sort()) } : { operator: known, key };
}

function inOrder(requirements: readonly LabelRequirement[]): readonly LabelRequirement[] {
  const byText = new Map(requirements.map((one) => [printLabelSelector({ requirements: [one] }), one]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function selectorFieldsOf({ requirements }: LabelSelector) {
  const exact = new Map<string, string>();
  const matchExpressions: Expression[] = [];
  for (const requirement of inOrder(requirements)) {
    const { key, operator } = requirement;
    switch (operator) {
      case 'in': {
        const [value, ...more] = requirement.values;
        if (value !== undefined && more.length === 0 && !exact.has(key)) exact.set(key, value);
        else matchExpressions.push({ key, operator: 'In', values: [...requirement.values].sort() });
        break;
      }
      case 'notIn':
        matchExpressions.push({ key, operator: 'NotIn', values: [...requirement.values].sort() });
        break;
      case 'exists':
        matchExpressions.push({ key, operator: 'Exists', values: [] });
        break;
      case 'absent':
        matchExpressions.push({ key, operator: 'DoesNotExist', values: [] });
        break;
      case 'above':
      case 'below':
        invariant(false, 'a LabelSelector compares no numbers');
        break;
      default:
        requirement satisfies never;
    }
  }
  return { matchLabels: Object.fromEntries(exact), matchExpressions };
}

const clusterField = describedEnum('ClusterField', 'A fact of a cluster that placement can use.', {
  provider: 'The provider of the machines of the cluster.',
  region: 'The region of the machines of the cluster.',
  zone: 'The zones of the machines of the cluster, as a list.',
});

const fieldRequirement = checkedSchema(
  structureSchema({
    field: clusterField.describe('The fact to compare.'),
    operator: matchOperator.describe('How the fact is compared.'),
    values: listSchema(anyText, { max: 100 })
      .default([])
      .describe('The values to compare with: at least one with `In` and `NotIn`, none otherwise.'),
  })
    .register(graphqlHints, { name: 'ClusterFieldInput' })
    .describe('A condition on a fact of a cluster.'),
  checkValues,
);

const clusterNames = listSchema(clusterText, { max: maxClusters });

/** The fields that define a set of clusters. */
export const setFields = {
  clusters: clusterNames
    .exactOptional()
    .describe('Only the clusters with these names. Default: all clusters. An empty list means no cluster.'),
  selector: labelSelector
    .exactOptional()
    .describe('Only clusters that match this label selector. In GraphQL it is a text as for `kubectl get -l`, without `<` and `>`.'),
  fields: listSchema(fieldRequirement, { max: 20 }).exactOptional().describe('Only clusters whose facts meet all these conditions.'),
  exclude: clusterNames.exactOptional().describe('Never the clusters with these names, even if they match the other conditions.'),
};

/** A set of clusters. */
export const clusterSet = structureSchema(setFields)
  .register(graphqlHints, { name: 'ClusterSetInput' })
  .describe('A set of clusters. It contains the clusters that meet every condition, and all clusters if there is no condition.');

/** True if the set has at least one condition. Without one, the set contains every cluster. */
export function hasConditions({ clusters, selector, fields = [], exclude = [] }: z.output<typeof clusterSet>): boolean {
  return clusters !== undefined || (selector?.requirements.length ?? 0) > 0 || fields.length > 0 || exclude.length > 0;
}

/** Reports each name that a list repeats. `pathOf` makes the path of the repeated member from its index. */
export function checkUnique(
  names: readonly (string | undefined)[],
  report: ReportProblem,
  ...pathOf: readonly (string | ((index: number) => number))[]
): void {
  names.forEach((name, index) => {
    if (name === undefined || names.indexOf(name) === index) return;
    report(
      `expected each only once, got ${JSON.stringify(name)} again`,
      ...pathOf.map((key) => (typeof key === 'string' ? key : key(index))),
    );
  });
}
