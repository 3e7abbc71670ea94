import type { ClusterApi } from '../../../src/cluster/cluster-api.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createSensitiveKinds } from '../../../src/core/sensitive-kinds.ts';
import { ClusterReader } from '../../../src/importers/living/cluster-reader.ts';
import { connect, endpointFor, never } from '../../support/cluster/transport.ts';
import { unsliced } from '../../support/graph/unsliced.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';

/** The definition of a kind as its system installs it. It keeps all fields. */
export function definitionOf(apiVersion: string, kind: string, scope: 'Namespaced' | 'Cluster' = 'Namespaced'): KubernetesObject {
  const [group = '', name = ''] = apiVersion.split('/');
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1).toLowerCase()}ies` : `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { kind, plural }, versions: [{ name, served: true, storage: true, schema }] },
  };
}

const federated = 'types.kubefed.io/v1beta1';
const policies = 'policy.karmada.io/v1alpha1';

export const kubefedDefinitions = [
  ...['FederatedDeployment', 'FederatedConfigMap', 'FederatedSecret', 'FederatedNamespace'].map((kind) => definitionOf(federated, kind)),
  definitionOf('scheduling.kubefed.io/v1alpha1', 'ReplicaSchedulingPreference'),
  definitionOf('core.kubefed.io/v1beta1', 'KubeFedCluster'),
  definitionOf('core.kubefed.io/v1beta1', 'FederatedTypeConfig'),
  definitionOf('core.kubefed.io/v1beta1', 'KubeFedConfig'),
];

export const karmadaDefinitions = [
  definitionOf(policies, 'PropagationPolicy'),
  definitionOf(policies, 'ClusterPropagationPolicy', 'Cluster'),
  definitionOf(policies, 'OverridePolicy'),
  definitionOf(policies, 'ClusterOverridePolicy', 'Cluster'),
  definitionOf('cluster.karmada.io/v1alpha1', 'Cluster', 'Cluster'),
  definitionOf('work.karmada.io/v1alpha2', 'ResourceBinding'),
  definitionOf('work.karmada.io/v1alpha2', 'ClusterResourceBinding', 'Cluster'),
];

export const operatorDefinition = definitionOf('mulitcluster.practice.com/v1alpha1', 'MultiClusterResource');

/** An object of a kind that keeps all fields. Without a namespace, it is cluster-scoped. */
export function objectOf(type: string, place: string, rest: JsonObject = {}): KubernetesObject {
  const [apiVersion = '', kind = ''] = type.split(' ');
  const [name = '', namespace] = place.split('/').toReversed();
  const { metadata = {}, ...others } = rest;
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(metadata as JsonObject) },
    ...others,
  };
}

/** A federated object of KubeFed. */
export const federatedObject = (kind: string, place: string, spec: JsonObject): KubernetesObject =>
  objectOf(`${federated} ${kind}`, place, { spec });

/** A member of KubeFed. */
export const kubefedCluster = (name: string, labels: Record<string, string> = {}): KubernetesObject =>
  objectOf('core.kubefed.io/v1beta1 KubeFedCluster', `kube-federation-system/${name}`, { metadata: { labels }, spec: {} });

/** A policy of Karmada. */
export const karmadaPolicy = (kind: string, place: string, spec: JsonObject): KubernetesObject =>
  objectOf(`${policies} ${kind}`, place, { spec });

/** A member of Karmada. */
export const karmadaCluster = (name: string, labels: Record<string, string> = {}): KubernetesObject =>
  objectOf('cluster.karmada.io/v1alpha1 Cluster', name, { metadata: { labels }, spec: {} });

/** A Deployment with one container. */
export const deployment = (place: string, replicas: number, labels: Record<string, string> = {}): KubernetesObject => {
  const app = { app: place.split('/').at(-1) ?? '' };
  const template = { metadata: { labels: app }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
  return objectOf('apps/v1 Deployment', place, {
    metadata: { labels },
    spec: { replicas, selector: { matchLabels: app }, template } as unknown as Json,
  });
};

/** One cluster in which other systems live. */
export interface LivingCluster extends AsyncDisposable {
  readonly cluster: SimCluster;
  readonly api: ClusterApi;
  reader(sensitive?: readonly string[]): ClusterReader;
}

/** Starts a cluster with these definitions and objects. */
export async function startLivingCluster(objects: readonly KubernetesObject[]): Promise<LivingCluster> {
  const cluster = await startSimCluster({ name: 'host' });
  for (const object of objects) cluster.put(object);
  const connected = connect(endpointFor(cluster, { name: clusterName('host') }));
  const { api } = connected;
  return {
    cluster,
    api,
    reader: (sensitive = []) => new ClusterReader({ api, sensitiveKinds: createSensitiveKinds(sensitive), timeSlices: unsliced }, never),
    async [Symbol.asyncDispose]() {
      connected[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** Returns the objects as texts such as `ConfigMap shop/a`, sorted. */
export function namesIn(objects: readonly { readonly json: JsonObject }[]): readonly string[] {
  return objects
    .map(({ json }) => {
      const { kind, metadata } = json as KubernetesObject;
      return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
    })
    .toSorted();
}
