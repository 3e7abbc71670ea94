import type { Json } from '../../core/json.ts';
import { valueAt } from '../../core/json-at.ts';
import type { ListOverride, Manifest } from '../spec.ts';
import { type ItemEdits, unknownContainer } from './edits.ts';
import { containersOf } from './pod-specs.ts';

/**
 * Changes the command or the arguments of the containers of that name: Add appends to the list, or begins one; Remove takes every equal element out, and
 * leaves an empty list where there was none; Replace sets it. A container that is not there is a warning.
 */
export function overrideList(object: Manifest, field: 'command' | 'args', item: ListOverride): ItemEdits {
  const named = containersOf(object, 'All').filter(({ name }) => name === item.container);
  const edits = named.map(({ path, container }) => {
    const found = valueAt(container, field);
    return { path: [...path, field], value: changedList(Array.isArray(found) ? found : [], item), replaces: found !== undefined };
  });
  return { result: 'edits', edits, warnings: named.length === 0 ? [unknownContainer(item.container, '.container')] : [] };
}

function changedList(list: readonly Json[], { operator, values }: ListOverride): readonly Json[] {
  switch (operator) {
    case 'Add':
      return [...list, ...values];
    case 'Remove':
      return list.filter((element) => typeof element !== 'string' || !values.includes(element));
    case 'Replace':
      return values;
    default:
      return operator satisfies never;
  }
}
