import { expect, test } from 'vitest';
import type { Identification } from '../../src/identity/authenticator.ts';
import { watchSession } from '../../src/identity/session-watch.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** Watches a session that ends `lastsMs` from now, if at all. */
function watched({ lastsMs, check }: { readonly lastsMs?: number; readonly check?: () => Identification['result'] }) {
  const clock = createManualClock();
  const life = new AbortController();
  const ends: [reason: string, afterMs: number][] = [];
  const startMs = clock.now();
  const session = { expiresAtMs: lastsMs === undefined ? undefined : startMs + lastsMs, check: check && (async () => check()) };
  void watchSession(session, { clock, onEnd: (reason) => ends.push([reason, clock.now() - startMs]) }, life.signal);
  return { clock, life, ends };
}

test.each([0, 5_000, 60_000, 86_400_000])('a credential of %d ms ends its streams between its end and 30 s later', async (lastsMs) => {
  const { clock, ends } = watched({ lastsMs });
  await clock.advance(lastsMs + 10_000);
  expect(ends).toEqual([]);
  await clock.advance(20_000);
  expect(ends).toEqual([['expired', lastsMs + 15_000]]);
  expect(clock.sleepers).toBe(0);
});

test('a credential that ended long ago ends its streams at once', async () => {
  const { clock, ends } = watched({ lastsMs: -20_000 });
  await clock.advance(0);
  expect(ends).toEqual([['expired', 0]]);
});

test('a jump of the clock, as after a suspended machine, is noticed within 20 s', async () => {
  const { clock, ends } = watched({ lastsMs: 3_600_000 });
  await clock.advance(1_000);
  clock.jump(7_200_000);
  await clock.advance(20_000);
  expect(ends).toMatchObject([['expired', expect.any(Number)]]);
});

test('a revoked credential ends its streams within 60 s, also if the issuer was away in between', async () => {
  let result: Identification['result'] = 'known';
  let checks = 0;
  const { clock, ends } = watched({
    check: () => {
      checks++;
      return result;
    },
  });
  await clock.advance(300_000);
  expect([ends, checks]).toEqual([[], 8]);
  result = 'unavailable';
  await clock.advance(60_000);
  expect(ends).toEqual([]);
  result = 'unknown';
  await clock.advance(5_000);
  expect(ends).toMatchObject([['refused', expect.any(Number)]]);
});

test('nothing is watched without an end and a check, and nothing after an abort', async () => {
  expect(watched({}).clock.sleepers).toBe(0);
  const { clock, life, ends } = watched({ lastsMs: 1_000, check: () => 'unknown' });
  life.abort();
  await clock.advance(100_000);
  expect([ends, clock.sleepers]).toEqual([[], 0]);
});
