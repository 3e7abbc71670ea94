import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { jobPhases, phaseOfJob } from '../../../src/model/columns/job-phase.ts';
import type { JobStatusMessage } from '../../../src/streams/messages/changes-message.ts';
import { graphOfMessages, kindOf, messageOf, nowMs, rowIn, viewOf } from '../../support/graph/graph-messages.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { objectNamed, servedAs } from '../../support/kubernetes-objects.ts';

const graph = graphOfMessages();
const { model } = graph;
const north = viewOf('north');

const condition = (type: string, status = 'True') => ({ type, status });
const job = (name: string, status: JsonObject = {}, { deleting = false, spec = {} }: { deleting?: boolean; spec?: JsonObject } = {}) =>
  objectNamed(name, { namespace: 'shop', ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) }, { spec, status });

test.each([
  ['RUNNING', {}, false],
  ['RUNNING', { active: 2 }, false],
  ['RUNNING', { conditions: [condition('Complete', 'False'), condition('Failed', 'Unknown')] }, false],
  ['RUNNING', { conditions: 'none' }, false],
  ['RUNNING', { conditions: [null, 'Complete', { type: 'Complete' }] }, false],
  ['FAILURE_TARGET', { conditions: [condition('FailureTarget')] }, false],
  ['SUSPENDED', { conditions: [condition('FailureTarget'), condition('Suspended')] }, false],
  ['RUNNING', { conditions: [condition('Suspended', 'False')] }, false],
  ['TERMINATING', { conditions: [condition('FailureTarget'), condition('Suspended')] }, true],
  ['TERMINATING', {}, true],
  ['FAILED', { conditions: [condition('FailureTarget'), condition('Failed')] }, true],
  ['COMPLETE', { conditions: [condition('SuccessCriteriaMet'), condition('Complete')] }, true],
  ['COMPLETE', { conditions: [condition('Failed'), condition('Complete')] }, false],
] as const)('a Job is %s with %j, being deleted: %s', (phase, status, deleting) => {
  expect(phaseOfJob(job('sum', status, { deleting }))).toBe(phase);
});

test('lists have Job.phase', async () => {
  const over = graphOverMirrors({ model });
  const jobs = servedAs(model, 'Job.batch');
  const cluster = over.mirrors.join('north');
  cluster.discover(jobs);
  cluster.mirror(jobs).list(job('a', { conditions: [condition('Complete')] }), job('b'));
  const { at, errors } = await over.ask('{ jobs { items { phase metadata { name } } } }');
  expect(errors).toBeUndefined();
  expect(at('jobs.items')).toEqual([
    { phase: 'COMPLETE', metadata: { name: 'a' } },
    { phase: 'RUNNING', metadata: { name: 'b' } },
  ]);
});

const everyPhase = (count: number) => jobPhases.map((phase) => ({ phase, count }));

function statusOf(message: Partial<JobStatusMessage>): JobStatusMessage {
  const kind = kindOf(model, 'Job.batch');
  const sync = { cluster: north, kind, phase: 'STALE' as const, asOfMs: nowMs };
  return {
    ...messageOf(model, { kind }),
    summary: {
      total: 6,
      stale: 6,
      byPhase: everyPhase(1),
      byCluster: [{ cluster: north, total: 6, byPhase: everyPhase(1), sync }],
    },
    ...message,
  };
}

const query = `subscription { jobStatus {
  type
  added {
    id cluster { name } namespace name phase active ready succeeded failed parallelism completions startTime completionTime
    conditions { type status } job { id metadata { name } phase }
  }
  summary { total stale byPhase { phase count } byCluster { cluster { name } total byPhase { phase count } sync { phase kind { kind } } } }
} }`;

async function dataOf(message: JobStatusMessage): Promise<{ readonly jobStatus: Readonly<Record<string, unknown>> }> {
  const { result } = await graph.render(query, message);
  expect(result).not.toBeInstanceOf(Promise);
  const { data, errors } = await result;
  expect(errors).toBeUndefined();
  return JSON.parse(JSON.stringify(data));
}

const addedJob = (status: JsonObject, spec: JsonObject = {}) =>
  statusOf({ added: [rowIn(model, north, { key: 'Job.batch', object: job('sum', status, { spec }) })] });

test('a Job state has the values of the Job, and every message has the summary', async () => {
  const status = {
    active: 1,
    ready: 1,
    succeeded: 2,
    failed: 3,
    startTime: '2026-01-01T00:00:00Z',
    completionTime: '2026-01-01T00:01:00Z',
    conditions: [condition('Complete')],
  };
  const { jobStatus } = await dataOf(addedJob(status, { parallelism: 4, completions: 5 }));
  expect(jobStatus.added).toMatchObject([
    { ...status, cluster: { name: 'north' }, namespace: 'shop', name: 'sum', phase: 'COMPLETE', parallelism: 4, completions: 5 },
  ]);
  const [state] = jobStatus.added as readonly { readonly id: string; readonly job: unknown }[];
  expect(state?.job).toEqual({ id: state?.id, metadata: { name: 'sum' }, phase: 'COMPLETE' });
  expect(jobStatus.summary).toEqual({
    total: 6,
    stale: 6,
    byPhase: everyPhase(1),
    byCluster: [{ cluster: { name: 'north' }, total: 6, byPhase: everyPhase(1), sync: { phase: 'STALE', kind: { kind: 'Job' } } }],
  });
});

test.each([
  ['nothing', {}, {}],
  [
    'nonsense',
    { active: 'x', ready: 1.5, succeeded: 2 ** 40, failed: null, startTime: 3, conditions: [null, 'x', 7] },
    { parallelism: [], completions: {} },
  ],
])('a status that says %s is no error: counts are 0, the rest is null', async (_what, status, spec) => {
  const { jobStatus } = await dataOf(addedJob(status as JsonObject, spec as JsonObject));
  expect(jobStatus.added).toMatchObject([
    {
      active: 0,
      succeeded: 0,
      failed: 0,
      ready: null,
      parallelism: null,
      completions: null,
      startTime: null,
      completionTime: null,
      conditions: [],
    },
  ]);
});
