import { describe, expect, test } from 'vitest';
import { keyOfObject } from '../../../src/store/feed/changes.ts';
import { type ChangesQueue, createChangesQueue, mergeChanges, type ObjectChange } from '../../../src/streams/messages/changes-queue.ts';
import { objectOf } from '../../support/store/store-objects.ts';

function change(type: ObjectChange['type'], name: string, { uid = name, version = 1 } = {}): ObjectChange {
  const object = objectOf({ name, uid, version });
  return { type, key: keyOfObject(object), object };
}

const print = ({ type, object: { metadata } }: ObjectChange) => `${type} ${metadata.name}@${metadata.resourceVersion}`;

function queueOf(...changes: readonly ObjectChange[]): ChangesQueue {
  const queue = createChangesQueue();
  for (const one of changes) queue.put(one);
  return queue;
}

const types = ['ADDED', 'MODIFIED', 'DELETED'] as const;
const table: Readonly<Record<string, string>> = {
  'ADDED ADDED': 'ADDED a@2',
  'ADDED MODIFIED': 'ADDED a@2',
  'ADDED DELETED': 'nothing',
  'MODIFIED ADDED': 'MODIFIED a@2',
  'MODIFIED MODIFIED': 'MODIFIED a@2',
  'MODIFIED DELETED': 'DELETED a@2',
  'DELETED ADDED': 'MODIFIED a@2',
  'DELETED MODIFIED': 'MODIFIED a@2',
  'DELETED DELETED': 'DELETED a@2',
};

describe('two changes of one object', () => {
  for (const first of types) {
    for (const next of types) {
      test(`${first}, then ${next} is ${table[`${first} ${next}`]}`, () => {
        const merged = mergeChanges(change(first, 'a'), change(next, 'a', { version: 2 }));
        expect(merged === undefined ? 'nothing' : print(merged)).toBe(table[`${first} ${next}`]);
      });
    }
  }
});

describe('a message', () => {
  test('has the changes in the order of the latest of each object', () => {
    const queue = queueOf(change('ADDED', 'a'), change('MODIFIED', 'b'), change('MODIFIED', 'a', { version: 2 }));
    expect(queue.take(10).map(print)).toEqual(['MODIFIED b@1', 'ADDED a@2']);
    expect(queue.size).toBe(0);
  });

  test('has no more than its maximum, and the rest comes next', () => {
    const queue = queueOf(...['a', 'b', 'c'].map((name) => change('ADDED', name)));
    expect(queue.take(2).map(print)).toEqual(['ADDED a@1', 'ADDED b@1']);
    expect(queue.take(2).map(print)).toEqual(['ADDED c@1']);
    expect(queue.take(2)).toEqual([]);
  });

  test('has the deletion of an object or the creation of the next one of its name, never both', () => {
    const queue = queueOf(
      change('DELETED', 'a', { uid: 'old' }),
      change('ADDED', 'a', { uid: 'new', version: 2 }),
      change('DELETED', 'b', { uid: 'older' }),
      change('ADDED', 'b', { uid: 'newer', version: 2 }),
      change('ADDED', 'c'),
    );
    expect(queue.take(10).map(print)).toEqual(['DELETED a@1', 'DELETED b@1', 'ADDED c@1']);
    expect(queue.take(10).map(print)).toEqual(['ADDED a@2', 'ADDED b@2']);
    expect(queue.size).toBe(0);
  });

  test('has nothing of an object that was created and deleted', () => {
    const queue = queueOf(change('ADDED', 'a'), change('DELETED', 'a'), change('ADDED', 'b'));
    queue.clear();
    expect([queue.size, queue.take(10)]).toEqual([0, []]);
  });
});
