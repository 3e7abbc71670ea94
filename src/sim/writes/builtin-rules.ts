import { equalJson } from '../../core/json/json-values.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { labelsAt, listAt, textAt, valueAt } from '../../core/json-at.ts';
import type { GroupKind } from '../../core/kinds.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { StatusCause } from '../kinds/api-status.ts';

/** Immutable fields of built-in kinds, as dotted paths. */
const immutable: Readonly<Record<string, readonly string[]>> = {
  'Deployment.apps': ['spec.selector'],
  'DaemonSet.apps': ['spec.selector'],
  'ReplicaSet.apps': ['spec.selector'],
  'Job.batch': ['spec.completions', 'spec.selector', 'spec.template'],
  'RoleBinding.rbac.authorization.k8s.io': ['roleRef'],
  'ClusterRoleBinding.rbac.authorization.k8s.io': ['roleRef'],
  'StorageClass.storage.k8s.io': ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'],
  'CustomResourceDefinition.apiextensions.k8s.io': ['spec.group', 'spec.scope'],
  'ControllerRevision.apps': ['data'],
  Secret: ['type'],
};

/** The mutable parts of specs that are otherwise immutable. */
const mutableSpecs: Readonly<Record<string, readonly string[]>> = {
  'StatefulSet.apps': [
    ...['replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy'],
    'minReadySeconds',
  ],
  PersistentVolumeClaim: ['resources', 'volumeAttributesClassName', 'volumeName'],
  Pod: ['containers', 'initContainers', 'activeDeadlineSeconds', 'tolerations', 'terminationGracePeriodSeconds', 'nodeName'],
};

/** Returns the causes of a 422 for forbidden changes. */
export function forbiddenChanges(kind: GroupKind, old: JsonObject, next: JsonObject): readonly StatusCause[] {
  const key = keyOfKind(kind);
  const changed = (immutable[key] ?? []).filter((field) => isChanged(old, next, field.split('.')));
  const causes = changed.map((field) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(valueAt(next, ...field.split('.')) ?? null)}: field is immutable`,
    field,
  }));
  return [...causes, ...specChanges(key, old, next), ...contentChanges(key, old, next), ...addressChanges(key, old, next)];
}

function isChanged(old: JsonObject, next: JsonObject, path: readonly string[]): boolean {
  const before = valueAt(old, ...path);
  // A field without a value may be set once: a real server would have set a default.
  return before !== undefined && !equalJson(before, valueAt(next, ...path));
}

function specChanges(key: string, old: JsonObject, next: JsonObject): readonly StatusCause[] {
  const allowed = mutableSpecs[key];
  if (allowed === undefined || equalJson(fixedSpec(old, allowed, key), fixedSpec(next, allowed, key))) return [];
  const fields = allowed.map((field) => `'${field}'`).join(', ');
  return [
    {
      reason: 'FieldValueForbidden',
      message: `Forbidden: updates to ${key} spec for fields other than ${fields} are forbidden`,
      field: 'spec',
    },
  ];
}

/** Returns the immutable part of a spec. For a Pod this includes its containers without their images, because only an image may change. */
function fixedSpec({ spec }: JsonObject, allowed: readonly string[], key: string): Json {
  const fixed = Object.entries(isJsonObject(spec) ? spec : {}).filter(([name]) => !allowed.includes(name));
  const containers = key !== 'Pod' ? [] : [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')];
  return [Object.fromEntries(fixed), containers.map((container) => (isJsonObject(container) ? { ...container, image: '' } : container))];
}

/** Returns the causes of a 422 for changes of ConfigMaps and Secrets with `immutable: true`. */
function contentChanges(key: string, old: JsonObject, next: JsonObject): readonly StatusCause[] {
  if ((key !== 'ConfigMap' && key !== 'Secret') || old.immutable !== true) return [];
  const message = 'Forbidden: field is immutable when `immutable` is set';
  const changed = ['immutable', 'data', 'binaryData'].filter((field) => !equalJson(old[field], next[field]));
  return changed.map((field) => ({ reason: 'FieldValueForbidden', message, field }));
}

function addressChanges(key: string, old: JsonObject, next: JsonObject): readonly StatusCause[] {
  const before = textAt(old, 'spec', 'clusterIP') ?? '';
  const after = textAt(next, 'spec', 'clusterIP') ?? before;
  if (key !== 'Service' || before === '' || before === after) return [];
  const message = `Invalid value: ${JSON.stringify([after])}: may not change once set`;
  return [{ reason: 'FieldValueInvalid', message, field: 'spec.clusterIPs[0]' }];
}

const kindsWithSelector = new Set(['Deployment.apps', 'DaemonSet.apps', 'ReplicaSet.apps', 'StatefulSet.apps']);

/** Returns the causes of a 422 for missing required fields of workloads. */
export function missingFields(kind: GroupKind, object: JsonObject): readonly StatusCause[] {
  const key = keyOfKind(kind);
  if (key === 'Pod') return containerFaults(object.spec, 'spec');
  if (!kindsWithSelector.has(key) && key !== 'Job.batch') return [];
  const pod = valueAt(object.spec, 'template', 'spec');
  const containers = containerFaults(pod, 'spec.template.spec');
  return [...(key === 'Job.batch' ? restartFaults(pod) : selectorFaults(object)), ...containers];
}

function selectorFaults({ spec }: JsonObject): readonly StatusCause[] {
  const selector = valueAt(spec, 'selector');
  const labels = labelsAt(spec, 'template', 'metadata', 'labels');
  const wanted = Object.entries(labelsAt(selector, 'matchLabels'));
  const missing = selector === undefined ? [required('spec.selector')] : [];
  const matches =
    wanted.every(([name, value]) => labels[name] === value) && (wanted.length > 0 || listAt(selector, 'matchExpressions').length > 0);
  if (matches) return missing;
  const given = JSON.stringify(Object.keys(labels).length === 0 ? null : labels);
  const message = `Invalid value: ${given}: \`selector\` does not match template \`labels\``;
  return [...missing, { reason: 'FieldValueInvalid', message, field: 'spec.template.metadata.labels' }];
}

function restartFaults(pod: Json | undefined): readonly StatusCause[] {
  const policy = textAt(pod, 'restartPolicy') ?? '';
  if (policy === 'Never' || policy === 'OnFailure') return [];
  const field = 'spec.template.spec.restartPolicy';
  const allowed = 'valid values: "OnFailure", "Never"';
  return [
    policy === ''
      ? { ...required(field), message: `Required value: ${allowed}` }
      : { reason: 'FieldValueNotSupported', message: `Unsupported value: ${JSON.stringify(policy)}: ${allowed}`, field },
  ];
}

function containerFaults(pod: Json | undefined, place: string): readonly StatusCause[] {
  const containers = listAt(pod, 'containers');
  if (containers.length === 0) return [required(`${place}.containers`)];
  return containers.flatMap((container, index) =>
    ['name', 'image'].filter((key) => (textAt(container, key) ?? '') === '').map((key) => required(`${place}.containers[${index}].${key}`)),
  );
}

function required(field: string): StatusCause {
  return { reason: 'FieldValueRequired', message: 'Required value', field };
}
