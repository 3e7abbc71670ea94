import { expect, test } from 'vitest';
import { controlledBy, inShop, relatedWorld } from '../../support/graph/related-world.ts';
import { objectNamed } from '../../support/kubernetes-objects.ts';

const replicaSet = (name: string, metadata = {}) => inShop(name, metadata);
const ownedPod = (reference: object, metadata = {}) =>
  inShop('web', {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', uid: 'uid-set', ...reference }],
    ...metadata,
  });
const askOwner =
  '{ pods { items { metadata { ownerReferences { name controller resource { metadata { uid } } } } owner { kind metadata { name uid } } } faults { code } } }';

interface Case {
  readonly case: string;
  readonly pod: ReturnType<typeof inShop>;
  readonly owner: string | null;
}

const cases: readonly Case[] = [
  { case: 'one of the same uid', pod: ownedPod({}), owner: 'uid-set' },
  { case: 'another object of the same name', pod: ownedPod({ uid: 'uid-of-before' }), owner: null },
  { case: 'one that is gone', pod: ownedPod({ name: 'gone', uid: 'uid-gone' }), owner: null },
  { case: 'one of another version of the group', pod: ownedPod({ apiVersion: 'apps/v1beta1' }), owner: 'uid-set' },
  { case: 'one of another group', pod: ownedPod({ apiVersion: 'v1' }), owner: null },
  { case: 'one of another namespace', pod: ownedPod({ name: 'far', uid: 'uid-far' }), owner: null },
  { case: 'one that is said to be in another namespace', pod: ownedPod({ name: 'far', uid: 'uid-far', namespace: 'far' }), owner: null },
  { case: 'one that lives in no namespace', pod: ownedPod({ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-n1' }), owner: 'uid-n1' },
  { case: 'one without a name', pod: ownedPod({ name: '' }), owner: null },
  { case: 'itself', pod: ownedPod({ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web' }), owner: 'uid-web' },
];

const inventory = (pod: ReturnType<typeof inShop>) => ({
  Pod: [pod],
  Node: [objectNamed('n1', { uid: 'uid-n1' })],
  'ReplicaSet.apps': [replicaSet('set'), replicaSet('far', { namespace: 'far' })],
});

test.each(cases)('an owner is $case: $owner', async ({ pod, owner }) => {
  const answer = await relatedWorld({ north: inventory(pod) }).ask(askOwner);
  expect(answer.errors).toBeUndefined();
  expect(answer.at('pods.items.owner.metadata.uid')).toEqual([owner]);
  const [reference] = (
    answer.at('pods.items.metadata.ownerReferences') as { name: string; resource: { metadata: { uid: string } } | null }[][]
  ).flat();
  // The reference stays, whatever happened to the owner.
  expect(reference?.name).toBe(pod.metadata.ownerReferences?.[0]?.name);
  expect(reference?.resource?.metadata.uid ?? null).toBe(owner);
});

test('a kind that the schema or the cluster does not have is a null with a fault', async () => {
  const world = relatedWorld({
    north: inventory(ownedPod({ apiVersion: 'example.com/v1', kind: 'Gadget' })),
    south: inventory(ownedPod({ apiVersion: 'batch/v1', kind: 'Job' })),
  });
  const answer = await world.ask(askOwner);
  expect(answer.at('pods.items.owner')).toEqual([null, null]);
  const told = answer.faults.map(({ fault: { code, kind, cluster }, path }) => `${cluster} ${code} ${kind?.kind} ${path.join('.')}`);
  expect(told.filter((line) => line.endsWith('.owner'))).toEqual([
    'north NOT_SERVED Gadget pods.items.0.owner',
    'south NOT_SERVED Job pods.items.1.owner',
  ]);
});

test('the controller comes before the other owners, and the first before the rest', async () => {
  const reference = (name: string, more = {}) => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `uid-${name}`, ...more });
  const first = inShop('a', { ownerReferences: [reference('x'), reference('y')] });
  const controlled = inShop('b', { ownerReferences: [reference('x'), reference('y', { controller: true })] });
  const strange = inShop('c', { ownerReferences: 'nobody' as never });
  const world = relatedWorld({ north: { Pod: [first, controlled, strange], 'ReplicaSet.apps': [replicaSet('x'), replicaSet('y')] } });
  const answer = await world.ask('{ pods { items { owner { metadata { name } } } } }');
  expect(answer.at('pods.items.owner.metadata.name')).toEqual(['x', 'y', null]);
});

test('owned objects are found in all kinds of the namespace, each once', async () => {
  const world = relatedWorld({
    north: {
      'Deployment.apps': [inShop('web', { uid: 'd' })],
      'ReplicaSet.apps': [
        inShop('web-a', controlledBy('Deployment', 'web', { uid: 'd' })),
        inShop('other-a', controlledBy('Deployment', 'web', { uid: 'before' })),
      ],
      ConfigMap: [
        inShop('made', {
          ownerReferences: [
            ...controlledBy('Deployment', 'web', { uid: 'd' }).ownerReferences,
            ...controlledBy('Deployment', 'web', { uid: 'd' }).ownerReferences,
          ],
        }),
        inShop('strayed', { namespace: 'far', ...controlledBy('Deployment', 'web', { uid: 'd' }) }),
      ],
    },
  });
  const ask = async (args: string) => {
    const answer = await world.ask(
      `{ deployments { items { owned${args} { totalCount items { kind metadata { name } } sync { kind { kind } } } } } }`,
    );
    expect(answer.errors).toBeUndefined();
    return answer.at('deployments.items') as { owned: { totalCount: number; items: object[]; sync: { kind: { kind: string } }[] } }[];
  };
  const made = { kind: 'ConfigMap', metadata: { name: 'made' } };
  const set = { kind: 'ReplicaSet', metadata: { name: 'web-a' } };
  const [all] = await ask('');
  expect(all?.owned.items).toEqual([made, set]);
  expect(all?.owned.sync.map(({ kind }) => kind.kind)).toEqual(['ConfigMap', 'Deployment', 'ReplicaSet']);
  const [chosen] = await ask('(kinds: ["rs", "ReplicaSet", "replicasets"])');
  expect(chosen?.owned).toEqual({ totalCount: 1, items: [set], sync: [{ kind: { kind: 'ReplicaSet' } }] });
  const wrong = await world.ask('{ deployments { items { owned(kinds: ["ReplicaSett"]) { totalCount } } } }');
  expect(wrong.errors?.[0]?.message).toContain('ReplicaSet');
});

test('A15: cycles and chains of a thousand owners end with the limit of nested relations', async () => {
  const chain = Array.from({ length: 1_000 }, (_, index) =>
    inShop(`c${index}`, controlledBy('ConfigMap', `c${(index + 1) % 1_000}`, { apiVersion: 'v1' })),
  );
  const world = relatedWorld({ north: { ConfigMap: chain } });
  const nested = (depth: number): string => `metadata { name } ${depth === 0 ? '' : `owner { ${nested(depth - 1)} }`}`;
  const ask = (depth: number) => world.ask(`{ configMap(cluster: "north", namespace: "shop", name: "c997") { ${nested(depth)} } }`);
  const allowed = await ask(5);
  expect(allowed.errors).toBeUndefined();
  expect(allowed.at('configMap.owner.owner.owner.owner.owner.metadata.name')).toBe('c2');
  const beyond = await ask(6);
  expect(beyond.errors?.map(({ message }) => message)).toEqual([
    'expected at most 5 nested relations, got one more: send another query that starts there',
  ]);
  expect(beyond.errors?.[0]?.originalError).toMatchObject({ code: 'TOO_COSTLY' });
  const mixed = await world.ask(
    `{ configMaps(first: 1) { items { ${'owner { owned(kinds: "cm") { items { '.repeat(3)} kind ${'} } }'.repeat(3)} } } }`,
  );
  expect(mixed.errors?.[0]?.originalError).toMatchObject({ code: 'TOO_COSTLY' });
});
