import type { Clock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { GroupKind } from '../core/kinds.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { Handler } from './door.ts';
import type { Misbehaviours, SimProtocols } from './misbehaviours.ts';

/** A kind by its key (`Pod`, `Deployment.apps`; the group may be left out where it is the core group or only one group has the kind), or in full. */
export type KindName = string | GroupKind;

export interface SimClusterOptions {
  /** What the cluster is called in a kubeconfig. */
  readonly name: string;
  /** What the server says it is, `1.36.3` by default. Decides what it serves: WatchList is there in 1.32 and from 1.34 on, kinds come and go. */
  readonly version?: string;
  /** All times of the server: delays, bookmarks, watch timeouts, creation timestamps. The machine's by default. */
  readonly clock?: Clock;
  /** What it agrees to in ALPN, `both` by default. */
  readonly protocols?: SimProtocols;
  /** Streams per HTTP/2 connection, as in SETTINGS: 100 by default. */
  readonly maxConcurrentStreams?: number;
  /** Changes kept per kind for watches to resume from: 1,000 by default. What is older is 410. */
  readonly historyLength?: number;
  /** How far apart bookmarks are in a watch that allows them: 60 s by default. */
  readonly bookmarkSeconds?: number;
  /** The bearer token that it accepts at first. Default: a random one. Two clusters behind one address need the same. */
  readonly token?: string;
  /** Containers that run write a line every few seconds by themselves: always the same ones, of which nothing is kept. False by default. */
  readonly talkative?: boolean;
}

/** One container. */
export interface SimContainer {
  /** `default` if absent. */
  readonly namespace?: string;
  readonly pod: string;
  readonly container: string;
}

/** One request as the server saw it. Times are the clock's monotonic milliseconds. */
export interface SimRequest {
  readonly method: string;
  /** As it was sent: still encoded, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** As received, names in lower case, without HTTP/2's pseudo headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: 'h2' | 'http1';
  readonly startedMs: number;
  /** Absent until the headers of the answer were sent. */
  readonly status?: number;
  /** When the answer, a watch included, was over, however it ended. */
  readonly endedMs?: number;
  /** Who asks: the user impersonated, else the one of the token. Absent for a token that is nobody's. */
  readonly user?: string;
  /** What the request asks in Kubernetes' terms. Absent for `/version`, discovery and what is no path of the API. */
  readonly resource?: RequestedResource;
}

export type SimVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

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

export interface RequestedResource {
  readonly verb: SimVerb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** A watch that is open now. */
export interface OpenWatch extends RequestedResource {
  readonly request: SimRequest;
}

/** The state of one kind: what a most recent list answers. */
export interface SimList {
  readonly version: string;
  /** By `namespace/name` in order of code units, as a server lists them; each with kind and apiVersion. */
  readonly items: readonly KubernetesObject[];
}

/** A state to go back to. */
export interface SimBackup {
  readonly version: string;
}

/** A kind of an aggregated API, as metrics-server serves `PodMetrics`. */
export interface AggregatedKind {
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

/** One change as the cluster made it. `object` is whole; it is parsed when first read. */
export interface SimChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: GroupKind;
  readonly object: KubernetesObject;
}

/** What `fill` makes the objects of. `metadata.name` is what the numbers are put after: `web` gives `web-0`, `web-1`, … */
export type FillTemplate = JsonObject | ((index: number) => JsonObject);

/**
 * One Kubernetes API server in memory, on loopback, over TLS, with HTTP/2 and HTTP/1.1.
 *
 * The methods below are the cluster itself: they ask no rights, answer at once, and whoever watches sees what they do.
 * Objects that go in are printed; those that come out are parsed anew, whole: with kind, apiVersion and managedFields.
 *
 * What is written over the network is admitted as a server does it, as far as clients like Muster can tell: fields that no schema names are
 * dropped or refused, values of the wrong type are refused, so are changes of fields that cannot change, custom resources are defaulted and
 * held to their schema. Left out are the defaults of built-in kinds, most of their validation, CEL rules, and strategic merge patches (415).
 * The methods below admit everything.
 */
export interface SimCluster extends Misbehaviours, AsyncDisposable {
  readonly name: string;
  /** `https://127.0.0.1:PORT`. The port stays the same for the cluster's life. */
  readonly url: string;
  /** The certificate authority that signed its serving certificate (`127.0.0.1`, `::1`, `localhost`, `kubernetes`). */
  readonly caPem: string;
  /** The bearer token it accepts now. */
  readonly token: string;
  /** `v1.36.3`: what `/version` says now. */
  readonly gitVersion: string;

  /**
   * Creates the object, or replaces the one of its name. The cluster gives what is missing: uid, creationTimestamp, generation (+1 when
   * anything but metadata and status changed), managedFields, the namespace; and always a new resourceVersion, unless nothing changed.
   * What the object says of these itself, but for the resourceVersion, stands.
   *
   * @throws {Error} if the kind is not served.
   */
  put(object: KubernetesObject): KubernetesObject;
  /** The same with this text for all members but kind, apiVersion and metadata: `"spec":{…},"status":{…}`, in whatever form, duplicate keys and all. */
  putRaw(object: KubernetesObject, members: string): KubernetesObject;
  get(kind: KindName, name: string, namespace?: string): KubernetesObject | undefined;
  list(kind: KindName, namespace?: string): SimList;
  /** The items of `list`. */
  objects(kind: KindName, namespace?: string): readonly KubernetesObject[];
  /** Deletes at once, whatever finalizers say; what it owns goes with it, and a namespace with its content. False if there was nothing. */
  remove(kind: KindName, name: string, namespace?: string): boolean;
  /** Creates objects with numbered names, in one turn. They go to the template's namespace, else to `default`, if the kind is namespaced. */
  fill(kind: KindName, count: number, template?: FillTemplate): void;
  /** Serves a CustomResourceDefinition (also: applies it anew in another form). Discovery knows it before the call returns. */
  define(definition: KubernetesObject): KubernetesObject;
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

  /** Tells every change from now on, in the turn it is made. Ends with the disposable. */
  observe(listener: (change: SimChange) => void): Disposable;
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
