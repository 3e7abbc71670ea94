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

/** A cluster as readers see it now: its own state, with the facts from the config and its Nodes. */
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

/** The age and phase of one mirror, returned next to the rows. */
export interface SyncView extends SyncState {
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
}

/** One object in an answer. The fields of its GraphQL type are resolved from it. */
export interface Row {
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  /** The resource through which the object was read. It gives `apiVersion` to items of lists, which have none. */
  readonly resource: ServedResource;
  readonly object: KubernetesObject;
  /** True if the kind is sensitive and `object` has only metadata, so nothing is known about its other fields. Default: false. */
  readonly metadataOnly?: boolean;
  readonly sync: SyncView;
  /** The number of relations that lead to the row from the root of the answer. Default: 0. */
  readonly depth?: number | undefined;
  /** Milliseconds that the relations of the row may wait for one first list. Default: the limit of the relations themselves. */
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
  /** The paths that the `Aggregates` of the page may be asked for. This is not an argument of the field. Default: the page has no aggregates. */
  readonly aggregated?: readonly string[] | undefined;
}

/**
 * Sums and extremes over all objects of a set. A path through a list contributes each element. Absent values and nulls are ignored. Only paths in
 * `aggregated` of the list may be requested.
 *
 * All methods throw {MusterError} `BAD_INPUT` for a path that no listed kind has, for a path to values that cannot be computed with, and for a
 * path to hidden values of a sensitive kind.
 */
export interface Aggregates {
  /** Returns the exact sum. Undefined if there is no value. */
  sum(path: string): PromiseOrValue<Quantity | undefined>;
  /** Returns the smallest value in the order of `orderBy`, in the form the API server serves. Undefined if there is no value. */
  min(path: string): PromiseOrValue<Json | undefined>;
  /** Like `min`, for the largest value. Undefined without a value. */
  max(path: string): PromiseOrValue<Json | undefined>;
}

/** The arguments of `groups`, as they come from GraphQL. */
export interface GroupArguments {
  readonly by: readonly string[];
  readonly orderBy?: GroupOrder | null | undefined;
  readonly first?: number | null | undefined;
}

/** The objects that have equal values at all paths of the grouping. */
export interface GroupView extends Aggregates {
  /** The values of the group, in the order of the paths and in the form the API server serves. Null for a missing value. */
  readonly keys: readonly Json[];
  readonly count: number;
}

/** One page over all requested clusters and kinds, with the sync of each source. The page and its aggregates are of one moment. */
export interface ListPage extends Aggregates {
  /**
   * Groups all objects of the list by their values at the paths `by`.
   *
   * @throws {MusterError} `BAD_INPUT` for paths that the methods of `Aggregates` refuse. `TOO_COSTLY` for too many groups.
   */
  groups(args: GroupArguments): PromiseOrValue<readonly GroupView[]>;
  readonly items: readonly Row[];
  /** The number of `items`. */
  readonly itemCount: number;
  /**
   * Equal (`===`) for two pages only if they have the same objects of the same clusters and kinds, read through the same resources, in the same order.
   * Undefined if nothing is known.
   */
  readonly contentKey: object | undefined;
  /** The number of all matching objects that the caller may see, on all pages. A lower bound if `faults` is not empty. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Returns the sealed cursor of an item of this page. Each call returns the same text. */
  cursorOf(row: Row): string;
  /** One entry for each requested cluster and kind, ordered by cluster, then kind. */
  readonly sync: readonly SyncView[];
  /** The faults in `sync`, and the faults of relations that the page follows. */
  readonly faults: readonly Fault[];
}

/** The caller of an operation and its limits. Created once per operation. */
export interface ReadContext {
  readonly caller: Caller;
  /** The id that the answer shows as `x-request-id`. Undefined for the messages of a subscription. */
  readonly requestId?: string | undefined;
  readonly signal: AbortSignal;
  /** Holds the data that the operation reads until the operation ends. */
  readonly loaders: OperationLoaders;
  /**
   * The latest end of waiting for clusters, in milliseconds of the monotonic clock. It is well before the end of the operation, so that the
   * available clusters are answered. Default: no limit.
   */
  readonly waitUntilMs?: number | undefined;
  /** Reports the fault behind a null that does not mean absence. The answer has the faults in `extensions.faults`. */
  reportFault(fault: Fault, path: readonly (string | number)[]): void;
  /**
   * Counts the objects that were read. An object counts again for each path that is read from it.
   *
   * @throws {MusterError} `TOO_COSTLY` after more reads than one operation may do.
   * @throws The reason of the signal after the end of the operation. This is how long synchronous work notices its end.
   */
  readonly countReads: CountReads;
  /** Long work of the operation runs in these time slices. */
  readonly timeSlices: TimeSlices;
}

/** A kind as one cluster serves it. */
export interface ServedKindView {
  readonly kind: ModelKind;
  readonly versions: readonly string[];
  readonly verbs: readonly string[];
  /** Returns what the caller may see of the mirror: at once, or after the cluster was asked for the rights of the caller. */
  mirrored(): PromiseOrValue<MirroredKindView>;
}

/** The part of the mirror of a kind that a caller may see. */
export interface MirroredKindView {
  /** The number of objects that the caller may see. Undefined if the kind has no running mirror, or if the caller may not list it. */
  readonly count?: number | undefined;
  /** The sync of the mirror. `MISSING` if there is none, or if the caller may not list the kind. */
  readonly sync: SyncView;
}

/** The origin of a single object: the mirror, or one GET request to the cluster now (`live`). */
export type ReadFrom = 'mirror' | 'live';

/** The name of an object in a cluster. */
export interface ClusterObjectKey {
  readonly cluster: string;
  /** Undefined for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The result of reading one object. */
export interface FoundObject {
  /**
   * The object. Undefined if it does not exist or the caller may not see it. Both cases look the same, unless `faults` says why it is not
   * known.
   */
  readonly row?: Row;
  readonly faults: readonly Fault[];
}

/** The model of the schema that the operation runs on. Objects of other kinds are ignored. */
export interface InModel {
  readonly model: Model;
}

/**
 * The read side. Every read checks `Access` and waits only for first lists. A cluster that fails becomes a fault next to the rows. Created
 * by load/create-reads.ts.
 *
 * All methods throw {MusterError} `BAD_INPUT` for wrong arguments. The message names the expected and the given value.
 */
export interface Reads {
  /** Returns the clusters that the caller may see, ordered by name, by code units. */
  clusters(
    context: ReadContext,
    filter: { readonly names?: readonly string[] | null | undefined; readonly labels?: string | null | undefined },
  ): readonly ClusterView[];
  /** Returns the cluster, or undefined if it is unknown or hidden. */
  cluster(context: ReadContext, name: string): ClusterView | undefined;
  /**
   * Returns the kinds that the cluster serves and the model knows, ordered by group and kind. Empty until discovery has succeeded once,
   * and for a cluster that is hidden from the caller.
   */
  servedKinds(context: ReadContext, cluster: ClusterView): readonly ServedKindView[];
  /** Resolves a list field of one kind. */
  list(context: ReadContext, kind: ModelKind, args: ListArguments): Promise<ListPage>;
  /** Resolves `resources`: several kinds, by any of their names, in one total order. Default: all kinds that may be listed. */
  listKinds(
    context: ReadContext,
    request: InModel & { readonly kinds?: readonly string[] | null | undefined },
    args: ListArguments,
  ): Promise<ListPage>;
  /**
   * Resolves the query field of one object by cluster and name, such as `pod`. For a sensitive kind, such as Secret, a live read returns the
   * object with its values, which no other method does; a read from the mirror is `BAD_INPUT`.
   */
  get(
    context: ReadContext,
    request: { readonly kind: ModelKind; readonly key: ClusterObjectKey; readonly from: ReadFrom },
  ): Promise<FoundObject>;
  /** Resolves `resource(id:)`. An object of a sensitive kind has only its metadata. Reading it live is `BAD_INPUT`. */
  getById(context: ReadContext, request: InModel & { readonly id: string; readonly from: ReadFrom }): Promise<FoundObject>;
}
