import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { listAt, textAt } from '../../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { printSpec } from '../../../../src/propagate/model/spec.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from '../controller-world.ts';

const bare = { hub: [], south: [] };
const place = (name: string) => ({ namespace: 'default', name });
const secret = (name: string, data: JsonObject): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default' },
  type: 'Opaque',
  ...{ data },
});

/** Puts objects of other owners in the south, and the Secret that replaces theirs on the hub. */
function withTheirs({ world }: ControllerWorld, name: string): void {
  const south = world.cluster('south');
  south.put(configMap(`${name}-theirs`, { a: 'old', b: 'theirs' }) as KubernetesObject);
  south.put(secret(`${name}-key`, { a: 'b2xk' }));
  world.cluster('hub').put(secret(`${name}-key`, { a: 'b3Vycw==' }));
}

const kinds = ['ConfigMap', 'Secret'] as const;

/** Returns the objects in the south. Objects of other owners always keep their uid. */
function standing({ world }: ControllerWorld, name: string): JsonObject {
  const south = world.cluster('south');
  const [own, theirs, key] = [
    south.get('ConfigMap', `${name}-own`, 'default'),
    south.get('ConfigMap', `${name}-theirs`, 'default'),
    south.get('Secret', `${name}-key`, 'default'),
  ];
  const brief = (object: KubernetesObject | undefined) => ({
    exists: object !== undefined,
    isMarked: object?.metadata.labels?.[marks.propagation] !== undefined,
    isOwned: JSON.stringify(object?.metadata.managedFields ?? []).includes('"muster"'),
  });
  return { own: { ...brief(own), data: own?.data ?? null }, theirs: { ...brief(theirs), data: theirs?.data ?? null }, key: brief(key) };
}

const inventory = ({ world }: ControllerWorld, uid: string | undefined) =>
  world
    .cluster('hub')
    .objects('ClusterShare.muster.dev')
    .filter((share) => share.metadata.labels?.[marks.propagation] === uid)
    .flatMap((share) => listAt(share, 'objects').map((entry) => textAt(entry, 'name')));

type Stage = 'first' | 'taking' | 'back';

async function ask(fleet: ControllerWorld, name: string, stage: Stage): Promise<void> {
  if (stage === 'back') {
    await fleet.world.pumped(fleet.propagations.rollback(fleet.context, place(name), 1));
    return;
  }
  const more = { conflict: 'OVERWRITE', placement: { clusters: ['south'] } };
  const own = configMap(`${name}-own`, { a: '1' });
  const input = intent(name, [own], more);
  const ref = { cluster: 'hub', apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: `${name}-key` };
  const taken = [{ json: configMap(`${name}-theirs`, { a: 'ours', c: 'ours' }) }, { ref }];
  await fleet.propagate(stage === 'first' ? input : { ...input, template: [{ json: own }, ...taken] });
}

/** True once there is no work left, and the status says so. */
function isDone({ mirrored }: ControllerWorld, name: string): boolean {
  const held = mirrored(name);
  return held?.status.phase === 'Settled' && held.status.observedGeneration === held.metadata.generation;
}

interface RunOptions {
  readonly name: string;
  readonly life?: number;
}

/** Takes objects over and rolls back, in a process that dies after a number of writes. The next process completes it. */
async function runOnce(fleet: ControllerWorld, { name, life }: RunOptions): Promise<number> {
  const { world } = fleet;
  withTheirs(fleet, name);
  const south = world.cluster('south');
  const uids = () => kinds.map((kind) => south.get(kind, `${name}-${kind === 'Secret' ? 'key' : 'theirs'}`, 'default')?.metadata.uid);
  const before = uids();
  fleet.freeLease();
  const healthy = fleet.startProcess();
  await ask(fleet, name, 'first');
  await world.until(() => isDone(fleet, name));
  healthy.kill();
  fleet.freeLease();
  const mortal = fleet.startProcess(life === undefined ? {} : { life });
  const isDead = () => life !== undefined && mortal.writes >= life;
  await ask(fleet, name, 'taking');
  await world.until(() => isDead() || isDone(fleet, name));
  if (!isDead()) expect(standing(fleet, name)).toMatchObject({ theirs: { data: { a: 'ours', b: 'theirs', c: 'ours' }, isMarked: true } });
  await ask(fleet, name, 'back');
  await world.until(() => isDead() || isDone(fleet, name));
  if (life === undefined) await world.pass(3_000);
  const { writes } = mortal;
  mortal.kill();
  fleet.freeLease();
  const successor = fleet.startProcess();
  await world.until(() => isDone(fleet, name));
  await world.pass(2_000);
  const held = fleet.mirrored(name);
  expect({ life, ...standing(fleet, name), uids: uids(), inventory: inventory(fleet, held?.metadata.uid) }).toEqual({
    life,
    own: { exists: true, isMarked: true, isOwned: true, data: { a: '1' } },
    theirs: { exists: true, isMarked: false, isOwned: false, data: { a: 'old', b: 'theirs' } },
    key: { exists: true, isMarked: false, isOwned: false },
    uids: before,
    inventory: [`${name}-own`],
  });
  // The hub stores no data of the Secret except the Secret itself.
  const kept = ['ClusterShare.muster.dev', 'ControllerRevision.apps', 'Propagation.muster.dev'];
  expect(JSON.stringify(kept.map((kind) => world.cluster('hub').objects(kind)))).not.toMatch(/b2xk|b3Vycw==/);
  successor.kill();
  return writes;
}

test('restores taken over objects after a rollback, also if killed after any single write', async () => {
  await using fleet = await startControllerWorld(bare);
  const writes = await runOnce(fleet, { name: 'whole' });
  expect(writes).toBeGreaterThanOrEqual(14);
  for (let life = 1; life <= writes; life++) await runOnce(fleet, { name: `run-${life}`, life });
}, 300_000);

test('a breach with Rollback returns the objects that the generation took over', async () => {
  await using fleet = await startControllerWorld(bare, { living: true });
  withTheirs(fleet, 'breach');
  fleet.startProcess();
  const more = { conflict: 'OVERWRITE', placement: { clusters: ['south'] }, rollout: { deadline: '20s', onFailure: 'ROLLBACK' } };
  const input = intent('breach', [deployment('breach', 1, 'web:1.0')], more);
  await fleet.propagate(input);
  await fleet.phase('breach', 'Settled', 120_000);
  const ref = { cluster: 'hub', apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'breach-key' };
  const bad = {
    jsonPatch: [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { none: 'such' } }],
    objects: { kind: 'Deployment' },
  };
  await fleet.propagate({
    ...input,
    template: [{ json: deployment('breach', 1, 'web:2.0') }, { json: configMap('breach-theirs', { a: 'ours', c: 'ours' }) }, { ref }],
    overrides: [bad],
  });
  await fleet.phase('breach', 'Failed', 180_000);
  expect(standing(fleet, 'breach')).toMatchObject({
    theirs: { exists: true, isMarked: false, isOwned: false, data: { a: 'old', b: 'theirs' } },
    key: { exists: true, isMarked: false, isOwned: false },
  });
}, 120_000);

test('returns a forcibly taken object to its owner after a rollback, and never deletes it', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const { world } = fleet;
  const south = world.cluster('south');
  fleet.startProcess();
  south.put(configMap('shop-web', { a: 'old' }) as KubernetesObject);
  const uid = () => south.get('ConfigMap', 'shop-web', 'default')?.metadata.uid;
  const before = uid();
  const input = intent('shop', [configMap('shop-web', { a: 'ours' })], { placement: { clusters: ['south'] }, conflict: 'ABORT' });
  await fleet.propagate(input);
  await world.until(() => fleet.mirrored('shop')?.status.clusters?.[0]?.reason === 'Conflict');
  await fleet.propagate({ ...input, conflict: 'OVERWRITE' });
  await fleet.phase('shop', 'Settled');
  expect(south.get('ConfigMap', 'shop-web', 'default')?.data).toEqual({ a: 'ours' });
  await world.pumped(fleet.propagations.rollback(fleet.context, place('shop'), 1));
  await world.until(() => fleet.mirrored('shop')?.status.clusters?.[0]?.reason === 'Conflict');
  await world.pass(30_000);
  expect(fleet.mirrored('shop')?.status.phase).not.toBe('Settled');
  const given = south.get('ConfigMap', 'shop-web', 'default');
  expect([given?.data, given?.metadata.labels?.[marks.propagation]]).toEqual([{ a: 'old' }, undefined]);
  await world.pumped(fleet.propagations.delete(fleet.context, place('shop'), undefined));
  await fleet.gone('shop');
  expect(uid()).toBe(before);
}, 60_000);

test('an edit of the spec ends the rollback: objects that were taken by force since stay taken', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const { world } = fleet;
  const south = world.cluster('south');
  fleet.startProcess();
  south.put(configMap('shop-web', { a: 'old' }) as KubernetesObject);
  const standing = () => {
    const object = south.get('ConfigMap', 'shop-web', 'default');
    return [object?.data, object?.metadata.labels?.[marks.propagation] !== undefined];
  };
  const wanted = (value: string) => intent('shop', [configMap('shop-web', { a: value })], { placement: { clusters: ['south'] } });
  await fleet.propagate({ ...wanted('ours'), conflict: 'ABORT' });
  await world.until(() => fleet.mirrored('shop')?.status.clusters?.[0]?.reason === 'Conflict');
  await fleet.propagate({ ...wanted('ours'), conflict: 'OVERWRITE' });
  await fleet.phase('shop', 'Settled');
  await world.pumped(fleet.propagations.rollback(fleet.context, place('shop'), 1));
  await world.until(() => fleet.mirrored('shop')?.status.clusters?.[0]?.reason === 'Conflict');
  expect(standing()).toEqual([{ a: 'old' }, false]);
  // Edits like `kubectl edit`: the mark of the rollback stays.
  for (const [conflict, value] of [['Overwrite', 'again'] as const, ['Abort', 'kept'] as const]) {
    const before = await fleet.stored('shop');
    if (before === undefined || 'problems' in before.spec) throw new Error('expected shop');
    const template = [{ json: configMap('shop-web', { a: value }) }];
    const document = { ...printSpec({ ...before.spec, conflict, template: [] }), template };
    await world.pumped(fleet.stores.propagations.update(before, { document }, fleet.context.signal));
    await fleet.phase('shop', 'Settled');
    expect(standing()).toEqual([{ a: value }, true]);
  }
  expect((await fleet.stored('shop'))?.metadata.annotations[marks.rollback]).toBe('1');
}, 60_000);

test('a dependency whose source is deleted stays in the clusters that need it', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const { world } = fleet;
  const south = world.cluster('south');
  fleet.startProcess();
  world.cluster('hub').put(configMap('files', { a: '1' }) as KubernetesObject);
  const web = deployment('web', 1, 'web:1');
  const volumes = [{ op: 'add', path: '/spec/template/spec/volumes', value: [{ name: 'v', configMap: { name: 'files' } }] }];
  const input = intent('web', [web], { placement: { clusters: ['south'] }, dependencies: true });
  const { spec } = web as unknown as { readonly spec: { readonly template: { readonly spec: JsonObject } & JsonObject } & JsonObject };
  const needy = { ...web, spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, volumes: volumes[0]?.value } } } };
  await fleet.propagate({ ...input, template: [{ json: needy }] });
  await world.until(() => south.get('ConfigMap', 'files', 'default') !== undefined);
  world.cluster('hub').remove('ConfigMap', 'files', 'default');
  await fleet.propagate({ ...input, template: [{ json: needy }], labels: { again: 'yes' } });
  await world.pass(11 * 60_000);
  expect(south.get('ConfigMap', 'files', 'default')?.data).toEqual({ a: '1' });
  await fleet.propagate({ ...input, template: [{ json: web }] });
  await world.until(() => south.get('ConfigMap', 'files', 'default') === undefined);
}, 60_000);
