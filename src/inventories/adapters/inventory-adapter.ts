import type { ClusterFailure } from '../../cluster/cluster-failure.ts';
import type { ConfiguredInventory } from '../../config/config.ts';
import type { Fault } from '../../core/faults.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MemberSettings } from '../../fleet/member.ts';
import type { CheckedEndpoint } from '../endpoints/checked-endpoint.ts';

/** One cluster that an object describes. */
export interface FoundCluster {
  /** The name in the inventory, before `nameAs` is applied. */
  readonly name: string;
  readonly settings: Partial<MemberSettings>;
  /** How to reach the cluster, or why the object and its Secret do not describe that. */
  readonly access: CheckedEndpoint | ClusterFailure;
}

/** The decoded values of a Secret, by key. */
export type SecretData = ReadonlyMap<string, Uint8Array>;

/** The namespace and name of a Secret. */
export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The settings of a cluster inventory that decide which clusters it lists and how they are named. `serviceAccount`, `consumer` and `providers` exist
 * only for the types that use them.
 */
export type InventorySettings = Pick<ConfiguredInventory, 'nameAs' | 'secrets' | 'labels' | 'namespaces'> &
  Partial<Pick<ConfiguredInventory, 'serviceAccount' | 'consumer' | 'providers'>>;

/** The facts that an adapter may use in addition to the object and its Secret. */
export interface AdapterContext {
  readonly inventory: InventorySettings;
  /** The namespace with the Secrets of registered clusters. */
  readonly systemNamespace: string;
  /** Private networks in which servers may be. Servers in other private networks are refused. */
  readonly allowPrivate: readonly string[];
  /** `PATH` and `HOME` of the gateway, for credential plugins. */
  readonly pluginEnvironment: Readonly<Record<string, string>>;
  /** Returns the metadata of the Secrets in a namespace, in no promised order. */
  readonly secretsIn: (namespace: string) => Iterable<KubernetesObject>;
  /** Returns the labels of a namespace. Undefined: Namespaces are not listed yet, or may not be listed. */
  readonly labelsOfNamespace: (namespace: string) => Readonly<Record<string, string>> | undefined;
}

/**
 * Translates the objects of another system, such as Cluster API, into clusters. It sends no request, and equal inputs give equal results. Its methods
 * throw nothing: if a description cannot be used, the `access` of its cluster is a failure.
 */
export interface InventoryAdapter {
  /** The kind of the objects that describe clusters. */
  readonly kind: GroupKind;
  /** Returns the namespaces to read if the config names none. Undefined: all namespaces. */
  readonly namespaces?: (context: Pick<AdapterContext, 'systemNamespace'>) => readonly string[];
  /** The label that objects must have. It does not become a label of the cluster. Default: no label is required. */
  readonly requiredLabel?: { readonly key: string; readonly value: string };
  /**
   * Returns the name of the Secret with the credentials. Undefined: the object names no Secret. `unknown`: it depends on labels of a namespace that
   * are not known, so the clusters of the object stay as they were.
   */
  secretNameOf(object: KubernetesObject, context: AdapterContext): SecretName | 'unknown' | undefined;
  /**
   * Returns the clusters that the object describes. Empty: it has no credentials that Muster can use, so it lists no cluster.
   *
   * @param data The values of the Secret at `secretNameOf`. Undefined: no such Secret exists.
   */
  clustersOf(object: KubernetesObject, data: SecretData | undefined, context: AdapterContext): readonly FoundCluster[];
  /**
   * True if two states of one object describe the same clusters, so that the earlier result of `clustersOf` is used again. It is not called for the
   * identical state. Default: every other state describes other clusters.
   */
  isSame?(before: KubernetesObject, now: KubernetesObject): boolean;
  /**
   * Returns the clusters of an object whose Secret exists but cannot be read, each with a failure. Default: no clusters. In both cases, the cluster
   * that holds the inventory shows the fault.
   */
  unreadable?(object: KubernetesObject, fault: Fault): readonly FoundCluster[];
}
