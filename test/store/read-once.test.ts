import { afterEach, expect, test, vi } from 'vitest';
import * as values from '../../src/core/json/json-values.ts';
import type { Json } from '../../src/core/json.ts';
import { columnsOf } from '../../src/model/columns/columns.ts';
import { compileWhere } from '../../src/store/filter/where.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';
import { sourceOf } from '../support/store/query-sources.ts';
import { runQuery } from '../support/store/store-at-once.ts';
import { objectOf } from '../support/store/store-objects.ts';

vi.mock('../../src/core/json/json-values.ts', { spy: true });

afterEach(() => vi.restoreAllMocks());

const model = loadBaseline();

function kindOf(key: string) {
  const kind = model.kinds.get(key);
  if (kind === undefined) throw new Error(`no ${key}`);
  return kind;
}

const pod = kindOf('Pod');
const pods = (count: number) =>
  sourceOf({
    kind: pod,
    objects: Array.from({ length: count }, (_, index) =>
      objectOf({
        name: `p${index}`,
        spec: { containers: [{ name: 'web', resources: { requests: { cpu: `${index}m`, memory: '1Gi' } } }] },
      }),
    ),
  });

test('computes a column once for each object, however many conditions use it', () => {
  const column = columnsOf(pod).find(({ name }) => name === 'requests');
  if (column === undefined) throw new Error('no column');
  const get = vi.spyOn(column, 'get');
  const level = (operand: Json) => ({ path: operand === '7Gi' ? 'requests.memory' : 'requests.cpu', lt: operand });
  const where = compileWhere(model, [pod], { and: [1, '7Gi', 2, 3].map(level) });
  expect(runQuery([pods(20)], { first: 20, where }).totalCount).toBe(20);
  expect(get).toHaveBeenCalledTimes(20);
});

test('computes a column again for the next object, and for the same object at another moment', () => {
  const source = pods(2);
  const matches = compileWhere(model, [pod], { path: 'requests.cpu', eq: '1m' }).predicateFor(source);
  const [first, second] = [...source.store.objects()];
  if (first === undefined || second === undefined) throw new Error('no pods');
  const changed = { ...first, spec: second.spec ?? null };
  expect([first, second, first, changed, first].map(matches)).toEqual([false, true, false, true, false]);
});

test('reads a value once that is compared with many operands', () => {
  const where = compileWhere(model, [pod], { or: Array.from({ length: 50 }, (_, index) => ({ path: 'requests.cpu', lt: index - 60 })) });
  const source = pods(20);
  vi.mocked(values.orderKeyOf).mockClear();
  expect(runQuery([source], { first: 20, where }).totalCount).toBe(0);
  expect(vi.mocked(values.orderKeyOf).mock.calls.filter(([, type]) => type === 'Quantity').length).toBeLessThanOrEqual(20);
});
