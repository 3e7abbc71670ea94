import { type Fault, fault } from '../core/faults.ts';
import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import type { MemberObjects } from '../store/member-objects.ts';
import { namespaceKind } from '../watch/clusters/warm-kinds.ts';

/** The state of a cluster inventory from which `faultOfInventory` finds its fault. */
export interface ClusterInventoryState {
  readonly holder: ClusterName;
  /** The kind of the objects that describe clusters. */
  readonly kind: GroupKind;
  /** The position in the config: `inventories[0]`. Undefined for registered clusters. */
  readonly where: string | undefined;
  readonly objects: MemberObjects;
  /**
   * For each namespace, the fault of the list of its Secrets. The fault is undefined if the list works. The namespace is undefined for a list of all
   * namespaces.
   */
  readonly lists: readonly { readonly namespace: string | undefined; readonly fault: Fault | undefined }[];
  /** The fault of a Secret that exists but cannot be read. Undefined: there is none. */
  readonly unread: Fault | undefined;
  /** True if an object depends on the labels of a namespace that are not known. */
  readonly lacksNamespaces: boolean;
}

/** True for Secrets. The gateway follows their metadata with `followSecrets`, not with a mirror as for other kinds. */
export function isSecretKind({ group, kind }: GroupKind): boolean {
  return group === '' && kind === 'Secret';
}

/**
 * Returns why an inventory cannot be read, as a fault of the cluster that holds it. Undefined: it can be read, or the holder has not answered yet.
 * For registered clusters, a hub that does not serve the kind Cluster, or does not allow reading it, is no fault.
 */
export function faultOfInventory({
  holder,
  kind,
  where,
  objects,
  lists,
  unread,
  lacksNamespaces,
}: ClusterInventoryState): Fault | undefined {
  const about = { cluster: holder, retry: 'LATER' } as const;
  const name = where ?? 'registered clusters';
  if (!isSecretKind(kind) && where !== undefined) {
    if (objects.served(holder, kind) === 'absent')
      return fault('NOT_SERVED', `${name}: the cluster does not serve ${keyOfKind(kind)}`, about);
    if (isListForbidden(objects, holder, kind)) return fault('FORBIDDEN', `${name}: ${keyOfKind(kind)} may not be listed`, about);
  }
  const refused = lists.find((list) => list.fault?.code === 'FORBIDDEN');
  const isUsed = where !== undefined || (objects.all(holder, kind) ?? []).length > 0;
  if (refused !== undefined && isUsed) {
    const place = refused.namespace === undefined ? 'all namespaces' : `namespace ${refused.namespace}`;
    return fault('FORBIDDEN', `${name}: Secrets of ${place} may not be listed`, about);
  }
  if (lacksNamespaces && isListForbidden(objects, holder, namespaceKind))
    return fault('FORBIDDEN', `${name}: Namespaces may not be listed`, about);
  return unread && fault(unread.code, `${name}: a Secret cannot be read`, about);
}

/** True if the gateway may not list the objects of the inventory or its Secrets. */
export function isForbiddenInventory({
  holder,
  kind,
  objects,
  lists,
}: Pick<ClusterInventoryState, 'holder' | 'kind' | 'objects' | 'lists'>): boolean {
  if (lists.some(({ fault }) => fault?.code === 'FORBIDDEN')) return true;
  return !isSecretKind(kind) && isListForbidden(objects, holder, kind);
}

/** True if the kind may not be listed. Reads an object of any name: the fault of the mirror is the same for all. */
function isListForbidden(objects: MemberObjects, holder: ClusterName, kind: GroupKind): boolean {
  const read = objects.read(holder, kind, { namespace: '', name: 'x' });
  return read.result === 'unread' && read.fault.code === 'FORBIDDEN';
}
