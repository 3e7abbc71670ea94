import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { SimServerOptions } from '../../../src/sim/create-sim-server.ts';
import type {
  EmbeddedCluster,
  EmbeddedClusterOptions,
  KindName,
  RequestedResource,
  SimVerb,
} from '../../../src/sim/kinds/embedded-cluster.ts';
import type { Handler } from '../../../src/sim/request-handler.ts';
import type { ServedRequest } from '../../../src/sim/requests/sim-server.ts';
import type { Misbehaviours, SimProtocols } from './misbehaviours.ts';

export interface SimClusterOptions extends Omit<SimServerOptions, 'hooks' | 'createState'>, EmbeddedClusterOptions {
  /** Protocols it agrees to in ALPN. Default: `both`. */
  readonly protocols?: SimProtocols;
  /** Streams per HTTP/2 connection, as in SETTINGS. Default: 100. */
  readonly maxConcurrentStreams?: number;
}

/** One container. */
interface SimContainer {
  /** `default` if absent. */
  readonly namespace?: string;
  readonly pod: string;
  readonly container: string;
}

/** One request as the server saw it. Times are the clock's monotonic milliseconds. */
export interface SimRequest extends Readonly<ServedRequest> {
  readonly startedMs: number;
  /** Absent until the headers of the answer were sent. */
  readonly status?: number;
  /** When the answer, a watch included, was over, however it ended. */
  readonly endedMs?: number;
  /** Absent for `/version`, discovery and paths outside of the API. */
  readonly resource?: RequestedResource;
}

/** One write over the network that was done; a dry run that would have been, too. */
export interface SimWrite {
  /** 1, 2, 3, … in the order in which the cluster did them. */
  readonly seq: number;
  /** The clock's monotonic milliseconds. */
  readonly atMs: number;
  /** Of each object of a collection `deletecollection`. */
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  readonly patch?: 'apply' | 'json' | 'merge';
  readonly group: string;
  readonly kind: string;
  /** Absent for a cluster-scoped kind. */
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: string;
  readonly path: string;
  /** The field manager. */
  readonly manager: string;
  readonly isForced: boolean;
  readonly isDry: boolean;
  /** Who wrote: the user impersonated, else the one of the token. */
  readonly user: string;
  /** What the write insisted on: in a DELETE's preconditions, in the metadata of all others. */
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
  /** `marked`: deleted, and waiting for finalizers. */
  readonly result: 'created' | 'changed' | 'unchanged' | 'deleted' | 'marked';
  /** The object after it; of one deleted its last state. It is parsed when first read. */
  readonly object: KubernetesObject;
}

/** What becomes of the answer to a write that was done: `lost`, the stream is reset before a byte of it. */
export type WriteAftermath = 'answered' | 'lost';

/** Told of a write before it is answered. Until what it gives resolves, it is not. */
export type WriteHook = (write: SimWrite) => WriteAftermath | undefined | Promise<WriteAftermath | undefined>;

/** A watch that is open now. */
export interface OpenWatch extends RequestedResource {
  readonly request: SimRequest;
}

/** The state of one kind: what a most recent list answers. */
interface SimList {
  readonly version: string;
  /** By `namespace/name` in order of code units, as a server lists them; each with kind and apiVersion. */
  readonly items: readonly KubernetesObject[];
}

/** A state to go back to. */
export interface SimBackup {
  readonly version: string;
}

/** A kind of an aggregated API, as metrics-server serves `PodMetrics`. */
interface AggregatedKind {
  readonly kind: string;
  readonly resource: string;
  readonly singular?: string;
  readonly namespaced: boolean;
  readonly verbs: readonly SimVerb[];
  /** Objects and lists have neither uid nor resourceVersion. */
  readonly anonymous?: boolean;
}

export interface AggregatedApi {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly AggregatedKind[];
}

/** What `fill` makes the objects of. `metadata.name` is what the numbers are put after: `web` gives `web-0`, `web-1`, … */
type FillTemplate = JsonObject | ((index: number) => JsonObject);

/** An embedded cluster that can misbehave, and that keeps what it was asked and what it did. */
export interface SimCluster extends EmbeddedCluster, Misbehaviours {
  /** `v1.36.3`: what `/version` says now. */
  readonly gitVersion: string;

  /** `put` with this text for all members but kind, apiVersion and metadata: `"spec":{…},"status":{…}`, in whatever form, duplicate keys and all. */
  putRaw(object: KubernetesObject, members: string): KubernetesObject;
  list(kind: KindName, namespace?: string): SimList;
  /** Creates objects with numbered names, in one turn. They go to the template's namespace, else to `default`, if the kind is namespaced. */
  fill(kind: KindName, count: number, template?: FillTemplate): void;
  /** Deletes a CustomResourceDefinition by its name (`widgets.example.com`): DELETED for each object, then 404. False if there is none. */
  withdraw(definitionName: string): boolean;
  /** Serves an aggregated API with its APIService. */
  aggregate(api: AggregatedApi): void;
  /** The state of now, for `restore`. */
  backup(): SimBackup;

  /**
   * Writes lines to the log of the container's run of now: what its `restartCount` says. The bytes are told as they are. The log is read through
   * `pods/log`, for which the Pod needs a node that exists and a status of the container.
   *
   * @throws {Error} if there is no such Pod.
   */
  writeLog(container: SimContainer, ...lines: readonly (string | Uint8Array)[]): void;

  /** Every request since the start, the oldest first; the latest 100,000 are kept. */
  readonly requests: readonly SimRequest[];
  openWatches(): readonly OpenWatch[];
  /** Every write over the network since the start that was done, dry runs too, the oldest first; the latest 100,000 are kept. */
  writes(): readonly SimWrite[];
  /**
   * Tells each write over the network that is done from now on, but for dry runs, before it is answered; nobody else waits meanwhile. Several
   * hooks: all at once, and `lost` if one of them says so. Ends with the disposable; answers that are held are then still held.
   */
  onWrite(hook: WriteHook): Disposable;
  /** Connections that are open now. */
  connections(): number;
  /** Answers one request as this cluster, whatever address it was sent to. */
  readonly handler: Handler;
  /**
   * From now on each new request to this cluster's address is answered by the other cluster, as behind a proxy that was switched. Open watches go
   * on as they are: `disconnect` ends them.
   */
  exchange(other: Pick<SimCluster, 'handler'>): void;
  /** Ends it: all connections are destroyed, the port is free. */
  stop(): Promise<void>;
}
