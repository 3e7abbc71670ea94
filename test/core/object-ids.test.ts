import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idOfCluster, idOfObject, parseObjectId } from '../../src/core/object-ids.ts';

const identified = fc.record({ cluster: fc.string(), group: fc.string(), kind: fc.string(), namespace: fc.string(), name: fc.string() });

test('an id has exactly the parts that it was made of', () => {
  fc.assert(
    fc.property(identified, (object) => {
      expect(parseObjectId(idOfObject(object))).toEqual(object);
    }),
  );
});

test('an object that is created again under its name has another id, and an id without a uid means either object', () => {
  const object = { cluster: 'north', group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' };
  const [first, second] = ['u1', 'u2'].map((uid) => idOfObject({ ...object, uid }));
  expect(new Set([first, second, idOfObject(object)]).size).toBe(3);
  expect(parseObjectId(first ?? '')).toEqual({ ...object, uid: 'u1' });
});

test('different objects have different ids, and no cluster has the id of an object', () => {
  fc.assert(
    fc.property(identified, identified, (a, b) => {
      expect(idOfObject(a) === idOfObject(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      expect(idOfCluster(a.cluster)).not.toBe(idOfObject(a));
    }),
  );
});

test('an id is one segment of a URL, in one spelling only', () => {
  const id = idOfObject({ cluster: 'arn:aws:eks:eu/prod', group: 'apps', kind: 'Deployment', namespace: 'é', name: '🙂' });
  expect(id).toMatch(/^[\w-]+$/);
  for (const other of [
    `${id}=`,
    ` ${id}`,
    `${id}A`,
    id.slice(1),
    '',
    'bm9wZQ',
    idOfCluster('north'),
    Buffer.from('[1,2,3,4,5]').toString('base64url'),
  ]) {
    expect(() => parseObjectId(other)).toThrow('expected the id of an object');
  }
});
