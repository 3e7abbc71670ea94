import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { JsonObject } from '../../core/json.ts';
import type { GroupKind, ServedResource } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterShare, InventoryState, ShareStore, WrittenAction } from '../inventory.ts';
import type { ListRulesOf } from '../list-rules.ts';
import type { ObjectClient } from '../object-client.ts';
import type { CopyReason } from '../propagation.ts';
import type { Manifest, ObjectKey, PropagationSpec } from '../spec.ts';

/** The work of one Propagation, at one generation, in one cluster. */
export interface CopyWork {
  /** Of the cluster, as whoever the Propagation acts for. */
  readonly client: ObjectClient;
  /** As loaded live from the hub: what is ours. A new one (`newShare`) if there is none yet. */
  readonly share: ClusterShare;
  readonly shares: ShareStore;
  readonly owner: CopyOwner;
  /** Of the Propagation: written to the copies. What a later one wrote is left alone, until it was told and somebody resumed. */
  readonly generation: number;
  /** Milliseconds of the epoch: when it was last resumed. Absent: never. */
  readonly resumedAtMs?: number | undefined;
  readonly spec: Pick<PropagationSpec, 'conflict' | 'write' | 'deletion'>;
  /** How the cluster serves a kind: `MemberObjects.served`. */
  readonly served: (kind: Pick<ObjectKey, 'apiVersion' | 'kind'>) => ServedResource | 'absent' | undefined;
  /** Where the data of Secrets are read from, as the same actor. Undefined if it is no member. */
  readonly sourceOf: (cluster: string) => ObjectClient | undefined;
  /** The kinds whose mirrors hold metadata only; Secrets are, also if they are not among them. */
  readonly sensitiveKinds: { has(kind: GroupKind): boolean };
  /** How lists of a kind merge, by the model. */
  readonly listRulesOf: ListRulesOf;
  /** Of that generation: beside it is kept what objects held that it takes over. */
  readonly revision: number;
  /** Keeps what objects held, before they are written to. Where it fails nothing is written to them. */
  readonly keepOld: (values: readonly OldValues[], signal: AbortSignal) => Promise<OldKept>;
  /** Of a generation that goes back to an older revision: what was taken over since is given back where it is not wanted any more. */
  readonly goingBack?: GoingBack | undefined;
  /** Only what still is as it was rendered is written (`RenderedObject.liveHash`): a plan with a digest was asked for. */
  readonly pinned?: boolean;
  /** Whether we still lead: asked right before each write, on the hub and in the cluster. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  /** Told of what is forced. */
  readonly log: Log;
}

/** What came of keeping old values. */
type OldKept = { readonly result: 'written' } | { readonly result: 'failed'; readonly fault: Fault };

/** How objects that were there before us are given back. */
export interface GoingBack {
  /** The revision gone back to: what it or an earlier one took over is ours, and goes as what we made. */
  readonly to: number;
  /** What was kept of objects taken over since, of any cluster. */
  readonly old: readonly OldValues[];
}

/** The Propagation, as its copies name it. */
export interface CopyOwner {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** What came of one object. */
export interface CopyOutcome {
  readonly key: ObjectKey;
  /** `Skipped`: left alone on purpose (CreateOnly, another's uid, another Propagation's, what moved). `Failed`: see `fault`. */
  readonly action: WrittenAction;
  /** Of the entry that was kept; absent if it was dropped. */
  readonly state?: InventoryState;
  readonly uid?: string;
  readonly fault?: Fault;
  readonly reason?: CopyReason;
  /** The resourceVersion that the write returned. A mirror that has it, or a later one, has seen the write. */
  readonly version?: string;
  /** Without values of manifests. */
  readonly message?: string;
  readonly warnings?: readonly string[];
}

/** What an object held before we took it: the data a revision keeps for it. Never of Secrets. */
export interface OldValues {
  readonly cluster: string;
  readonly key: ObjectKey;
  readonly uid: string;
  /** Only those of our fields that were there; all of the object where it is replaced as a whole. */
  readonly values: Manifest;
  /** Who owned which of its fields then: entries of `managedFields`, without ours. */
  readonly owners?: readonly JsonObject[];
  /** It is all of the object, as a replacement takes it over: put back by a replacement. */
  readonly whole?: boolean;
}

/** What came of the work in one cluster. Whatever `result` is, `copies` holds what was done. */
export type CopiesOutcome = {
  /** As saved last: what the next work begins with. Without entries and version: it was removed. */
  readonly share: ClusterShare;
  /** One for each object asked for, in that order; those not come to are missing unless `done`. */
  readonly copies: readonly CopyOutcome[];
} & (
  | { readonly result: 'done' }
  /** We lead no more, were told to stop, or somebody else saved the share: read all again before the next write. */
  | { readonly result: 'stopped' }
  /** The hub did not take the inventory. Objects that were not written before are not written without it. */
  | { readonly result: 'failed'; readonly fault: Fault }
);
