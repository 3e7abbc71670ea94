import type { GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { createBudget } from '../../src/graph/context/budget.ts';
import { inShop, relatedWorld } from '../support/graph/related-world.ts';

const annotations = { owner: 'web', team: 'shop' };
const world = relatedWorld({ north: { Pod: Array.from({ length: 20 }, (_, index) => inShop(`p${index}`, { annotations })) } });
const words = (count: number) => Array.from({ length: count }, (_, index) => (index === 0 ? 'team' : `word-${index}`));

test.each([
  ['clusters', 'pods(clusters: $words) { totalCount }'],
  ['namespaces', 'pods(namespaces: $words) { totalCount }'],
  ['kinds', 'resources(kinds: $words) { totalCount }'],
  ['names', 'clusters(names: $words) { name }'],
  ['groups', 'kinds(groups: $words) { kind }'],
  ['kinds', 'pods { items { owned(kinds: $words) { totalCount } } }'],
  ['keys', 'pods { items { metadata { annotations(keys: $words) } } }'],
])('%s are at most 1,000: %s', async (argument, field) => {
  const { errors } = await world.ask(`query ($words: [String!]!) { ${field} }`, { words: words(1_001) });
  expect(errors?.[0]?.message).toBe(`${argument}: expected at most 1000, got 1001`);
  expect(errors?.[0]?.originalError).toMatchObject({ code: 'BAD_INPUT' });
});

test('a lookup of a thousand keys is answered', async () => {
  const { at, errors } = await world.ask('query ($words: [String!]!) { pods { items { metadata { annotations(keys: $words) } } } }', {
    words: words(1_000),
  });
  expect(errors).toBeUndefined();
  expect(at('pods.items.metadata.annotations')).toEqual(Array.from({ length: 20 }, () => ({ team: 'shop' })));
});

test('C9: the keys of each lookup are charged, in each field', async () => {
  const aliases = Array.from({ length: 30 }, (_, index) => `a${index}: annotations(keys: $words)`).join(' ');
  const many = relatedWorld({ north: { Pod: Array.from({ length: 130 }, (_, index) => inShop(`p${index}`)) } });
  const roots = Array.from({ length: 10 }, (_, index) => `r${index}: pods(first: 500) { items { metadata { ...A } } }`).join(' ');
  const { errors } = await many.ask(`query ($words: [String!]!) { ${roots} } fragment A on ObjectMeta { ${aliases} }`, {
    words: words(1_000),
  });
  expect(errors?.[0]?.originalError).toMatchObject({ code: 'TOO_COSTLY' });
});

test('YAML is printed in a later slice if the operation has used up its own', async () => {
  const pod = world.schema.getType('Pod') as GraphQLObjectType;
  const slice = Promise.withResolvers<void>();
  let printed = 0;
  const text = (yaml: string) => {
    printed += 1;
    return yaml;
  };
  const budget = { ...createBudget(() => undefined), text };
  const context = { budget, read: { timeSlices: { pause: () => slice.promise } } };
  const row = { object: inShop('web'), resource: { group: '', version: 'v1', kind: 'Pod' }, kind: { group: '', kind: 'Pod' } };
  const yaml = pod.getFields().yaml?.resolve?.(row, {}, context, undefined as never);
  expect(printed).toBe(0);
  slice.resolve();
  expect(await yaml).toContain('name: web');
  expect(printed).toBe(1);
});
