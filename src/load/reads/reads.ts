import type { Caller } from '../../access/access.ts';
import type { Fault } from '../../core/faults.ts';
import type { Json } from '../../core/json.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Quantity } from '../../core/quantities.ts';
import type { TimeSlices } from '../../core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { GroupOrder } from '../../store/aggregates/groups.ts';
import type { WhereInput } from '../../store/filter/where-input.ts';
import type { CountReads } from '../../store/query/count-reads.ts';
import type { OrderByInput } from '../../store/query/order.ts';
import type { ClusterPhase, SyncState } from '../../watch/mirrors.ts';
import type { OperationLoaders } from './operation-loaders.ts';

export type { WhereInput } from '../../store/filter/where-input.ts';
export { type CountReads, maxReads, valuesPerRead } from '../../store/query/count-reads.ts';
export type { OrderByInput } from '../../store/query/order.ts';

/** One cluster as readers see it now: what it says of itself, with what the config and its Nodes say of it. */
export interface ClusterView {
  readonly name: ClusterName;
  readonly labels: Readonly<Record<string, string>>;
  readonly version?: string | undefined;
  readonly provider?: string | undefined;
  readonly region?: string | undefined;
  readonly zones: readonly string[];
  readonly taints: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly phase: ClusterPhase;
  readonly asOfMs?: number | undefined;
  readonly faults: readonly Fault[];
}

/** One mirror's age and phase, as data beside the rows. */
export interface SyncView extends SyncState {
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
}

/** One object in an answer: what the type of its kind resolves its fields from. */
export interface Row {
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  /** As how it was read: gives `apiVersion` to items of lists, which carry none. */
  readonly resource: ServedResource;
  readonly object: KubernetesObject;
  /** True if the object has nothing but its metadata here, as its kind is sensitive: what else it has, nobody can tell from this. Absent: all is here. */
  readonly metadataOnly?: boolean;
  readonly sync: SyncView;
  /** How many relations lead to it from where the answer began. Absent: none. */
  readonly depth?: number | undefined;
  /** Milliseconds that its relations may wait for one first list. Absent: as long as they do by themselves. */
  readonly waitMs?: number | undefined;
}

/** The arguments of a list field, as they come from GraphQL. */
export interface ListArguments {
  readonly clusters?: readonly string[] | null | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly labels?: string | null | undefined;
  readonly where?: WhereInput | null | undefined;
  readonly search?: string | null | undefined;
  readonly orderBy?: readonly OrderByInput[] | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly waitSeconds?: number | null | undefined;
  /** No argument, but what the answer is used for: the paths that its `Aggregates` may be asked for. Absent: they may not be asked at all. */
  readonly aggregated?: readonly string[] | undefined;
}

/**
 * What all objects of a set have in common: of each path the values in all of them, through lists each. What is absent or null is no value. None of
 * them may be asked unless `aggregated` was said.
 *
 * All throw {MusterError} `BAD_INPUT` for a path that no kind asked has, or that leads to what cannot be computed with, and of a sensitive kind for
 * any path but those of its metadata.
 */
export interface Aggregates {
  /** Exact; undefined if there is no value. */
  sum(path: string): PromiseOrValue<Quantity | undefined>;
  /** As served; undefined if there is no value. In the order that `orderBy` has. */
  min(path: string): PromiseOrValue<Json | undefined>;
  max(path: string): PromiseOrValue<Json | undefined>;
}

/** The arguments of `groups`, as they come from GraphQL. */
export interface GroupArguments {
  readonly by: readonly string[];
  readonly orderBy?: GroupOrder | null | undefined;
  readonly first?: number | null | undefined;
}

/** The objects that have one value of each path in common. */
export interface GroupView extends Aggregates {
  /** As served; null for objects without a value. */
  readonly keys: readonly Json[];
  readonly count: number;
}

/** One page over all clusters asked, and how complete and old each cluster's part of it is. All of one moment, what is computed from all pages too. */
export interface ListPage extends Aggregates {
  /** @throws {MusterError} as the others do, and `TOO_COSTLY` for more groups than can be held. */
  groups(args: GroupArguments): PromiseOrValue<readonly GroupView[]>;
  readonly items: readonly Row[];
  /** Of all permitted matching objects, whatever the page; a lower bound while `faults` is not empty. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** The sealed cursor of an item of this page: the same text each time. */
  cursorOf(row: Row): string;
  /** One for each cluster and kind asked, by cluster then kind. */
  readonly sync: readonly SyncView[];
  /** The short form: the faults of `sync`, and of clusters named that do not serve the kind. */
  readonly faults: readonly Fault[];
}

/** Who asks, and until when. Made once per operation. */
export interface ReadContext {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Hold what the operation reads until it ends. */
  readonly loaders: OperationLoaders;
  /**
   * When waiting for clusters ends at the latest, in milliseconds of the monotonic clock: well before the operation does, so that the clusters that are
   * there are answered. Default: no such time.
   */
  readonly waitUntilMs?: number | undefined;
  /** Told about each null that stands for a fault, not for absence: `extensions.faults`. */
  reportFault(fault: Fault, path: readonly (string | number)[]): void;
  /**
   * Told how many objects were looked at: each time for each path that is read of it.
   *
   * @throws {MusterError} `TOO_COSTLY` once they are more than one operation may look at.
   * @throws The signal's reason once the operation is over, which its time may be while nothing else has had a turn to say so.
   */
  readonly countReads: CountReads;
  /** Long work of the operation runs in them. */
  readonly timeSlices: TimeSlices;
}

/** A kind as one cluster serves it. */
export interface ServedKindView {
  readonly kind: ModelKind;
  readonly versions: readonly string[];
  readonly verbs: readonly string[];
  /** Absent while no mirror of it runs. */
  readonly count?: number | undefined;
  readonly sync: SyncView;
}

/** Where a single object comes from: the mirror, or one GET at this moment. */
export type ReadFrom = 'mirror' | 'live';

/** What a single field asks for. */
export interface ClusterObjectKey {
  readonly cluster: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** One object, or none. */
export interface FoundObject {
  /** Absent: there is no such object, or the caller may not see it; both look the same unless `faults` says why nobody could tell. */
  readonly row?: Row;
  readonly faults: readonly Fault[];
}

/** The types an operation runs on: rows of other kinds are none of its business. */
export interface InModel {
  readonly model: Model;
}

/**
 * The read side. Every read goes through `Access`; waits for first lists only; a sick cluster becomes a fault beside the rows.
 *
 * All methods throw {MusterError} `BAD_INPUT` for arguments that cannot be served, saying what was expected and what came.
 */
export interface Reads {
  /** By name, in order of code units. */
  clusters(
    context: ReadContext,
    filter: { readonly names?: readonly string[] | null | undefined; readonly labels?: string | null | undefined },
  ): readonly ClusterView[];
  /** Undefined if unknown or hidden. */
  cluster(context: ReadContext, name: string): ClusterView | undefined;
  /** What the cluster serves and the model knows, by group and kind. Empty until its discovery has succeeded once. */
  servedKinds(context: ReadContext, cluster: ClusterView): readonly ServedKindView[];
  /** One list field: a single kind. */
  list(context: ReadContext, kind: ModelKind, args: ListArguments): Promise<ListPage>;
  /** `resources`: several kinds, by any of their names; absent, every kind that may be listed. One total order over all of them. */
  listKinds(
    context: ReadContext,
    asked: InModel & { readonly kinds?: readonly string[] | null | undefined },
    args: ListArguments,
  ): Promise<ListPage>;
  /** One single field. An object of a sensitive kind, such as a Secret, is given whole if it is read live, and only here; from the mirror it is `BAD_INPUT`. */
  get(
    context: ReadContext,
    asked: { readonly kind: ModelKind; readonly key: ClusterObjectKey; readonly from: ReadFrom },
  ): Promise<FoundObject>;
  /** `resource(id:)`. An object of a sensitive kind comes with its metadata only; live it is `BAD_INPUT`. */
  getById(context: ReadContext, asked: InModel & { readonly id: string; readonly from: ReadFrom }): Promise<FoundObject>;
}
