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
import type { Misbehaviours, SimBackup, SimProtocols } from './misbehaviours.ts';

export interface SimClusterOptions extends Omit<SimServerOptions, 'hooks' | 'createState'>, EmbeddedClusterOptions {
  /** Protocols that the server accepts in ALPN. Default: `both`. */
  readonly protocols?: SimProtocols;
  /** Streams per HTTP/2 connection, as in SETTINGS. Default: 100. */
  readonly maxConcurrentStreams?: number;
}

/** One container. */
interface SimContainer {
  /** Default: `default`. */
  readonly namespace?: string;
  readonly pod: string;
  readonly container: string;
}

/** One request as the server received it. Times are monotonic milliseconds of the clock. */
export interface SimRequest extends Readonly<ServedRequest> {
  readonly startedMs: number;
  /** The HTTP status. Undefined until the headers of the answer are sent. */
  readonly status?: number;
  /** The end of the answer, also of a watch, however it ended. */
  readonly endedMs?: number;
  /** The resource in the path. Undefined for `/version`, discovery and paths outside of the API. */
  readonly resource?: RequestedResource;
}

/** One completed write over the network. A dry run counts as one. */
export interface SimWrite {
  /** 1, 2, 3, … in the order of the writes. */
  readonly seq: number;
  /** Monotonic milliseconds of the clock. */
  readonly atMs: number;
  /** `deletecollection` for each object of a collection. */
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  readonly patch?: 'apply' | 'json' | 'merge';
  readonly group: string;
  readonly kind: string;
  /** Undefined for a cluster-scoped kind. */
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: string;
  readonly path: string;
  /** The field manager. */
  readonly manager: string;
  readonly isForced: boolean;
  readonly isDry: boolean;
  /** The impersonated user, else the user of the token. */
  readonly user: string;
  /** The required uid and version: in the preconditions of a DELETE, in the metadata of all others. */
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
  /** `marked`: the deletion waits for finalizers. */
  readonly result: 'created' | 'changed' | 'unchanged' | 'deleted' | 'marked';
  /** The object after the write, or the last state of a deleted one. It is parsed at the first read. */
  readonly object: KubernetesObject;
}

/** The fate of the answer to a completed write. `lost`: the stream is reset before the first byte. */
export type WriteAftermath = 'answered' | 'lost';

/** Called for a write before its answer. The answer waits until the result resolves. */
export type WriteHook = (write: SimWrite) => WriteAftermath | undefined | Promise<WriteAftermath | undefined>;

/** An open watch. */
export interface OpenWatch extends RequestedResource {
  readonly request: SimRequest;
}

/** The state of one kind, as the most recent list returns it. */
interface SimList {
  readonly version: string;
  /** Objects by `namespace/name` in the order of code units, as a server lists them, with kind and apiVersion. */
  readonly items: readonly KubernetesObject[];
}

/** A kind of an aggregated API, as metrics-server serves `PodMetrics`. */
interface AggregatedKind {
  readonly kind: string;
  readonly resource: string;
  readonly singular?: string;
  readonly namespaced: boolean;
  readonly verbs: readonly SimVerb[];
  /** True: objects and lists have no uid and no resourceVersion. */
  readonly anonymous?: boolean;
}

export interface AggregatedApi {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly AggregatedKind[];
}

/** The template for `fill`. Numbers are appended to `metadata.name`: `web` gives `web-0`, `web-1`, … */
type FillTemplate = JsonObject | ((index: number) => JsonObject);

/** An embedded cluster that can misbehave and that records its requests and writes. */
export interface SimCluster extends EmbeddedCluster, Misbehaviours {
  /** The version at `/version`, such as `v1.36.3`. */
  readonly gitVersion: string;

  /**
   * Puts an object whose members, except kind, apiVersion and metadata, have exactly this text: `"spec":{…},"status":{…}`. Even duplicate
   * keys are kept.
   */
  putRaw(object: KubernetesObject, members: string): KubernetesObject;
  list(kind: KindName, namespace?: string): SimList;
  /** Creates objects with numbered names, synchronously. A namespaced kind uses the template's namespace, else `default`. */
  fill(kind: KindName, count: number, template?: FillTemplate): void;
  /**
   * Deletes a CustomResourceDefinition by name (`widgets.example.com`). Its objects get DELETED, later requests 404. Returns false if
   * there is none.
   */
  withdraw(definitionName: string): boolean;
  /** Serves an aggregated API with its APIService. */
  aggregate(api: AggregatedApi): void;
  /** Returns the current state for `restore`. */
  backup(): SimBackup;

  /**
   * Writes lines to the log of the container's current run, which is its `restartCount`. The bytes are sent unchanged. Reading through
   * `pods/log` needs an existing node of the Pod and a status of the container.
   *
   * @throws {Error} if the Pod does not exist.
   */
  writeLog(container: SimContainer, ...lines: readonly (string | Uint8Array)[]): void;

  /** All requests since the start, the oldest first. The latest 100,000 are kept. */
  readonly requests: readonly SimRequest[];
  openWatches(): readonly OpenWatch[];
  /** All completed writes over the network since the start, dry runs too, the oldest first. The latest 100,000 are kept. */
  writes(): readonly SimWrite[];
  /**
   * Calls the hook for each further write, except dry runs, before its answer. Other requests do not wait. Several hooks run at the same
   * time; if one returns `lost`, the answer is lost. Disposing of the result removes the hook, but answers that it holds stay held.
   */
  onWrite(hook: WriteHook): Disposable;
  /** Number of open connections. */
  connections(): number;
  /** Answers one request as this cluster, regardless of its address. */
  readonly handler: Handler;
  /**
   * Lets the other cluster answer new requests to this address, as behind a switched proxy. Open watches continue; `disconnect` ends
   * them.
   */
  exchange(other: Pick<SimCluster, 'handler'>): void;
  /** Destroys all connections and frees the port. */
  stop(): Promise<void>;
}
