import { expect, test } from 'vitest';
import { definitionOf, objectOf, startLivingCluster } from './living-systems.ts';

const configMaps = (count: number) => Array.from({ length: count }, (_, index) => objectOf('v1 ConfigMap', `shop/c${index}`));

test('lists page by page, with the kind of each object and without managedFields', async () => {
  await using living = await startLivingCluster(configMaps(250));
  const reader = living.reader();
  const kind = await reader.kindOf('v1', 'ConfigMap');
  if (kind === undefined) throw new Error('expected ConfigMaps');
  const { objects, isComplete } = await reader.list({ kind, namespaces: ['shop', 'nowhere'] });
  expect([objects.length, isComplete]).toEqual([250, true]);
  expect(objects[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c0', namespace: 'shop' } });
  expect(objects.every(({ metadata }) => !Object.hasOwn(metadata as object, 'managedFields'))).toBe(true);
  const pages = living.cluster.requests.filter(({ path }) => path.startsWith('/api/v1/namespaces/shop/configmaps'));
  expect(pages).toHaveLength(3);
});

test('a list of more than 20,000 objects is a fault and has no objects, and other kinds are still read', async () => {
  await using living = await startLivingCluster([
    ...configMaps(20_050),
    objectOf('v1 Service', 'shop/a', { spec: { ports: [{ port: 80 }] } }),
  ]);
  const reader = living.reader();
  const [services, maps] = await Promise.all([reader.kindOf('v1', 'Service'), reader.kindOf('v1', 'ConfigMap')]);
  if (services === undefined || maps === undefined) throw new Error('expected both kinds');
  expect((await reader.list({ kind: services, namespaces: ['shop'] })).objects).toHaveLength(1);
  expect(await reader.list({ kind: maps })).toEqual({ objects: [], isComplete: false });
  expect(reader.faults).toMatchObject([
    { code: 'TOO_LARGE', kind: { kind: 'ConfigMap' }, message: expect.stringContaining('name the kinds or the namespaces') },
  ]);
});

test('reads the preferred version of a group, and a group that is not served has no kinds', async () => {
  await using living = await startLivingCluster([definitionOf('shop.example.com/v1', 'Widget')]);
  const reader = living.reader();
  expect((await reader.kindsIn('shop.example.com')).map(({ version, kind }) => [version, kind])).toEqual([['v1', 'Widget']]);
  expect(await reader.kindsIn('bank.example.com')).toEqual([]);
  expect(await reader.kindOf('shop.example.com/v2', 'Widget')).toBeUndefined();
  expect(reader.faults).toEqual([]);
});

test('a cluster that does not answer is one fault', async () => {
  await using living = await startLivingCluster([]);
  living.cluster.refuse();
  living.cluster.disconnect();
  const reader = living.reader();
  expect(await Promise.all(['a.example.com', 'b.example.com'].map((group) => reader.kindsIn(group)))).toEqual([[], []]);
  expect(reader.faults.map(({ code }) => code)).toEqual(['UNREACHABLE']);
});

test('a cluster that answers nothing costs one wait', async () => {
  await using living = await startLivingCluster([]);
  living.cluster.refuse();
  living.cluster.disconnect();
  const reader = living.reader();
  await reader.kindsIn('a.example.com');
  const before = living.cluster.requests.length;
  expect(await reader.kindOf('v1', 'ConfigMap')).toBeUndefined();
  expect([living.cluster.requests.length, reader.faults.length]).toEqual([before, 1]);
});
