import type { Clock } from '../../core/clock.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/** A kind by its key (`Pod`, `Deployment.apps`; the group may be left out where it is the core group or only one group has the kind), or in full. */
export type KindName = string | GroupKind;

export type SimVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** What a request asks for, in Kubernetes' terms. */
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
  /** The cluster's name in a kubeconfig. */
  readonly name: string;
  /** Version of the server. Default: `1.36.3`. It decides what is served: WatchList exists in 1.32 and from 1.34 on, kinds come and go. */
  readonly version?: string;
  /** All times of the server: bookmarks, watch timeouts, creation timestamps. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Running containers write a line every few seconds. The lines are computed, not stored. Default: false. */
  readonly generatesLogs?: boolean;
}

/** One change as the cluster made it. `object` is whole. It is parsed when it is first read. */
export interface SimChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: GroupKind;
  readonly object: KubernetesObject;
}

/**
 * One Kubernetes API server in memory, on loopback, over TLS, with HTTP/2 and HTTP/1.1.
 *
 * The methods change and read the cluster itself: they check no rights and act at once, and open watches report what they do.
 * An object that is put is printed. An object that is read is parsed again, whole: with kind, apiVersion and managedFields.
 *
 * A write over the network is admitted as an API server does it, as far as clients like Muster can notice: fields that no schema names are
 * dropped or refused, values of the wrong type and changes of immutable fields are refused, custom resources get their defaults and are
 * checked against their schema. Left out are the defaults of built-in kinds, most of their validation, CEL rules, and strategic merge
 * patches (415). The methods below admit everything.
 */
export interface EmbeddedCluster extends AsyncDisposable {
  readonly name: string;
  /** `https://127.0.0.1:PORT`. The port stays the same for the cluster's life. */
  readonly url: string;
  /** The certificate authority that signed its serving certificate (`127.0.0.1`, `::1`, `localhost`, `kubernetes`). */
  readonly caPem: string;
  /** The bearer token it accepts. */
  readonly token: string;

  /**
   * Creates the object, or replaces the one of its name. The cluster adds what is missing: uid, creationTimestamp, generation (+1 when
   * anything but metadata and status changed), managedFields, the namespace; and always a new resourceVersion, unless nothing changed.
   * Values that the object has for these fields are kept, except its resourceVersion.
   *
   * @throws {Error} if the kind is not served.
   */
  put(object: KubernetesObject): KubernetesObject;
  get(kind: KindName, name: string, namespace?: string): KubernetesObject | undefined;
  /** The objects by `namespace/name` in order of code units, as a server lists them. */
  objects(kind: KindName, namespace?: string): readonly KubernetesObject[];
  /** Deletes at once, whatever the finalizers are, with all that the object owns; a namespace with its content. False if there was no object. */
  remove(kind: KindName, name: string, namespace?: string): boolean;
  /** Serves a CustomResourceDefinition (also: applies it again in another form). Discovery knows it before the call returns. */
  define(definition: KubernetesObject): KubernetesObject;
  /** Reports every change from now on, in the event-loop turn it is made. Ends with the disposable. */
  observe(listener: (change: SimChange) => void): Disposable;
}
