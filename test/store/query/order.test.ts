import { describe, expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { parseOrderPosition, printOrderPosition } from '../../../src/store/query/cursor.ts';
import { compileOrder, type OrderByInput } from '../../../src/store/query/order.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';
import { other, sample, smallModel, sourceOf, sourceOfSpecs } from '../../support/store/query-sources.ts';
import { runQuery } from '../../support/store/store-at-once.ts';
import { objectOf } from '../../support/store/store-objects.ts';

/** Returns the names in this order, read page by page. Each page begins at the printed cursor of the previous one. */
function ordered(sources: readonly QuerySource[], orderBy: readonly OrderByInput[], first = 2): readonly string[] {
  const order = compileOrder(smallModel, [sample, other], orderBy);
  const names: string[] = [];
  for (let after: ReturnType<typeof parseOrderPosition>, more = true; more; ) {
    const page = runQuery(sources, { order, first, after });
    names.push(...page.hits.map(({ object }) => object.metadata.name));
    if (names.length > page.totalCount) throw new Error('a page came twice');
    more = page.hasNextPage;
    const last = page.hits.at(-1);
    if (last === undefined) break;
    after = parseOrderPosition(printOrderPosition(page.positionOf(last)));
    if (after === undefined) throw new Error('the position was lost');
  }
  return names;
}

describe('sorts by type, missing values last in both directions:', () => {
  const cases: readonly (readonly [string, string, readonly string[], readonly number[]])[] = [
    ['text', 'spec.text', ['"b"', 'null', '"a"', '"B"', '"é"', '""'], [5, 3, 2, 0, 4, 1]],
    [
      'integers',
      'spec.big',
      ['10', '9', '-1', '9007199254740993', '9007199254740992', '9223372036854775807', 'null'],
      [2, 1, 0, 4, 3, 5, 6],
    ],
    ['fractions', 'spec.ratio', ['0.5', '-0.5', '1e3', '2'], [1, 0, 3, 2]],
    ['truth', 'spec.flag', ['true', 'false', 'null'], [1, 0, 2]],
    [
      'instants',
      'spec.at',
      ['"2026-01-01T00:00:00+02:00"', '"2026-01-01T00:00:00Z"', '"2026-01-01T00:00:00.000001Z"', '"rubbish"', 'null'],
      [0, 1, 2, 3, 4],
    ],
    ['quantities', 'spec.amount', ['"1Gi"', '"1G"', '"999999999"', '"250m"', '"0.3"', '2', 'null', '"x"'], [3, 4, 5, 2, 1, 0, 7, 6]],
    ['durations', 'spec.wait', ['"1h"', '"61m"', '"3599s"', 'null'], [2, 0, 1, 3]],
    ['IntOrString', 'spec.port', ['"80"', '443', '80', '"100%"', 'null'], [2, 1, 3, 0, 4]],
    ['mixed JSON', 'spec.any', ['{}', '[1]', '"x"', '5', 'true', 'null', '-5', 'false'], [7, 4, 6, 3, 2, 1, 0, 5]],
    ['keys of maps', 'spec.tags.a', ['{"a":"2"}', '{}', '{"a":"1"}'], [2, 0, 1]],
    ['the least of a list', 'spec.names', ['["b","z"]', '[]', '["a","x"]', '["c"]'], [2, 0, 3, 1]],
  ];

  test.each(cases)('%s', (_, path, values, indexes) => {
    const field = path.split('.')[1] ?? '';
    const source = sourceOfSpecs(...values.map((value) => `{"${field}":${value}}`));
    const missing = indexes.filter(
      (index) => ['null', '[]', '{}'].includes(values[index] ?? '') && !(field === 'any' && values[index] === '{}'),
    );
    const present = indexes.filter((index) => !missing.includes(index));
    expect(ordered([source], [{ path }])).toEqual([...present, ...missing].map((index) => `s${index}`));
    // In descending order the largest element of a list decides.
    const descending = field === 'names' ? [0, 2, 3] : present.toReversed();
    expect(ordered([source], [{ path, direction: 'DESC' }])).toEqual([...descending, ...missing].map((index) => `s${index}`));
  });
});

test('P3: equal keys are ordered by namespace, name and cluster, ascending', () => {
  const object = (namespace: string, name: string, text: string) => objectOf({ namespace, name, spec: { text } });
  const north = sourceOf({ cluster: 'north', objects: [object('b', 'x1', 'k'), object('a', 'x2', 'k'), object('a', 'x0', 'l')] });
  const east = sourceOf({ cluster: 'east', objects: [object('a', 'x2', 'k')] });
  const order = compileOrder(smallModel, [sample], [{ path: 'spec.text', direction: 'DESC' }]);
  const places = runQuery([north, east], { order, first: 10 }).hits.map(
    ({ source, object: { metadata } }) => `${metadata.namespace}/${metadata.name}@${source.cluster.name}`,
  );
  expect(places).toEqual(['a/x0@north', 'a/x2@east', 'a/x2@north', 'b/x1@north']);
});

test('several keys apply one after the other, each in its direction', () => {
  const source = sourceOfSpecs('{"text":"a","count":1}', '{"text":"b","count":2}', '{"text":"a","count":2}', '{"text":"b"}');
  expect(
    ordered(
      [source],
      [
        { path: 'spec.text', direction: 'DESC' },
        { path: 'spec.count', direction: 'ASC' },
      ],
    ),
  ).toEqual(['s1', 's3', 's0', 's2']);
  expect(
    ordered(
      [source],
      [
        { path: 'spec.count', direction: null },
        { path: 'spec.text', direction: 'DESC' },
      ],
    ),
  ).toEqual(['s0', 's1', 's2', 's3']);
});

test('different kinds have one order, even if types differ or a kind lacks the field', () => {
  const samples = sourceOf({ objects: [objectOf({ name: 'a', spec: { text: '5' } }), objectOf({ name: 'b', spec: {} })] });
  const others = sourceOf({
    kind: other,
    objects: [objectOf({ name: 'c', spec: { text: 7 } }), objectOf({ name: 'd', spec: { text: '4', only: 'z' } })],
  });
  expect(ordered([samples, others], [{ path: 'spec.text' }], 1)).toEqual(['c', 'd', 'a', 'b']);
  expect(ordered([samples, others], [{ path: 'spec.only' }], 1)).toEqual(['d', 'a', 'b', 'c']);
  expect(ordered([samples, others], [{ path: 'kind', direction: 'DESC' }], 3)).toEqual(['a', 'b', 'c', 'd']);
});

test('texts that are equal for 1,024 characters are equal in the order, and a cursor stays small', () => {
  const long = 'x'.repeat(100_000);
  const source = sourceOfSpecs(`{"text":"${long}b"}`, `{"text":"${long}a"}`, '{"text":"y"}');
  expect(ordered([source], [{ path: 'spec.text' }], 1)).toEqual(['s0', 's1', 's2']);
  const page = runQuery([source], { order: compileOrder(smallModel, [sample], [{ path: 'spec.text' }]), first: 1 });
  const [hit] = page.hits;
  if (hit === undefined) throw new Error('empty');
  expect(printOrderPosition(page.positionOf(hit)).length).toBeLessThan(1_200);
});

test.each<[string, readonly OrderByInput[], RegExp]>([
  ['a path that is none', [{ path: 'spec.txt' }], /no field spec\.txt/],
  ['an object', [{ path: 'spec.one' }], /orderBy: expected a path to a single value, got spec\.one, which is a ExamplePart/],
  ['a map', [{ path: 'spec.tags' }], /which is a StringMap/],
  ['nine paths', Array.from({ length: 9 }, () => ({ path: 'spec.text' })), /at most 8 paths, got 9/],
])('refuses %s', (_, orderBy, message) => {
  const compile = () => compileOrder(smallModel, [sample], orderBy);
  expect(compile).toThrow(MusterError);
  expect(compile).toThrow(message);
});

test('P10: a path that no kind has is refused with a suggestion from the kinds that have one', () => {
  expect(() => compileOrder(smallModel, [other, sample], [{ path: 'spec.cuont' }])).toThrow(
    /^no field spec\.cuont in any of the 2 requested kinds; did you mean spec\.count \(Sample\)\?$/,
  );
  // The error of a kind that has the path comes first.
  expect(() => compileOrder(smallModel, [other, sample], [{ path: 'spec.tags' }])).toThrow(
    /expected a path to a single value, got spec\.tags/,
  );
});
