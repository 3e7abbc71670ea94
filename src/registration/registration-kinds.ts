import { labelsAt } from '../core/json-at.ts';
import { groupOfApiVersion, type ServedResource, versionOfApiVersion } from '../core/kinds.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { Manifest } from '../manifests/manifest.ts';
import { clusterKind } from './cluster-resource.ts';

/** The label of every object that `muster join` makes. Only objects with this label are changed or deleted. */
export const ownLabel = { key: 'app.kubernetes.io/managed-by', value: 'muster' } as const;

/** True if the object has the label of `muster join`. False for undefined. */
export function isOwn(object: KubernetesObject | undefined): boolean {
  return labelsAt(object, 'metadata', 'labels')[ownLabel.key] === ownLabel.value;
}

/** The kinds that joining and leaving read and write, as every API server serves them. */
export const registrationKinds = {
  namespace: resourceOf('v1', 'Namespace', { resource: 'namespaces', namespaced: false }),
  serviceAccount: resourceOf('v1', 'ServiceAccount', { resource: 'serviceaccounts', namespaced: true }),
  secret: resourceOf('v1', 'Secret', { resource: 'secrets', namespaced: true }),
  clusterRole: resourceOf('rbac.authorization.k8s.io/v1', 'ClusterRole', { resource: 'clusterroles', namespaced: false }),
  clusterRoleBinding: resourceOf('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', {
    resource: 'clusterrolebindings',
    namespaced: false,
  }),
  role: resourceOf('rbac.authorization.k8s.io/v1', 'Role', { resource: 'roles', namespaced: true }),
  roleBinding: resourceOf('rbac.authorization.k8s.io/v1', 'RoleBinding', { resource: 'rolebindings', namespaced: true }),
  lease: resourceOf('coordination.k8s.io/v1', 'Lease', { resource: 'leases', namespaced: true }),
  cluster: resourceOf(clusterKind.apiVersion, clusterKind.kind, { resource: 'clusters', namespaced: false }),
  propagation: resourceOf(clusterKind.apiVersion, 'Propagation', { resource: 'propagations', namespaced: true }),
  clusterShare: resourceOf(clusterKind.apiVersion, 'ClusterShare', { resource: 'clustershares', namespaced: true }),
} as const;

/** An object that a join creates or updates. */
export interface RegistrationObject {
  readonly resource: ServedResource;
  readonly manifest: Manifest;
}

function resourceOf(apiVersion: string, kind: string, more: Pick<ServedResource, 'resource' | 'namespaced'>): ServedResource {
  const version = versionOfApiVersion(apiVersion);
  const facts = { singular: kind.toLowerCase(), verbs: [], shortNames: [], categories: [] };
  return { group: groupOfApiVersion(apiVersion), version, versions: [version], kind, ...facts, ...more };
}
