import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import { noListRules } from '../../../../src/manifests/merge-patch.ts';
import { contendedUntilMs } from '../../../../src/propagate/apply/corrections.ts';
import { clearDeletionMark, withPendingDeletions } from '../../../../src/propagate/apply/deletion-state.ts';
import { newShare } from '../../../../src/propagate/hub/share-document.ts';
import type { InventoryEntry } from '../../../../src/propagate/model/inventory.ts';
import type { RenderedObject } from '../../../../src/propagate/model/plan.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { isWrittenByLaterGeneration, marksOf, marksRemovalPatch, withMarks } from '../../../../src/propagate/plan/copies/copy-marks.ts';
import { withoutRecords } from '../../../../src/propagate/plan/copies/managed-keys.ts';
import { type ComparisonRules, hasHiddenValues, observedHashOf } from '../../../../src/propagate/plan/copies/observed-hash.ts';
import { cluster, owner } from '../../apply/memory-shares.ts';

const visibility: ComparisonRules = { sensitiveKinds: { has: ({ kind }) => kind === 'Hidden' }, listRulesOf: () => noListRules };
const desired: Manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' }, data: { ours: '1' } };
const key = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'a' };
const live = (data: Record<string, string>, uid = 'uid', intent = 'token'): KubernetesObject => ({
  metadata: { name: 'a', namespace: 'n', uid, resourceVersion: '7', annotations: { [marks.intent]: intent } },
  data,
});
const rendered: RenderedObject = { key, action: 'UPDATE', desired, desiredHash: 'hash', predicted: false };
const owned: InventoryEntry = {
  ...{ key, state: 'Owned', uid: 'uid', intent: 'token', appliedHash: 'hash', health: 'Unknown' },
  observedHash: observedHashOf(rendered, live({ ours: '1' }), visibility),
};
const intended: InventoryEntry = { key, state: 'Intended', intent: 'token', health: 'Unknown' };

test.each<readonly [boolean, KubernetesObject]>([
  [true, live({ ours: '2' })],
  [true, live({})],
  [false, live({ ours: '1' })],
  [false, live({ ours: '1', theirs: '2' })],
  [false, live({ ours: '1' }, 'uid', 'other token')],
])('a sent field was changed: %s in %j', (isChanged, object) => {
  expect(observedHashOf(rendered, object, visibility) !== owned.observedHash).toBe(isChanged);
});

test.each(['Secret', 'Hidden'])('only the version of a %s is compared', (kind) => {
  const hidden = { key: { ...key, kind }, desired };
  expect(hasHiddenValues(hidden.key, visibility)).toBe(true);
  expect(observedHashOf(hidden, live({ ours: '2' }), visibility)).toBe('7');
});

test('records of managed labels and annotations are removed with the marks, but not those that Karmada wrote', () => {
  const records = { 'muster.dev/managed-labels': 'a', 'resourcetemplate.karmada.io/managed-labels': 'a' };
  const writtenBy = (manager: string) => ({
    metadata: {
      name: 'a',
      annotations: { note: '1', ...records },
      managedFields: [
        {
          manager,
          operation: 'Update',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:resourcetemplate.karmada.io/managed-labels': {} } } },
        },
      ],
    },
  });
  expect(marksRemovalPatch(writtenBy('muster'))).toEqual({
    annotations: { 'muster.dev/managed-labels': null, 'resourcetemplate.karmada.io/managed-labels': null },
  });
  expect(marksRemovalPatch(writtenBy('karmada'))).toEqual({ annotations: { 'muster.dev/managed-labels': null } });
});

test('records of managed labels and annotations are not a part of diffs', () => {
  const records = { 'muster.dev/managed-labels': 'a', 'resourcetemplate.karmada.io/managed-annotations': 'b' };
  expect(withoutRecords({ metadata: { name: 'a', annotations: { note: '1', ...records } } })).toEqual({
    metadata: { name: 'a', annotations: { note: '1' } },
  });
  expect(withoutRecords({ metadata: { name: 'a', annotations: records } })).toEqual({ metadata: { name: 'a' } });
});

test('marks replace those of the manifest, can be read again, and are removed completely', () => {
  const own = {
    ...desired,
    metadata: { ...desired.metadata, labels: { app: 'web', [marks.propagation]: 'theirs' }, annotations: { note: '1' } },
  };
  const marked = withMarks(own, { owner, generation: 3, intent: 'token' });
  expect(marksOf(marked)).toEqual({ propagation: owner.uid, source: 'apps/web', generation: 3, intent: 'token' });
  expect(marked.metadata).toMatchObject({ labels: { app: 'web' }, annotations: { note: '1' } });
  expect(marksRemovalPatch(marked)).toEqual({
    labels: { [marks.propagation]: null },
    annotations: { [marks.source]: null, [marks.generation]: null, [marks.intent]: null },
  });
  expect(marksRemovalPatch({ metadata: { name: 'a', labels: { app: 'web' } } })).toEqual({});
  expect(marksOf({ metadata: { name: 'a', annotations: { [marks.generation]: 'soon' } } })).toEqual({});
});

test.each([
  [3, 4, false],
  [3, 3, false],
  [3, 2, true],
])('a copy of generation %i is written by a later generation than %i: %s', (written, generation, later) => {
  const object = withMarks(desired, { owner, generation: written });
  expect(isWrittenByLaterGeneration(object, { owner, generation })).toBe(later);
  expect(isWrittenByLaterGeneration(object, { owner: { ...owner, uid: 'another' }, generation })).toBe(false);
});

test('a copy with five corrections in ten minutes is contended until the first one is older than that', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const until = (corrections: readonly string[], minute: number, resumedAtMs?: number) =>
    contendedUntilMs({ ...owned, corrections }, { nowMs: Date.parse(at(minute)), resumedAtMs });
  expect(until([0, 1, 2, 3].map(at), 3)).toBeUndefined();
  expect(until([0, 1, 2, 3, 4].map(at), 9)).toBe(Date.parse(at(10)));
  expect(until([0, 1, 2, 3, 4].map(at), 10)).toBeUndefined();
  expect(until([0, 6, 7, 8, 9, 10].map(at), 11)).toBe(Date.parse(at(16)));
  expect(contendedUntilMs(owned, { nowMs: 0 })).toBeUndefined();
  const resumedAtMs = Date.parse(at(4));
  expect(until([0, 1, 2, 3, 4].map(at), 5, resumedAtMs)).toBeUndefined();
  expect(until([4, 5, 6, 7, 8].map(at), 8, resumedAtMs)).toBeUndefined();
  expect(until([5, 6, 7, 8, 9].map(at), 9, resumedAtMs)).toBe(Date.parse(at(15)));
});

test('the copies of an unreachable cluster wait for deletion with their uids', () => {
  const shared: InventoryEntry = { ...owned, state: 'Shared' };
  const anew: InventoryEntry = { ...intended, uid: 'gone' };
  const share = { ...newShare(owner, cluster), entries: [owned, intended, shared, anew] };
  const fault = { code: 'GONE', cluster, message: 'no member', retry: 'LATER' } as const;
  const now = Date.UTC(2026, 0, 1);
  const pending = withPendingDeletions(share, fault, now);
  expect(pending.entries).toMatchObject([
    { state: 'PendingDeletion', uid: 'uid', fault: { code: 'GONE', message: 'no member', count: 1 } },
    { state: 'PendingDeletion', intent: 'token' },
    { state: 'Shared', fault: { code: 'GONE' } },
    { state: 'PendingDeletion', intent: 'token' },
  ]);
  expect(pending.entries[3]?.uid).toBeUndefined();
  expect(pending.entries.map((entry) => clearDeletionMark(entry).state)).toEqual(['Owned', 'Intended', 'Shared', 'Intended']);
  expect(withPendingDeletions(pending, fault, now + 1).entries[0]?.fault).toMatchObject({ since: '2026-01-01T00:00:00.000Z', count: 2 });
});
