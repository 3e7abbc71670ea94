import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';
import { listAt, textAt, valueAt } from '../../../core/json-at.ts';
import { withValueAt } from '../../../manifests/json-edits.ts';
import { isTokenSecret } from '../../../manifests/secret-content.ts';

/** The result of `retainFieldsOfKind`. `path` is the field of the live object that cannot be copied. */
export type RetainResult =
  | { readonly result: 'retained'; readonly object: JsonObject }
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

type Rule = (desired: JsonObject, live: JsonObject) => RetainResult;

/**
 * Returns the object with the fields that the member cluster owns, copied from the live object (docs/internals/propagation.md 3.6). Which
 * fields these are depends on the kind. A replacement with the result removes none of them. The arguments are not changed.
 *
 * Fails if a field of the live object has a wrong type, or if a Deployment must keep its replica count but has none.
 */
export function retainFieldsOfKind(kind: string, desired: JsonObject, live: JsonObject): RetainResult {
  return rules.get(kind)?.(desired, live) ?? retained(desired);
}

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['Deployment.apps', retainReplicas],
  ['Pod', retainPod],
  ['Service', retainService],
  ['PersistentVolumeClaim', (desired, live) => retained(withLiveText(desired, live, ['spec', 'volumeName']))],
  ['PersistentVolume', (desired, live) => retained(withLiveValue(desired, live, ['spec', 'claimRef']))],
  ['ServiceAccount', (desired, live) => retained(withReferencesOf(withReferencesOf(desired, live, 'secrets'), live, 'imagePullSecrets'))],
  ['Job.batch', retainJob],
  ['Secret', retainToken],
]);

/**
 * The label with value `true` on a Deployment whose replica count an autoscaler of the member cluster owns. Karmada uses the same label.
 */
const retainReplicasLabel = 'resourcetemplate.karmada.io/retain-replicas';

function retained(object: JsonObject): RetainResult {
  return { result: 'retained', object };
}

/** Copies the value at this path from the live object, if it has one. */
function withLiveValue(desired: JsonObject, live: JsonObject, keys: readonly string[]): JsonObject {
  const value = valueAt(live, ...keys);
  return value === undefined || value === null ? desired : withValueAt(desired, keys, value);
}

/** Copies the text at this path from the live object, if it has one that is not empty. */
function withLiveText(desired: JsonObject, live: JsonObject, keys: readonly string[]): JsonObject {
  return (textAt(live, ...keys) ?? '') === '' ? desired : withLiveValue(desired, live, keys);
}

function retainReplicas(desired: JsonObject, live: JsonObject): RetainResult {
  if (textAt(desired, 'metadata', 'labels', retainReplicasLabel) !== 'true') return retained(desired);
  if (typeof valueAt(live, 'spec', 'replicas') === 'number') return retained(withLiveValue(desired, live, ['spec', 'replicas']));
  return { result: 'failed', path: 'spec.replicas', message: 'expected a count to keep in the live object, got none' };
}

function retainPod(desired: JsonObject, live: JsonObject): RetainResult {
  const fields = ['nodeName', 'serviceAccountName', 'volumes'];
  const scheduled = fields.reduce((pod, field) => withLiveValue(pod, live, ['spec', field]), desired);
  return retained(['containers', 'initContainers'].reduce((pod, list) => withMounts(pod, live, list), scheduled));
}

/** Copies the volume mounts of the live containers, matched by name. */
function withMounts(pod: JsonObject, live: JsonObject, list: string): JsonObject {
  const containers = listAt(pod, 'spec', list);
  if (containers.length === 0) return pod;
  const liveContainers = listAt(live, 'spec', list);
  const mounted = containers.map((container): Json => {
    const same = liveContainers.find((other) => textAt(other, 'name') === textAt(container, 'name'));
    return isJsonObject(container) && isJsonObject(same) ? withLiveValue(container, same, ['volumeMounts']) : container;
  });
  return withValueAt(pod, ['spec', list], mounted);
}

function retainService(desired: JsonObject, live: JsonObject): RetainResult {
  const port = valueAt(live, 'spec', 'healthCheckNodePort') ?? 0;
  if (typeof port !== 'number')
    return { result: 'failed', path: 'spec.healthCheckNodePort', message: 'expected a number in the live object' };
  const address = valueAt(live, 'spec', 'clusterIP') ?? '';
  if (typeof address !== 'string') return { result: 'failed', path: 'spec.clusterIP', message: 'expected a text in the live object' };
  const checked = port > 0 ? withLiveValue(desired, live, ['spec', 'healthCheckNodePort']) : desired;
  return retained(withLiveText(checked, live, ['spec', 'clusterIP']));
}

/** Returns `desired` with the references of both objects in `field`: the references of `desired`, then the references of `live` with other names. */
function withReferencesOf(desired: JsonObject, live: JsonObject, field: string): JsonObject {
  const ours = listAt(desired, field);
  const names = new Set(ours.map((reference) => textAt(reference, 'name')));
  const theirs = listAt(live, field).filter((reference) => !names.has(textAt(reference, 'name')));
  return theirs.length === 0 ? desired : withValueAt(desired, [field], [...ours, ...theirs]);
}

function retainJob(desired: JsonObject, live: JsonObject): RetainResult {
  const selected = withLiveValue(desired, live, ['spec', 'selector', 'matchLabels']);
  return retained(withLiveValue(selected, live, ['spec', 'template', 'metadata', 'labels']));
}

function retainToken(desired: JsonObject, live: JsonObject): RetainResult {
  return retained(isTokenSecret(desired) ? withLiveValue(desired, live, ['data']) : desired);
}
