import { valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../inventory.ts';
import type { RenderedObject } from '../plan.ts';
import { withValueAt } from '../rendering/json-edits.ts';
import type { Manifest } from '../spec.ts';
import { hasPath, spellPath } from './owned-fields.ts';

/** The manifest with what stands at the paths that it leaves to others: what is sent as a whole must not take that away. */
export function withLeft(manifest: Manifest, { leaves = [] }: Pick<RenderedObject, 'leaves'>, live: KubernetesObject): Manifest {
  return leaves.reduce((object, path) => {
    const value = valueAt(live, ...path);
    return value === undefined ? object : withValueAt(object, path, value);
  }, manifest);
}

/** True if by what the inventory keeps something is ours that is to be left: mirrors do not say who owns a field, so the object must be read. */
export function mayOwnLeft({ leaves = [] }: Pick<RenderedObject, 'leaves'>, { sent }: Pick<InventoryEntry, 'sent'>): boolean {
  return leaves.some((path) => sent === undefined || hasPath(sent, spellPath(path)));
}
