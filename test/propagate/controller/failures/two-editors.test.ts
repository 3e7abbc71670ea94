import { expect, test } from 'vitest';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import type { PropagationInput } from '../../../../src/propagate/model/propagations.ts';
import { printSpec } from '../../../../src/propagate/model/spec.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from '../controller-world.ts';

const settings = configMap('settings', { a: '1' });
const planned = async ({ world, propagations, context }: ControllerWorld, input: PropagationInput) =>
  (await world.pumped(propagations.plan(context, input))).digest;

test.each([
  ['a suspension', { suspend: { clusters: ['south'] } }],
  ['a deletion policy', { deletion: { policy: 'ORPHAN' } }],
  ['a rollout', { rollout: { maxFailures: 1 } }],
])(
  'the plan of the second editor is stale though no cluster changed: the first recorded %s',
  async (_, first) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    fleet.startProcess();
    await fleet.propagate(intent('web', [settings]));
    await fleet.phase('web', 'Settled');
    const inputs = [intent('web', [settings], first), intent('web', [settings], { completion: { mode: 'ANY' } })] as const;
    const digests = [await planned(fleet, inputs[0]), await planned(fleet, inputs[1])] as const;
    expect((await fleet.propagate(inputs[0], digests[0])).result).toBe('ACCEPTED');
    await fleet.world.until(() => fleet.mirrored('web')?.status.observedGeneration === 2);
    const stale = await fleet.propagate(inputs[1], digests[1]);
    expect([stale.result, stale.plan?.digest === digests[1]]).toEqual(['PLAN_STALE', false]);
    // The refusal shows the plan that replaces the first one.
    expect((await fleet.propagate(inputs[1], stale.plan?.digest)).result).toBe('ACCEPTED');
    await fleet.world.until(() => fleet.mirrored('web')?.status.observedGeneration === 3);
    expect(fleet.mirrored('web')?.status).toMatchObject({ phase: 'Settled', digest: stale.plan?.digest });
  },
  60_000,
);

test('the plan of an intent that did not exist yet, or that was deleted since, is stale', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const more = { suspend: { scheduling: true } };
  const [first, second] = [intent('web', [settings], more), intent('web', [settings], { ...more, completion: { mode: 'ANY' } })];
  const beforeAny = await planned(fleet, second);
  await fleet.propagate(first);
  expect((await fleet.propagate(second, beforeAny)).result).toBe('PLAN_STALE');
  const ofFirst = await planned(fleet, second);
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, { namespace: 'default', name: 'web' }, undefined));
  await fleet.gone('web');
  await fleet.propagate(first);
  expect((await fleet.propagate(second, ofFirst)).result).toBe('PLAN_STALE');
}, 60_000);

test('holds an intent that was applied with the digest of an older generation', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  await fleet.propagate(intent('web', [settings]));
  await fleet.phase('web', 'Settled');
  const second = intent('web', [settings], { completion: { mode: 'ANY' } });
  const digest = await planned(fleet, second);
  await fleet.propagate(intent('web', [settings], { deletion: { policy: 'ORPHAN' } }));
  await fleet.phase('web', 'Settled');
  // Applies like `kubectl apply`.
  const apply = async (planDigest: string) => {
    const before = await fleet.stored('web');
    if (before === undefined || 'problems' in before.spec) throw new Error('expected web');
    const document = printSpec({ ...before.spec, deletion: { ...before.spec.deletion, policy: 'Delete' }, completion: { mode: 'Any' } });
    const change = { document, annotations: { [marks.planDigest]: planDigest } };
    await fleet.world.pumped(fleet.stores.propagations.update(before, change, fleet.context.signal));
  };
  await apply(digest);
  const held = await fleet.phase('web', 'Held');
  expect(held.status.conditions?.find(({ type }) => type === 'Planned')?.reason).toBe('PlanStale');
  await apply(await planned(fleet, second));
  await fleet.phase('web', 'Settled');
}, 60_000);
