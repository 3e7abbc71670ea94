import { expect, test } from 'vitest';
import { sortedRows } from '../../src/console/objects/sorted-rows.ts';
import type { ObjectRow } from '../../src/console/objects/table-of-kind.ts';

const row = (cluster: string, name: string, restarts?: number) =>
  ({ id: `${cluster}/${name}`, cluster: { name: cluster }, metadata: { namespace: 'shop', name }, restarts }) as unknown as ObjectRow;
const rows = [row('south', 'web', 3), row('north', 'web', 10), row('north', 'api'), row('east', 'zoo', 3)];
const paths = new Map([
  ['restarts', { path: 'restarts', fields: 'restarts', read: (item: object) => (item as { readonly restarts?: number }).restarts }],
]);

test.each([
  ['by name and cluster', undefined, ['north/api', 'north/web', 'south/web', 'east/zoo']],
  ['by a path, equal ones by name', { path: 'restarts', isDescending: false }, ['south/web', 'east/zoo', 'north/web', 'north/api']],
  ['by a path, the largest first', { path: 'restarts', isDescending: true }, ['north/api', 'north/web', 'south/web', 'east/zoo']],
  ['by a path that is not known yet', { path: 'spec.new', isDescending: true }, ['north/api', 'north/web', 'south/web', 'east/zoo']],
] as const)('sorts objects %s', (_case, sort, expected) => {
  expect(sortedRows(rows, sort, paths).map(({ id }) => id)).toEqual(expected);
});
