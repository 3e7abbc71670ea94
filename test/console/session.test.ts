import { beforeEach, expect, test, vi } from 'vitest';

let session: typeof import('../../src/console/gateway/session.ts');
beforeEach(async () => {
  const kept = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
    removeItem: (key: string) => kept.delete(key),
  });
  vi.resetModules();
  session = await import('../../src/console/gateway/session.ts');
});

test('reports that a token was refused until the next one is given, also while requests without a token are refused', () => {
  const { keepToken, refuseToken, signIn } = session;
  refuseToken(undefined);
  expect(signIn.value).toBe('needed');
  keepToken('old');
  refuseToken('old');
  refuseToken('old');
  refuseToken(undefined);
  expect(signIn.value).toBe('wrong');
  keepToken('new');
  expect(signIn.value).toBe('unneeded');
});

test('a late answer about an earlier token does not forget the current one', () => {
  const { keepToken, refuseToken, signIn, token } = session;
  keepToken('old');
  keepToken('new');
  refuseToken('old');
  expect([signIn.value, token.value]).toEqual(['unneeded', 'new']);
});
