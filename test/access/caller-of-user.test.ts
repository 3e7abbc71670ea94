import { expect, test } from 'vitest';
import type { User } from '../../src/access/access.ts';
import { callerOf } from '../../src/access/caller-of-user.ts';

const groups = Array.from({ length: 1_000 }, (_, index) => `oidc:group-${index}`);
const ann: User = { user: 'oidc:ann', groups, extra: {}, issuer: 'https://login.example.com' };

test('E5: keys differ for different users, and do not depend on order, issuer text or the presence of a uid elsewhere', () => {
  const keys = [
    ann,
    { ...ann, user: 'other:ann' },
    { ...ann, uid: '' },
    { ...ann, uid: '1' },
    { ...ann, groups: groups.slice(1) },
    { ...ann, groups: [] },
    { ...ann, extra: { scopes: ['a'] } },
    // Texts that would be equal if the parts were only joined.
    { ...ann, user: 'a', groups: ['b,c'] },
    { ...ann, user: 'a', groups: ['b', 'c'] },
  ].map((user) => callerOf(user).key);
  expect(new Set(keys).size).toBe(keys.length);
  const permuted = { ...ann, groups: [...groups.toReversed(), 'oidc:group-0'], issuer: 'tokenreview' };
  expect(callerOf(permuted).key).toBe(callerOf(ann).key);
  expect(callerOf({ ...ann, extra: { a: ['2', '1'], b: [] } }).key).toBe(callerOf({ ...ann, extra: { b: [], a: ['1', '2'] } }).key);
});
