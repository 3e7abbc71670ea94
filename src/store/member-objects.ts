import type { Fault } from '../core/faults.ts';
import type { GroupKind, ServedResource } from '../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';

/** Which object of a kind. `namespace` is `''` for cluster-scoped ones. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** What a mirror says of one object. */
export type MirroredObject =
  /**
   * As it was last heard; `asOfMs` is up to when that is known to be true. The object is shared: nobody changes it. `version`: the mirror has every change
   * of the kind up to this version. Absent where a mirror is made of single namespaces.
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
  /** Nobody can tell: the first list is not whole, the kind is not served, the cluster is no member. */
  | { readonly result: 'unread'; readonly fault: Fault };

/** What was heard. At the end of a turn, each at most once in it. */
export type MemberChange =
  /** It joined, left, or its phase, faults, version or served kinds changed. */
  | { readonly type: 'cluster'; readonly cluster: ClusterName }
  /** One object appeared, changed or went. */
  | { readonly type: 'object'; readonly cluster: ClusterName; readonly kind: GroupKind; readonly place: NamespacedName }
  /** A mirror's sync changed, or what changed in it is unknown: look at all that is of interest in it. */
  | { readonly type: 'mirror'; readonly cluster: ClusterName; readonly kind: GroupKind };

/**
 * Reads what the members' mirrors hold: how the side that writes learns what became of it. It sees with the gateway's own eyes: who asks for somebody
 * else decides what may be shown. Of Secrets and sensitive kinds there are metadata only.
 */
export interface MemberObjects {
  /**
   * Undefined if the cluster has not answered yet; `'absent'` if it does not serve the kind, or not in that version. Without a version it is that in
   * which the kind is read.
   */
  served(
    cluster: ClusterName,
    kind: { readonly apiVersion: string; readonly kind: string } | GroupKind,
  ): ServedResource | 'absent' | undefined;
  /** At once. Starts the mirror if nobody has; what `hold` does not hold may be evicted again. */
  read(cluster: ClusterName, kind: GroupKind, place: NamespacedName): MirroredObject;
  /** All objects of a kind, at once; undefined while they are unread. In no promised order. */
  all(cluster: ClusterName, kind: GroupKind): readonly KubernetesObject[] | undefined;
  /** Keeps the mirror, and has its changes told, until the signal aborts; across lists, rights and the cluster's leaving and joining. Counted: twice is twice. */
  hold(cluster: ClusterName, kind: GroupKind, signal: AbortSignal): void;
  /** Resolves once the mirrors of these kinds are read or known not to be readable, after `waitMs`, or when the signal aborts. */
  whenRead(
    wanted: readonly { readonly cluster: ClusterName; readonly kind: GroupKind }[],
    waitMs: number,
    signal: AbortSignal,
  ): Promise<void>;
  /** Calls back until the signal aborts. A callback that throws is logged and keeps no other from hearing. */
  onChange(callback: (changes: readonly MemberChange[]) => void, signal: AbortSignal): void;
}
