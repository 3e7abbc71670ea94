import type { JsonObject } from '../../../core/json.ts';
import { labelsAt, objectAt, textAt } from '../../../core/json-at.ts';
import { withoutMembers, withValueAt } from '../../../manifests/json-edits.ts';

/** Where the record of our own labels and annotations stands: `<prefix>/managed-labels`, `<prefix>/managed-annotations`. */
export type RecordPrefix = 'muster.dev' | 'resourcetemplate.karmada.io';

type KeyedField = 'labels' | 'annotations';

function recordOf(field: KeyedField, prefix: RecordPrefix): string {
  return `${prefix}/managed-${field}`;
}

/** True if the object carries a record, as each replacement leaves one. */
export function isRecorded(object: JsonObject, prefix: RecordPrefix): boolean {
  const annotations = labelsAt(object, 'metadata', 'annotations');
  return annotations[recordOf('annotations', prefix)] !== undefined || annotations[recordOf('labels', prefix)] !== undefined;
}

/** The object with the keys of its labels recorded in an annotation: sorted, joined by commas. */
export function recordManagedLabels<T extends JsonObject>(object: T, prefix: RecordPrefix): T {
  const keys = Object.keys(objectAt(object, 'metadata', 'labels')).sort();
  return withValueAt(object, ['metadata', 'annotations', recordOf('labels', prefix)], keys.join(','));
}

/** The object with the keys of its annotations recorded in an annotation: sorted, joined by commas, those of both records among them. */
export function recordManagedAnnotations<T extends JsonObject>(object: T, prefix: RecordPrefix): T {
  const records = [recordOf('annotations', prefix), recordOf('labels', prefix)];
  const keys = [...new Set([...Object.keys(objectAt(object, 'metadata', 'annotations')), ...records])].sort();
  return withValueAt(object, ['metadata', 'annotations', recordOf('annotations', prefix)], keys.join(','));
}

/**
 * The object with the labels, or the annotations, that the live one has besides: ours win; keys that the live object's record says were ours, and that we
 * do not set any more, go.
 */
export function retainKeys<T extends JsonObject>(object: T, live: JsonObject, { field, prefix }: RetainedKeys): T {
  const record = textAt(live, 'metadata', 'annotations', recordOf(field, prefix)) ?? '';
  const theirs = withoutMembers(labelsAt(live, 'metadata', field), record.split(','));
  if (Object.keys(theirs).length === 0) return object;
  return withValueAt(object, ['metadata', field], { ...theirs, ...objectAt(object, 'metadata', field) });
}

interface RetainedKeys {
  readonly field: KeyedField;
  readonly prefix: RecordPrefix;
}
