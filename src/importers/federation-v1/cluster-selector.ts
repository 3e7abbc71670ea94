import { isJsonObject, type Json, type JsonObject, tryParseJson } from '../../core/json.ts';
import { listAt, textAt } from '../../core/json-at.ts';
import { warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';

/**
 * The result of reading the annotation `cluster-selector`: its selector, converted to a LabelSelector, or the reason why Federation v1 would
 * not place the object.
 */
export type SelectorRead =
  | { readonly result: 'read'; readonly selector: JsonObject; readonly notes: readonly ImportNote[] }
  | { readonly result: 'refused'; readonly message: string };

const operators: Readonly<Record<string, string>> = {
  '!': 'DoesNotExist',
  DoesNotExist: 'DoesNotExist',
  '=': 'In',
  '==': 'In',
  in: 'In',
  In: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  NotIn: 'NotIn',
  exists: 'Exists',
  Exists: 'Exists',
};
const numberOperators = ['gt', 'Gt', '>', 'lt', 'Lt', '<'];

/** Reads the annotation `federation.alpha.kubernetes.io/cluster-selector`: a JSON list of requirements. `path` is that of the annotation. */
export function readClusterSelector(annotation: string, path: string): SelectorRead {
  const requirements = tryParseJson(annotation);
  if (!Array.isArray(requirements)) return { result: 'refused', message: 'expected a JSON list of requirements' };
  const matchExpressions: Json[] = [];
  const notes: ImportNote[] = [];
  for (const [index, requirement] of requirements.entries()) {
    const [key, operator] = [textAt(requirement, 'key'), textAt(requirement, 'operator') ?? ''];
    const known = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
    if (numberOperators.includes(operator)) {
      notes.push(warningNote('UNSUPPORTED', `${path}[${index}].operator`, `no selector of Muster compares numbers, got ${operator}`));
    } else if (!isJsonObject(requirement) || key === undefined || known === undefined) {
      return { result: 'refused', message: `expected a key and an operator such as In in requirement ${index}` };
    } else {
      matchExpressions.push({ key, operator: known, values: listAt(requirement, 'values') });
    }
  }
  return { result: 'read', selector: { matchExpressions }, notes };
}
