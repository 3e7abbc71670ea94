import { groupOfApiVersion } from '../../core/kinds.ts';

/** The cluster-scoped kinds of Kubernetes 1.36 whose objects can be created, by their API group. Includes kinds of beta versions. */
const kindsByGroup: Readonly<Record<string, readonly string[]>> = {
  '': ['Namespace', 'Node', 'PersistentVolume'],
  'admissionregistration.k8s.io': [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
  'apiregistration.k8s.io': ['APIService'],
  'certificates.k8s.io': ['CertificateSigningRequest', 'ClusterTrustBundle'],
  'flowcontrol.apiserver.k8s.io': ['FlowSchema', 'PriorityLevelConfiguration'],
  'networking.k8s.io': ['IngressClass', 'IPAddress', 'ServiceCIDR'],
  'node.k8s.io': ['RuntimeClass'],
  'rbac.authorization.k8s.io': ['ClusterRole', 'ClusterRoleBinding'],
  'resource.k8s.io': ['DeviceClass', 'DeviceTaintRule', 'ResourceSlice'],
  'scheduling.k8s.io': ['PriorityClass'],
  'storage.k8s.io': ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment', 'VolumeAttributesClass'],
  'storagemigration.k8s.io': ['StorageVersionMigration'],
};

/**
 * True for a cluster-scoped kind of Kubernetes itself. False for every custom kind, because a manifest does not tell whether its kind is
 * namespaced.
 */
export function isClusterScopedKind({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  const group = groupOfApiVersion(apiVersion);
  return Object.hasOwn(kindsByGroup, group) && kindsByGroup[group]?.includes(kind) === true;
}
