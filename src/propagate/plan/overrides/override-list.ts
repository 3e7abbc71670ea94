import type { Json } from '../../../core/json.ts';
import { valueAt } from '../../../core/json-at.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { containersIn } from '../../../manifests/pod-specs.ts';
import type { ListOverride } from '../../model/spec.ts';
import { type ItemEdits, unknownContainerWarning } from './edits.ts';

/**
 * Changes the command or the arguments of the containers with this name. Gives a warning if there is no such container.
 *
 * - Add appends to the list, or creates it.
 * - Remove removes every equal element. An absent list becomes an empty one.
 * - Replace sets the list.
 */
export function overrideList(object: Manifest, field: 'command' | 'args', item: ListOverride): ItemEdits {
  const named = containersIn(object, 'All').filter(({ name }) => name === item.container);
  const edits = named.map(({ path, container }) => {
    const found = valueAt(container, field);
    return { path: [...path, field], value: changedList(Array.isArray(found) ? found : [], item), replaces: found !== undefined };
  });
  return { result: 'edits', edits, warnings: named.length === 0 ? [unknownContainerWarning(item.container, '.container')] : [] };
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
