import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clusterName, type ResourceVersion } from '../../../src/core/names.ts';
import {
  parseSourceKey,
  parseStreamCursor,
  printStreamCursor,
  type SourcePosition,
  sourceKey,
  voidPosition,
  withPositions,
} from '../../../src/streams/messages/stream-cursor.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { versionOf } from '../../support/store/store-objects.ts';

const exact = (version: number): SourcePosition => ({ type: 'exact', epoch: 'abcdefgh', version: versionOf(version) });
const jobs = { group: 'batch', kind: 'Job' };
const key = (cluster: string) => sourceKey(clusterName(cluster), jobs);

test('parses to the printed positions, for any names of clusters', () => {
  const cursor = {
    scope: 'all',
    positions: new Map([
      [key('north'), exact(12)],
      [key('a name with spaces'), voidPosition],
      [sourceKey(clusterName('north'), { group: '', kind: 'Pod' }), exact(13)],
      [sourceKey(clusterName('\u{1f600}'), { group: '', kind: 'Pod' }), exact(0)],
      [sourceKey(clusterName('\u{1f601}'), { group: '', kind: 'Pod' }), exact(Number.MAX_SAFE_INTEGER)],
      [sourceKey(clusterName('\u{1f601}'), jobs), exact(2 ** 51 - 1)],
      [key('half'), { type: 'partial', epoch: 'abcdefgh', version: versionOf(14), through: 'shop/web-1' } as const],
      [key('half of an odd one'), { type: 'partial', epoch: 'abcdefgh', version: 'abc' as ResourceVersion, through: '/ü' } as const],
      ...['007', '18446744073709551615', 'abc', '-1', '1e3', ' 1', '0x10'].map(
        (version, index) => [key(`odd-${index}`), { type: 'exact', epoch: 'abcdefgh', version: version as ResourceVersion }] as const,
      ),
    ]),
  };
  expect(parseStreamCursor(printStreamCursor(cursor))).toEqual(cursor);
  const shuffled = { ...cursor, positions: new Map([...cursor.positions].reverse()) };
  expect(printStreamCursor(shuffled)).toEqual(printStreamCursor(cursor));
  expect(parseSourceKey(key('a name with spaces'))).toEqual({ cluster: 'a name with spaces', kind: 'Job.batch' });
  expect(parseSourceKey('nothing')).toBeUndefined();
});

test('returns any cursor', () => {
  const version = fc.oneof(
    fc.string({ minLength: 1, maxLength: 20 }),
    fc.nat().map(String),
    fc.bigInt({ min: 0n, max: 2n ** 64n }).map(String),
  );
  const epoch = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('base64url'));
  const position = fc.oneof(
    fc.constant(voidPosition),
    fc.record({ type: fc.constant('exact' as const), epoch, version }),
    fc.record({ type: fc.constant('partial' as const), epoch, version, through: fc.string() }),
  );
  const name = fc.tuple(fc.constantFrom('Pod', 'Job.batch', 'Kärrä.é'), fc.string({ unit: 'binary', minLength: 1, maxLength: 5 }));
  const vectors = fc.array(fc.tuple(name, position), { maxLength: 30 });
  fc.assert(
    fc.property(vectors, fc.string(), (entries, scope) => {
      const cursor = { scope, positions: new Map(entries.map(([[kind, cluster], at]) => [`${kind} ${cluster}`, at as SourcePosition])) };
      expect(parseStreamCursor(printStreamCursor(cursor))).toEqual(cursor);
    }),
  );
});

test('accepts no other bytes', () => {
  const bytes = printStreamCursor({ scope: 'all', positions: new Map([[key('north'), exact(12)]]) });
  for (let end = 0; end < bytes.length; end++) expect(parseStreamCursor(bytes.subarray(0, end))).toBeUndefined();
  expect(parseStreamCursor(Buffer.concat([bytes, Buffer.of(0)]))).toBeUndefined();
  for (const text of ['', '\0', '\0[1]', '\u0001{', 'x', '\u0002\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff'])
    expect(parseStreamCursor(Buffer.from(text, 'latin1'))).toBeUndefined();
});

/** Makes positions of this many sources at their full length: random epochs, and a version of its own for each kind of a cluster. */
function vectorOf(clusters: number, kinds: number): ReadonlyMap<string, SourcePosition> {
  const random = seededRandom(clusters);
  const epoch = () => Buffer.from(Array.from({ length: 6 }, () => random() * 256)).toString('base64url');
  const names = Array.from({ length: clusters }, (_, index) => clusterName(`cluster-${index}.eu-west-${index % 3}`));
  const version = () => versionOf(Math.floor(1e9 + random() * 2e7));
  return new Map(
    names.flatMap((name) =>
      Array.from({ length: kinds }, (_, index): [string, SourcePosition] => [
        sourceKey(name, { group: 'example.com', kind: `Kind${index}` }),
        { type: 'exact', epoch: epoch(), version: version() },
      ]),
    ),
  );
}

test('takes 5 kB for 200 clusters, and for 12,000 sources less than a WebSocket message may have', () => {
  const bytesOf = (clusters: number, kinds: number) => {
    const positions = vectorOf(clusters, kinds);
    const bytes = printStreamCursor({ scope: 'all', positions: positions });
    expect(parseStreamCursor(bytes)?.positions).toEqual(positions);
    return bytes.length;
  };
  expect(bytesOf(200, 1)).toBeLessThan(5_200);
  // The size in base64, with room for a document.
  expect((bytesOf(200, 60) * 4) / 3).toBeLessThan(180_000);
});

test('replaces the positions of single sources', () => {
  const positions = new Map([
    [key('a'), exact(1)],
    [key('b'), exact(2)],
  ]);
  const over = new Map<string, SourcePosition | undefined>([
    [key('a'), undefined],
    [key('c'), voidPosition],
  ]);
  expect(withPositions(positions, over)).toEqual(
    new Map([
      [key('b'), exact(2)],
      [key('c'), voidPosition],
    ]),
  );
});
