import { expect, test } from 'vitest';
import { createResourceStore } from '../../../src/importers/upkeep/resource-store.ts';
import { syncPropagation } from '../../../src/importers/upkeep/sync-propagation.ts';
import { newResourceState, type UpkeepPass } from '../../../src/importers/upkeep/upkeep-pass.ts';
import { deleteResource, resource, startUpkeepWorld, type UpkeepWorld } from './upkeep-world.ts';

/** A pass of a leader with this fleet. */
function passIn({ world, stores: { propagations }, context: { signal } }: UpkeepWorld): UpkeepPass {
  const { hub, clock, log } = world;
  return {
    ports: { hub, propagations, clientOf: () => undefined, clock, log },
    resources: createResourceStore(hub),
    term: { isLeading: () => true, signal } as UpkeepPass['term'],
    state: newResourceState({ namespace: 'default', name: 'web' }),
    fleet: new Set(['hub', 'south', 'east']),
    withoutStatus: { untilMs: 0 },
  };
}

test.each([
  ['is orphaned', true],
  ['is gone', false],
])(
  'a resource that is being deleted owns no Propagation again that %s, while its own mirror is behind',
  async (_, isKept) => {
    await using fleet = await startUpkeepWorld();
    const first = fleet.startProcess();
    const { metadata, ...rest } = resource('web', ['south', 'east']);
    fleet.world.cluster('hub').put({ ...rest, metadata: { ...metadata, finalizers: ['south', 'east'] } });
    await fleet.untilPhase('web', 'Settled');
    const before = fleet.resource('web');
    if (before === undefined) throw new Error('expected the resource');
    await fleet.world.pumped(first.stop());
    await deleteResource(fleet, 'Orphan');
    if (!isKept) fleet.world.cluster('hub').remove('Propagation.muster.dev', 'web', 'default');
    await fleet.world.until(() => fleet.mirrored('web')?.metadata.owners.length === (isKept ? 0 : undefined));

    const brought = await fleet.world.pumped(syncPropagation(passIn(fleet), before));
    expect(brought).toEqual({ againMs: expect.any(Number) });
    expect((await fleet.stored('web'))?.metadata.owners).toEqual(isKept ? [] : undefined);
  },
  60_000,
);
