import { expect, test } from 'vitest';
import { createHubWrites } from '../../../src/propagate/controller/state/hub-writes.ts';
import type { Pass } from '../../../src/propagate/controller/state/ports.ts';
import { writeStatus } from '../../../src/propagate/controller/write-status.ts';
import type { Propagation, PropagationPhase } from '../../../src/propagate/model/propagation.ts';
import type { PropagationStatus } from '../../../src/propagate/model/status-definition.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** Writes a status 300 ms after the last one. */
async function writes({ from, to, urgency }: { from: PropagationPhase; to: PropagationPhase; urgency: 'urgent' | 'usual' }) {
  const clock = createManualClock();
  const phases: (string | undefined)[] = [];
  const status = { observedGeneration: 1, unplaced: 0, clusters: [], conditions: [], notes: [], aggregate: [] };
  const statusIn = (phase: PropagationPhase) => ({ ...status, phase }) as unknown as PropagationStatus;
  const propagation = { metadata: { generation: 1 }, status: statusIn(from) } as unknown as Propagation;
  const patchStatus = async (of: Propagation, next: PropagationStatus) => {
    phases.push(next.phase);
    return { result: 'written', propagation: { ...of, status: next } };
  };
  const run = { statusAtMs: clock.monotonic() };
  const ports = { clock, stores: { propagations: { patchStatus } } };
  const pass = {
    hubWrites: createHubWrites(clock),
    state: run,
    ports,
    term: { isLeading: () => true, signal: new AbortController().signal },
  } as unknown as Pass;
  await clock.advance(300);
  const written = await writeStatus(pass, { propagation, status: statusIn(to), urgency });
  return { result: written.result, ...('ms' in written ? { ms: written.ms } : {}), phases };
}

test.each([
  { from: 'Rolling', to: 'Settled', urgency: 'usual', told: { result: 'saved', phases: ['Settled'] } },
  { from: 'Degraded', to: 'Settled', urgency: 'usual', told: { result: 'later', ms: 700, phases: [] } },
  { from: 'Settled', to: 'Degraded', urgency: 'usual', told: { result: 'later', ms: 700, phases: [] } },
  { from: 'Planning', to: 'Rolling', urgency: 'usual', told: { result: 'later', ms: 700, phases: [] } },
  { from: 'Planning', to: 'Rolling', urgency: 'urgent', told: { result: 'saved', phases: ['Rolling'] } },
  { from: 'Settled', to: 'Settled', urgency: 'urgent', told: { result: 'saved', phases: [] } },
] as const)('0.3 s after the last write $from becomes $to ($urgency): $told.result', async ({ told, ...change }) => {
  expect(await writes(change)).toEqual(told);
});

test('the time between two writes counts from the turn of the first one', async () => {
  const clock = createManualClock();
  const hubWrites = createHubWrites(clock);
  const { signal } = new AbortController();
  const ends: (() => void)[] = [];
  for (let index = 0; index < 10; index += 1)
    void hubWrites.send('first', () => new Promise<void>((resolve) => ends.push(resolve)), signal);
  const patchStatus = async (of: Propagation, status: PropagationStatus) => ({ result: 'written', propagation: { ...of, status } });
  const ports = { clock, stores: { propagations: { patchStatus } } };
  const pass = { hubWrites, state: { statusAtMs: -5_000 }, ports, term: { isLeading: () => true, signal } } as unknown as Pass;
  const propagation = { metadata: { generation: 1 }, status: {} } as unknown as Propagation;
  const first = writeStatus(pass, { propagation, status: { phase: 'Planning' }, urgency: 'usual' });
  await clock.advance(3_000);
  ends.shift()?.();
  expect(await first).toMatchObject({ result: 'saved' });
  const second = await writeStatus(pass, { propagation, status: { phase: 'Rolling' }, urgency: 'usual' });
  expect(second).toEqual({ result: 'later', ms: 1_000 });
});

test.each([
  ['that fails is told', false, 1],
  ['that its own end cut short is not', true, 0],
])('a write %s', async (_name, isOver, told) => {
  const warned: string[] = [];
  const end = new AbortController();
  const patchStatus = async () => {
    if (isOver) end.abort();
    return { result: 'failed', fault: { code: 'TIMED_OUT', message: 'nobody answers', retry: 'LATER' } };
  };
  const log = { warn: (_fields: unknown, message: string) => void warned.push(message) };
  const run = { statusAtMs: Number.NEGATIVE_INFINITY };
  const clock = createManualClock();
  const ports = { clock, log, stores: { propagations: { patchStatus } } };
  const pass = {
    hubWrites: createHubWrites(clock),
    state: run,
    ports,
    term: { isLeading: () => true, signal: end.signal },
  } as unknown as Pass;
  const propagation = { metadata: { generation: 1 }, status: {} } as unknown as Propagation;
  const written = await writeStatus(pass, { propagation, status: { phase: 'Rolling' }, urgency: 'urgent' });
  expect([written.result, warned.length]).toEqual(['failed', told]);
});
