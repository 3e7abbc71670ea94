import { expect, test } from 'vitest';
import type { PatchObjectRequest } from '../../src/changes/object-client.ts';
import { mergePatch } from '../../src/core/json/merge-patch.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { abandonedOf } from '../../src/propagate/hub/abandoned.ts';
import { abandonCopies, leftBehindNotes } from '../../src/registration/cluster-copies.ts';
import { type ContextCluster, RegistrationSteps } from '../../src/registration/registration-steps.ts';
import { createManualClock } from '../support/manual-clock.ts';

test('two commands that abandon clusters of one Propagation at once both leave their record', async () => {
  let propagation = { metadata: { name: 'shop', namespace: 'default', uid: 'p', resourceVersion: '1' } } as unknown as KubernetesObject;
  const client = {
    get: async () => ({ result: 'answered', object: propagation, isNew: false, warnings: [] }),
    async patch({ patch }: PatchObjectRequest) {
      const { resourceVersion: version } = propagation.metadata;
      const { resourceVersion: expected = version } = (patch as { readonly metadata: JsonObject }).metadata;
      if (expected !== version) return { result: 'failed', fault: { code: 'CONFLICT', message: 'another version' } };
      const merged = mergePatch(propagation, patch) as KubernetesObject;
      propagation = { ...merged, metadata: { ...merged.metadata, resourceVersion: `${Number(version) + 1}` as never } };
      return { result: 'answered', object: propagation, isNew: false, warnings: [] };
    },
  };
  const send = async () => ({ type: 'answered', status: 200, body: Buffer.from('{"items":[]}') });
  const hub = { name: 'north', client, api: { send } } as unknown as ContextCluster;
  const { signal } = new AbortController();
  const abandon = (cluster: string) => {
    const object = { metadata: { name: `shop-${cluster}`, uid: `share-${cluster}` } } as KubernetesObject;
    const options = { steps: new RegistrationSteps('real', signal), hub, clock: createManualClock(), signal, hasLeader: false };
    return abandonCopies(cluster, [{ object, namespace: 'default', propagation: 'shop' }], options);
  };
  await Promise.all([abandon('east'), abandon('west')]);
  const annotations = propagation.metadata.annotations ?? {};
  expect(abandonedOf({ metadata: { annotations } }).map(({ cluster }) => cluster)).toEqual(['east', 'west']);
});

test.each([
  [[['u1'], ['u2', undefined]], ['2 objects were left behind in cluster west']],
  [[['u1']], ['1 object was left behind in cluster west']],
  [[[undefined], []], []],
])('inventories with the uids %j give the notes %j', (shares, notes) => {
  const copies = shares.map((uids) => {
    const object = { metadata: { name: 'shop' }, objects: uids.map((uid) => ({ name: 'web', ...(uid === undefined ? {} : { uid }) })) };
    return { object: object as unknown as KubernetesObject, namespace: 'default', propagation: 'shop' };
  });
  expect(leftBehindNotes('west', copies)).toEqual(notes);
});
