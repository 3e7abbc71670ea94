import { invariant } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { isLabelValue, type LabelRequirement, type LabelSelector, printSelector } from '../../core/selectors.ts';
import { below, type Codec, checked, choice, defaulted, list, mapped, type Place, record, required, tell } from './codec.ts';
import { anyText, labelKey, labels } from './texts.ts';

type Expression = { readonly key: string; readonly operator: keyof typeof operators; readonly values: readonly string[] };

const operators = { In: 'in', NotIn: 'notIn', Exists: 'exists', DoesNotExist: 'absent' } as const satisfies Readonly<
  Record<string, LabelRequirement['operator']>
>;

const expression: Codec<Expression> = checked(
  record({
    key: required(labelKey),
    operator: required(choice(['In', 'NotIn', 'Exists', 'DoesNotExist'])),
    values: defaulted(list(anyText, { max: 500 }), []),
  }),
  ({ operator, values }, place) => {
    checkValues(operator, values, below(place, 'values'));
    values.forEach((value, index) => {
      if (!isLabelValue(value)) tell(below(below(place, 'values'), index), 'expected the value of a label');
    });
  },
);

/** Tells what is wrong with the number of values beside such an operator: `In` and `NotIn` need some, the others take none. */
export function checkValues(operator: Expression['operator'], values: readonly string[], place: Place): void {
  const needsSome = operator === 'In' || operator === 'NotIn';
  if (needsSome === values.length > 0) return;
  tell(place, needsSome ? `expected at least one value with ${operator}` : `expected no values with ${operator}`);
}

const parts = record({ matchLabels: defaulted(labels, {}), matchExpressions: defaulted(list(expression, { max: 100 }), []) });

/**
 * A LabelSelector of Kubernetes. Its conditions are read in one order, whatever theirs was. Printed with `matchLabels` where a key must have one value;
 * the comparisons of `-l` that no LabelSelector can say (`>`, `<`) are never in one that was read.
 */
export const labelSelector: Codec<LabelSelector> = {
  ...mapped(parts, {
    to: ({ matchLabels, matchExpressions }): LabelSelector => ({
      requirements: inOrder([
        ...Object.entries(matchLabels).map(([key, value]): LabelRequirement => ({ operator: 'in', key, values: new Set([value]) })),
        ...matchExpressions.map(requirementOf),
      ]),
    }),
    from: partsOf,
  }),
  shape: { type: 'selector' },
};

/** The selector as the document of a LabelSelector. Undefined if none can say it: it compares numbers. */
export function selectorDocument(selector: LabelSelector): JsonObject | undefined {
  if (selector.requirements.some(({ operator }) => operator === 'above' || operator === 'below')) return undefined;
  return labelSelector.print(selector) as JsonObject;
}

function requirementOf({ key, operator, values }: Expression): LabelRequirement {
  const known = operators[operator];
  return known === 'in' || known === 'notIn' ? { operator: known, key, values: new Set([...values].sort()) } : { operator: known, key };
}

function inOrder(requirements: readonly LabelRequirement[]): readonly LabelRequirement[] {
  const byText = new Map(requirements.map((one) => [printSelector({ requirements: [one] }), one]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function partsOf({ requirements }: LabelSelector) {
  const matchLabels = new Map<string, string>();
  const matchExpressions: Expression[] = [];
  for (const requirement of inOrder(requirements)) {
    const { key, operator } = requirement;
    switch (operator) {
      case 'in': {
        const [value, ...more] = requirement.values;
        if (value !== undefined && more.length === 0 && !matchLabels.has(key)) matchLabels.set(key, value);
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
  return { matchLabels: Object.fromEntries(matchLabels), matchExpressions };
}
