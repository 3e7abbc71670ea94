import type { ObjectClient } from '../../../changes/object-client.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Fault } from '../../../core/faults.ts';
import type { GroupKind, ServedResource } from '../../../core/kinds.ts';
import type { Log } from '../../../core/log.ts';
import type { ListRulesOf } from '../../../manifests/list-rules.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import type { ClusterShare, InventoryState, OldValues, ShareStore, WrittenAction } from '../../model/inventory.ts';
import type { CopyReason } from '../../model/propagation.ts';
import type { PropagationSpec } from '../../model/spec.ts';

/** The work of one Propagation, at one generation, in one cluster. */
export interface CopyWork {
  /** Sends calls to the cluster, with the identity that the Propagation acts for. */
  readonly client: ObjectClient;
  /** The inventory of this cluster, loaded live from the hub. Made by `newShare` if the hub has none yet. */
  readonly share: ClusterShare;
  readonly shares: ShareStore;
  readonly owner: CopyOwner;
  /**
   * The generation of the Propagation. Every copy carries it. A copy that carries a later generation is not changed: it gets a `Stale`
   * fault. Once a user has resumed the Propagation after that fault, the copy is written again.
   */
  readonly generation: number;
  /** The time when a user last resumed the Propagation, in Unix milliseconds. Default: never. */
  readonly resumedAtMs?: number | undefined;
  readonly spec: Pick<PropagationSpec, 'conflict' | 'write' | 'deletion' | 'exact'>;
  /** Returns how the cluster serves a kind. `absent`: it does not serve the kind. Undefined: not known yet. */
  readonly served: (kind: Pick<ObjectKey, 'apiVersion' | 'kind'>) => ServedResource | 'absent' | undefined;
  /**
   * Returns the client of the cluster from which the data of a Secret are read. It acts with the identity of `client`. Undefined if that
   * cluster is not in the fleet.
   */
  readonly sourceOf: (cluster: string) => ObjectClient | undefined;
  /** The kinds whose mirrors hold metadata only. Secrets are treated like them even if they are not listed here. */
  readonly sensitiveKinds: { has(kind: GroupKind): boolean };
  /** The merge rules for the lists of a kind, from the model. */
  readonly listRulesOf: ListRulesOf;
  /** The revision of `generation`. The old values of objects that this generation takes over are stored with this revision. */
  readonly revision: number;
  /** Stores the old values of objects on the hub before the first write to them. If storing fails, these objects are not written. */
  readonly storeOldValues: (values: readonly OldValues[], signal: AbortSignal) => Promise<OldValuesStored>;
  /**
   * Set if this generation rolls back to an older revision. Objects that were taken over since that revision, and that the revision does
   * not have, get their old values back.
   */
  readonly rollback?: RollbackTarget | undefined;
  /** True if a plan with a digest was requested. Then only objects that still have the planned `RenderedObject.liveHash` are written. */
  readonly pinned?: boolean;
  /** True while this gateway is the leader. Checked right before each write, on the hub and in the cluster. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  /** Records every write that takes fields by force. */
  readonly log: Log;
}

/** The result of storing old values on the hub. */
type OldValuesStored = { readonly result: 'written' } | { readonly result: 'failed'; readonly fault: Fault };

/** The facts with which a rollback gives taken-over objects their old values back. */
export interface RollbackTarget {
  /**
   * The target of the rollback. Objects that this revision or an earlier one took over count as ours and are deleted like created copies.
   */
  readonly targetRevision: number;
  /** The stored old values of objects that later revisions took over, for all clusters. */
  readonly oldValues: readonly OldValues[];
}

/** Identifies the Propagation in the marks of its copies. */
export interface CopyOwner {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** The result for one copy. */
export interface CopyOutcome {
  readonly key: ObjectKey;
  /**
   * `Skipped`: left unchanged on purpose. Reasons: CreateOnly, another uid, an object of another Propagation, a change by others since the
   * plan. `Failed`: `fault` has the reason.
   */
  readonly action: WrittenAction;
  /** The state of the inventory entry. Absent if the entry was removed. */
  readonly state?: InventoryState;
  readonly uid?: string;
  readonly fault?: Fault;
  readonly reason?: CopyReason;
  /**
   * The resourceVersion that the write returned. A mirror with this version or a later one shows the write. Absent if nothing was written.
   */
  readonly version?: string;
  /** Explains the action to users. Contains no values of manifests. Absent if the action needs no explanation. */
  readonly message?: string;
  readonly warnings?: readonly string[];
}

/** The result of the work in one cluster. For every `result`, `copies` has the outcomes of the finished objects. */
export type CopiesOutcome = {
  /** The share as last saved. The next work starts with this share. A share without entries and version was removed from the hub. */
  readonly share: ClusterShare;
  /** One outcome per requested object, in the requested order. Unless `result` is `done`, objects that were not reached are missing. */
  readonly copies: readonly CopyOutcome[];
} & (
  | { readonly result: 'done' }
  /**
   * The gateway is not the leader any more, the signal aborted, or another process saved the share. Read everything again before the next
   * write.
   */
  | { readonly result: 'stopped' }
  /** The hub did not save the inventory. Objects that had not been written by then are not written. */
  | { readonly result: 'failed'; readonly fault: Fault }
);
