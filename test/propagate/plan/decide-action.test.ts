import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/core/json/canonical-json.ts';
import { keyOfManifest } from '../../../src/manifests/object-key.ts';
import type { InventoryEntry } from '../../../src/propagate/model/inventory.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { ConflictMode } from '../../../src/propagate/model/spec.ts';
import { observedHashOf } from '../../../src/propagate/plan/copies/observed-hash.ts';
import { actionsOf, clusterIn, comparisonRules, configMap, entry, existingObject, planOf } from './snapshots.ts';

const modes: readonly ConflictMode[] = ['Abort', 'Adopt', 'Overwrite', 'CreateOnly', 'ServerSideApply'];

const manifest = configMap('settings');
/** The manifest as it was sent, with the intent token. `answered` is the object with a field that the server added. */
const carried = { ...manifest, metadata: { ...manifest.metadata, annotations: { [marks.intent]: 'token' } } };
const answered = { ...existingObject(carried, 'ours'), immutable: false };
const asSent: Partial<InventoryEntry> = {
  uid: 'ours',
  appliedHash: sha256Of(manifest),
  observedHash: observedHashOf({ key: keyOfManifest(manifest), desired: manifest }, answered, comparisonRules),
};

const situations = [
  { what: 'nothing', live: undefined, known: undefined, does: ['CREATE', 'CREATE', 'CREATE', 'CREATE', 'CREATE'] },
  { what: 'nothing in place of a copy', live: undefined, known: asSent, does: ['CREATE', 'CREATE', 'CREATE', 'CREATE', 'CREATE'] },
  {
    what: 'an object of another owner',
    live: 'theirs',
    known: undefined,
    does: ['HOLD (Conflict)', 'ADOPT', 'ADOPT', 'HOLD (CreateOnly)', 'ADOPT'],
  },
  {
    what: 'an object of another owner in place of a copy',
    live: 'theirs',
    known: asSent,
    does: ['HOLD (Conflict)', 'ADOPT', 'ADOPT', 'HOLD (CreateOnly)', 'ADOPT'],
  },
  {
    what: 'a copy as it was sent',
    live: 'ours',
    known: asSent,
    does: ['UNCHANGED', 'UNCHANGED', 'UNCHANGED', 'HOLD (CreateOnly)', 'UNCHANGED'],
  },
  {
    what: 'a copy of an earlier manifest',
    live: 'ours',
    known: { ...asSent, appliedHash: 'x' },
    does: ['UPDATE', 'UPDATE', 'UPDATE', 'HOLD (CreateOnly)', 'UPDATE'],
  },
  {
    what: 'a copy that was changed by others',
    live: 'ours',
    known: { ...asSent, observedHash: 'x' },
    does: ['UPDATE', 'UPDATE', 'UPDATE', 'HOLD (CreateOnly)', 'UPDATE'],
  },
  {
    what: 'a copy that is being deleted',
    live: 'ours',
    known: { ...asSent, state: 'Deleting' },
    does: ['UPDATE', 'UPDATE', 'UPDATE', 'HOLD (CreateOnly)', 'UPDATE'],
  },
  {
    what: 'a copy with the announced intent token',
    live: 'theirs',
    known: { state: 'Intended', intent: 'token' },
    does: ['UPDATE', 'UPDATE', 'UPDATE', 'HOLD (CreateOnly)', 'UPDATE'],
  },
  {
    what: 'an object with another intent token',
    live: 'theirs',
    known: { state: 'Intended', intent: 'mine' },
    does: ['HOLD (Conflict)', 'ADOPT', 'ADOPT', 'HOLD (CreateOnly)', 'ADOPT'],
  },
] as const;

test.each(
  situations.flatMap(({ what, live, known, does }) => modes.map((conflict, index) => ({ what, live, known, conflict, does: does[index] }))),
)('does $does with $conflict where there is $what', ({ live, known, conflict, does }) => {
  const plan = planOf({
    template: [manifest],
    spec: { conflict },
    clusters: {
      a: {
        ...(live === undefined ? {} : { live: [existingObject(carried, live)] }),
        ...(known === undefined ? {} : { entries: [entry(manifest, known)] }),
      },
    },
  });

  expect(actionsOf(clusterIn(plan, 'a').objects)).toEqual([`${does} settings`]);
});

test('trusts the inventory if the mirror holds another version with other fields', () => {
  const known = entry(manifest, { ...asSent, observedHash: 'of the version that was written' });
  const clusters = (otherVersions: ReadonlySet<string>) => ({
    a: { live: [existingObject(manifest, 'ours')], entries: [known], more: { otherVersions } },
  });

  expect(actionsOf(clusterIn(planOf({ template: [manifest], clusters: clusters(new Set()) }), 'a').objects)).toEqual(['UPDATE settings']);
  const other = planOf({ template: [manifest], clusters: clusters(new Set(['/ConfigMap/default/settings'])) });
  expect(actionsOf(clusterIn(other, 'a').objects)).toEqual(['UNCHANGED settings']);
});
