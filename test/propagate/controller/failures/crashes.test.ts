import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { listAt, textAt } from '../../../../src/core/json-at.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, intent, job, startControllerWorld } from '../controller-world.ts';

const names = ['hub', 'c1', 'c2', 'c3', 'c4'];
const bare = Object.fromEntries(names.map((name) => [name, []]));

/** Returns the objects of each cluster and the status, without values that differ between runs. */
function endState({ world, mirrored }: ControllerWorld, name: string): JsonObject {
  const held = mirrored(name);
  const uid = held?.metadata.uid;
  const hub = world.cluster('hub');
  const ours = (kind: string) => hub.objects(kind).filter((object) => object.metadata.labels?.[marks.propagation] === uid);
  return {
    copies: names.map((cluster) => {
      const copy = world.cluster(cluster).get('ConfigMap', name, 'default');
      const run = world.cluster(cluster).get('Job.batch', name, 'default');
      return [cluster, copy?.data ?? null, run !== undefined, textAt(copy, 'metadata', 'annotations', marks.generation) ?? null];
    }),
    phase: held?.status.phase ?? null,
    revision: held?.status.revision ?? null,
    lines: (held?.status.clusters ?? []).map(({ cluster, phase, reason = '', generation = 0 }) => [cluster, phase, reason, generation]),
    revisions: ours('ControllerRevision.apps').length,
    inventory: ours('ClusterShare.muster.dev')
      .flatMap((share) =>
        listAt(share, 'objects').map((entry) => `${textAt(share, 'cluster')} ${textAt(entry, 'kind')} ${textAt(entry, 'state')}`),
      )
      .toSorted(),
  };
}

type Stage = 'created' | 'changed' | 'deleted';

/** Requests the stage. */
async function ask(fleet: ControllerWorld, name: string, stage: Stage): Promise<void> {
  const { world, propagations, context } = fleet;
  const data = stage === 'created' ? '1' : '2';
  if (stage === 'deleted') await world.pumped(propagations.delete(context, { namespace: 'default', name }, undefined));
  else await fleet.propagate(intent(name, [job(name), configMap(name, { a: data })]));
}

/** True once there is no work left, and the status says so. The Jobs do not run, so the phase stays `Rolling`. */
function isDone(fleet: ControllerWorld, name: string, stage: Stage): boolean {
  const held = fleet.mirrored(name);
  if (stage === 'deleted') return held === undefined;
  const data = stage === 'created' ? '1' : '2';
  if (held?.status.observedGeneration !== held?.metadata.generation) return false;
  const isWritten = (cluster: string) => textAt(fleet.world.cluster(cluster).get('ConfigMap', name, 'default'), 'data', 'a') === data;
  return names.every(isWritten) && (held?.status.clusters ?? []).every(({ phase }) => phase === 'Progressing');
}

/**
 * A healthy process brings an intent to the previous stage. Then a process that dies after a number of writes is asked for the stage. The
 * next process completes it.
 */
async function runOnce(
  fleet: ControllerWorld,
  { name, stage, life }: { readonly name: string; readonly stage: Stage; readonly life?: number },
): Promise<{ readonly writes: number; readonly end: JsonObject }> {
  const { world } = fleet;
  const before: Stage | undefined = stage === 'created' ? undefined : 'created';
  if (before !== undefined) {
    fleet.freeLease();
    const healthy = fleet.startProcess();
    await ask(fleet, name, before);
    await world.until(() => isDone(fleet, name, before));
    healthy.kill();
  }
  fleet.freeLease();
  const mortal = fleet.startProcess(life === undefined ? {} : { life });
  await ask(fleet, name, stage);
  await world.until(() => (life !== undefined && mortal.writes >= life) || isDone(fleet, name, stage));
  if (life === undefined) await world.pass(3_000);
  const { writes } = mortal;
  mortal.kill();
  fleet.freeLease();
  const successor = fleet.startProcess();
  await world.until(() => isDone(fleet, name, stage));
  await world.pass(2_000);
  const end = endState(fleet, name);
  successor.kill();
  return { writes, end };
}

test.each<{ readonly stage: Stage; readonly atLeast: number }>([
  { stage: 'created', atLeast: 18 },
  { stage: 'changed', atLeast: 12 },
  { stage: 'deleted', atLeast: 16 },
])(
  'D1, D2: a process killed after any single write while it is $stage is followed by one that reaches the same end',
  async ({ stage, atLeast }) => {
    await using fleet = await startControllerWorld(bare);
    const whole = await runOnce(fleet, { name: 'whole', stage });
    expect(whole.writes).toBeGreaterThanOrEqual(atLeast);
    for (let life = 1; life <= whole.writes; life++) {
      const { end } = await runOnce(fleet, { name: `run-${life}`, stage, life });
      expect({ life, ...end }).toEqual({ life, ...whole.end });
    }
  },
  300_000,
);

/**
 * Two processes lead at once. The first is suspended after a number of writes, the second does all the work, and then the first continues.
 */
async function withTwo(fleet: ControllerWorld, { name, after }: { readonly name: string; readonly after: number }): Promise<JsonObject> {
  const { world } = fleet;
  const first = fleet.startProcess({ lease: 'own', standsAfter: after });
  await ask(fleet, name, 'created');
  await world.until(() => first.writes >= after || isDone(fleet, name, 'created'));
  first.stand();
  const second = fleet.startProcess({ lease: 'own' });
  await world.until(() => isDone(fleet, name, 'created'));
  await ask(fleet, name, 'changed');
  await world.until(() => isDone(fleet, name, 'changed'));
  first.resume();
  await world.pass(6_000);
  await world.until(() => isDone(fleet, name, 'changed'));
  const end = endState(fleet, name);
  first.kill();
  second.kill();
  return end;
}

test('D3: two processes that lead at once reach the same end as one, wherever the first was suspended', async () => {
  await using fleet = await startControllerWorld(bare);
  const alone = await runOnce(fleet, { name: 'alone', stage: 'created' });
  const { end } = await runOnce(fleet, { name: 'one', stage: 'changed' });
  for (let after = 1; after <= alone.writes; after++)
    expect({ after, ...(await withTwo(fleet, { name: `two-${after}`, after })) }).toEqual({ after, ...end });
}, 300_000);

test('D3, D4: a leader that was suspended past its lease writes nothing afterwards, and another leads within 17 s of the last renewal', async () => {
  await using fleet = await startControllerWorld(bare);
  const { world } = fleet;
  const first = fleet.startProcess({ standsAfter: 7 });
  await world.until(() => first.controller.isLeading());
  const second = fleet.startProcess();
  await ask(fleet, 'stale', 'created');
  await world.until(() => first.writes >= 7);
  const writes = first.writes;
  await world.until(() => second.controller.isLeading(), 17_500);
  expect(first.controller.isLeading()).toBe(false);
  await world.until(() => isDone(fleet, 'stale', 'created'));
  first.resume();
  await world.pass(20_000);
  expect([first.writes, first.controller.isLeading(), second.controller.isLeading()]).toEqual([writes, false, true]);
  second.kill();
  first.kill();
});
