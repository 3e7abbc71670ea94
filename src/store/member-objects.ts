import type { Fault } from '../core/faults.ts';
import type { GroupKind, ServedResource } from '../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';

/** The name of an object of a known kind. `namespace` is `''` for cluster-scoped objects. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** The state of one object in a mirror. */
export type MirroredObject =
  /**
   * The object exists. The object is shared with the mirror and must not be changed. `asOfMs`: the time up to which the mirror is known to
   * be correct. `version`: the mirror has every change of the kind up to this version; undefined if namespaces are mirrored one by one and
   * their versions cannot be compared. `fault`: why the mirror is behind its cluster; undefined if the mirror is in sync. These three
   * fields also exist if the result is `absent`: the mirror is complete and does not have the object.
   */
  | {
      readonly result: 'held';
      readonly object: KubernetesObject;
      readonly version?: ResourceVersion | undefined;
      readonly asOfMs: number;
      readonly fault?: Fault | undefined;
    }
  | {
      readonly result: 'absent';
      readonly version?: ResourceVersion | undefined;
      readonly asOfMs: number;
      readonly fault?: Fault | undefined;
    }
  /** The state is unknown: the first list is not complete, the kind is not served, or the cluster is not a member. */
  | { readonly result: 'unread'; readonly fault: Fault };

/**
 * A change in a member cluster. It is reported in a microtask. Several changes of the same type, cluster, kind and object until then are
 * reported once.
 */
export type MemberChange =
  /** The cluster joined or left, or its phase, faults, version or served kinds changed. */
  | { readonly type: 'cluster'; readonly cluster: ClusterName }
  /** One object was added, changed or deleted. */
  | { readonly type: 'object'; readonly cluster: ClusterName; readonly kind: GroupKind; readonly objectName: NamespacedName }
  /** The sync of a mirror changed, or its changes are unknown. Read every object of interest again. */
  | { readonly type: 'mirror'; readonly cluster: ClusterName; readonly kind: GroupKind };

/** A mirror to wait for. */
export interface WantedMirror {
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  /**
   * True: if the cluster answers again after it was away, the wait lasts until the mirror is in sync again. It ends if the cluster goes
   * away once more, or answers the mirror with an error. Default: the objects of before are enough.
   */
  readonly inSync?: boolean;
}

/**
 * Reads the mirrors of member clusters, for the code that propagates objects. Created by `watch/clusters/member-objects.ts`.
 *
 * It reads with the rights of the gateway, so the caller decides what a user may see. Secrets and sensitive kinds have metadata only.
 */
export interface MemberObjects {
  /**
   * Returns the resource that serves the kind. Undefined if the cluster has not answered yet. `'absent'` if the cluster does not serve the
   * kind, or not in that version. Without a version, the resource has the version in which mirrors read the kind.
   */
  served(
    cluster: ClusterName,
    kind: { readonly apiVersion: string; readonly kind: string } | GroupKind,
  ): ServedResource | 'absent' | undefined;
  /** Reads at once, from the mirror. Starts the mirror if it does not run. A mirror that no `hold` keeps may be evicted again. */
  read(cluster: ClusterName, kind: GroupKind, objectName: NamespacedName): MirroredObject;
  /** Returns all objects of a kind at once, in no promised order. Returns undefined while the result would be `unread`. */
  all(cluster: ClusterName, kind: GroupKind): readonly KubernetesObject[] | undefined;
  /**
   * Starts the mirror, keeps it, and reports its changes to the callbacks of `onChange`, until the signal aborts. The hold stays if the
   * cluster leaves or the kind is not served: the mirror starts again as soon as that is possible. If several callers hold one mirror, it
   * is kept until the last signal aborts.
   */
  hold(cluster: ClusterName, kind: GroupKind, signal: AbortSignal): void;
  /**
   * Resolves when the first list of each of these mirrors is complete or has failed, after `waitMs`, or when the signal aborts. A kind that
   * is not served is not waited for.
   */
  whenRead(wanted: readonly WantedMirror[], waitMs: number, signal: AbortSignal): Promise<void>;
  /**
   * Calls back with changes of clusters, of held mirrors and of their objects, until the signal aborts. A callback that throws is logged,
   * and the other callbacks are still called.
   */
  onChange(callback: (changes: readonly MemberChange[]) => void, signal: AbortSignal): void;
}
