import { clusterFailure } from '../../cluster/cluster-failure.ts';
import { equalJson } from '../../core/json/json-values.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MemberSettings } from '../../fleet/member.ts';
import { endpointOrFailure } from '../endpoints/checked-endpoint.ts';
import { readKubeconfigEndpoint } from '../endpoints/kubeconfig-endpoint.ts';
import { clusterOfKubeconfig, ownLabelsOf, taintsAt, textsAt } from './found.ts';
import type { InventoryAdapter } from './inventory-adapter.ts';

// Adapters of systems that keep a kubeconfig in a Secret.

const secretKind = { group: '', kind: 'Secret' };

/** Returns the name of the object, for systems whose objects are themselves the Secrets with the credentials. */
const ownName = ({ metadata }: KubernetesObject) => ({ namespace: metadata.namespace ?? '', name: metadata.name });

/** The label that `muster join` writes on its Clusters. It becomes a label of the cluster only if it has another value. */
const registrationMark = { key: 'app.kubernetes.io/managed-by', value: 'muster' };

/**
 * Reads the Clusters that are registered on the hub (`muster.dev/v1alpha1`). A Cluster whose Secret is missing still becomes a cluster, with a
 * failure in place of its access.
 */
export const registeredClusters: InventoryAdapter = {
  kind: { group: 'muster.dev', kind: 'Cluster' },
  namespaces: ({ systemNamespace }) => [systemNamespace],
  secretNameOf: (object, { systemNamespace }) => ({ namespace: systemNamespace, name: textAt(object, 'spec', 'secretRef', 'name') ?? '' }),
  clustersOf(object, data, { allowPrivate }) {
    const cluster = { name: object.metadata.name, settings: registeredSettings(object) };
    if (data === undefined) return [{ ...cluster, access: clusterFailure('NOT_FOUND', 'spec.secretRef: expected an existing Secret') }];
    const kubeconfig = data.get('kubeconfig');
    if (kubeconfig === undefined)
      return [{ ...cluster, access: clusterFailure('INVALID', 'kubeconfig: expected this key in the Secret', 'NEVER') }];
    return [{ ...cluster, access: endpointOrFailure(() => readKubeconfigEndpoint(kubeconfig, allowPrivate)) }];
  },
  isSame: isSameRegistration,
  unreadable: (object, { code }) => [
    {
      name: object.metadata.name,
      settings: registeredSettings(object),
      access: clusterFailure(code, 'spec.secretRef: the Secret cannot be read'),
    },
  ],
};

/** True if only the status or annotations have changed. The leader writes the status of each Cluster several times while it joins. */
function isSameRegistration({ metadata: before }: KubernetesObject, { metadata: now }: KubernetesObject): boolean {
  const isSameSpec = before.uid === now.uid && before.generation !== undefined && before.generation === now.generation;
  return isSameSpec && equalJson(before.labels, now.labels);
}

function registeredSettings(object: KubernetesObject): Partial<MemberSettings> {
  const [provider, region, zones] = [
    textAt(object, 'spec', 'provider'),
    textAt(object, 'spec', 'region'),
    textsAt(object, 'spec', 'zones'),
  ];
  const identity = valueAt(object, 'spec', 'identity');
  const { key, value } = registrationMark;
  const { [key]: mark, ...labels } = ownLabelsOf(object);
  return {
    labels: mark === undefined || mark === value ? labels : { ...labels, [key]: mark },
    namespaces: textsAt(object, 'spec', 'namespaces'),
    secrets: secretsModes[textAt(object, 'spec', 'secrets') ?? 'None'] ?? 'none',
    ...(provider === undefined ? {} : { provider }),
    ...(region === undefined ? {} : { region }),
    ...(zones.length === 0 ? {} : { zones }),
    taints: taintsAt(object, 'spec', 'taints'),
    ...(identity === undefined
      ? {}
      : { identity: { userPrefix: textAt(identity, 'userPrefix') ?? '', groupPrefix: textAt(identity, 'groupPrefix') ?? '' } }),
  };
}

const secretsModes: Readonly<Record<string, MemberSettings['secrets']>> = { None: 'none', Metadata: 'metadata', Live: 'live' };

/** Reads the Clusters of Cluster API. The kubeconfig is in the Secret `<name>-kubeconfig` in the namespace of the Cluster. */
export const clusterApi: InventoryAdapter = {
  kind: { group: 'cluster.x-k8s.io', kind: 'Cluster' },
  secretNameOf: ({ metadata }) => ({ namespace: metadata.namespace ?? '', name: `${metadata.name}-kubeconfig` }),
  clustersOf: (object, data, context) => clusterOfKubeconfig({ object, key: 'value' }, data, context),
};

/** Reads the remote Secrets of Istio. Each key of such a Secret is the name of a cluster, and its value is the kubeconfig. */
export const istio: InventoryAdapter = {
  kind: secretKind,
  namespaces: () => ['istio-system'],
  requiredLabel: { key: 'istio/multiCluster', value: 'true' },
  secretNameOf: ownName,
  clustersOf(object, data = new Map(), { allowPrivate }) {
    const settings = { labels: ownLabelsOf(object) };
    return [...data].map(([name, kubeconfig]) => ({
      name,
      settings,
      access: endpointOrFailure(() => readKubeconfigEndpoint(kubeconfig, allowPrivate)),
    }));
  },
};

/** Reads the Secrets of multicluster-runtime, which have its label. The kubeconfig is under the key `kubeconfig`. */
export const multiclusterRuntime: InventoryAdapter = {
  kind: secretKind,
  requiredLabel: { key: 'sigs.k8s.io/multicluster-runtime-kubeconfig', value: 'true' },
  secretNameOf: ownName,
  clustersOf: (object, data, context) => clusterOfKubeconfig({ object, key: 'kubeconfig' }, data, context),
};
