import { expect, test } from 'vitest';
import { CommandFailure } from '../../../src/cli/client/command-failure.ts';
import { followSubscription } from '../../../src/cli/client/follow-subscription.ts';
import type { GatewayAnswer, GatewayRequest } from '../../../src/cli/client/gateway-client.ts';
import { type OpenSubscription, StreamLost, StreamRefused } from '../../../src/cli/client/subscription.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';

type Step = GatewayAnswer | Error | 'stay';

const message = (id: number): GatewayAnswer => ({ data: { id } });
const lost = (parts: { wasOpen?: boolean; isPlanned?: boolean } = {}) => new StreamLost('1006', { wasOpen: true, ...parts });

/** Follows scripted streams: one list of steps for each time that the stream is opened. */
function following(...scripts: readonly (readonly Step[])[]) {
  const clock = createManualClock();
  const life = new AbortController();
  const asked: GatewayRequest[] = [];
  const open: OpenSubscription = async function* (what, signal) {
    const script = scripts[asked.push(what) - 1] ?? ['stay'];
    for (const step of script) {
      if (step instanceof Error) throw step;
      if (step !== 'stay') yield step;
      else await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    }
  };
  const told: string[] = [];
  const run = (async () => {
    const options = { openStream: open, clock, query: 'subscription { x }', variables: (how: string) => ({ how }), url: 'http://gateway' };
    for await (const event of followSubscription(options, life.signal)) {
      told.push(event.type === 'message' ? `message ${event.answer.data?.id}` : event.type === 'lost' ? lossText(event) : event.type);
    }
    return 'ended';
  })();
  run.catch(() => undefined);
  return { clock, told, run, stop: () => life.abort(), asked: () => asked.map(({ variables }) => variables?.how) };
}

function lossText({ delayMs, code }: { readonly delayMs: number; readonly code: string }): string {
  return `lost, ${delayMs} ms${code === '' ? '' : `, ${code}`}`;
}

test('resumes at the position of the loss, with growing delays', async () => {
  const { clock, told, asked } = following(
    [message(1), lost()],
    [lost({ wasOpen: false })],
    [lost({ wasOpen: false })],
    [message(2), 'stay'],
  );
  await turns();
  expect(told).toEqual(['message 1', 'lost, 1000 ms']);
  await clock.advance(999);
  expect(asked()).toEqual(['first']);
  await clock.advance(1);
  expect(asked()).toEqual(['first', 'resumed']);
  await clock.advance(2_000 + 4_000);
  expect(told).toEqual(['message 1', 'lost, 1000 ms', 'lost, 2000 ms', 'lost, 4000 ms', 'resumed', 'message 2']);
});

test('reports the code that the gateway gives for a loss', async () => {
  const { told } = following([message(1), new StreamLost('GONE it is gone', { wasOpen: true, code: 'GONE' })]);
  await turns();
  expect(told).toEqual(['message 1', 'lost, 1000 ms, GONE']);
});

test('waits at most 30 s, and 1 s again after a stream that lasted', async () => {
  const { clock, told } = following([message(1), lost()], ...Array.from({ length: 8 }, () => [lost()]), [message(2), 'stay']);
  await clock.advance(1_000 + 2_000 + 4_000 + 8_000 + 16_000 + 4 * 30_000);
  expect(told.slice(5)).toEqual(['lost, 16000 ms', ...Array(4).fill('lost, 30000 ms'), 'resumed', 'message 2']);
});

test('resets the delay after a stream that lasted half a minute', async () => {
  const clock = createManualClock();
  const delays: number[] = [];
  const open: OpenSubscription = async function* (_, signal) {
    yield message(1);
    await clock.sleep(30_000, signal);
    throw lost();
  };
  const life = new AbortController();
  void (async () => {
    for await (const event of followSubscription({ openStream: open, clock, query: '', variables: () => ({}), url: '' }, life.signal))
      if (event.type === 'lost') delays.push(event.delayMs);
  })();
  await clock.advance(100_000);
  life.abort();
  expect(delays).toEqual([1_000, 1_000, 1_000]);
});

test('shortens the delay by chance, to half at most', async () => {
  const clock = createManualClock({ random: () => 0.999 });
  const delays: number[] = [];
  const open: OpenSubscription = async function* () {
    yield message(1);
    throw lost();
  };
  const life = new AbortController();
  for await (const event of followSubscription({ openStream: open, clock, query: '', variables: () => ({}), url: '' }, life.signal)) {
    if (event.type === 'lost') {
      delays.push(event.delayMs);
      life.abort();
    }
  }
  expect(delays[0]).toBeGreaterThan(500);
  expect(delays[0]).toBeLessThan(510);
});

test('reports nothing for a planned end', async () => {
  const { clock, told } = following([message(1), lost({ isPlanned: true })], [message(2), 'stay']);
  await clock.advance(1_000);
  expect(told).toEqual(['message 1', 'message 2']);
});

test('starts from the beginning if the gateway refuses to resume', async () => {
  const { clock, told, asked } = following([message(1), lost()], [new StreamRefused(2, 'no such cursor')], [message(2), 'stay']);
  await clock.advance(1_000);
  expect(asked()).toEqual(['first', 'resumed', 'anew']);
  expect(told).toEqual(['message 1', 'lost, 1000 ms', 'restarted', 'resumed', 'message 2']);
});

test.each([
  ['refused at once', [[new StreamRefused(2, 'no kind nope')]], 2, 'no kind nope'],
  ['refused for good later', [[message(1), lost()], [new CommandFailure(1, 'no longer')]], 1, 'no longer'],
  [
    'refused from the beginning too',
    [[message(1), lost()], [new StreamRefused(2, 'first')], [new StreamRefused(2, 'second')]],
    2,
    'second',
  ],
  ['never reached', [[lost({ wasOpen: false })]], 2, 'the gateway at http://gateway cannot be reached: 1006'],
])('ends when it is %s', async (_, scripts, exitCode, text) => {
  const { clock, run } = following(...scripts);
  await clock.advance(1_000);
  await expect(run).rejects.toMatchObject({ exitCode, message: text });
});

test.each(['in a stream', 'in a wait'])('ends on an abort %s, without a pending timer', async (when) => {
  const { clock, run, stop } = when === 'in a stream' ? following([message(1), 'stay']) : following([message(1), lost()]);
  await turns();
  stop();
  expect(await run).toBe('ended');
  expect(clock.sleepers).toBe(0);
});
