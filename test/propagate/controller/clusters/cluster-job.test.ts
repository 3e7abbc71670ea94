import { expect, test } from 'vitest';
import { silentLog } from '../../../../src/core/log.ts';
import { clusterName } from '../../../../src/core/names.ts';
import { type ClusterJob, startClusterJob } from '../../../../src/propagate/controller/clusters/cluster-job.ts';
import type { ClusterTask } from '../../../../src/propagate/controller/clusters/cluster-task.ts';
import { createHubWrites } from '../../../../src/propagate/controller/state/hub-writes.ts';
import type { Pass } from '../../../../src/propagate/controller/state/ports.ts';
import { clusterStateOf, discardPlan, newPropagationState } from '../../../../src/propagate/controller/state/propagation-state.ts';
import { newShare } from '../../../../src/propagate/hub/share-document.ts';
import type { CopiesOutcome, CopyWork } from '../../../../src/propagate/plan/copies/copy-work.ts';
import { createManualClock, turns } from '../../../support/manual-clock.ts';

const south = clusterName('south');
const owner = { namespace: 'default', name: 'web', uid: 'u1' };
const share = newShare(owner, south);

/** A job for one cluster, in a process that leads until `lose` is called. */
function bench(act: ClusterTask) {
  const clock = createManualClock();
  const end = new AbortController();
  const run = newPropagationState(owner);
  run.shares = new Map();
  let leads = true;
  const bugs: string[] = [];
  const log = { ...silentLog, error: (_fields: unknown, message: string) => void bugs.push(message) };
  const ports = {
    ...{ clock, log, clientOf: () => undefined, sensitiveKinds: { has: () => false }, listRulesOf: () => undefined },
    ...{ hub: { cluster: clusterName('hub'), members: { objects: { served: () => undefined } } }, stores: { shares: {}, revisions: {} } },
  };
  let looks = 0;
  const again = () => {
    looks += 1;
  };
  const term = { signal: end.signal, isLeading: () => leads };
  const pass = { hubWrites: createHubWrites(clock), state: run, ports, term, drift: { isDrifted: () => false }, again } as unknown as Pass;
  const propagation = { metadata: { ...owner, generation: 2, annotations: {} }, status: {} } as ClusterJob['propagation'];
  const spec = { conflict: 'Abort', write: 'Apply', deletion: { policy: 'Delete', cascade: 'Background' }, runAs: { type: 'requester' } };
  return {
    ...{ clock, run, pass, end, bugs },
    known: clusterStateOf(run, south),
    looks: () => looks,
    lose: () => {
      leads = false;
    },
    begin: () => startClusterJob(pass, { cluster: south, propagation, spec: spec as ClusterJob['spec'], isPinned: false, task: act }),
  };
}

test.each<{ readonly name: string; readonly end: (of: ReturnType<typeof bench>) => void }>([
  { name: 'the Lease has expired, although the signal has not aborted yet', end: (of) => of.lose() },
  { name: 'its plan was discarded', end: (of) => discardPlan(of.run) },
])('writes nothing once $name', async ({ end }) => {
  let work: CopyWork | undefined;
  const held = Promise.withResolvers<readonly CopiesOutcome[]>();
  const of = bench((given) => {
    work = given;
    return held.promise;
  });
  of.begin();
  expect([work?.mayWrite(), of.known.isBusy]).toEqual([true, true]);
  end(of);
  expect(work?.mayWrite()).toBe(false);
  held.resolve([]);
  await turns();
  expect([of.known.isBusy, of.looks()]).toEqual([false, 1]);
});

test('reads an inventory that another process saved again, reports it, and does not read it in every event-loop turn', async () => {
  const of = bench(() => Promise.resolve([{ result: 'stopped', share, copies: [] }]));
  let waitedMs = 0;
  for (let failures = 1; failures <= 12; failures++) {
    of.run.shares = new Map();
    of.begin();
    await turns();
    const waitMs = of.known.retryAtMs - of.clock.monotonic();
    expect([of.run.shares, of.run.isPlanOld, of.known.failures, waitMs > waitedMs || waitMs === 300_000]).toEqual([
      undefined,
      true,
      failures,
      true,
    ]);
    waitedMs = waitMs;
  }
  expect(of.known.fault).toMatchObject({ code: 'EXPIRED', cluster: 'hub' });
});

test('a successful job clears earlier failures', async () => {
  const results: CopiesOutcome['result'][] = ['stopped', 'done'];
  const of = bench(() => Promise.resolve([{ result: results.shift() ?? 'done', share, copies: [] } as CopiesOutcome]));
  of.begin();
  await turns();
  of.run.shares = new Map();
  of.begin();
  await turns();
  expect([of.known.failures, of.known.fault]).toEqual([0, undefined]);
});

test.each<{ readonly name: string; readonly end: (of: ReturnType<typeof bench>) => void; readonly told: number }>([
  { name: 'the end of the term', end: ({ end }) => end.abort(), told: 0 },
  { name: 'the end of its plan', end: ({ run }) => discardPlan(run), told: 0 },
  { name: 'a bug', end: () => undefined, told: 1 },
])('$name, thrown by a task, is reported as $told bugs', async ({ end, told }) => {
  const held = Promise.withResolvers<void>();
  const of = bench(async (_work, signal) => {
    await held.promise;
    signal.throwIfAborted();
    throw new Error('a bug');
  });
  of.begin();
  end(of);
  held.resolve();
  await turns();
  expect([of.bugs.length, of.known.isBusy, of.known.failures]).toEqual([told, false, told]);
});
