import type { JsonObject } from '../../core/json.ts';
import { labelsAt, textAt, valueAt } from '../../core/json-at.ts';
import { withoutValueAt, withValueAt } from '../../manifests/json-edits.ts';
import { infoNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';

interface CurrentObject {
  readonly object: JsonObject;
  readonly notes: readonly ImportNote[];
}

const oldVersions = ['extensions/v1beta1', 'apps/v1beta1', 'apps/v1beta2'];
const movedKinds = ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'];
const removedFields = ['rollbackTo', 'templateGeneration'];

/**
 * Returns the object in the version that clusters serve today: workloads of extensions/v1beta1, apps/v1beta1 and apps/v1beta2 become
 * apps/v1. A missing selector becomes the labels of the template, which these versions had as its default. Fields that apps/v1 does not
 * have are removed. Each change has a note.
 */
export function currentObjectOf(object: JsonObject, path: string): CurrentObject {
  const [apiVersion, kind] = [textAt(object, 'apiVersion') ?? '', textAt(object, 'kind') ?? ''];
  if (!oldVersions.includes(apiVersion) || !movedKinds.includes(kind)) return { object, notes: [] };
  const labels = labelsAt(object, 'spec', 'template', 'metadata', 'labels');
  const isSelectorMissing = (valueAt(object, 'spec', 'selector') ?? null) === null && Object.keys(labels).length > 0;
  const removed = removedFields.filter((field) => valueAt(object, 'spec', field) !== undefined);
  const kept = removed.reduce((one, field) => withoutValueAt(one, ['spec', field]), withValueAt(object, ['apiVersion'], 'apps/v1'));
  const selector = isSelectorMissing ? ', and its selector the labels of its template' : '';
  return {
    object: isSelectorMissing ? withValueAt(kept, ['spec', 'selector'], { matchLabels: labels }) : kept,
    notes: [
      infoNote('API_CONVERTED', `${path}.apiVersion`, `${apiVersion} of ${kind} became apps/v1${selector}`),
      ...removed.map((field) => warningNote('DROPPED', `${path}.spec.${field}`, `apps/v1 has no ${field}`)),
    ],
  };
}
