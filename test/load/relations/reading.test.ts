import { expect, test } from 'vitest';
import type { AccessRequest } from '../../../src/access/access.ts';
import type { Fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { controlledBy, type Inventory, inShop, relatedWorld, served } from '../../support/graph/related-world.ts';
import { objectNamed } from '../../support/kubernetes-objects.ts';
import { turns } from '../../support/manual-clock.ts';
import { accessBut, createRestrictingAccess } from '../../support/restricting-access.ts';

const labels = { app: 'web' };
const pod = (name: string, metadata = {}) =>
  inShop(name, { labels, ...controlledBy('ReplicaSet', 'web-a'), ...metadata }, { spec: { nodeName: 'n1' } });
const node = objectNamed('n1');
const inventory: Inventory = {
  Pod: [pod('web-1'), pod('web-2')],
  Node: [node],
  Service: [inShop('web', {}, { spec: { selector: labels } })],
  'ReplicaSet.apps': [inShop('web-a', controlledBy('Deployment', 'web'), { spec: { selector: { matchLabels: labels } } })],
  'Deployment.apps': [inShop('web', {}, { spec: { selector: { matchLabels: labels } } })],
};
const fault: Fault = { code: 'UNREACHABLE', cluster: clusterName('north'), message: 'no answer', retry: 'LATER' };

const followed = `{ pods { items {
  node { metadata { name } } owner { metadata { name } } services { totalCount items { metadata { name } } faults { code } }
} } }`;

test('a kind that may not be read at all is a fault, of the verb that the relation needs', async () => {
  const hidden = new Set(['get Node', 'list Service']);
  const world = relatedWorld({ north: inventory }, { access: accessBut(({ verb, kind }) => hidden.has(`${verb} ${kind.kind}`)) });
  const answer = await world.ask(followed);
  expect(answer.errors).toBeUndefined();
  expect(answer.at('pods.items.node')).toEqual([null, null]);
  expect(answer.at('pods.items.owner.metadata.name')).toEqual(['web-a', 'web-a']);
  expect(answer.at('pods.items.services')).toEqual(Array(2).fill({ totalCount: 0, items: [], faults: [{ code: 'FORBIDDEN' }] }));
  expect(answer.faults.map(({ fault: { code, kind }, path }) => [code, kind?.kind, path.join('.')])).toEqual([
    ['FORBIDDEN', 'Node', 'pods.items.0.node'],
    ['FORBIDDEN', 'Node', 'pods.items.1.node'],
  ]);
});

test('a right to one object shows it in relations, and each object is reviewed once', async () => {
  const asked: AccessRequest[] = [];
  const isHidden = (question: AccessRequest) => {
    if (question.object !== undefined) asked.push(question);
    return question.verb === 'get' && !['n1', 'web-a'].includes(question.object?.name ?? '');
  };
  const other = inShop('web-3', controlledBy('ReplicaSet', 'web-b'), { spec: { nodeName: 'n2' } });
  const more = { ...inventory, Pod: [...(inventory.Pod ?? []), other], Node: [node, objectNamed('n2')] };
  const answer = await relatedWorld({ north: more }, { access: accessBut(isHidden) }).ask(
    '{ pods { items { node { metadata { name } } owner { metadata { name } } } } }',
  );
  expect(answer.at('pods.items.node')).toEqual([{ metadata: { name: 'n1' } }, { metadata: { name: 'n1' } }, null]);
  expect(answer.at('pods.items.owner')).toEqual([{ metadata: { name: 'web-a' } }, { metadata: { name: 'web-a' } }, null]);
  expect(asked.map(({ object, onlyIfBound }) => [object?.namespace, object?.name, onlyIfBound])).toEqual([
    [undefined, 'n1', true],
    ['shop', 'web-a', true],
    [undefined, 'n2', true],
    ['shop', 'web-b', true],
  ]);
});

test('without the right to list ReplicaSets, the Pods of a Deployment are unknown', async () => {
  const world = relatedWorld({ north: inventory }, { access: accessBut(({ kind }) => kind.kind === 'ReplicaSet') });
  const answer = await world.ask('{ deployments { items { pods { totalCount faults { code kind { kind } } } } } }');
  expect(answer.at('deployments.items.pods')).toEqual([{ totalCount: 0, faults: [{ code: 'FORBIDDEN', kind: { kind: 'ReplicaSet' } }] }]);
});

test('kinds that were not named and may not be listed are left out silently', async () => {
  const world = relatedWorld({ north: inventory }, { access: accessBut(({ kind }) => kind.kind === 'Node') });
  const answer = await world.ask('{ deployments { items { owned { items { kind } sync { kind { kind } } faults { code } } } } }');
  expect(answer.at('deployments.items.owned.items')).toEqual([[{ kind: 'ReplicaSet' }]]);
  expect(answer.at('deployments.items.owned.sync.kind.kind')).toEqual([['Deployment', 'Pod', 'ReplicaSet', 'Service']]);
  expect(answer.at('deployments.items.owned.faults')).toEqual([[]]);
});

test('hidden objects look absent: those of other namespaces change no byte', async () => {
  const access = createRestrictingAccess({ me: { north: ['shop'] } });
  const secretly = Array.from({ length: 200 }, (_, index) => pod(`far-${index}`, { namespace: 'far' }));
  const farSet = inShop('web-a', { namespace: 'far' });
  const more = {
    ...inventory,
    Pod: [...(inventory.Pod ?? []), ...secretly],
    'ReplicaSet.apps': [...(inventory['ReplicaSet.apps'] ?? []), farSet],
  };
  const ask = async (objects: Inventory) => {
    const answer = await relatedWorld({ north: objects }, { access }).ask(`{
      pods { items { metadata { ownerReferences { resource { id } } } owner { id owned { totalCount items { id } } } services { items { id pods { totalCount } } } node { id } } }
      deployments { items { owned { totalCount } pods { totalCount pageInfo { hasNextPage } } } }
    }`);
    return answer;
  };
  const [few, many] = [await ask(inventory), await ask(more)];
  expect(few.json).toBe(many.json);
  expect(few.faults).toEqual(many.faults);
  expect(few.at('pods.items.node')).toEqual([null, null]);
  expect(few.at('deployments.items.pods.totalCount')).toEqual([2]);
});

test('mirrors start on first use, are waited for once, and are released', async () => {
  const world = relatedWorld({ north: { Pod: inventory.Pod ?? [] } });
  const north = world.cluster('north');
  north.discover(...Object.keys(inventory).map(served));
  const answer = world.ask(followed);
  await turns(20);
  expect(north.leases).toBeGreaterThan(0);
  for (const [key, objects] of Object.entries(inventory)) north.mirror(served(key)).list(...objects);
  expect((await answer).at('pods.items.node.metadata.name')).toEqual(['n1', 'n1']);
  expect((await answer).at('pods.items.services.totalCount')).toEqual([1, 1]);
  expect(north.leases).toBe(0);
});

test('a missing first list is a fault after ten seconds, and an operation waits for fifteen in total', async () => {
  const world = relatedWorld({ north: { Pod: inventory.Pod ?? [] } });
  const north = world.cluster('north');
  north.discover(...Object.keys(inventory).map(served));
  const answer = world.ask(
    '{ pods(first: 1) { items { node { kind } owner { kind owner { kind } } services { items { kind } faults { code } } } } }',
  );
  let ends = 0;
  void answer.then(() => ends++);
  await turns(20);
  await world.clock.advance(9_000);
  north.mirror(served('ReplicaSet.apps')).list(...(inventory['ReplicaSet.apps'] ?? []));
  await turns(20);
  await world.clock.advance(5_999);
  await turns(20);
  expect(ends).toBe(0);
  await world.clock.advance(1);
  const services = { items: [], faults: [{ code: 'SYNCING' }] };
  expect((await answer).at('pods.items')).toEqual([{ node: null, owner: { kind: 'ReplicaSet', owner: null }, services }]);
  expect((await answer).faults.map(({ fault: { code, kind } }) => [code, kind?.kind])).toEqual([
    ['SYNCING', 'Node'],
    ['SYNCING', 'Deployment'],
  ]);
  expect(north.leases).toBe(0);
});

test('a cluster that fails is answered from its mirrors, with a fault', async () => {
  const world = relatedWorld({ north: inventory });
  for (const key of Object.keys(inventory)) world.cluster('north').mirror(served(key)).fail(fault);
  const answer = await world.ask(
    `{ pods { items { node { metadata { name } sync { phase } } services { items { kind } faults { code } } } } }`,
  );
  expect(answer.at('pods.items')).toEqual(
    Array(2).fill({
      node: { metadata: { name: 'n1' }, sync: { phase: 'STALE' } },
      services: { items: [{ kind: 'Service' }], faults: [{ code: 'UNREACHABLE' }] },
    }),
  );
  // A found object needs no fault. An object that is not found may exist by now.
  expect(answer.faults).toEqual([]);
  world.cluster('north').mirror(served('Node')).remove(node);
  world.cluster('north').mirror(served('Node')).fail(fault);
  const gone = await world.ask('{ pods { items { node { kind } } } }');
  expect(gone.faults.map(({ fault: { code }, path }) => [code, path.at(-2)])).toEqual([
    ['UNREACHABLE', 0],
    ['UNREACHABLE', 1],
  ]);
});

test('a connection is paginated by cursors that are valid only for it', async () => {
  const pods = Array.from({ length: 7 }, (_, index) => pod(`web-${index}`));
  const world = relatedWorld({ north: { ...inventory, Pod: pods } });
  const page = async (of: string, args: string) =>
    world.ask(
      `{ ${of} { items { pods${args} { totalCount items { metadata { name } } pageInfo { hasNextPage hasPreviousPage endCursor } } } } }`,
    );
  const seen: string[] = [];
  let after = '';
  for (let pages = 0; pages < 3; pages++) {
    const answer = await page('deployments', `(first: 3${after})`);
    const [found] = answer.at('deployments.items.pods') as {
      totalCount: number;
      items: { metadata: { name: string } }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    }[];
    expect(found?.totalCount).toBe(7);
    expect(found?.pageInfo.hasNextPage).toBe(pages < 2);
    seen.push(...(found?.items ?? []).map(({ metadata }) => metadata.name));
    after = `, after: "${found?.pageInfo.endCursor}"`;
  }
  expect(seen).toEqual(pods.map(({ metadata }) => metadata.name));
  for (const other of ['replicaSets', 'services', 'nodes']) {
    expect((await page(other, `(first: 3${after})`)).errors?.[0]?.originalError).toMatchObject({ code: 'BAD_INPUT' });
  }
  const owned = await world.ask(`{ deployments { items { owned(kinds: "po", first: 3${after}) { totalCount } } } }`);
  expect(owned.errors?.[0]?.originalError).toMatchObject({ code: 'BAD_INPUT' });
  for (const first of [0, 501]) expect((await page('nodes', `(first: ${first})`)).errors?.[0]?.message).toContain('first from 1 to 500');
});

test('related objects are charged, in lists and one by one', async () => {
  const pods = Array.from({ length: 200 }, (_, index) => pod(`web-${index}`));
  const world = relatedWorld({ north: { ...inventory, Pod: pods } });
  const lists = await world.ask('{ pods(first: 200) { items { owner { ... on PodOwner { pods(first: 200) { items { kind } } } } } } }');
  expect(lists.errors?.[0]?.originalError).toMatchObject({ code: 'TOO_COSTLY' });
  const owners = (count: number) => Array.from({ length: count }, (_, index) => `o${index}: owner { kind }`).join(' ');
  expect((await world.ask(`{ pods(first: 200) { items { ${owners(49)} } } }`)).errors).toBeUndefined();
  expect((await world.ask(`{ pods(first: 200) { items { ${owners(50)} } } }`)).errors?.[0]?.originalError).toMatchObject({
    code: 'TOO_COSTLY',
  });
});
