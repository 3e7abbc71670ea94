import { describe, expect, test } from 'vitest';
import { CommandFailure } from '../../../src/cli/client/command-failure.ts';
import { StreamLost, StreamRefused } from '../../../src/cli/client/subscription.ts';
import { createPropagationShow, silentShow } from '../../../src/cli/propagation/propagation-show.ts';
import type { ShownPropagation } from '../../../src/cli/propagation/propagation-state.ts';
import { type FollowedPropagation, type PropagationEnd, watchPropagations } from '../../../src/cli/propagation/watch-propagations.ts';
import { type CliSession, createCliSession } from '../../support/cli/cli-session.ts';
import type { FakeTerminalOptions } from '../../support/cli/fake-terminal.ts';
import { copyLine, propagationState } from '../../support/cli/propagation-states.ts';
import { createScriptedStreams } from '../../support/cli/scripted-streams.ts';
import { turns } from '../../support/manual-clock.ts';

interface Watching {
  readonly session: CliSession;
  readonly end: Promise<readonly PropagationEnd[]>;
  /** Returns how the Propagation has ended. */
  result(): Promise<string>;
  send(parts: Partial<ShownPropagation>): Promise<void>;
  fail(error: Error): Promise<void>;
}

interface WatchOptions extends FakeTerminalOptions {
  readonly follow?: Partial<FollowedPropagation>;
  readonly show?: typeof createPropagationShow;
}

/** Follows a Propagation over a stream whose messages the test sends. */
function watching({ follow, show = () => silentShow, ...options }: WatchOptions = {}): Watching {
  const script = createScriptedStreams();
  const session = createCliSession({ ...options, open: script.streams() });
  const followed: FollowedPropagation = {
    namespace: 'shop',
    name: 'web',
    generation: 1,
    patienceMs: { good: 0, bad: 0 },
    until: 'settled',
    ...follow,
  };
  const end = watchPropagations(session, [followed], show(session, ['shop/web']));
  let result = 'open';
  end.then(
    ([one]) => {
      result = one?.result ?? 'none';
    },
    (error) => {
      result = String(error);
    },
  );
  return {
    session,
    end,
    result: async () => {
      await turns();
      return result;
    },
    send: async (parts) => {
      script.send('propagation', propagationState(parts));
      await turns();
    },
    fail: async (error) => {
      script.fail(error);
      await turns();
    },
  };
}

describe('an end', () => {
  test.each([
    ['SETTLED', 'good'],
    ['SUSPENDED', 'good'],
    ['FAILED', 'bad'],
    ['PAUSED', 'bad'],
    ['HELD', 'bad'],
    ['DEGRADED', 'bad'],
  ])('is %s, after states that are open', async (phase, result) => {
    const { send, end, result: now } = watching();
    for (const open of ['PLANNING', 'ROLLING', 'ROLLING_BACK']) await send({ phase: open });
    expect(await now()).toBe('open');
    await send({ phase });
    expect(await end).toEqual([{ result, state: propagationState({ phase }) }]);
  });

  test('does not count for an older generation', async () => {
    const { send, result } = watching({ follow: { generation: 3 } });
    await send({ phase: 'FAILED', generation: 2 });
    expect(await result()).toBe('open');
    await send({ phase: 'SETTLED', generation: 3 });
    expect(await result()).toBe('good');
  });

  test('that is bad counts once it has lasted', async () => {
    const { session, send, result } = watching({ follow: { patienceMs: { good: 0, bad: 3_000 } } });
    await send({ phase: 'DEGRADED' });
    await session.clock.advance(2_999);
    await send({ phase: 'ROLLING' });
    await session.clock.advance(60_000);
    expect(await result()).toBe('open');
    await send({ phase: 'PAUSED' });
    await session.clock.advance(2_000);
    // Another bad state does not restart the wait.
    await send({ phase: 'HELD' });
    await session.clock.advance(999);
    expect(await result()).toBe('open');
    await session.clock.advance(1);
    expect(await result()).toBe('bad');
  });

  test('that is good must last too if the options ask for it', async () => {
    const { session, send, result } = watching({ follow: { patienceMs: { good: 2_000, bad: 9_000 } } });
    await send({ phase: 'SETTLED' });
    await session.clock.advance(1_999);
    await send({ phase: 'ROLLING' });
    await session.clock.advance(2_000);
    expect(await result()).toBe('open');
    await send({ phase: 'DEGRADED' });
    await session.clock.advance(2_000);
    await send({ phase: 'SETTLED' });
    await session.clock.advance(1_999);
    expect(await result()).toBe('open');
    await session.clock.advance(1);
    expect(await result()).toBe('good');
    expect(session.clock.sleepers).toBe(0);
  });

  test('that is bad returns the last state', async () => {
    const { session, send, end } = watching({ follow: { patienceMs: { good: 0, bad: 1_000 } } });
    await send({ phase: 'DEGRADED' });
    await send({ phase: 'HELD' });
    await session.clock.advance(1_000);
    expect(await end).toEqual([{ result: 'bad', state: propagationState({ phase: 'HELD' }) }]);
    expect(session.clock.sleepers).toBe(0);
  });

  test('is undefined after an interrupt', async () => {
    const { session, send, end } = watching({ follow: { patienceMs: { good: 0, bad: 1_000 } } });
    await send({ phase: 'DEGRADED' });
    session.stop();
    expect(await end).toEqual([undefined]);
    expect(session.clock.sleepers).toBe(0);
  });

  test('is only `gone` when waiting for the deletion', async () => {
    const { send, fail, result } = watching({ follow: { until: 'gone' } });
    for (const phase of ['SETTLED', 'FAILED', 'DELETING']) await send({ phase });
    expect(await result()).toBe('open');
    await fail(new StreamLost('GONE the propagation was deleted', { wasOpen: true, code: 'GONE' }));
    expect(await result()).toBe('gone');
  });
});

describe('a stream', () => {
  test('that is lost is opened again', async () => {
    const { session, send, fail, result } = watching();
    await send({ phase: 'ROLLING' });
    await fail(new StreamLost('the connection was closed: 1006', { wasOpen: true }));
    await session.clock.advance(1_000);
    await send({ phase: 'SETTLED' });
    expect(await result()).toBe('good');
    expect(session.terminal.told).toMatch(/^warning: the connection was closed: 1006: trying again in 1 s\nthe gateway answers again\n$/);
  });

  test('ends if the Propagation was deleted in between', async () => {
    const { session, send, fail, result } = watching();
    await send({ phase: 'ROLLING' });
    await fail(new StreamLost('the connection was closed: 1006', { wasOpen: true }));
    await fail(new StreamRefused(2, 'expected a propagation that exists'));
    await fail(new StreamRefused(2, 'expected a propagation that exists'));
    await session.clock.advance(1_000);
    expect(await result()).toBe('gone');
  });

  test('that is refused means the deletion that was awaited', async () => {
    const { fail, result } = watching({ follow: { until: 'gone' } });
    await fail(new StreamRefused(2, 'expected a propagation that exists'));
    expect(await result()).toBe('gone');
  });

  test('that is refused for good fails, and ends the others', async () => {
    const script = createScriptedStreams();
    const session = createCliSession({ open: script.streams() });
    const followed = ['web', 'api'].map(
      (name) => ({ namespace: 'shop', name, generation: 1, patienceMs: { good: 0, bad: 0 }, until: 'settled' }) as const,
    );
    const ends = watchPropagations(session, followed, silentShow);
    script.fail(new CommandFailure(1, 'UNAVAILABLE'));
    await expect(ends).rejects.toThrow('UNAVAILABLE');
    expect(session.clock.sleepers).toBe(0);
  });
});

describe('the output', () => {
  const rolling = {
    phase: 'ROLLING',
    ready: 2,
    clusters: [copyLine('north'), copyLine('south', { phase: 'PROGRESSING', ready: 0, message: '0 of 2' })],
  };

  test('is a line per change without a terminal', async () => {
    const { session, send, end } = watching({ show: createPropagationShow });
    await send({ ...rolling, progress: { wave: 0, waves: 1, clusters: 2, done: 1, failed: 0 } });
    await send({ ...rolling, progress: { wave: 0, waves: 1, clusters: 2, done: 1, failed: 0 }, revision: 2 });
    await send({ phase: 'SETTLED' });
    await end;
    expect(session.terminal.written).toBe(
      [
        'CLUSTER   PHASE         READY   WHY\n',
        'north     Settled       2/2\n',
        'south     Progressing   0/2     0 of 2\n',
        '          Rolling       2/4     1 of 2 clusters done, 2 of 4 replicas ready\n',
        'south     Settled       2/2\n',
        '          Settled       4/4     2 of 2 clusters done, 4 of 4 replicas ready\n',
      ].join(''),
    );
    expect(session.terminal.frames).toEqual([]);
  });

  test('is a table on a terminal, redrawn in place, which stays at the end', async () => {
    const { session, send, end } = watching({ show: createPropagationShow, isInteractive: true });
    await turns();
    expect(session.terminal.frames).toEqual([['waiting for the first state']]);
    await send(rolling);
    await session.clock.advance(100);
    expect(session.terminal.frames.at(-1)?.[3]).toMatch(/^south .*Progressing/);
    await send({ phase: 'SETTLED' });
    await end;
    expect(
      session.terminal.frames
        .at(-1)
        ?.slice(2)
        .map((line) => line.split(/ +/).slice(0, 3)),
    ).toEqual([
      ['north', '1', 'Settled'],
      ['south', '1', 'Settled'],
    ]);
    expect([session.terminal.settled, session.terminal.late, session.terminal.written]).toEqual([1, 0, '']);
    await session.clock.advance(5_000);
    expect(session.terminal.late).toBe(0);
  });

  test('updates ages every second', async () => {
    const { session, send } = watching({ show: createPropagationShow, isInteractive: true });
    await send({ phase: 'ROLLING' });
    await session.clock.advance(3_000);
    const ages = session.terminal.frames.flatMap((lines) => / (\d+s)$/.exec(lines[2] ?? '')?.[1] ?? []);
    expect([...new Set(ages)].length).toBeGreaterThanOrEqual(3);
    session.stop();
  });

  test('names the Propagation if there are several', async () => {
    const script = createScriptedStreams();
    const session = createCliSession({ open: script.streams() });
    const followed = [{ namespace: 'shop', name: 'web', generation: 1, patienceMs: { good: 0, bad: 0 }, until: 'settled' }] as const;
    const ends = watchPropagations(session, followed, createPropagationShow(session, ['shop/web', 'shop/api']));
    script.send('propagation', propagationState({ clusters: [] }));
    await ends;
    expect(session.terminal.written.split('\n').map((line) => line.split(/ {2,}/)[0])).toEqual(['PROPAGATION', 'shop/web', '']);
  });
});
