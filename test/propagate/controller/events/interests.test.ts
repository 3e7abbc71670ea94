import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOfKind } from '../../../../src/core/kinds.ts';
import { clusterName } from '../../../../src/core/names.ts';
import { createInterests, type Interest } from '../../../../src/propagate/controller/events/interests.ts';
import type { MemberChange, MemberObjects } from '../../../../src/store/member-objects.ts';

const deployment = { group: 'apps', kind: 'Deployment' };
const configMap = { group: '', kind: 'ConfigMap' };
const [north, south] = ['north', 'south'].map(clusterName) as [ReturnType<typeof clusterName>, ReturnType<typeof clusterName>];
const web: Required<Interest> = { cluster: north, kind: deployment, objectName: { namespace: 'default', name: 'web' } };

/** Records which mirrors are held. */
function holds(): Pick<MemberObjects, 'hold'> & { readonly held: () => readonly string[]; readonly begun: string[] } {
  const now = new Set<string>();
  const begun: string[] = [];
  return {
    begun,
    held: () => [...now].toSorted(),
    hold(cluster, kind, signal) {
      const text = `${cluster} ${keyOfKind(kind)}`;
      expect(now.has(text)).toBe(false);
      now.add(text);
      begun.push(text);
      signal.addEventListener('abort', () => now.delete(text), { once: true });
    },
  };
}

test('returns the keys with an interest in an object, in a mirror and in a cluster', () => {
  const interests = createInterests(holds(), new AbortController().signal);
  interests.set('a', [web]);
  interests.set('b', [web, { ...web, kind: configMap }]);
  interests.set('c', [{ ...web, cluster: south }]);
  expect([...interests.keysOf({ type: 'object', ...web })]).toEqual(['a', 'b']);
  expect([...interests.keysOf({ type: 'object', ...web, objectName: { namespace: 'default', name: 'other' } })]).toEqual([]);
  expect([...interests.keysOf({ type: 'mirror', cluster: north, kind: configMap })]).toEqual(['b']);
  expect([...interests.keysOf({ type: 'cluster', cluster: north })].toSorted()).toEqual(['a', 'b']);
  expect([...interests.keysOf({ type: 'cluster', cluster: clusterName('east') })]).toEqual([]);
});

test('holds a mirror without a gap while a key has an interest in it, and releases all with the signal', () => {
  const stop = new AbortController();
  const objects = holds();
  const interests = createInterests(objects, stop.signal);
  interests.set('a', [web]);
  interests.set('a', [{ ...web, objectName: { namespace: 'default', name: 'other' } }]);
  interests.set('b', [web]);
  interests.set('a', []);
  expect([objects.begun, objects.held()]).toEqual([['north Deployment.apps'], ['north Deployment.apps']]);
  interests.set('b', [{ ...web, cluster: south }]);
  expect(objects.held()).toEqual(['south Deployment.apps']);
  stop.abort();
  expect(objects.held()).toEqual([]);
  interests.set('a', [web]);
  expect(objects.held()).toEqual([]);
});

const interest = fc.record({
  cluster: fc.constantFrom(north, south),
  kind: fc.constantFrom(deployment, configMap),
  objectName: fc.record({ namespace: fc.constantFrom('', 'default'), name: fc.constantFrom('a', 'b') }),
});

test('returns the same keys as a search through all interests', () => {
  const act = fc.record({ key: fc.constantFrom('x', 'y', 'z'), wanted: fc.array(interest, { maxLength: 5 }) });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 12 }), (acts) => {
      const objects = holds();
      const interests = createInterests(objects, new AbortController().signal);
      const naive = new Map<string, readonly Required<Interest>[]>();
      for (const { key, wanted } of acts) {
        interests.set(key, wanted);
        naive.set(key, wanted);
      }
      const keys = (isMeant: (one: Required<Interest>) => boolean) =>
        [...naive].flatMap(([key, all]) => (all.some(isMeant) ? [key] : [])).toSorted();
      const all = [...naive.values()].flat();
      expect(objects.held()).toEqual([...new Set(all.map(({ cluster, kind }) => `${cluster} ${keyOfKind(kind)}`))].toSorted());
      for (const { cluster, kind, objectName } of all) {
        const isThere = (one: Required<Interest>) => one.cluster === cluster && one.kind === kind;
        const changes: readonly (readonly [MemberChange, readonly string[]])[] = [
          [{ type: 'cluster', cluster }, keys((one) => one.cluster === cluster)],
          [{ type: 'mirror', cluster, kind }, keys(isThere)],
          [
            { type: 'object', cluster, kind, objectName },
            keys((one) => isThere(one) && one.objectName.name === objectName.name && one.objectName.namespace === objectName.namespace),
          ],
        ];
        for (const [change, expected] of changes) expect([...interests.keysOf(change)].toSorted()).toEqual(expected);
      }
    }),
  );
});
