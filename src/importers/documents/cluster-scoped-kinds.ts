import { groupOfApiVersion } from '../../core/kinds.ts';

/** The cluster-scoped kinds of Kubernetes by their API group. */
const kindsByGroup: Readonly<Record<string, readonly string[]>> = {
  '': ['Namespace', 'Node', 'PersistentVolume'],
  'admissionregistration.k8s.io': [
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
  'apiregistration.k8s.io': ['APIService'],
  'certificates.k8s.io': ['CertificateSigningRequest'],
  'flowcontrol.apiserver.k8s.io': ['FlowSchema', 'PriorityLevelConfiguration'],
  'networking.k8s.io': ['IngressClass'],
  'node.k8s.io': ['RuntimeClass'],
  'rbac.authorization.k8s.io': ['ClusterRole', 'ClusterRoleBinding'],
  'scheduling.k8s.io': ['PriorityClass'],
  'storage.k8s.io': ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
};

/**
 * True for a cluster-scoped kind of Kubernetes itself. False for every custom kind, because a manifest does not tell whether its kind is
 * namespaced.
 */
export function isClusterScopedKind({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  const group = groupOfApiVersion(apiVersion);
  return Object.hasOwn(kindsByGroup, group) && kindsByGroup[group]?.includes(kind) === true;
}
