import { clusterFailure } from '../../cluster/cluster-failure.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MemberSettings } from '../../fleet/member.ts';
import { accessOrProblem } from '../given/given-access.ts';
import { readGivenKubeconfig } from '../given/given-kubeconfig.ts';
import { clusterOfKubeconfig, ownLabelsOf, taintsAt, textsAt } from './found.ts';
import type { InventoryAdapter } from './inventory-adapter.ts';

// The systems that keep a kubeconfig in a Secret.

const secretKind = { group: '', kind: 'Secret' };

/** The Secret is the object itself. */
const ownPlace = ({ metadata }: KubernetesObject) => ({ namespace: metadata.namespace ?? '', name: metadata.name });

/** The label by which `muster join` knows its Clusters. It says nothing about the cluster. */
const registrationLabel = 'app.kubernetes.io/managed-by';

/** The Clusters that are registered on the hub: `muster.dev/v1alpha1`. Without its Secret, a Cluster is a member with a fault. */
export const registeredClusters: InventoryAdapter = {
  kind: { group: 'muster.dev', kind: 'Cluster' },
  namespaces: ({ systemNamespace }) => [systemNamespace],
  placeOf: (object, { systemNamespace }) => ({ namespace: systemNamespace, name: textAt(object, 'spec', 'secretRef', 'name') ?? '' }),
  clustersOf(object, data, { allowPrivate }) {
    const { [registrationLabel]: _, ...labels } = ownLabelsOf(object);
    const settings = { ...registeredSettings(object), labels };
    const { name } = object.metadata;
    if (data === undefined) return [{ name, settings, access: clusterFailure('NOT_FOUND', 'spec.secretRef: expected an existing Secret') }];
    const kubeconfig = data.get('kubeconfig') ?? new Uint8Array();
    return [{ name, settings, access: accessOrProblem(() => readGivenKubeconfig(kubeconfig, allowPrivate)) }];
  },
};

function registeredSettings(object: KubernetesObject): Partial<MemberSettings> {
  const [provider, region, zones] = [
    textAt(object, 'spec', 'provider'),
    textAt(object, 'spec', 'region'),
    textsAt(object, 'spec', 'zones'),
  ];
  const identity = valueAt(object, 'spec', 'identity');
  return {
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

/** Cluster API: the Secret `<name>-kubeconfig` beside the Cluster. */
export const clusterApi: InventoryAdapter = {
  kind: { group: 'cluster.x-k8s.io', kind: 'Cluster' },
  placeOf: ({ metadata }) => ({ namespace: metadata.namespace ?? '', name: `${metadata.name}-kubeconfig` }),
  clustersOf: (object, data, context) => clusterOfKubeconfig({ object, key: 'value' }, data, context),
};

const istioMark = { key: 'istio/multiCluster', value: 'true' };

/** Istio: each key of a remote Secret is one cluster, named by the key. */
export const istio: InventoryAdapter = {
  kind: secretKind,
  namespaces: () => ['istio-system'],
  mark: istioMark,
  placeOf: ownPlace,
  clustersOf(object, data = new Map(), { allowPrivate }) {
    const settings = { labels: ownLabelsOf(object) };
    return [...data].map(([name, kubeconfig]) => ({
      name,
      settings,
      access: accessOrProblem(() => readGivenKubeconfig(kubeconfig, allowPrivate)),
    }));
  },
};

/** multicluster-runtime: the key `kubeconfig` of a marked Secret. */
export const multiclusterRuntime: InventoryAdapter = {
  kind: secretKind,
  mark: { key: 'sigs.k8s.io/multicluster-runtime-kubeconfig', value: 'true' },
  placeOf: ownPlace,
  clustersOf: (object, data, context) => clusterOfKubeconfig({ object, key: 'kubeconfig' }, data, context),
};
