import { textAt } from '../../core/json-at.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import { isClusterScopedKind } from '../documents/cluster-scoped-kinds.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';

/** The kind of the objects that a federated kind makes. */
export interface TargetKind {
  readonly kind: string;
  /**
   * The API version of the kind. Undefined: neither Kubernetes nor a FederatedTypeConfig has the kind, so the template must name its
   * version.
   */
  readonly apiVersion: string | undefined;
  readonly isNamespaced: boolean;
  /** The FederatedTypeConfig of the kind. Undefined: the input has none. */
  readonly config?: ObjectDocument | undefined;
}

/** The kinds of Kubernetes by their version. KubeFed's own FederatedTypeConfigs have the same versions. */
const kindsByVersion: Readonly<Record<string, string>> = {
  v1:
    'ConfigMap Endpoints LimitRange Namespace PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ' +
    'ResourceQuota Secret Service ServiceAccount',
  'admissionregistration.k8s.io/v1': 'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
  'apiextensions.k8s.io/v1': 'CustomResourceDefinition',
  'apps/v1': 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet',
  'autoscaling/v2': 'HorizontalPodAutoscaler',
  'batch/v1': 'CronJob Job',
  'coordination.k8s.io/v1': 'Lease',
  'discovery.k8s.io/v1': 'EndpointSlice',
  'networking.k8s.io/v1': 'Ingress IngressClass NetworkPolicy',
  'node.k8s.io/v1': 'RuntimeClass',
  'policy/v1': 'PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'scheduling.k8s.io/v1': 'PriorityClass',
  'storage.k8s.io/v1': 'StorageClass',
};

const builtInVersions: ReadonlyMap<string, string> = new Map(
  Object.entries(kindsByVersion).flatMap(([apiVersion, kinds]) => kinds.split(' ').map((kind): [string, string] => [kind, apiVersion])),
);

/** Finds the target kind of a federated object: in the FederatedTypeConfigs of the input, else by its name. */
export function targetKindOf({ key }: ObjectDocument, typeConfigs: readonly ObjectDocument[]): TargetKind {
  const config = typeConfigs.find(
    ({ object }) =>
      textAt(object, 'spec', 'federatedType', 'kind') === key.kind &&
      key.apiVersion.startsWith(`${textAt(object, 'spec', 'federatedType', 'group') ?? 'types.kubefed.io'}/`),
  );
  const kind = textAt(config?.object, 'spec', 'targetType', 'kind') ?? key.kind.slice('Federated'.length);
  const version = textAt(config?.object, 'spec', 'targetType', 'version');
  const group = textAt(config?.object, 'spec', 'targetType', 'group') ?? '';
  const scope = textAt(config?.object, 'spec', 'targetType', 'scope');
  const apiVersion = version === undefined ? builtInVersions.get(kind) : apiVersionOf({ group, version });
  const isClusterScoped = scope === undefined ? apiVersion !== undefined && isClusterScopedKind({ apiVersion, kind }) : scope === 'Cluster';
  return { kind, apiVersion, isNamespaced: !isClusterScoped, config };
}
