import type { ClusterFailure } from '../../cluster/cluster-failure.ts';
import type { ConfiguredInventory } from '../../config/config.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MemberSettings } from '../../fleet/member.ts';
import type { GivenAccess } from '../given/given-access.ts';

/** One cluster that an object describes. */
export interface FoundCluster {
  /** The name in the inventory, before `nameAs` is applied. */
  readonly name: string;
  readonly settings: Partial<MemberSettings>;
  /** How to reach the cluster, or why that cannot be read from the object and its Secret. */
  readonly access: GivenAccess | ClusterFailure;
}

/** The decoded values of a Secret, by key. */
export type SecretData = ReadonlyMap<string, Uint8Array>;

/** A Secret by its name. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The facts that an adapter may use besides the object and its Secret. */
export interface AdapterContext {
  readonly inventory: ConfiguredInventory;
  /** The namespace with the Secrets of registered clusters. */
  readonly systemNamespace: string;
  /** Networks that servers may be in although they are private. */
  readonly allowPrivate: readonly string[];
  /** `PATH` and `HOME` of the gateway, for credential plugins. */
  readonly pluginEnvironment: Readonly<Record<string, string>>;
  /** Returns the metadata of the Secrets in a namespace, in no promised order. */
  readonly secretsIn: (namespace: string) => Iterable<KubernetesObject>;
  /** Returns the labels of a namespace. Empty if the namespace is not known. */
  readonly labelsOfNamespace: (namespace: string) => Readonly<Record<string, string>>;
}

/**
 * Reads the clusters of one system. It only translates: it sends no request, and the same input gives the same result. Adapters throw
 * nothing; a description that cannot be used becomes the `access` of its cluster.
 */
export interface InventoryAdapter {
  /** The kind of the objects that describe clusters. */
  readonly kind: GroupKind;
  /** The namespaces to look in, if the config names none. Undefined: all. */
  readonly namespaces?: (context: Pick<AdapterContext, 'systemNamespace'>) => readonly string[];
  /** The label that objects must have. It is not passed on as a label of the cluster. Undefined: every object of the kind counts. */
  readonly mark?: { readonly key: string; readonly value: string };
  /** Returns the Secret with the credentials. Undefined: the object names none. */
  placeOf(object: KubernetesObject, context: AdapterContext): SecretPlace | undefined;
  /**
   * Returns the clusters that the object describes. Empty: it has no credentials for us, so it counts as absent.
   *
   * @param data The values of the Secret at `placeOf`. Undefined: there is no such Secret.
   */
  clustersOf(object: KubernetesObject, data: SecretData | undefined, context: AdapterContext): readonly FoundCluster[];
}
