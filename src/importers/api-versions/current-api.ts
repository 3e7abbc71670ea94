import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { labelsAt, listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import { withoutValueAt, withValueAt } from '../../manifests/json-edits.ts';
import { infoNote, warningNote } from '../model/import-notes.ts';
import { type CurrentObject, movedWorkloads, withServedVersion } from './served-versions.ts';

/** How the system writes its objects. */
export interface ConversionOptions {
  /**
   * True: the system adds a label of its own to each object. API servers then set no default for `metadata.labels`, because they set it only
   * for objects without labels. Default: false.
   */
  readonly addsLabel?: boolean;
}

const removedFields = ['rollbackTo', 'templateGeneration'];

/**
 * Returns the object in the version that clusters serve today: workloads of extensions/v1beta1, apps/v1beta1 and apps/v1beta2 become
 * apps/v1, and an Ingress with backends of a beta version becomes networking.k8s.io/v1. Where a default of the old version differs from that
 * of apps/v1, the old one is written into the object. So the workload behaves as before, for example at its next update. Fields that apps/v1
 * does not have are removed. Other objects are converted if only their `apiVersion` differs (`withServedVersion`). Each change has a note,
 * and so has an old version that stays.
 */
export function currentObjectOf(object: JsonObject, path: string, { addsLabel = false }: ConversionOptions = {}): CurrentObject {
  const [apiVersion, kind] = [textAt(object, 'apiVersion') ?? '', textAt(object, 'kind') ?? ''];
  if (kind === 'Ingress' && (betaIngressVersions.includes(apiVersion) || hasBetaBackend(object))) {
    const message = `the Ingress was converted to ${ingressVersion}, where backends have another form than in ${betaIngressVersions.join(' and ')}`;
    return { object: currentIngressOf(object), notes: [infoNote('API_CONVERTED', `${path}.apiVersion`, message)] };
  }
  if (!movedWorkloads.versions.includes(apiVersion) || !movedWorkloads.kinds.includes(kind)) return withServedVersion(object, path);
  const removed = removedFields.filter((field) => valueAt(object, 'spec', field) !== undefined);
  const kept = removed.reduce((one, field) => withoutValueAt(one, ['spec', field]), withValueAt(object, ['apiVersion'], 'apps/v1'));
  const defaults = oldDefaultsOf(object, apiVersion, kind).filter(([keys]) => !(addsLabel && keys[0] === 'metadata'));
  const missing = defaults.filter(([keys]) => isUnset(valueAt(object, ...keys)));
  const written = missing.map(([keys]) => keys.join('.')).join(', ');
  const added = written === '' ? '' : `. These fields have the defaults of ${apiVersion}, because those of apps/v1 differ: ${written}`;
  return {
    object: missing.reduce((one, [keys, value]) => withValueAt(one, keys, value), kept),
    notes: [
      infoNote('API_CONVERTED', `${path}.apiVersion`, `${apiVersion} of ${kind} became apps/v1${added}`),
      ...removed.map((field) => warningNote('DROPPED', `${path}.spec.${field}`, `apps/v1 has no ${field}`)),
    ],
  };
}

const ingressVersion = 'networking.k8s.io/v1';
const betaIngressVersions = ['extensions/v1beta1', 'networking.k8s.io/v1beta1'];

/** True for an Ingress with the backends of a beta version. A federated Ingress can have them without a version. */
function hasBetaBackend(ingress: JsonObject): boolean {
  const paths = listAt(ingress, 'spec', 'rules').flatMap((rule) => listAt(rule, 'http', 'paths'));
  return [valueAt(ingress, 'spec'), ...paths].some((owner) => valueAt(owner, 'backend', 'serviceName') !== undefined);
}

/** Returns an Ingress of extensions/v1beta1 in `ingressVersion`, converted as API servers convert it. */
function currentIngressOf(ingress: JsonObject): JsonObject {
  const { backend, rules, ...rest } = objectAt(ingress, 'spec');
  const spec: JsonObject = {
    ...rest,
    ...(isJsonObject(backend) ? { defaultBackend: currentBackendOf(backend) } : {}),
    ...(Array.isArray(rules) ? { rules: rules.map(currentRuleOf) } : {}),
  };
  return { ...ingress, apiVersion: ingressVersion, spec };
}

function currentRuleOf(rule: Json): Json {
  if (!isJsonObject(rule) || !Array.isArray(valueAt(rule, 'http', 'paths'))) return rule;
  const paths = listAt(rule, 'http', 'paths').map((path): Json => {
    if (!isJsonObject(path)) return path;
    const { backend, ...others } = path;
    return { pathType: 'ImplementationSpecific', ...others, ...(isJsonObject(backend) ? { backend: currentBackendOf(backend) } : {}) };
  });
  return withValueAt(rule, ['http', 'paths'], paths);
}

function currentBackendOf({ serviceName, servicePort, ...others }: JsonObject): JsonObject {
  if (serviceName === undefined) return others;
  const port = typeof servicePort === 'string' ? { name: servicePort } : { number: servicePort };
  return { ...others, service: { name: serviceName, ...(servicePort === undefined ? {} : { port }) } };
}

/** The path of a field, and the value that an old version gives it if it is missing. */
type OldDefault = readonly [keys: readonly string[], value: Json];

/** The largest integer of 32 bits. As a limit or a deadline, it means that there is none. */
const unlimited = 2 ** 31 - 1;

/** The defaults that apps/v1 does not have, by the old version and the kind (pkg/apis/extensions/v1beta1/defaults.go of Kubernetes 1.15). */
const oldDefaults: Readonly<Record<string, readonly OldDefault[]>> = {
  'extensions/v1beta1 Deployment': [
    [['spec', 'strategy', 'rollingUpdate', 'maxUnavailable'], 1],
    [['spec', 'strategy', 'rollingUpdate', 'maxSurge'], 1],
    [['spec', 'progressDeadlineSeconds'], unlimited],
    [['spec', 'revisionHistoryLimit'], unlimited],
  ],
  'extensions/v1beta1 DaemonSet': [[['spec', 'updateStrategy', 'type'], 'OnDelete']],
  'apps/v1beta1 Deployment': [[['spec', 'revisionHistoryLimit'], 2]],
  'apps/v1beta1 StatefulSet': [[['spec', 'updateStrategy', 'type'], 'OnDelete']],
};

/**
 * Returns a workload of an old version with the selector and the labels that API servers add from its Pod labels. A later change of the Pod labels
 * does not change them. Returns other objects as they are.
 */
export function withLabelDefaults(object: JsonObject): JsonObject {
  const [apiVersion, kind] = [textAt(object, 'apiVersion') ?? '', textAt(object, 'kind') ?? ''];
  if (!movedWorkloads.versions.includes(apiVersion) || !movedWorkloads.kinds.includes(kind)) return object;
  const missing = labelDefaultsOf(object, apiVersion).filter(([keys]) => isUnset(valueAt(object, ...keys)));
  return missing.reduce((one, [keys, value]) => withValueAt(one, keys, value), object);
}

/** Returns the defaults of an old workload that come from its Pod labels. */
function labelDefaultsOf(object: JsonObject, apiVersion: string): readonly OldDefault[] {
  const labels = labelsAt(object, 'spec', 'template', 'metadata', 'labels');
  if (Object.keys(labels).length === 0) return [];
  const selector: OldDefault = [['spec', 'selector'], { matchLabels: labels }];
  return apiVersion === 'apps/v1beta2' ? [selector] : [selector, [['metadata', 'labels'], labels]];
}

/** Returns the defaults of an old workload. A strategy other than RollingUpdate has no member `rollingUpdate`. */
function oldDefaultsOf(object: JsonObject, apiVersion: string, kind: string): readonly OldDefault[] {
  const isRolling = (textAt(object, 'spec', 'strategy', 'type') ?? 'RollingUpdate') === 'RollingUpdate';
  return [
    ...labelDefaultsOf(object, apiVersion),
    ...(oldDefaults[`${apiVersion} ${kind}`] ?? []).filter(([keys]) => isRolling || !keys.includes('rollingUpdate')),
  ];
}

/** True for a value that the old versions replaced by their default: none, null, or an empty text or map. */
function isUnset(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}
