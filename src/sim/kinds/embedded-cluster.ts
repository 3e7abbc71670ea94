import type { Clock } from '../../core/clock.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/**
 * A kind, in full or by its key: `Pod`, `Deployment.apps`. The group may be left out if it is the core group or only one group has the
 * kind.
 */
export type KindName = string | GroupKind;

export type SimVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** The resource of a request. */
export interface RequestedResource {
  readonly verb: SimVerb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

export interface EmbeddedClusterOptions {
  /** Name of the cluster in a kubeconfig. */
  readonly name: string;
  /**
   * Version of the server. It decides which kinds and features exist; for example, WatchList exists in 1.32 and from 1.34 on. Default:
   * `1.36.3`.
   */
  readonly version?: string;
  /** Source of all times: bookmarks, watch timeouts, creation timestamps. Default: the system clock. */
  readonly clock?: Clock;
  /** True if running containers write a log line every few seconds. The lines are computed, not stored. Default: false. */
  readonly generatesLogs?: boolean;
  /**
   * How requests are authorized. `alwaysAllow`: every user may do everything. `rbac`: by the Roles and bindings of the cluster; the owner of
   * the token is in `system:masters`. Default: `alwaysAllow`.
   */
  readonly authorization?: 'alwaysAllow' | 'rbac';
}

/** A change of the cluster. `object` is complete, and is parsed on first use. */
export interface SimChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: GroupKind;
  readonly object: KubernetesObject;
}

/**
 * One Kubernetes API server in memory, on loopback, over TLS, with HTTP/2 and HTTP/1.1.
 *
 * The methods change and read the cluster directly. They are synchronous, check no rights and skip admission. Open watches report their
 * changes. An object that is put is stored as text. A read returns a new, complete object, with kind, apiVersion and managedFields.
 *
 * A write over the network passes admission as in an API server, as far as clients like Muster can notice. Undeclared fields are dropped
 * or refused. Values of a wrong type and changes of immutable fields are refused. Custom resources get their defaults and are validated
 * against their schema. Each write of a Service sets its address and its defaults.
 *
 * Not implemented: defaults of other built-in kinds, most of their validation, CEL rules, and strategic merge patches (415).
 */
export interface EmbeddedCluster extends AsyncDisposable {
  readonly name: string;
  /** `https://127.0.0.1:PORT`. The port stays the same for the cluster's life. */
  readonly url: string;
  /** PEM of the authority that signed the serving certificate (`127.0.0.1`, `::1`, `localhost`, `kubernetes`). */
  readonly caPem: string;
  /** The bearer token that the server accepts. */
  readonly token: string;

  /**
   * Creates the object, or replaces the object of that name.
   *
   * The cluster sets missing metadata: uid, creationTimestamp, managedFields, the namespace, and generation (+1 for a change outside of
   * metadata and status). A Service also gets its address and defaults. Values in the object are kept, except its resourceVersion. Every
   * change gets a new resourceVersion.
   *
   * @throws {Error} if the kind is not served.
   */
  put(object: KubernetesObject): KubernetesObject;
  get(kind: KindName, name: string, namespace?: string): KubernetesObject | undefined;
  /** Returns the objects, sorted by `namespace/name` in order of code units, as a server lists them. */
  objects(kind: KindName, namespace?: string): readonly KubernetesObject[];
  /** Deletes an object despite finalizers, with everything that it owns or, for a namespace, contains. False if there was no object. */
  remove(kind: KindName, name: string, namespace?: string): boolean;
  /** Creates or replaces a CustomResourceDefinition and serves its kind. Discovery has the kind before the call returns. */
  define(definition: KubernetesObject): KubernetesObject;
  /** Calls the listener during each later write, with the change. Dispose of the result to stop the calls. */
  observe(listener: (change: SimChange) => void): Disposable;
}

/** A cluster whose API server can be made unreachable for a drill. Its controllers continue. */
export interface StoppableCluster extends EmbeddedCluster {
  /** Resets all connections, and each new one, until `start`. */
  stop(): void;
  start(): void;
}
