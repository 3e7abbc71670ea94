import { expect, test } from 'vitest';
import { clusterName } from '../../src/core/names.ts';
import {
  type Position,
  parseSourceKey,
  parseStreamCursor,
  printStreamCursor,
  sourceKey,
  voidPosition,
  withPositions,
} from '../../src/load/stream-cursor.ts';
import { versionOf } from '../support/store-objects.ts';

const exact = (version: number): Position => ({ type: 'exact', epoch: 'abcdefgh', version: versionOf(version) });
const jobs = { group: 'batch', kind: 'Job' };
const key = (cluster: string) => sourceKey(clusterName(cluster), jobs);

test('gives back what it was made of, whatever the clusters are called', () => {
  const cursor = {
    scope: 'all',
    vector: new Map([
      [key('north'), exact(12)],
      [key('a name with spaces'), voidPosition],
      [sourceKey(clusterName('north'), { group: '', kind: 'Pod' }), exact(13)],
    ]),
  };
  expect(parseStreamCursor(printStreamCursor(cursor))).toEqual({ scope: 'all', vector: new Map([...cursor.vector].sort()) });
  expect(parseSourceKey(key('a name with spaces'))).toEqual({ cluster: 'a name with spaces', kind: 'Job.batch' });
  expect(parseSourceKey('nothing')).toBeUndefined();
});

test('is nothing but what was made so', () => {
  for (const text of ['', '\0', '\0{}', '\0[1]', '\0["all",[["Pod",[["north","e"]]]]]', '\u0001{', 'x']) {
    expect(parseStreamCursor(Buffer.from(text))).toBeUndefined();
  }
});

test('of 200 clusters takes less than 6 kB', () => {
  const vector = new Map(
    Array.from({ length: 200 }, (_, index): [string, Position] => {
      const epoch = Buffer.from(`${index * 7_919}epoch`)
        .toString('base64url')
        .slice(0, 8);
      return [key(`cluster-${index}.eu-west-${index % 3}`), { type: 'exact', epoch, version: versionOf(123_456_789 + index * 104_729) }];
    }),
  );
  const bytes = printStreamCursor({ scope: 'all', vector });
  expect(bytes.length).toBeLessThan(6_000);
  expect(parseStreamCursor(bytes)?.vector).toEqual(vector);
});

test('is the vector but for what is said of single sources', () => {
  const vector = new Map([
    [key('a'), exact(1)],
    [key('b'), exact(2)],
  ]);
  const over = new Map<string, Position | undefined>([
    [key('a'), undefined],
    [key('c'), voidPosition],
  ]);
  expect(withPositions(vector, over)).toEqual(
    new Map([
      [key('b'), exact(2)],
      [key('c'), voidPosition],
    ]),
  );
});
