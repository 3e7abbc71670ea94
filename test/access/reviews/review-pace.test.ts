import { expect, test } from 'vitest';
import { ReviewPace } from '../../../src/access/reviews/review-pace.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';

function paceWorld(workMs: number) {
  const clock = createManualClock();
  const life = new AbortController();
  const pace = new ReviewPace(clock);
  const begun: { readonly user: string; readonly atMs: number }[] = [];
  const ended: string[] = [];
  let inFlight = 0;
  let most = 0;
  const run = (user: string, signal: AbortSignal = life.signal) =>
    pace.run(
      user,
      async () => {
        begun.push({ user, atMs: clock.monotonic() });
        inFlight += 1;
        most = Math.max(most, inFlight);
        await clock.sleep(workMs, life.signal);
        inFlight -= 1;
        ended.push(user);
        return user;
      },
      signal,
    );
  return { clock, life, run, begun, ended, most: () => most };
}

test('begins at most 200 within any second, and has at most 10 in flight', async () => {
  const world = paceWorld(1);
  for (let i = 0; i < 1_000; i++) void world.run(i % 2 === 0 ? 'ann' : 'bob');
  await world.clock.advance(4_000);
  await world.clock.advance(1_100);
  expect(world.begun).toHaveLength(1_000);
  expect(world.most()).toBe(10);
  const times = world.begun.map(({ atMs }) => atMs);
  for (let i = 200; i < times.length; i++) expect((times[i] ?? 0) - (times[i - 200] ?? 0)).toBeGreaterThanOrEqual(1_000);
});

test('lets users take turns, so that one with many questions does not delay another', async () => {
  const world = paceWorld(10);
  for (let i = 0; i < 3_000; i++) void world.run('mallory');
  await world.clock.advance(50);
  const answer = world.run('ann');
  await world.clock.advance(21);
  expect(world.ended).toContain('ann');
  expect(await answer).toBe('ann');
});

test('one user has at most 8 in flight and 150 per second, so that the review of another begins at once', async () => {
  const world = paceWorld(1);
  for (let i = 0; i < 1_000; i++) void world.run('mallory');
  await turns();
  expect(world.begun).toHaveLength(8);
  await world.clock.advance(500);
  expect(world.begun).toHaveLength(150);
  const answer = world.run('ann');
  await world.clock.advance(1);
  expect(await answer).toBe('ann');
  await world.clock.advance(900);
  expect(world.begun).toHaveLength(301);
});

test('drops work whose signal has aborted, and refuses more than 5,000 of one user', async () => {
  const world = paceWorld(10);
  const gone = new AbortController();
  for (let i = 0; i < 8; i++) void world.run('ann');
  const waiting = world.run('ann', gone.signal);
  gone.abort();
  expect(await waiting).toBeUndefined();
  for (let i = 0; i < 5_000; i++) void world.run('ann');
  expect(await world.run('ann')).toBeUndefined();
  const others = world.run('bob');
  await world.clock.advance(11);
  await turns();
  expect(world.begun.map(({ user }) => user)).toContain('bob');
  world.life.abort();
  expect(await others).toBe('bob');
});

test('passes on the rejection of the work, and goes on', async () => {
  const world = paceWorld(1);
  const clock = createManualClock();
  const pace = new ReviewPace(clock);
  await expect(pace.run('ann', () => Promise.reject(new Error('broken')), world.life.signal)).rejects.toThrow('broken');
  expect(await pace.run('ann', async () => 1, world.life.signal)).toBe(1);
});
