import type { JsonObject } from '../../../core/json.ts';
import { labelsAt, objectAt, textAt } from '../../../core/json-at.ts';
import { withoutMembers, withoutValueAt, withValueAt } from '../../../manifests/json-edits.ts';
import type { ExactSpec } from '../../model/spec.ts';

/**
 * The prefix of the annotations that record which labels and annotations Muster manages: `<prefix>/managed-labels`,
 * `<prefix>/managed-annotations`. The second prefix is that of Karmada.
 */
export type RecordPrefix = (typeof recordPrefixes)[number];

const recordPrefixes = ['muster.dev', 'resourcetemplate.karmada.io'] as const;

type KeyedField = 'labels' | 'annotations';

function recordOf(field: KeyedField, prefix: RecordPrefix): string {
  return `${prefix}/managed-${field}`;
}

/** Returns the prefix of the records of a Propagation: that of Karmada if its rules are followed. */
export function recordPrefixOf(exact: ExactSpec | undefined): RecordPrefix {
  return exact?.system === 'Karmada' ? 'resourcetemplate.karmada.io' : 'muster.dev';
}

/** The names of the annotations that record managed labels and annotations, with both prefixes. */
export const recordAnnotations: readonly string[] = recordPrefixes.flatMap((prefix) => [
  recordOf('annotations', prefix),
  recordOf('labels', prefix),
]);

/** True if the object records which labels or annotations are managed. Every replacement writes such a record. */
export function hasManagedKeysRecord(object: JsonObject): boolean {
  const annotations = labelsAt(object, 'metadata', 'annotations');
  return recordAnnotations.some((name) => annotations[name] !== undefined);
}

/** Returns the object without the annotations that record managed labels and annotations. Diffs do not show them. */
export function withoutRecords<T extends JsonObject>(object: T): T {
  if (!hasManagedKeysRecord(object)) return object;
  const left = withoutMembers(objectAt(object, 'metadata', 'annotations'), recordAnnotations);
  const path = ['metadata', 'annotations'];
  return Object.keys(left).length === 0 ? withoutValueAt(object, path) : withValueAt(object, path, left);
}

/** Returns the object with an annotation that records the keys of its labels, sorted and joined by commas. */
export function recordManagedLabels<T extends JsonObject>(object: T, prefix: RecordPrefix): T {
  const keys = Object.keys(objectAt(object, 'metadata', 'labels')).sort();
  return withValueAt(object, ['metadata', 'annotations', recordOf('labels', prefix)], keys.join(','));
}

/**
 * Returns the object with an annotation that records the keys of its annotations, sorted and joined by commas. The keys of both records are
 * included.
 */
export function recordManagedAnnotations<T extends JsonObject>(object: T, prefix: RecordPrefix): T {
  const records = [recordOf('annotations', prefix), recordOf('labels', prefix)];
  const keys = [...new Set([...Object.keys(objectAt(object, 'metadata', 'annotations')), ...records])].sort();
  return withValueAt(object, ['metadata', 'annotations', recordOf('annotations', prefix)], keys.join(','));
}

/**
 * Adds the labels or annotations of the live object that other managers own. For equal keys, the value of Muster wins. A key is not added
 * if the record in the live object lists it and `object` does not have it: Muster managed this key before and removes it now.
 */
export function withForeignKeys<T extends JsonObject>(object: T, live: JsonObject, { field, prefix }: ForeignKeysOptions): T {
  const record = textAt(live, 'metadata', 'annotations', recordOf(field, prefix)) ?? '';
  const theirs = withoutMembers(labelsAt(live, 'metadata', field), record.split(','));
  if (Object.keys(theirs).length === 0) return object;
  return withValueAt(object, ['metadata', field], { ...theirs, ...objectAt(object, 'metadata', field) });
}

interface ForeignKeysOptions {
  readonly field: KeyedField;
  readonly prefix: RecordPrefix;
}
