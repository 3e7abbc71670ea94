import type { V1Namespace, V1NamespaceList, VersionInfo } from '@kubernetes/client-node';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Fault } from '../../core/faults.ts';
import type { GroupKind } from '../../core/kinds.ts';
import { parseResourceVersion, type ResourceVersion } from '../../core/names.ts';
import { itemsOf, parseStored, textOrUndefined } from '../../core/stored.ts';

/** The facts that a server reports. */
export interface ServerFacts {
  /** The version, such as `v1.36.3`. Undefined if the request failed, or if the answer has no version. */
  readonly version?: string | undefined;
  /** The uid of the namespace `kube-system`. Undefined if it could not be read, or may not be read. */
  readonly uid?: string | undefined;
  /** The newest resourceVersion of the cluster. Undefined if it could not be read, or if namespaces may not be listed. */
  readonly revision?: ResourceVersion | undefined;
  /** Why the request for the version failed. Undefined if it was answered. */
  readonly fault?: Fault | undefined;
}

/** Reads the facts by a few small requests at the same time. */
export async function readServerFacts(api: ClusterApi, signal: AbortSignal): Promise<ServerFacts> {
  const [version, identity] = await Promise.all([api.send({ method: 'GET', path: ['version'] }, signal), readIdentity(api, signal)]);
  if (version.type === 'failed') return { ...identity, fault: version.fault };
  return { ...identity, version: gitVersionIn(version.body) };
}

/**
 * Reads the uid of `kube-system` by a list of that one namespace, because a list also has the most recent version. Uses a get if listing is
 * forbidden.
 */
export async function readIdentity(api: ClusterApi, signal: AbortSignal): Promise<Pick<ServerFacts, 'uid' | 'revision'>> {
  const path = ['api', 'v1', 'namespaces'];
  const listed = await api.send({ method: 'GET', path, query: { fieldSelector: 'metadata.name=kube-system' } }, signal);
  if (listed.type === 'failed') {
    if (listed.fault.code !== 'FORBIDDEN') return {};
    const got = await api.send({ method: 'GET', path: [...path, 'kube-system'] }, signal);
    const uid = got.type === 'answered' ? textOrUndefined(parseStored<V1Namespace>(got.body)?.metadata?.uid) : undefined;
    return { uid };
  }
  const list = parseStored<V1NamespaceList>(listed.body);
  const revision = parseResourceVersion(list?.metadata?.resourceVersion);
  const [namespace] = itemsOf(list?.items);
  const uid = textOrUndefined(namespace?.metadata?.uid);
  return { uid, revision };
}

/** Returns `gitVersion` from the answer to `GET /version`. Undefined if there is none. */
export function gitVersionIn(body: Uint8Array): string | undefined {
  return textOrUndefined(parseStored<VersionInfo>(body)?.gitVersion)?.slice(0, 64);
}

/** True for servers with a reliable WatchList: 1.32, and 1.34 or later. In 1.33 it was off by default. */
export function supportsWatchList(version: string | undefined): boolean {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  if (major === '') return false;
  return Number(major) > 1 || Number(minor) === 32 || Number(minor) >= 34;
}

const builtInGroups: ReadonlySet<string> = new Set(['', 'apps', 'autoscaling', 'batch', 'extensions', 'policy']);

/** True for the groups that kube-apiserver itself serves. Other groups that end in `k8s.io` are custom resources or aggregated APIs. */
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
