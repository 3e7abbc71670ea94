import type { JsonObject } from '../../core/json.ts';
import { objectAt, valueAt } from '../../core/json-at.ts';
import type { Manifest, MapOverride } from '../spec.ts';
import type { EditWarning, ItemEdits } from './edits.ts';
import { withoutMembers } from './json-edits.ts';

/**
 * Changes labels or annotations of the object itself: Add sets them; Replace and Remove touch keys that are there only, else a warning, and Remove does
 * not look at values.
 */
export function overrideMap(object: Manifest, field: 'labels' | 'annotations', { operator, values }: MapOverride): ItemEdits {
  const map = objectAt(object, 'metadata', field);
  const touched = Object.entries(values).filter(([key]) => operator === 'Add' || Object.hasOwn(map, key));
  const warnings: readonly EditWarning[] = Object.keys(values)
    .filter((key) => operator !== 'Add' && !Object.hasOwn(map, key))
    .map((key) => ({
      code: 'OVERRIDE_WITHOUT_EFFECT',
      path: '.values',
      message: `expected ${field} with ${JSON.stringify(key)}, got none`,
    }));
  if (touched.length === 0) return { result: 'edits', edits: [], warnings };
  const replaces = valueAt(object, 'metadata', field) !== undefined;
  const keys = touched.map(([key]) => key);
  const value: JsonObject = operator === 'Remove' ? withoutMembers(map, keys) : Object.fromEntries([...Object.entries(map), ...touched]);
  return { result: 'edits', edits: [{ path: ['metadata', field], value, replaces }], warnings };
}
