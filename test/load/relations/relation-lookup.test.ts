import { describe, expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { runAtOnce, type TimeSlices } from '../../../src/core/scheduling/operation-scheduler.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { idleContext, readContext } from '../../support/graph/read-context.ts';
import { controlledBy, type Inventory, inShop, relatedWorld, served } from '../../support/graph/related-world.ts';
import { loadBaseline, objectNamed } from '../../support/kubernetes-objects.ts';
import { turns } from '../../support/manual-clock.ts';
import { accessBut, createRestrictingAccess } from '../../support/restricting-access.ts';

const model = loadBaseline();
const zone = 'node.metadata.labels[\\"topology.kubernetes.io/zone\\"]';
const node = (name: string, zoneName: string, status: 'True' | 'False') =>
  objectNamed(
    name,
    { uid: `uid-${name}`, labels: { 'topology.kubernetes.io/zone': zoneName } },
    { status: { conditions: [{ type: 'Ready', status }], capacity: { cpu: '4' } } },
  );
const pod = (name: string, nodeName: string | undefined, metadata = {}) =>
  inShop(name, metadata, { spec: nodeName === undefined ? {} : { nodeName } });
const batch = { apiVersion: 'batch/v1' };
const set = inShop('web', controlledBy('Deployment', 'web'));
const inventory: Inventory = {
  Pod: [
    pod('a', 'n1', controlledBy('ReplicaSet', 'web')),
    pod('b', 'n2', controlledBy('Job', 'once', batch)),
    pod('c', undefined),
    pod('d', 'gone', controlledBy('ReplicaSet', 'lost')),
    pod('e', 'n1', controlledBy('ReplicaSet', 'web', { uid: 'another' })),
    pod('f', 'n2', controlledBy('Node', 'n2', { apiVersion: 'v1' })),
  ],
  Node: [node('n1', 'x', 'True'), node('n2', 'y', 'False')],
  'ReplicaSet.apps': [set],
  'Deployment.apps': [inShop('web')],
  'Job.batch': [inShop('once', { labels: { run: 'night' } })],
};
const all = ['a', 'b', 'c', 'd', 'e', 'f'];

type World = ReturnType<typeof relatedWorld>;
const listed = (args: string) =>
  `{ pods(${args}) { totalCount items { metadata { name } } faults { code cluster { name } kind { kind } } } }`;

/** The objects that match a filter, and the faults. */
async function passing(world: World, where: string, args = '') {
  const { at, errors } = await world.ask(listed(`where: ${where} ${args}`));
  expect(errors).toBeUndefined();
  const names = at('pods.items.metadata.name') as readonly string[];
  return { names, totalCount: at('pods.totalCount'), faults: at('pods.faults') };
}

describe('a filter continues into', () => {
  test.each<[string, readonly string[]]>([
    [`{ path: "${zone}", eq: "x" }`, ['a', 'e']],
    [`{ path: "${zone}", ne: "x" }`, ['b', 'c', 'd', 'f']],
    [`{ path: "${zone}", exists: false }`, ['c', 'd']],
    ['{ path: "node.ready", eq: false }', ['b', 'f']],
    ['{ path: "node.kind", eq: "Node" }', ['a', 'b', 'e', 'f']],
    ['{ path: "node.status.capacity.cpu", gte: "3900m" }', ['a', 'b', 'e', 'f']],
    ['{ path: "node.status.conditions", some: { and: [{ path: "type", eq: "Ready" }, { path: "status", eq: "False" }] } }', ['b', 'f']],
    ['{ not: { path: "node.metadata.name", eq: "n1" } }', ['b', 'c', 'd', 'f']],
    ['{ path: "owner.kind", eq: "ReplicaSet" }', ['a']],
    [String.raw`{ path: "[\"\\u006fwner\"].kind", eq: "ReplicaSet" }`, ['a']],
    ['{ path: "owner.kind", in: ["Job", "Node"] }', ['b', 'f']],
    ['{ path: "owner.apiVersion", eq: "batch/v1" }', ['b']],
    ['{ path: "owner.metadata.labels.run", eq: "night" }', ['b']],
    ['{ path: "owner.metadata.ownerReferences.kind", eq: "Deployment" }', ['a']],
    ['{ path: "owner.metadata.name", exists: false }', ['c', 'd', 'e']],
    ['{ or: [{ path: "node.ready", eq: false }, { path: "owner.kind", eq: "ReplicaSet" }] }', ['a', 'b', 'f']],
    ['{ path: "metadata.name", eq: "a", and: [{ path: "node.ready", eq: true }] }', ['a']],
  ])('%s', async (where, names) => {
    expect(await passing(relatedWorld({ north: inventory }), where)).toEqual({ names, totalCount: names.length, faults: [] });
  });

  test('each object of its own cluster', async () => {
    const world = relatedWorld({ north: inventory, south: { ...inventory, Node: [node('n1', 'x', 'False')] } });
    const { at } = await world.ask('{ pods(where: { path: "node.ready", eq: false }) { items { cluster { name } metadata { name } } } }');
    expect(at('pods.items.cluster.name')).toEqual(['south', 'north', 'south', 'north']);
    expect(at('pods.items.metadata.name')).toEqual(['a', 'b', 'e', 'f']);
  });

  test('the owners of any kind, where the other kinds have no such relation', async () => {
    const world = relatedWorld({ north: inventory });
    const { at, errors } = await world.ask(`{ resources(kinds: ["Pod", "ReplicaSet"], where: { or: [
      { path: "owner.kind", eq: "Deployment" }, { path: "node.ready", eq: false }] }) { items { kind metadata { name } } } }`);
    expect(errors).toBeUndefined();
    expect(at('resources.items.metadata.name')).toEqual(['b', 'f', 'web']);
  });
});

test('orders by it across pages, with unrelated objects last', async () => {
  const world = relatedWorld({ north: inventory });
  const seen: unknown[] = [];
  let after = '';
  for (let pages = 0; pages < 3; pages++) {
    const args = `orderBy: [{ path: "node.metadata.name", direction: DESC }, { path: "owner.kind" }], first: 2${after}`;
    const { at } = await world.ask(`{ pods(${args}) { items { metadata { name } } pageInfo { hasNextPage endCursor } } }`);
    seen.push(at('pods.items.metadata.name'));
    expect(at('pods.pageInfo.hasNextPage')).toBe(pages < 2);
    after = `, after: "${String(at('pods.pageInfo.endCursor'))}"`;
  }
  expect(seen).toEqual([
    ['b', 'f'],
    ['a', 'e'],
    ['c', 'd'],
  ]);
  expect((await world.ask(listed(`orderBy: { path: "owner.metadata.name" }${after}`))).errors?.[0]?.message).toContain('expected a cursor');
});

describe('groups and sums continue there,', () => {
  const computed = `totalCount groups(by: [$zone], orderBy: KEY_ASC) { keys count max(path: "owner.kind") }
    sum(path: "node.status.capacity.cpu") { text } ...least`;
  const fragment = 'fragment least on Connection { min(path: "node.metadata.name") }';
  const variables = { zone: 'node.metadata.labels["topology.kubernetes.io/zone"]' };
  const ofAll = {
    totalCount: 6,
    groups: [
      { keys: ['x'], count: 2, max: 'ReplicaSet' },
      { keys: ['y'], count: 2, max: 'Node' },
      { keys: [null], count: 2, max: null },
    ],
    sum: { text: '16' },
    min: 'n1',
  };

  test('by variables, in fragments, and inside groups', async () => {
    const { at, errors } = await relatedWorld({ north: inventory }).ask(
      `query ($zone: String!) { pods(first: 1) { ${computed} } } ${fragment}`,
      variables,
    );
    expect(errors).toBeUndefined();
    expect(at('pods')).toEqual(ofAll);
  });

  test('of the connections that relations make', async () => {
    const world = relatedWorld({ north: { ...inventory, Pod: (inventory.Pod ?? []).slice(0, 2) } });
    const { at, errors } = await world.ask(
      '{ nodes { items { pods { groups(by: "owner.kind") { keys count } min(path: "node.metadata.name") } } } }',
    );
    expect(errors).toBeUndefined();
    expect(at('nodes.items.pods')).toEqual([
      { groups: [{ keys: ['ReplicaSet'], count: 1 }], min: 'n1' },
      { groups: [{ keys: ['Job'], count: 1 }], min: 'n2' },
    ]);
    expect(world.cluster('north').leases).toBe(0);
  });

  test('of the moment of the page', async () => {
    const world = relatedWorld({ north: inventory });
    const context = readContext(world);
    const page = await world.reads.list(context, kindOf('Pod'), { aggregated: ['node.metadata.name'] });
    for (const name of ['n1', 'n2'])
      world
        .cluster('north')
        .mirror(served('Node'))
        .remove(node(name, 'x', 'True'));
    expect(page.max('node.metadata.name')).toBe('n2');
  });
});

test('a filter uses the related objects of its first step', async () => {
  const pods = Array.from({ length: 1_000 }, (_, index) => pod(`p${index}`, 'n1'));
  const world = relatedWorld({ north: { ...inventory, Pod: pods } });
  const nodes = world.cluster('north').mirror(served('Node'));
  const slices: TimeSlices = {
    run(steps) {
      const first = steps.next();
      if (first.done === true) return first.value;
      nodes.remove(node('n1', 'x', 'True'));
      return runAtOnce(steps);
    },
    pause: () => undefined,
  };
  const context = readContext(world, { timeSlices: slices });
  const page = await world.reads.list(context, kindOf('Pod'), { where: { path: 'node.metadata.name', eq: 'n1' } });
  expect(page.totalCount).toBe(1_000);
});

describe('hidden objects', () => {
  test('look absent: more of them change no byte', async () => {
    const access = createRestrictingAccess({ me: { north: ['shop'] } });
    const far = {
      ...inventory,
      'ReplicaSet.apps': [set, inShop('lost', { namespace: 'far' })],
      Node: [...(inventory.Node ?? []), node('gone', 'x', 'True')],
    };
    const ask = async (objects: Inventory, where: string) =>
      (await relatedWorld({ north: objects }, { access }).ask(listed(`where: ${where}`))).json;
    for (const where of [
      '{ path: "node.ready", exists: false }',
      '{ path: "owner.kind", eq: "ReplicaSet" }',
      '{ path: "owner.kind", ne: "ReplicaSet" }',
    ]) {
      expect(await ask(far, where)).toBe(await ask(inventory, where));
    }
    const world = relatedWorld({ north: inventory }, { access });
    // Nodes are cluster-scoped, so they are hidden from callers who may only see some namespaces.
    expect(await passing(world, '{ path: "node.ready", exists: false }')).toEqual({ names: all, totalCount: 6, faults: [] });
    expect((await passing(world, '{ path: "owner.kind", exists: true }')).names).toEqual(['a', 'b']);
  });

  test('of a kind that may not be read are a fault, and objects that depend on them are left out', async () => {
    const access = accessBut(({ verb, kind, cluster }) => verb === 'get' && kind.kind === 'Node' && cluster === 'north');
    const world = relatedWorld({ north: inventory, south: inventory }, { access });
    const faults = [{ code: 'FORBIDDEN', cluster: { name: 'north' }, kind: { kind: 'Node' } }];
    const south = (where: string) => passing(world, where, 'clusters: "north"');
    // A Pod that is not scheduled certainly has no Node. The other condition of the filter decides the other Pods.
    expect(await south('{ path: "node.ready", ne: true }')).toEqual({ names: ['c'], totalCount: 1, faults });
    expect(await south('{ not: { path: "node.ready", eq: true } }')).toEqual({ names: ['c'], totalCount: 1, faults });
    expect(await south('{ or: [{ path: "metadata.name", eq: "a" }, { path: "node.ready", eq: true }] }')).toEqual({
      names: ['a'],
      totalCount: 1,
      faults,
    });
    const both = await passing(world, '{ path: "node.ready", eq: true }');
    expect(both).toEqual({ names: ['a', 'e'], totalCount: 2, faults });
    const { at } = await world.ask(
      '{ pods(orderBy: { path: "node.metadata.name" }) { totalCount sync { cluster { name } kind { kind } phase } } }',
    );
    expect(at('pods.totalCount')).toBe(12);
    expect(at('pods.sync')).toEqual([
      { cluster: { name: 'north' }, kind: { kind: 'Node' }, phase: 'MISSING' },
      { cluster: { name: 'north' }, kind: { kind: 'Pod' }, phase: 'SYNCED' },
      { cluster: { name: 'south' }, kind: { kind: 'Node' }, phase: 'SYNCED' },
      { cluster: { name: 'south' }, kind: { kind: 'Pod' }, phase: 'SYNCED' },
    ]);
  });
});

test('after a failure of a cluster, mirrored objects decide, and others are left out', async () => {
  const world = relatedWorld({ north: inventory });
  const nodes = world.cluster('north').mirror(served('Node'));
  nodes.remove(node('n2', 'y', 'False'));
  nodes.fail({ code: 'UNREACHABLE', cluster: clusterName('north'), message: 'no answer', retry: 'LATER' });
  const faults = [{ code: 'UNREACHABLE', cluster: { name: 'north' }, kind: null }];
  const { names, ...rest } = await passing(world, '{ path: "node.ready", ne: false }');
  expect(names).toEqual(['a', 'c', 'e']);
  expect(rest).toEqual({ totalCount: 3, faults });
});

test('owners of kinds that the schema or the cluster does not know are faults', async () => {
  const strange = [
    pod('x', undefined, controlledBy('Thing', 'one', { apiVersion: 'example.com/v1' })),
    pod('y', undefined, controlledBy('StatefulSet', 'db')),
    pod('z', undefined),
  ];
  const { names, faults } = await passing(relatedWorld({ north: { ...inventory, Pod: strange } }), '{ path: "owner.kind", ne: "Job" }');
  expect(names).toEqual(['z']);
  expect(faults).toEqual([
    { code: 'NOT_SERVED', cluster: { name: 'north' }, kind: { kind: 'StatefulSet' } },
    { code: 'NOT_SERVED', cluster: { name: 'north' }, kind: null },
  ]);
});

test('owners of more than sixteen kinds in a cluster are too many', async () => {
  const owned = (count: number) =>
    Array.from({ length: count }, (_, index) => pod(`p${index}`, undefined, controlledBy(`Kind${index}`, 'x')));
  const ask = (count: number) => relatedWorld({ north: { Pod: owned(count) } }).ask(listed('where: { path: "owner.kind", eq: "Job" }'));
  expect((await ask(16)).errors).toBeUndefined();
  expect((await ask(17)).errors?.[0]?.originalError).toMatchObject({ code: 'TOO_COSTLY' });
});

describe('first lists', () => {
  const either = '{ or: [{ path: "node.ready", eq: false }, { path: "owner.kind", eq: "ReplicaSet" }] }';
  /** A cluster that serves all kinds and has listed these. */
  const discovered = (listedBefore: Inventory) => {
    const world = relatedWorld({ north: listedBefore });
    const north = world.cluster('north');
    north.discover(...Object.keys(inventory).map(served));
    return { world, north };
  };

  test('are waited for together, and mirrors are released', async () => {
    const { world, north } = discovered({});
    const asked = passing(world, either, 'waitSeconds: 4');
    await turns(20);
    expect(north.leases).toBe(2);
    for (const [key, objects] of Object.entries(inventory)) {
      north.mirror(served(key)).list(...objects);
      await turns(20);
      await world.clock.advance(700);
    }
    expect(await asked).toEqual({ names: ['a', 'b', 'f'], totalCount: 3, faults: [] });
    expect(north.leases).toBe(0);
  });

  test('are faults after as long as the list may wait, at once if it may not', async () => {
    const { world, north } = discovered({ Pod: inventory.Pod ?? [] });
    const faults = [{ code: 'SYNCING', cluster: { name: 'north' }, kind: { kind: 'Node' } }];
    expect(await passing(world, '{ path: "node.ready", eq: false }', 'waitSeconds: 0')).toEqual({ names: [], totalCount: 0, faults });
    const waiting = passing(world, '{ path: "node.ready", eq: false }', 'waitSeconds: 4');
    let ends = 0;
    void waiting.then(() => ends++);
    await turns(20);
    await world.clock.advance(3_999);
    await turns(20);
    expect(ends).toBe(0);
    await world.clock.advance(1);
    expect((await waiting).faults).toEqual(faults);
    expect(north.leases).toBe(0);
  });

  test('of owners that appear during a wait are waited for too', async () => {
    const { world, north } = discovered({ Pod: [] });
    const waiting = passing(world, either);
    await turns(20);
    north.mirror(served('Pod')).list(...(inventory.Pod ?? []));
    for (const key of ['Node', 'Job.batch']) north.mirror(served(key)).list(...(inventory[key] ?? []));
    await turns(20);
    north.mirror(served('ReplicaSet.apps')).list(set);
    expect(await waiting).toEqual({ names: ['a', 'b', 'f'], totalCount: 3, faults: [] });
  });

  test('are read with the rights after the wait', async () => {
    let isHidden = false;
    const world = relatedWorld(
      { north: { Pod: inventory.Pod ?? [] } },
      { access: accessBut(({ kind }) => isHidden && kind.kind === 'Node') },
    );
    const north = world.cluster('north');
    north.discover(...Object.keys(inventory).map(served));
    const waiting = passing(world, '{ path: "node.ready", exists: true }');
    await turns(20);
    isHidden = true;
    north.mirror(served('Node')).list(...(inventory.Node ?? []));
    const faults = [{ code: 'FORBIDDEN', cluster: { name: 'north' }, kind: { kind: 'Node' } }];
    expect(await waiting).toEqual({ names: [], totalCount: 0, faults });
  });

  test('of owners that appear last are faults', async () => {
    let asked = 0;
    const access = accessBut(({ kind }) => {
      asked += Number(kind.kind === 'Pod');
      // After the kinds of owners were collected twice.
      if (asked === 3)
        world
          .cluster('north')
          .mirror(served('Pod'))
          .list(...(inventory.Pod ?? []));
      return false;
    });
    const world = relatedWorld({ north: { ...inventory, Pod: [pod('b', 'n2', controlledBy('Job', 'once', batch))] } }, { access });
    const faults = [{ code: 'SYNCING', cluster: { name: 'north' }, kind: { kind: 'ReplicaSet' } }];
    expect(await passing(world, either)).toEqual({ names: ['b', 'f'], totalCount: 2, faults });
  });
});

describe('is refused:', () => {
  test.each([
    ['{ pods(where: { path: "node.metdata.name", eq: "x" }) { totalCount } }', 'no field node.metdata in Pod; did you mean node.metadata?'],
    ['{ pods(where: { path: "owner.spec.replicas", eq: 1 }) { totalCount } }', 'no field owner.spec in Pod'],
    ['{ services(where: { path: "node.ready", eq: true }) { totalCount } }', 'no field node in Service'],
    [
      '{ pods(where: { path: "node", exists: true }) { totalCount } }',
      'expected a field of the node, such as node.metadata.name, got node',
    ],
    ['{ pods { sum(path: "node.metadata.name") { text } } }', 'expected a path to numbers or quantities, got node.metadata.name'],
  ])('%s', async (query, message) => {
    const { errors } = await relatedWorld({ north: inventory }).ask(query);
    expect(errors?.[0]?.message).toContain(message);
    expect(errors?.[0]?.originalError).toMatchObject({ code: 'BAD_INPUT' });
  });

  const context = idleContext();
  const path = (text: string) => ({ where: { not: { path: text, exists: true } } });
  test.each<[string, string, (streams: World['streams']) => unknown]>([
    ['changes', 'node', (streams) => streams.changes(context, kindOf('Pod'), path('node.ready'))],
    [
      'changes of several kinds',
      'owner',
      (streams) => streams.changesOfKinds(context, { model, kinds: ['svc', 'po'] }, path('owner.kind')),
    ],
    ['jobStatus', 'owner', (streams) => streams.jobStatus(context, kindOf('Job.batch'), path('owner.metadata.name'))],
  ])('in a stream of %s', (_, name, open) => {
    const { streams } = relatedWorld({ north: inventory });
    expect(() => open(streams)).toThrow(
      expect.objectContaining({
        code: 'BAD_INPUT',
        message: expect.stringContaining(`expected no path that begins with ${name} in a stream`),
      }),
    );
  });

  test('more than the metadata of Nodes if they are sensitive', async () => {
    const { ask, mirrors } = graphOverMirrors({ model, sensitiveKinds: ['Node'] });
    const north = mirrors.join('north');
    north.discover(...['Pod', 'Node'].map(served));
    for (const key of ['Pod', 'Node']) north.mirror(served(key)).list(...(inventory[key] ?? []));
    const { errors } = await ask('{ pods { max(path: "node.status.capacity.cpu") } }');
    expect(errors?.[0]?.message).toContain('only the metadata of Node is mirrored, got node.status.capacity.cpu');
    expect((await ask(listed('where: { path: "node.metadata.name", eq: "n1" }'))).at('pods.totalCount')).toBe(2);
  });

  test('not the metadata of Secrets', async () => {
    const secret = inShop('token', controlledBy('ReplicaSet', 'web'));
    const world = relatedWorld({
      north: { ...inventory, Secret: [secret], ConfigMap: [inShop('c', controlledBy('Secret', 'token', { apiVersion: 'v1' }))] },
    });
    const owned = async (list: string, name: string) =>
      (await world.ask(`{ ${list}(where: { path: "owner.metadata.name", eq: "${name}" }) { totalCount } }`)).at(`${list}.totalCount`);
    expect([await owned('secrets', 'web'), await owned('configMaps', 'token')]).toEqual([1, 1]);
  });
});

function kindOf(key: string) {
  const kind = model.kinds.get(key);
  if (kind === undefined) throw new Error(`no kind ${key}`);
  return kind;
}
