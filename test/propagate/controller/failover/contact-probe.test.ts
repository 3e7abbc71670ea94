import { expect, test } from 'vitest';
import { type FaultCode, fault } from '../../../../src/core/faults.ts';
import { clusterName } from '../../../../src/core/names.ts';
import { createContactProbe, probeValidMs } from '../../../../src/propagate/controller/failover/contact-probe.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const east = clusterName('east');

/** A probe of one cluster, to which `send` answers. */
function probeWith(send: () => Promise<unknown>) {
  const clock = createManualClock();
  const sent: unknown[] = [];
  const api = {
    send: (request: unknown) => {
      sent.push(request);
      return send();
    },
  };
  const members = { api: (name: string) => (name === 'east' ? api : undefined) } as never;
  return { clock, sent, probe: createContactProbe({ members, clock }, new AbortController().signal) };
}

const failed = (code: FaultCode) => ({ type: 'failed', fault: fault(code, 'no answer', { cluster: east, retry: 'LATER' }) });

test.each<[string, boolean, unknown]>([
  ['that answers', true, { type: 'answered', status: 200 }],
  ['that refuses', true, failed('FORBIDDEN')],
  ['that is away', false, failed('UNREACHABLE')],
  ['whose request times out', false, failed('TIMED_OUT')],
])('of a cluster %s, the result is %s', async (_, expected, answer) => {
  const { probe, clock } = probeWith(async () => answer);
  expect(await probe.answers(east)).toBe(expected);
  expect(clock.sleepers).toBe(0);
});

test('a cluster that does not answer within 2 s, or is not in the fleet, does not answer', async () => {
  const { probe, clock } = probeWith(() => new Promise(() => undefined));
  const late = probe.answers(east);
  await clock.advance(2_000);
  expect(await late).toBe(false);
  expect(await probe.answers(clusterName('left'))).toBe(false);
});

test('a result counts for 5 s', async () => {
  const { probe, clock, sent } = probeWith(async () => ({ type: 'answered', status: 200 }));
  await Promise.all([probe.answers(east), probe.answers(east)]);
  await clock.advance(probeValidMs - 1);
  await probe.answers(east);
  expect(sent).toHaveLength(1);
  await clock.advance(1);
  await probe.answers(east);
  expect(sent).toHaveLength(2);
});
