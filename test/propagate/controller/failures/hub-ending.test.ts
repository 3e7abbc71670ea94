import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import type { Propagation } from '../../../../src/propagate/model/propagation.ts';
import { printSpec } from '../../../../src/propagate/model/spec.ts';
import { never } from '../../../support/cluster/transport.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from '../controller-world.ts';

const definitions = 'CustomResourceDefinition.apiextensions.k8s.io';

/** Ways in which an administrator may delete the intents of a hub without thinking of their copies. */
const endings = {
  'the Namespace of the intent': {
    namespace: 'team',
    async begin({ world }: ControllerWorld) {
      const resource = world.members.objects.served(world.hub.cluster, { apiVersion: 'v1', kind: 'Namespace' });
      const client = world.hub.client();
      if (typeof resource !== 'object' || client === undefined) throw new Error('expected Namespaces to be served');
      await world.pumped(client.delete({ resource, name: 'team', preconditions: {}, cascade: 'Background', run: 'real' }, never));
    },
    named: 'Namespace team',
  },
  'the definition of Propagations': {
    namespace: 'default',
    async begin({ world, stores, context }: ControllerWorld) {
      // Like apiextensions: the definition is marked first, then each object is deleted.
      const hub = world.cluster('hub');
      const definition = hub.get(definitions, 'propagations.muster.dev');
      if (definition === undefined) throw new Error('expected the definition');
      const finalizers = ['customresourcecleanup.apiextensions.k8s.io'];
      hub.put({ ...definition, metadata: { ...definition.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers } });
      for (const propagation of stores.propagations.all() ?? []) {
        await world.pumped(stores.propagations.delete(propagation, context.signal));
      }
    },
    named: 'CustomResourceDefinition propagations.muster.dev',
  },
  'the definition of an owner': {
    namespace: 'default',
    async begin(fleet: ControllerWorld) {
      const hub = fleet.world.cluster('hub');
      await giveOwner(fleet);
      const definition = hub.get(definitions, widgets.metadata.name) ?? widgets;
      const finalizers = ['customresourcecleanup.apiextensions.k8s.io'];
      hub.put({ ...definition, metadata: { ...definition.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers } });
      hub.remove('Widget.example.com', 'owner', 'default');
    },
    named: 'CustomResourceDefinition widgets.example.com',
  },
} as const;

const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
} satisfies KubernetesObject;

/** Makes a Widget the owner of the intent. The embedded hub deletes what a deleted object owns, like a real one. */
async function giveOwner(fleet: ControllerWorld): Promise<void> {
  const { world, stores, context } = fleet;
  const hub = world.cluster('hub');
  hub.define(widgets);
  const owner = hub.put({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'owner', namespace: 'default' } });
  await world.until(() => typeof world.members.objects.served(world.hub.cluster, { group: 'example.com', kind: 'Widget' }) === 'object');
  const propagation = stateOf(fleet, 'default');
  if (propagation === undefined || 'problems' in propagation.spec) throw new Error('expected web');
  const owners = [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'owner', uid: owner.metadata.uid ?? '' }];
  const change = { document: printSpec(propagation.spec), owners };
  await world.pumped(stores.propagations.update(propagation, change, context.signal));
}

const cases = Object.entries(endings);
const copies = ({ world }: ControllerWorld) =>
  ['south', 'east'].filter((name) => world.cluster(name).get('ConfigMap', 'settings', 'default'));

async function settled(fleet: ControllerWorld, namespace: string, more: JsonObject = {}): Promise<void> {
  fleet.startProcess();
  const input = intent('web', [configMap('settings', { a: '1' })], { placement: { clusters: ['south', 'east'] }, ...more });
  await fleet.propagate({ ...input, namespace });
  await fleet.world.until(() => stateOf(fleet, namespace)?.status.phase === 'Settled');
}

function stateOf({ stores }: ControllerWorld, namespace: string): Propagation | undefined {
  const read = stores.propagations.read({ namespace, name: 'web' });
  return read.result === 'held' ? read.propagation : undefined;
}

const fleetOf = () => {
  const team = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } } as KubernetesObject;
  return startControllerWorld({ hub: [team], south: [], east: [] });
};

test.each(cases)(
  'a deletion of %s holds the deletion of copies until it is confirmed',
  async (_, { namespace, begin, named }) => {
    await using fleet = await fleetOf();
    await settled(fleet, namespace);
    await begin(fleet);
    await fleet.world.until(() => stateOf(fleet, namespace)?.status.phase === 'Held');
    await fleet.world.pass(30_000);
    const { status } = stateOf(fleet, namespace) ?? {};
    const planned = status?.conditions?.find(({ type }) => type === 'Planned');
    expect([copies(fleet), status?.phase, planned?.reason]).toEqual([['south', 'east'], 'Held', 'DeletionHeld']);
    const shown = await fleet.world.pumped(fleet.propagations.get(fleet.context, { namespace, name: 'web' }));
    expect(shown?.phase).toBe('Held');
    expect(status?.clusters?.map(({ reason }) => reason)).toEqual(['PruneHeld', 'PruneHeld']);
    for (const words of [named, '--confirm-prune', '"policy":"Orphan"']) expect(planned?.message).toContain(words);
    // A new leader deletes no copy either.
    fleet.freeLease();
    fleet.startProcess();
    await fleet.world.pass(30_000);
    expect(copies(fleet)).toEqual(['south', 'east']);
    const confirmed = { confirmPrune: true, abandon: [] };
    await fleet.world.pumped(fleet.propagations.resume(fleet.context, { namespace, name: 'web' }, confirmed));
    await fleet.world.until(() => stateOf(fleet, namespace) === undefined);
    expect(copies(fleet)).toEqual([]);
  },
  60_000,
);

test.each(cases)(
  'a deletion of %s leaves the copies where the policy is Orphan, or becomes it',
  async (_, { namespace, begin }) => {
    for (const policy of ['DELETE', 'ORPHAN']) {
      await using fleet = await fleetOf();
      await settled(fleet, namespace, { deletion: { policy } });
      await begin(fleet);
      if (policy === 'DELETE') {
        await fleet.world.until(() => stateOf(fleet, namespace)?.status.phase === 'Held');
        const held = stateOf(fleet, namespace);
        if (held === undefined || 'problems' in held.spec) throw new Error('expected web');
        const document = printSpec({ ...held.spec, deletion: { ...held.spec.deletion, policy: 'Orphan' } });
        await fleet.world.pumped(fleet.stores.propagations.update(held, { document }, fleet.context.signal));
      }
      await fleet.world.until(() => stateOf(fleet, namespace) === undefined);
      expect(copies(fleet)).toEqual(['south', 'east']);
    }
  },
  60_000,
);

test('a cluster that was away during the deletion keeps its copies until the deletion is confirmed', async () => {
  await using fleet = await fleetOf();
  const { namespace, begin } = endings['the Namespace of the intent'];
  await settled(fleet, namespace);
  for (const name of ['south', 'east']) fleet.world.leave(name);
  await fleet.world.pass(5_000);
  await begin(fleet);
  await fleet.world.pass(30_000);
  for (const name of ['south', 'east']) fleet.world.join(name);
  await fleet.world.pass(60_000);
  expect([copies(fleet), stateOf(fleet, namespace)?.status.phase]).toEqual([['south', 'east'], 'Held']);
}, 60_000);

test('a deletion of the intent itself needs no confirmation', async () => {
  await using fleet = await fleetOf();
  await settled(fleet, 'team');
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, { namespace: 'team', name: 'web' }, undefined));
  await fleet.world.until(() => stateOf(fleet, 'team') === undefined);
  expect(copies(fleet)).toEqual([]);
}, 60_000);

test('a deletion of the owner alone needs no confirmation', async () => {
  await using fleet = await fleetOf();
  await settled(fleet, 'default');
  await giveOwner(fleet);
  fleet.world.cluster('hub').remove('Widget.example.com', 'owner', 'default');
  await fleet.world.until(() => stateOf(fleet, 'default') === undefined);
  expect(copies(fleet)).toEqual([]);
}, 60_000);

test('a definition of an owner that is gone holds the deletion, also after it is installed again', async () => {
  await using fleet = await fleetOf();
  await settled(fleet, 'default');
  await giveOwner(fleet);
  const hub = fleet.world.cluster('hub');
  hub.remove(definitions, widgets.metadata.name);
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, { namespace: 'default', name: 'web' }, undefined));
  await fleet.world.until(() => stateOf(fleet, 'default')?.status.phase === 'Held');
  hub.define(widgets);
  await fleet.world.pass(60_000);
  expect([copies(fleet), stateOf(fleet, 'default')?.status.phase]).toEqual([['south', 'east'], 'Held']);
  await fleet.world.pumped(
    fleet.propagations.resume(fleet.context, { namespace: 'default', name: 'web' }, { confirmPrune: true, abandon: [] }),
  );
  await fleet.world.until(() => stateOf(fleet, 'default') === undefined);
  expect(copies(fleet)).toEqual([]);
}, 60_000);
