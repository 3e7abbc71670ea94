import { expect, test } from 'vitest';
import { kindStateOf } from '../../src/console/objects/kind-state.ts';
import { sortAfterClick, widthsOf } from '../../src/console/table/table-column.ts';

const none = { clusters: undefined, namespaces: undefined, labels: undefined, search: undefined, where: undefined };

test('an empty query chooses everything in the usual order', () => {
  expect(kindStateOf(new URLSearchParams())).toEqual({
    selection: none,
    isFiltered: false,
    sort: undefined,
    group: undefined,
    columns: [],
    problem: undefined,
  });
});

test('every member of the query has its meaning', () => {
  const query =
    'clusters=south,%20east&namespaces=shop&labels=app%3Dweb&search=x&where=spec.replicas%3E3&sort=-cluster.name&group=phase&columns=a.b,c';
  expect(kindStateOf(new URLSearchParams(query))).toEqual({
    selection: {
      clusters: ['south', 'east'],
      namespaces: ['shop'],
      labels: 'app=web',
      search: 'x',
      where: { path: 'spec.replicas', gt: 3 },
    },
    isFiltered: true,
    sort: { path: 'cluster.name', isDescending: true },
    group: 'phase',
    columns: ['a.b', 'c'],
    problem: undefined,
  });
});

test('several conditions must all hold, and a wrong one is a problem', () => {
  expect(kindStateOf(new URLSearchParams('where=a%3D1&where=!b')).selection.where).toEqual({
    and: [
      { path: 'a', eq: 1 },
      { path: 'b', exists: false },
    ],
  });
  expect(kindStateOf(new URLSearchParams('where=%3D%3D')).problem).toContain('spec.replicas>3');
});

test('a click on a header sorts ascending, and a second one descending', () => {
  expect(sortAfterClick(undefined, 'a')).toBe('a');
  expect(sortAfterClick({ path: 'a', isDescending: false }, 'a')).toBe('-a');
  expect(sortAfterClick({ path: 'a', isDescending: true }, 'a')).toBe('a');
  expect(sortAfterClick({ path: 'b', isDescending: false }, 'a')).toBe('a');
});

test('a column becomes wider with its texts, never narrower, and never very wide', () => {
  const first = widthsOf([], [['aaaaaaaaaa', 'b']], ['Name', 'X']);
  expect(first).toEqual([10, 2]);
  expect(widthsOf(first, [['a', 'c'.repeat(500)]], ['Name', 'X'])).toEqual([10, 60]);
});
