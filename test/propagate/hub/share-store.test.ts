import { describe, expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { hubKinds } from '../../../src/propagate/hub/hub.ts';
import { newShare } from '../../../src/propagate/hub/share-document.ts';
import { createShareStore, type HubShares } from '../../../src/propagate/hub/share-store.ts';
import type { ClusterShare, InventoryEntry } from '../../../src/propagate/model/inventory.ts';
import { type PropagationWorld, startPropagationWorld } from '../../support/propagate/propagation-world.ts';

const owner = { namespace: 'default', name: 'web', uid: 'web-uid' };
const never = new AbortController().signal;

const owned: InventoryEntry = {
  key: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
  state: 'Owned',
  uid: 'copy-uid',
  intent: 'token',
  appliedHash: 'a',
  observedHash: 'b',
  appliedGeneration: 3,
  action: 'Created',
  health: 'Unknown',
  fault: { code: 'CONFLICT', message: 'owned by kubectl', since: '2026-01-01T00:00:00Z', count: 2 },
  corrections: ['2026-01-01T00:00:00Z'],
};

async function saved(world: PropagationWorld, shares: HubShares, share: ClusterShare): Promise<ClusterShare> {
  const answer = await world.pumped(shares.save(share, never));
  if (answer.result !== 'saved') throw new Error(`expected it to be saved, got ${JSON.stringify(answer)}`);
  return answer.share;
}

async function loaded(world: PropagationWorld, shares: HubShares): Promise<readonly ClusterShare[]> {
  const found = await world.pumped(shares.load(owner, never));
  if ('fault' in found) throw new Error(`expected shares, got ${JSON.stringify(found)}`);
  return found;
}

describe('the inventory on the hub', () => {
  test('is loaded as it was saved, for any cluster name', async () => {
    await using world = await startPropagationWorld({ hub: [] });
    const shares = createShareStore(world.hub, never);
    const strange = clusterName('arn:aws:eks:eu/Prod Cluster · ∞');

    const first = await saved(world, shares, newShare(owner, strange));
    const second = await saved(world, shares, { ...first, entries: [owned] });

    expect(second.entries).toEqual([owned]);
    expect(await loaded(world, shares)).toEqual([second]);
    await world.until(() => shares.read(owner, strange)?.version === second.version);
    expect(shares.read(owner, strange)).toEqual(second);
  });

  test('is created and replaced only under the version that was read', async () => {
    await using world = await startPropagationWorld({ hub: [] });
    const shares = createShareStore(world.hub, never);
    const blank = newShare(owner, clusterName('west'));

    const first = await saved(world, shares, blank);
    expect(await world.pumped(shares.save(blank, never))).toEqual({ result: 'conflict' });
    await saved(world, shares, { ...first, entries: [owned] });
    expect(await world.pumped(shares.save({ ...first, entries: [] }, never))).toEqual({ result: 'conflict' });
    expect((await loaded(world, shares))[0]?.entries).toEqual([owned]);
    expect(await world.pumped(shares.remove(first, never))).toEqual({ result: 'conflict' });
  });

  test('accepts 200 objects of a cluster, and refuses one more without a request', async () => {
    await using world = await startPropagationWorld({ hub: [] });
    const shares = createShareStore(world.hub, never);
    const blank = newShare(owner, clusterName('west'));
    const entries = (count: number) => Array.from({ length: count }, (_, n) => ({ ...owned, key: { ...owned.key, name: `web-${n}` } }));

    const answer = await world.pumped(shares.save({ ...blank, entries: entries(201) }, never));
    expect(answer).toMatchObject({ result: 'failed', fault: { code: 'TOO_LARGE' } });
    expect(world.cluster('hub').writes()).toEqual([]);
    expect((await saved(world, shares, { ...blank, entries: entries(200) })).entries).toHaveLength(200);
  });

  test('survives its deletion by another client, until it is removed', async () => {
    await using world = await startPropagationWorld({ hub: [] });
    const shares = createShareStore(world.hub, never);
    const share = await saved(world, shares, { ...newShare(owner, clusterName('west')), entries: [owned] });
    const client = world.clientOf('hub');
    const resource = world.members.objects.served(world.hub.cluster, hubKinds.clusterShare);
    if (client === undefined || typeof resource !== 'object') throw new Error('expected a hub');

    const { namespace, name } = share;
    await world.pumped(client.delete({ resource, namespace, name, preconditions: {}, cascade: 'Background', run: 'real' }, never));
    const [going] = await loaded(world, shares);
    expect(going?.entries).toEqual([owned]);
    if (going === undefined) throw new Error('expected it to be there');

    const kept = await saved(world, shares, { ...going, entries: [] });
    expect(await world.pumped(shares.remove(kept, never))).toEqual({ result: 'removed' });
    expect(await loaded(world, shares)).toEqual([]);
    expect(await world.pumped(shares.remove(kept, never))).toEqual({ result: 'removed' });
  });

  test('belongs to one Propagation, by its uid', async () => {
    await using world = await startPropagationWorld({ hub: [] });
    const shares = createShareStore(world.hub, never);
    await saved(world, shares, newShare(owner, clusterName('west')));
    await saved(world, shares, newShare({ ...owner, uid: 'another' }, clusterName('west')));

    expect((await loaded(world, shares)).map((share) => share.owner)).toEqual(['web-uid']);
  });

  test('says what to apply if the hub does not serve its kind', async () => {
    await using world = await startPropagationWorld({ hub: [] }, { bareHub: true });
    const shares = createShareStore(world.hub, never);

    const answer = await world.pumped(shares.save(newShare(owner, clusterName('west')), never));
    expect(answer).toMatchObject({
      result: 'failed',
      fault: { code: 'NOT_SERVED', message: expect.stringContaining('kubectl apply -f deploy/crds') },
    });
  });
});
