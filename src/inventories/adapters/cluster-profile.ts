import type { ConfiguredInventory } from '../../config/config.ts';
import type { Json } from '../../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { type CheckedEndpoint, endpointFrom, type LocatedValue } from '../endpoints/checked-endpoint.ts';
import { clusterOfKubeconfig, foundCluster, optionalBase64, ownLabelsOf, refuseValue } from './found.ts';
import type { AdapterContext, FoundCluster, InventoryAdapter, SecretName } from './inventory-adapter.ts';

const profileLabel = 'x-k8s.io/cluster-profile';
const consumerLabel = 'x-k8s.io/cluster-inventory-consumer';

/**
 * The extension of a cluster entry in a kubeconfig whose value credential plugins receive as `config`. Source: client.authentication.k8s.io/v1,
 * Cluster.
 */
const pluginExtension = 'client.authentication.k8s.io/exec';

/**
 * Reads ClusterProfiles (KEP-4322 and KEP-5339). The access comes from a Secret with a kubeconfig for our consumer. Without such a Secret, it comes
 * from the first access provider of the profile that the config also names. The command of a provider comes from the config only, so a profile cannot
 * choose what is run.
 */
export const clusterProfiles: InventoryAdapter = {
  kind: { group: 'multicluster.x-k8s.io', kind: 'ClusterProfile' },
  secretNameOf: (object, context) => secretOf(object, context),
  clustersOf(object, data, context) {
    const settings = settingsOf(object);
    const found = clusterOfKubeconfig({ object, key: 'Config', settings }, data, context);
    return found.length > 0 ? found : providedCluster(object, context).map((read) => foundCluster({ object, settings }, read));
  },
};

function secretOf({ metadata }: KubernetesObject, context: AdapterContext): SecretName | 'unknown' | undefined {
  const { namespace = '', name } = metadata;
  const { consumer } = context.inventory;
  const labelsOfNamespace = context.labelsOfNamespace(namespace);
  let isUnknown = false;
  for (const secret of context.secretsIn(namespace)) {
    const labels = ownLabelsOf(secret);
    if (labels[profileLabel] !== name) continue;
    if ((labels[consumerLabel] ?? labelsOfNamespace?.[consumerLabel]) === consumer) return { namespace, name: secret.metadata.name };
    isUnknown ||= labels[consumerLabel] === undefined && labelsOfNamespace === undefined;
  }
  return isUnknown ? 'unknown' : undefined;
}

function settingsOf(object: KubernetesObject): Partial<FoundCluster['settings']> {
  const properties = listAt(object, 'status', 'properties');
  const property = (name: string) => {
    const found = properties.find((one) => textAt(one, 'name') === name);
    return textAt(found, 'value') || undefined;
  };
  const [region, zone] = [property('topology.kubernetes.io/region'), property('topology.kubernetes.io/zone')];
  return { ...(region === undefined ? {} : { region }), ...(zone === undefined ? {} : { zones: zone.split(',') }) };
}

/** Returns a function that makes the access, by the first access provider that the config also names. An empty list if there is none. */
function providedCluster(object: KubernetesObject, context: AdapterContext): readonly (() => CheckedEndpoint)[] {
  const entries = listAt(object, 'status', 'accessProviders');
  for (const [at, entry] of entries.entries()) {
    const provider = context.inventory.providers?.find(({ name }) => name === textAt(entry, 'name'));
    if (provider !== undefined) return [() => providedAccess({ entry, where: `status.accessProviders[${at}].cluster` }, provider, context)];
  }
  return [];
}

function providedAccess(
  { entry, where }: { readonly entry: Json; readonly where: string },
  { name, command, args, env }: ConfiguredInventory['providers'][number],
  { allowPrivate, pluginEnvironment }: AdapterContext,
): CheckedEndpoint {
  const cluster = objectAt(entry, 'cluster');
  for (const key of ['insecure-skip-tls-verify', 'proxy-url', 'certificate-authority'])
    refuseValue(valueAt(cluster, key), `${where}.${key}`);
  const server: LocatedValue<string> = { value: textAt(cluster, 'server') ?? '', where: `${where}.server` };
  const caKey = 'certificate-authority-data';
  const extension = listAt(cluster, 'extensions').find((one) => textAt(one, 'name') === pluginExtension);
  const config = valueAt(extension, 'extension');
  return endpointFrom(
    {
      server,
      authority: optionalBase64(textAt(cluster, caKey), `${where}.${caKey}`),
      tlsServerName: textAt(cluster, 'tls-server-name') || undefined,
      plugin: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command,
        args,
        environment: { ...pluginEnvironment, ...env },
        provideClusterInfo: true,
        deadlineMs: 10_000,
        isQuiet: true,
        provider: name,
        ...(config === undefined ? {} : { config }),
      },
      credentialsPath: where,
    },
    allowPrivate,
  );
}
