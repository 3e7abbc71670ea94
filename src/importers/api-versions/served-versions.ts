import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import { groupOfApiVersion, versionOfApiVersion } from '../../core/kinds.ts';
import { withValueAt } from '../../manifests/json-edits.ts';
import { infoNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';

/** An object in a version that current API servers serve, as far as it could be converted. */
export interface CurrentObject {
  /** The given object itself if nothing was converted. */
  readonly object: JsonObject;
  readonly notes: readonly ImportNote[];
}

/** The kinds of Kubernetes by the version in which current API servers serve them. */
const kindsByVersion: Readonly<Record<string, string>> = {
  v1:
    'ConfigMap Endpoints LimitRange Namespace PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ' +
    'ResourceQuota Secret Service ServiceAccount',
  'admissionregistration.k8s.io/v1': 'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
  'apiextensions.k8s.io/v1': 'CustomResourceDefinition',
  'apiregistration.k8s.io/v1': 'APIService',
  'apps/v1': 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet',
  'autoscaling/v2': 'HorizontalPodAutoscaler',
  'batch/v1': 'CronJob Job',
  'certificates.k8s.io/v1': 'CertificateSigningRequest',
  'coordination.k8s.io/v1': 'Lease',
  'discovery.k8s.io/v1': 'EndpointSlice',
  'flowcontrol.apiserver.k8s.io/v1': 'FlowSchema PriorityLevelConfiguration',
  'networking.k8s.io/v1': 'Ingress IngressClass NetworkPolicy',
  'node.k8s.io/v1': 'RuntimeClass',
  'policy/v1': 'PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'scheduling.k8s.io/v1': 'PriorityClass',
  'storage.k8s.io/v1': 'CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment',
};

const servedVersions: ReadonlyMap<string, string> = new Map(
  Object.entries(kindsByVersion).flatMap(([apiVersion, kinds]) => kinds.split(' ').map((kind): [string, string] => [kind, apiVersion])),
);

/** Returns the API version in which current API servers serve a kind of Kubernetes itself. Undefined for all other kinds. */
export function servedVersionOf(kind: string): string | undefined {
  return servedVersions.get(kind);
}

/** The old versions whose kinds have the same fields with the same defaults in the version that is served today. */
const equalVersions: Readonly<Record<string, string>> = {
  'apiregistration.k8s.io/v1beta1': 'APIService',
  'apps/v1beta1': 'ControllerRevision',
  'apps/v1beta2': 'ControllerRevision',
  'autoscaling/v2beta1': 'HorizontalPodAutoscaler',
  'autoscaling/v2beta2': 'HorizontalPodAutoscaler',
  'batch/v1beta1': 'CronJob',
  'coordination.k8s.io/v1beta1': 'Lease',
  'extensions/v1beta1': 'NetworkPolicy',
  'networking.k8s.io/v1beta1': 'IngressClass',
  'node.k8s.io/v1beta1': 'RuntimeClass',
  'policy/v1beta1': 'PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1beta1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'scheduling.k8s.io/v1beta1': 'PriorityClass',
  'storage.k8s.io/v1beta1': 'CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment',
};

/** The API groups of Kubernetes itself that have, or had, alpha and beta versions. */
const builtInGroups: ReadonlySet<string> = new Set([
  ...'apps autoscaling batch extensions policy'.split(' '),
  ...(
    'admissionregistration apiextensions apiregistration auditregistration authentication authorization certificates coordination ' +
    'discovery events flowcontrol.apiserver internal.apiserver networking node rbac.authorization resource scheduling settings ' +
    'storage storagemigration'
  )
    .split(' ')
    .map((group) => `${group}.k8s.io`),
]);

/**
 * Returns the object in the version that API servers serve today, if only `apiVersion` differs. Another version that they do not serve by
 * default stays, with a warning. Also converts the version of the workload in the `scaleTargetRef` of a HorizontalPodAutoscaler, because an
 * autoscaler finds no workload of `extensions/v1beta1`.
 */
export function withServedVersion(object: JsonObject, path: string): CurrentObject {
  const target = withServedTarget(object, path);
  const [apiVersion, kind] = [textAt(object, 'apiVersion') ?? '', textAt(object, 'kind') ?? ''];
  if (!builtInGroups.has(groupOfApiVersion(apiVersion)) || !/alpha|beta/.test(versionOfApiVersion(apiVersion))) return target;
  const served = servedVersionOf(kind);
  if (served === undefined || !hasEqualFields(object, apiVersion, kind)) {
    const remedy = served === undefined ? 'A plan refuses it in clusters without this version' : `Write it for ${served}, where it differs`;
    const message = `current API servers do not serve ${kind} of ${apiVersion} by default, and it is not converted. ${remedy}`;
    return { ...target, notes: [warningNote('UNSUPPORTED', `${path}.apiVersion`, message), ...target.notes] };
  }
  const note = infoNote('API_CONVERTED', `${path}.apiVersion`, `${apiVersion} of ${kind} became ${served}, which has the same fields`);
  return { object: withValueAt(target.object, ['apiVersion'], served), notes: [note, ...target.notes] };
}

/** True if the object means the same in its old version and in the version that is served today. */
function hasEqualFields(object: JsonObject, apiVersion: string, kind: string): boolean {
  const kinds = Object.hasOwn(equalVersions, apiVersion) ? equalVersions[apiVersion] : undefined;
  if (kinds?.split(' ').includes(kind) !== true) return false;
  switch (`${apiVersion} ${kind}`) {
    // The metrics have other fields.
    case 'autoscaling/v2beta1 HorizontalPodAutoscaler':
      return listAt(object, 'spec', 'metrics').length === 0;
    // An empty selector selects no Pod in v1beta1, and every Pod in v1.
    case 'policy/v1beta1 PodDisruptionBudget':
      return !isEmptySelector(valueAt(object, 'spec', 'selector'));
    default:
      return true;
  }
}

function isEmptySelector(selector: JsonObject[string]): boolean {
  if (!isJsonObject(selector)) return false;
  return Object.values(selector).every((member) => member === undefined || member === null || Object.keys(member).length === 0);
}

/** The kinds of workloads that the group apps has had since Kubernetes 1.9, and the versions before. */
export const movedWorkloads = {
  kinds: ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'] as readonly string[],
  versions: ['extensions/v1beta1', 'apps/v1beta1', 'apps/v1beta2'] as readonly string[],
};

function withServedTarget(object: JsonObject, path: string): CurrentObject {
  const isAutoscaler = textAt(object, 'kind') === 'HorizontalPodAutoscaler' && /^autoscaling\//.test(textAt(object, 'apiVersion') ?? '');
  const target = objectAt(object, 'spec', 'scaleTargetRef');
  const [apiVersion, kind] = [textAt(target, 'apiVersion') ?? '', textAt(target, 'kind') ?? ''];
  if (!isAutoscaler || !movedWorkloads.kinds.includes(kind) || !movedWorkloads.versions.includes(apiVersion)) return { object, notes: [] };
  const at = `${path}.spec.scaleTargetRef.apiVersion`;
  return {
    object: withValueAt(object, ['spec', 'scaleTargetRef', 'apiVersion'], 'apps/v1'),
    notes: [infoNote('API_CONVERTED', at, `${apiVersion} of ${kind} became apps/v1`)],
  };
}
