import { isJsonObject, type Json } from '../../core/json.ts';
import { labelsAt, listAt, textAt } from '../../core/json-at.ts';
import type { LabelRequirement, LabelSelector } from '../../core/selectors.ts';

const known = new WeakMap<object, { readonly selector: LabelSelector | undefined }>();

/**
 * The LabelSelector of a workload, as its controller reads it: without conditions it selects everything. Undefined if there is none, or it has a condition
 * that nobody knows: then it selects nothing.
 */
export function labelSelectorOf(value: Json | undefined): LabelSelector | undefined {
  if (!isJsonObject(value)) return undefined;
  const read = known.get(value) ?? { selector: readSelector(value) };
  known.set(value, read);
  return read.selector;
}

function readSelector(value: Json): LabelSelector | undefined {
  const labels = Object.entries(labelsAt(value, 'matchLabels')).map(
    ([key, text]) => ({ operator: 'in', key, values: new Set([text]) }) as const,
  );
  const expressions = listAt(value, 'matchExpressions').map(requirementOf);
  return expressions.includes(undefined) ? undefined : { requirements: [...labels, ...expressions.filter((one) => one !== undefined)] };
}

function requirementOf(expression: Json): LabelRequirement | undefined {
  const key = textAt(expression, 'key');
  const values = new Set(listAt(expression, 'values').filter((value) => typeof value === 'string'));
  if (key === undefined) return undefined;
  switch (textAt(expression, 'operator')) {
    case 'In':
      return { operator: 'in', key, values };
    case 'NotIn':
      return { operator: 'notIn', key, values };
    case 'Exists':
      return { operator: 'exists', key };
    case 'DoesNotExist':
      return { operator: 'absent', key };
    default:
      return undefined;
  }
}
