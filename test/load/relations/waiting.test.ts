import { expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { controlledBy, type Inventory, inShop, relatedWorld, served } from '../../support/graph/related-world.ts';
import { objectNamed } from '../../support/kubernetes-objects.ts';
import { turns } from '../../support/manual-clock.ts';

const pod = inShop('web-1', controlledBy('ReplicaSet', 'web-a'), { spec: { nodeName: 'n1' } });
const node = objectNamed('n1');
const listed: Inventory = { Pod: [pod], 'ReplicaSet.apps': [inShop('web-a')] };

/** Two clusters with mirrored Pods. The first list of Nodes in south is not complete. */
function hangingWorld() {
  const world = relatedWorld({ north: { ...listed, Node: [node] }, south: listed });
  world.cluster('south').discover(...[...Object.keys(listed), 'Node'].map(served));
  return world;
}

const asked = '{ pods { items { node { metadata { name } } owner { kind } } } }';
const owner = { kind: 'ReplicaSet' };
const known = { node: { metadata: { name: 'n1' } }, owner };
const missing = { node: null, owner };

test('the messages of a stream wait for 2 s in total, and later ones find the related objects', async () => {
  const world = hangingWorld();
  const south = world.cluster('south');
  const { signal, ...life } = lifeOf();
  const ask = () => world.ask(asked, {}, { signal, isMessage: true });
  let ends = 0;
  const asking = ask().finally(() => ends++);
  await turns(50);
  await world.clock.advance(1_999);
  await turns(50);
  expect(ends, 'a healthy first list would be there by now').toBe(0);
  await world.clock.advance(1);
  const first = await asking;
  expect(first.at('pods.items')).toEqual([known, missing]);
  expect(first.faults.map(({ fault: { code, cluster, kind, retry }, path }) => [code, cluster, kind?.kind, retry, path.at(-2)])).toEqual([
    ['SYNCING', 'south', 'Node', 'LATER', 1],
  ]);
  expect(south.leases, 'of Pods, Nodes and ReplicaSets, between two messages').toBe(3);
  expect((await ask()).at('pods.items'), 'no other message waits').toEqual([known, missing]);
  expect(world.clock.monotonic()).toBe(2_000);
  expect(south.leases, 'each is held once').toBe(3);
  south.mirror(served('Node')).list(node);
  expect((await ask()).at('pods.items')).toEqual([known, known]);
  life.end();
  expect([south.leases, world.cluster('north').leases]).toEqual([0, 0]);
});

test.each([
  [0, 0],
  [2.5, 2_500],
  [10, 10_000],
  [60, 10_000],
])('relations of a list with waitSeconds %d are waited for %d ms, at any depth', async (waitSeconds, waitsMs) => {
  const world = hangingWorld();
  let ends = 0;
  const answer = world.ask(
    `{ pods(waitSeconds: ${waitSeconds}) { items { node { metadata { name } } owner { owned(kinds: "po") { items { ... on Pod { node { kind } } } } } } } }`,
  );
  void answer.then(() => ends++);
  await turns(50);
  if (waitsMs > 0) {
    await world.clock.advance(waitsMs - 1);
    await turns(50);
    expect(ends).toBe(0);
    await world.clock.advance(1);
  }
  expect((await answer).at('pods.items.node')).toEqual([known.node, null]);
  expect((await answer).faults[0]?.fault).toMatchObject({ code: 'SYNCING', cluster: 'south' });
});

test('a list waits even if another list of the operation does not', async () => {
  const world = hangingWorld();
  const answer = world.ask(
    '{ quick: pods(waitSeconds: 0) { items { node { metadata { name } } } } patient: pods { items { node { metadata { name } } } } }',
  );
  await turns(50);
  world.cluster('south').mirror(served('Node')).list(node);
  expect((await answer).at('quick.items.node')).toEqual([known.node, null]);
  expect((await answer).at('patient.items.node')).toEqual([known.node, known.node]);
});

test('kinds that were not named and that the gateway may not list are left out silently', async () => {
  const world = relatedWorld({ north: { ...listed, Service: [], Secret: [], ConfigMap: [] } });
  const forbid = (kind: string): Fault => ({
    code: 'FORBIDDEN',
    cluster: clusterName('north'),
    kind: { group: '', kind },
    message: 'no right to list',
    retry: 'NEVER',
  });
  for (const kind of ['Service', 'Secret']) world.cluster('north').mirror(served(kind)).refuse(forbid(kind));
  world
    .cluster('north')
    .mirror(served('ConfigMap'))
    .fail({ ...forbid('ConfigMap'), code: 'UNREACHABLE', retry: 'LATER' });
  const answer = await world.ask(`{ replicaSets { items {
    all: owned { items { kind } sync { kind { kind } } faults { code } }
    chosen: owned(kinds: ["po", "svc"]) { items { kind } sync { kind { kind } } faults { code } }
  } } }`);
  expect(answer.at('replicaSets.items')).toEqual([
    {
      all: {
        items: [{ kind: 'Pod' }],
        sync: ['ConfigMap', 'Pod', 'ReplicaSet'].map((kind) => ({ kind: { kind } })),
        faults: [{ code: 'UNREACHABLE' }],
      },
      chosen: {
        items: [{ kind: 'Pod' }],
        sync: ['Pod', 'Service'].map((kind) => ({ kind: { kind } })),
        faults: [{ code: 'FORBIDDEN' }],
      },
    },
  ]);
});

function lifeOf() {
  const life = new AbortController();
  return { signal: life.signal, end: () => life.abort(new Error('over')) };
}
