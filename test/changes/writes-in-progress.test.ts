import { expect, test } from 'vitest';
import { callerOf } from '../../src/access/caller-of-user.ts';
import { WritesInProgress } from '../../src/changes/writes-in-progress.ts';

const callerNamed = (user: string) => callerOf({ user, groups: [], extra: {}, issuer: 'test' });

test('a caller has at most 5,000 writes in progress, and others notice nothing', () => {
  const writes = new WritesInProgress();
  const [eve, ann] = [callerNamed('eve'), callerNamed('ann')];
  const taken = Array.from({ length: 5 }, () => writes.take(eve, 1_000));
  expect(() => writes.take(eve, 1)).toThrow('expected at most 5000 writes of one caller at a time, got 1 more while 5000 are in progress');
  writes.take(ann, 1_000)?.[Symbol.dispose]();
  taken[0]?.[Symbol.dispose]();
  taken[0]?.[Symbol.dispose]();
  writes.take(eve, 1_000);
  expect(() => writes.take(eve, 1)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
});

test('the writes of local mode are not counted', () => {
  const writes = new WritesInProgress();
  for (let time = 0; time < 10; time++) expect(writes.take({ key: 'local' }, 1_000)).toBeUndefined();
});
