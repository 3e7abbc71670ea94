import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { labelsAt, listAt, textAt } from '../../core/json-at.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import type { HookCall } from '../model/migration-status-definition.ts';

/** The state of an application in one cluster when a hook is called. */
interface AppInCluster {
  readonly cluster: string;
  readonly replicas: number;
  readonly reachable: boolean;
}

/** One operation of one application for a hook. */
export interface HookOperation {
  /** `Shift`: move traffic to `to`. `Undo`: move it back to `from`. `Finish`: nothing of the application is left in `from`. */
  readonly operation: HookCall['operation'];
  /** Identifies the operation of the application. It is the same for all calls of the operation, also after a restart. */
  readonly id: string;
  readonly migration: { readonly namespace: string; readonly name: string };
  /** The manifest of the workload. */
  readonly workload: Manifest;
  readonly from: AppInCluster;
  readonly to: AppInCluster;
  /** Manifests of the application. Only its Services and Ingresses are used. */
  readonly manifests: readonly Manifest[];
}

/** The JSON body of a call (docs/guide/operate.md, "Answer a hook"). */
export interface HookRequest {
  readonly apiVersion: 'hooks.muster.dev/v1alpha1';
  readonly operation: HookOperation['operation'];
  readonly id: string;
  readonly migration: HookOperation['migration'];
  readonly app: ObjectKey & { readonly labels: Readonly<Record<string, string>> };
  readonly from: AppInCluster;
  readonly to: AppInCluster;
  readonly services: readonly { readonly name: string; readonly ports: readonly JsonObject[] }[];
  readonly ingresses: readonly { readonly name: string; readonly hosts: readonly string[] }[];
}

/** The fields of a Service port that are the same in every cluster. A node port differs between clusters. */
const portFields = ['name', 'port', 'protocol', 'targetPort', 'appProtocol'] as const;

/** Returns the body of a call. It has names, labels, ports and hosts, and no other values of the manifests. Pure. */
export function hookRequestOf({ operation, id, migration, workload, from, to, manifests }: HookOperation): HookRequest {
  const { apiVersion, kind, metadata } = workload;
  const { name, namespace } = metadata;
  const ofKind = (group: string, wanted: string) =>
    manifests.filter((manifest) => manifest.kind === wanted && groupOf(manifest.apiVersion) === group);
  return {
    ...{ apiVersion: 'hooks.muster.dev/v1alpha1', operation, id },
    migration: { namespace: migration.namespace, name: migration.name },
    app: { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name, labels: labelsAt(metadata, 'labels') },
    from: appIn(from),
    to: appIn(to),
    services: ofKind('', 'Service').map((service) => ({
      name: service.metadata.name,
      ports: listAt(service, 'spec', 'ports').map(portOf),
    })),
    ingresses: ofKind('networking.k8s.io', 'Ingress').map((ingress) => ({ name: ingress.metadata.name, hosts: hostsOf(ingress) })),
  };
}

function appIn({ cluster, replicas, reachable }: AppInCluster): AppInCluster {
  return { cluster, replicas, reachable };
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

function portOf(port: Json): JsonObject {
  if (!isJsonObject(port)) return {};
  return Object.fromEntries(portFields.flatMap((field) => (port[field] === undefined ? [] : [[field, port[field]]])));
}

function hostsOf(ingress: Manifest): readonly string[] {
  const hosts = listAt(ingress, 'spec', 'rules').map((rule) => textAt(rule, 'host'));
  return [...new Set(hosts.filter((host) => host !== undefined))];
}
