import { isJsonObject, type JsonObject, tryParseJson } from '../../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { type CheckedEndpoint, endpointFrom, InvalidValueError } from '../endpoints/checked-endpoint.ts';
import {
  demandText,
  foundCluster,
  optionalBase64,
  optionalSecretBytes,
  optionalSecretText,
  refuseValue,
  taintsAt,
  textsAt,
} from './found.ts';
import type { AdapterContext, InventoryAdapter, SecretData } from './inventory-adapter.ts';

// Adapters of systems that keep the address of the server and a token in different fields, without a kubeconfig.

/** Reads the Clusters of Karmada in push mode. The Secret of their `secretRef` has `token` and `caBundle`. */
export const karmada: InventoryAdapter = {
  kind: { group: 'cluster.karmada.io', kind: 'Cluster' },
  secretNameOf(object) {
    const [namespace, name] = [textAt(object, 'spec', 'secretRef', 'namespace'), textAt(object, 'spec', 'secretRef', 'name')];
    return namespace === undefined || name === undefined ? undefined : { namespace, name };
  },
  clustersOf(object, data, context) {
    // In pull mode, an agent in the cluster connects to Karmada, so Karmada has no credentials for the cluster.
    if (data === undefined || textAt(object, 'spec', 'syncMode') === 'Pull') return [];
    return [foundCluster({ object, settings: karmadaSettings(object) }, () => karmadaAccess(object, data, context))];
  },
};

function karmadaAccess(object: KubernetesObject, data: SecretData, { allowPrivate }: AdapterContext): CheckedEndpoint {
  refuseValue(valueAt(object, 'spec', 'insecureSkipTLSVerification'), 'spec.insecureSkipTLSVerification');
  refuseValue(valueAt(object, 'spec', 'proxyURL'), 'spec.proxyURL');
  const server = demandText(object, 'spec', 'apiEndpoint');
  const [authority, token] = [optionalSecretBytes(data, 'caBundle'), optionalSecretText(data, 'token')];
  return endpointFrom({ server, authority, token, credentialsPath: 'token' }, allowPrivate);
}

function karmadaSettings(object: KubernetesObject) {
  const [provider, region, zone] = [textAt(object, 'spec', 'provider'), textAt(object, 'spec', 'region'), textAt(object, 'spec', 'zone')];
  const zones = textsAt(object, 'spec', 'zones');
  // `zone` is the older field. Karmada still writes it, so it is used if `zones` is empty.
  const known = zones.length > 0 || zone === undefined || zone === '' ? zones : [zone];
  return {
    ...(provider === undefined || provider === '' ? {} : { provider }),
    ...(region === undefined || region === '' ? {} : { region }),
    ...(known.length === 0 ? {} : { zones: known }),
    taints: taintsAt(object, 'spec', 'taints'),
  };
}

/**
 * Reads the accepted ManagedClusters of Open Cluster Management. The token is in a Secret with the name of a ManagedServiceAccount, in the namespace
 * with the name of the cluster.
 */
export const openClusterManagement: InventoryAdapter = {
  kind: { group: 'cluster.open-cluster-management.io', kind: 'ManagedCluster' },
  secretNameOf({ metadata }, { inventory: { serviceAccount } }) {
    return serviceAccount === undefined ? undefined : { namespace: metadata.name, name: serviceAccount };
  },
  clustersOf(object, data, { allowPrivate }) {
    const [config] = listAt(object, 'spec', 'managedClusterClientConfigs');
    if (data === undefined || config === undefined || valueAt(object, 'spec', 'hubAcceptsClient') !== true) return [];
    const where = 'spec.managedClusterClientConfigs[0]';
    const read = () => {
      const server = { value: textAt(config, 'url') ?? '', where: `${where}.url` };
      const authority = optionalBase64(textAt(config, 'caBundle'), `${where}.caBundle`) ?? optionalSecretBytes(data, 'ca.crt');
      return endpointFrom({ server, authority, token: optionalSecretText(data, 'token'), credentialsPath: 'token' }, allowPrivate);
    };
    return [foundCluster({ object }, read)];
  },
};

/** Reads the cluster Secrets of Argo CD, which have its label. Their keys are `name`, `server`, and `config` in JSON. */
export const argoCd: InventoryAdapter = {
  kind: { group: '', kind: 'Secret' },
  namespaces: () => ['argocd'],
  requiredLabel: { key: 'argocd.argoproj.io/secret-type', value: 'cluster' },
  secretNameOf: ({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }),
  clustersOf(object, data = new Map(), context) {
    const config = tryParseJson(Buffer.from(data.get('config') ?? []).toString() || '{}');
    // The Secret of Argo CD's own cluster has no credentials. Argo CD uses those of its Pod, which Muster cannot use.
    if (isJsonObject(config) && !argoCredentials.some((key) => isSet(objectIn(config, key)))) return [];
    const name = optionalSecretText(data, 'name')?.value ?? object.metadata.name;
    return [{ ...foundCluster({ object }, () => argoAccess(config, data, context)), name }];
  },
};

const argoCredentials = ['bearerToken', 'username', 'execProviderConfig', 'awsAuthConfig', 'tlsClientConfig.certData'];

function objectIn(config: JsonObject, path: string) {
  return valueAt(config, ...path.split('.'));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function argoAccess(config: unknown, data: SecretData, { allowPrivate }: AdapterContext): CheckedEndpoint {
  if (!isJsonObject(config as JsonObject)) throw new InvalidValueError('config', 'a JSON object');
  const given = config as JsonObject;
  for (const key of ['execProviderConfig', 'awsAuthConfig', 'username', 'password', 'proxyUrl', 'tlsClientConfig.insecure'])
    refuseValue(objectIn(given, key), `config.${key}`);
  const tls = objectAt(given, 'tlsClientConfig');
  const token = textAt(given, 'bearerToken');
  const inTls = (key: string) => optionalBase64(textAt(tls, key), `config.tlsClientConfig.${key}`);
  return endpointFrom(
    {
      server: optionalSecretText(data, 'server') ?? { value: '', where: 'server' },
      authority: inTls('caData'),
      tlsServerName: textAt(tls, 'serverName') || undefined,
      token: token === undefined || token === '' ? undefined : { value: token, where: 'config.bearerToken' },
      certificate: inTls('certData'),
      key: inTls('keyData'),
      credentialsPath: 'config',
    },
    allowPrivate,
  );
}
