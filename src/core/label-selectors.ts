import type { V1LabelSelector, V1LabelSelectorRequirement } from '@kubernetes/client-node';
import { isJsonObject } from './json.ts';
import { labelsAt } from './json-at.ts';
import type { LabelRequirement, LabelSelector } from './selectors.ts';
import { itemsOf, type Stored, textsOf } from './stored.ts';

const known = new WeakMap<object, { readonly selector: LabelSelector | undefined }>();

/**
 * Reads the LabelSelector of a workload as its controller does. A selector without conditions selects every object. Undefined if there is
 * no selector, or if it has an unknown condition: the workload then selects no object.
 */
export function labelSelectorOf(value: Stored<V1LabelSelector> | undefined): LabelSelector | undefined {
  if (!isJsonObject(value)) return undefined;
  const read = known.get(value) ?? { selector: readSelector(value) };
  known.set(value, read);
  return read.selector;
}

function readSelector(value: Stored<V1LabelSelector>): LabelSelector | undefined {
  const labels = Object.entries(labelsAt(value, 'matchLabels')).map(
    ([key, text]) => ({ operator: 'in', key, values: new Set([text]) }) as const,
  );
  const expressions = itemsOf(value.matchExpressions).map(labelRequirementOf);
  return expressions.includes(undefined) ? undefined : { requirements: [...labels, ...expressions.filter((one) => one !== undefined)] };
}

/** Converts one condition of a LabelSelector. Undefined if it has no key or an unknown operator. */
export function labelRequirementOf({ key, operator, values }: Stored<V1LabelSelectorRequirement>): LabelRequirement | undefined {
  if (typeof key !== 'string') return undefined;
  switch (operator) {
    case 'In':
      return { operator: 'in', key, values: new Set(textsOf(values)) };
    case 'NotIn':
      return { operator: 'notIn', key, values: new Set(textsOf(values)) };
    case 'Exists':
      return { operator: 'exists', key };
    case 'DoesNotExist':
      return { operator: 'absent', key };
    default:
      return undefined;
  }
}
