import { execute, parse } from 'graphql';
import { expect, test } from 'vitest';
import { compareOrderKeys } from '../../src/core/json/json-values.ts';
import { keyOfKind } from '../../src/core/kinds.ts';
import { buildGraph } from '../../src/graph/graph.ts';
import type { ModelKind } from '../../src/model/model.ts';
import { createStore } from '../../src/store/contents/store.ts';
import { compileWhere } from '../../src/store/filter/where.ts';
import { compileOrder } from '../../src/store/query/order.ts';
import type { QuerySource } from '../../src/store/query-source.ts';
import { type Leaf, type Sample, sampleOf } from '../support/graph/model-samples.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';
import { createManualClock } from '../support/manual-clock.ts';

const model = loadBaseline();
const schema = buildGraph(model);

test('every path of the model gives equal values and order in GraphQL and in filters', async () => {
  let paths = 0;
  for (const kind of model.kinds.values()) {
    const low = sampleOf(model, kind, 0);
    const high = sampleOf(model, kind, 1);
    const [first, second] = await Promise.all([readAll(kind, low), readAll(kind, high)]);
    const source = sourceOf(kind);
    for (const leaf of high.leaves) {
      paths++;
      const where = `${keyOfKind(kind)} ${leaf.path}`;
      const [less, more] = [valueAt(first, leaf), valueAt(second, leaf)];
      expect(more, where).toBeDefined();
      const matches = (filter: object) =>
        [low, high].map(({ object }) => compileWhere(model, [kind], { path: leaf.path, ...filter }).predicateFor(source)(object));
      expect(matches({ eq: more }), `${where} eq`).toEqual([false, true]);
      expect(matches({ in: [less] }), `${where} in`).toEqual([true, false]);
      expect(matches({ exists: true }), `${where} exists`).toEqual([true, true]);
      expect(orderOf(kind, leaf, [high, low]), `${where} order`).toEqual([low, high]);
    }
  }
  expect(paths).toBeGreaterThan(5_000);
}, 120_000);

/** The whole object as GraphQL answers it. */
async function readAll(kind: ModelKind, { object, leaves }: Sample): Promise<unknown> {
  const document = parse(`{ ${kind.one}(cluster: "c" ${kind.namespaced ? 'namespace: "n"' : ''} name: "x") { ${selectionOf(leaves)} } }`);
  const row = { kind, object };
  const contextValue = { reads: { get: async () => ({ row, faults: [] }) }, read: {} };
  const { data, errors } = await execute({ schema, document, contextValue });
  expect(errors).toBeUndefined();
  return data?.[kind.one];
}

interface Selection extends Map<string, Selection> {}

function selectionOf(leaves: readonly Leaf[]): string {
  const root: Selection = new Map();
  for (const { names } of leaves) {
    let level = root;
    for (const name of names) {
      const next: Selection = level.get(name) ?? new Map();
      level.set(name, next);
      level = next;
    }
  }
  const print = (level: Selection): string =>
    [...level].map(([name, below]) => (below.size === 0 ? name : `${name} { ${print(below)} }`)).join(' ');
  return `__typename ${print(root)}`;
}

function valueAt(answer: unknown, { names, mapKey }: Leaf): unknown {
  let value = answer;
  for (const name of names) {
    while (Array.isArray(value)) value = value[0];
    value = (value as Record<string, unknown> | null)?.[name];
  }
  while (Array.isArray(value)) value = value[0];
  return mapKey === undefined ? value : (value as Record<string, unknown> | null)?.[mapKey];
}

function orderOf(kind: ModelKind, { path }: Leaf, samples: readonly Sample[]): readonly Sample[] {
  const keysOf = compileOrder(model, [kind], [{ path }]).keysFor(sourceOf(kind));
  return samples.toSorted((a, b) => {
    const [left, right] = [keysOf(a.object)[0], keysOf(b.object)[0]];
    return left === undefined || right === undefined ? Number.NaN : compareOrderKeys(left, right);
  });
}

function sourceOf(kind: ModelKind): QuerySource {
  const store = createStore({ epoch: 'e', clock: createManualClock() });
  return { cluster: { name: 'c', labels: {}, phase: 'SYNCED' }, kind, apiVersion: 'v1', store, visibility: { type: 'all' } };
}
