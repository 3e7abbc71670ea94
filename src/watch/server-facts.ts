import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Fault } from '../core/faults.ts';
import { isJsonObject } from '../core/json.ts';
import type { GroupKind } from '../core/kinds.ts';
import { parseAnswer } from './rights.ts';

/** What a server says of itself when asked, or why it could not. */
export interface ServerFacts {
  /** `v1.36.3`. */
  readonly version?: string;
  /** The uid of the namespace `kube-system`: absent also where it may not be read. */
  readonly uid?: string;
  /** Why there is no version. */
  readonly fault?: Fault;
}

/** Two small requests at once. */
export async function askServer(api: ClusterApi, signal: AbortSignal): Promise<ServerFacts> {
  const [version, namespace] = await Promise.all([
    api.send({ method: 'GET', path: ['version'] }, signal),
    api.send({ method: 'GET', path: ['api', 'v1', 'namespaces', 'kube-system'] }, signal),
  ]);
  const uid = namespace.type === 'answered' ? uidIn(namespace.body) : undefined;
  const gitVersion = version.type === 'answered' ? gitVersionIn(version.body) : undefined;
  return {
    ...(gitVersion === undefined ? {} : { version: gitVersion }),
    ...(uid === undefined ? {} : { uid }),
    ...(version.type === 'failed' ? { fault: version.fault } : {}),
  };
}

/** `gitVersion` of the answer to `GET /version`; undefined if there is none. */
export function gitVersionIn(body: Uint8Array): string | undefined {
  const said = parseAnswer(body);
  return isJsonObject(said) && typeof said.gitVersion === 'string' ? said.gitVersion.slice(0, 64) : undefined;
}

function uidIn(body: Uint8Array): string | undefined {
  const namespace = parseAnswer(body);
  const metadata = isJsonObject(namespace) ? namespace.metadata : undefined;
  return isJsonObject(metadata) && typeof metadata.uid === 'string' ? metadata.uid : undefined;
}

/** True for servers whose WatchList can be relied on: 1.32, and 1.34 on; in 1.33 it was off by default. */
export function streamsLists(version: string | undefined): boolean {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  if (major === '') return false;
  return Number(major) > 1 || Number(minor) === 32 || Number(minor) >= 34;
}

const builtInGroups: ReadonlySet<string> = new Set(['', 'apps', 'autoscaling', 'batch', 'extensions', 'policy']);

/** True for the groups that kube-apiserver itself serves. Others that end in `k8s.io` are custom resources or aggregated APIs. */
export function isBuiltIn({ group }: GroupKind): boolean {
  if (builtInGroups.has(group)) return true;
  const [, name] = /^([a-z.]+)\.k8s\.io$/.exec(group) ?? [];
  return name !== undefined && apiserverGroups.has(name);
}

const apiserverGroups: ReadonlySet<string> = new Set([
  'admissionregistration',
  'apiextensions',
  'apiregistration',
  'certificates',
  'coordination',
  'discovery',
  'events',
  'flowcontrol.apiserver',
  'internal.apiserver',
  'networking',
  'node',
  'rbac.authorization',
  'resource',
  'scheduling',
  'storage',
  'storagemigration',
]);
