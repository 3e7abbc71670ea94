import { expect, test } from 'vitest';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { compileWhere } from '../../../src/store/filter/where.ts';
import type { StoreReader } from '../../../src/store/mirror-store.ts';
import type { QuerySpec } from '../../../src/store/query/query.ts';
import { sample, smallModel, sourceOf } from '../../support/store/query-sources.ts';
import { runQuery } from '../../support/store/store-at-once.ts';
import { objectOf } from '../../support/store/store-objects.ts';

/**
 * Two small namespaces and a large one. All objects have one app label, and each namespace its own team, so a label may select more objects
 * than are requested.
 */
const sizes = { a: 80, b: 10, big: 500 } as const;
const objects = Object.entries(sizes).flatMap(([namespace, size]) =>
  Array.from({ length: size }, (_, index) =>
    objectOf({
      name: `n${index}`,
      namespace,
      labels: { app: 'web', team: `of-${namespace}`, tier: `t${index % 10}` },
      spec: { nodeName: `node-${index}` },
    }),
  ),
);

/** Returns what a query finds, and how many objects it read from the store by which way. */
function lookedAt(spec: Partial<QuerySpec>, visibility?: readonly string[]) {
  const source = sourceOf({ objects, ...(visibility === undefined ? {} : { visibility }) });
  const ways: string[] = [];
  const noted = <T extends { readonly length: number } | undefined>(way: string, found: T): T => {
    ways.push(`${way} ${found?.length ?? 0}`);
    return found;
  };
  const store: StoreReader = {
    ...source.store,
    size: source.store.size,
    indexed: (lookup) => noted(lookup.by, source.store.indexed(lookup)),
    lists: (within) =>
      within === undefined
        ? noted('all', source.store.lists())
        : [...within].flatMap((namespace) => source.store.lists([namespace]).map((list) => noted(namespace, list))),
  };
  const { totalCount } = runQuery([{ ...source, store }], { first: 1, ...spec });
  return { totalCount, ways };
}

const selector = (text: string) => ({ selector: parseLabelSelector(text) });
const where = (path: string, eq: string) => ({ where: compileWhere(smallModel, [sample], { path, eq }) });

interface Case {
  readonly name: string;
  readonly spec: Partial<QuerySpec>;
  readonly visibility?: readonly string[];
  readonly finds: number;
  readonly by: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'a label that more have than lie in the namespace',
    spec: { namespaces: ['a'], ...selector('app=web') },
    finds: 80,
    by: ['a 80'],
  },
  { name: 'the same written as a filter', spec: { namespaces: ['a'], ...where('metadata.labels.app', 'web') }, finds: 80, by: ['a 80'] },
  { name: 'a label that fewer have', spec: { namespaces: ['a'], ...selector('tier=t3') }, finds: 8, by: ['label 59'] },
  { name: 'a label that as many have', spec: { namespaces: ['a'], ...selector('team=of-a') }, finds: 80, by: ['label 80'] },
  { name: 'a few namespaces, each counted', spec: { namespaces: ['a', 'b'], ...selector('app=web') }, finds: 90, by: ['a 80', 'b 10'] },
  { name: 'so few that no index is worth it', spec: { namespaces: ['b'], ...selector('tier=t3') }, finds: 1, by: ['b 10'] },
  { name: 'the namespace in the filter', spec: where('metadata.namespace', 'a'), finds: 80, by: ['a 80'] },
  { name: 'a label that hidden objects have', spec: selector('app=web'), visibility: ['a'], finds: 80, by: ['a 80'] },
  { name: 'a label that only hidden objects have', spec: selector('team=of-big'), visibility: ['a', 'b'], finds: 0, by: ['a 80', 'b 10'] },
  { name: 'a label of few that are hidden', spec: selector('team=of-b'), visibility: ['a'], finds: 0, by: ['label 10'] },
  { name: 'a node', spec: where('spec.nodeName', 'node-7'), visibility: ['a', 'big'], finds: 2, by: ['node 3'] },
  { name: 'the shorter of two labels', spec: selector('app=web,tier=t3'), finds: 59, by: ['label 59'] },
  { name: 'nothing that an index knows', spec: { namespaces: ['a'], search: 'n7' }, finds: 11, by: ['a 80'] },
];

test.each(cases)('finds candidates by the cheapest way: $name', ({ spec, visibility, finds, by }) => {
  const { totalCount, ways } = lookedAt(spec, visibility);
  expect(totalCount).toBe(finds);
  expect(ways).toEqual(by);
});
