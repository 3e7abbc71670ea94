import { expect, test } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { clusterName } from '../../src/core/names.ts';
import { jobPhases } from '../../src/model/columns/job-phase.ts';
import type { JobStatusMessage, JobSummaryView } from '../../src/streams/messages/changes-message.ts';
import { createJobPhaseCounter } from '../../src/streams/messages/job-phase-counter.ts';
import type { StreamArguments } from '../../src/streams/messages/streams.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { callerNamed, readByHand, readEagerly } from '../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';

const model = loadBaseline();
const jobs = servedAs(model, 'Job.batch');

function jobStatus({ streams }: GraphOverMirrors, args: StreamArguments = {}) {
  const kind = model.kinds.get('Job.batch');
  if (kind === undefined) throw new Error('no Jobs');
  return streams.jobStatus(callerNamed('me'), kind, args);
}

const job = (name: string, ...conditions: readonly string[]) =>
  objectNamed(name, { namespace: 'shop', labels: { batch: 'nightly' } }, { status: statusOf(conditions) });
const statusOf = (conditions: readonly string[]): Json => ({ conditions: conditions.map((type) => ({ type, status: 'True' })) });

function join({ mirrors }: GraphOverMirrors, name: string) {
  const cluster = mirrors.join(name);
  cluster.discover(jobs);
  return cluster;
}

/** Prints `total/stale PHASE=count … | cluster=total …`, without phases that have no Job. */
function print({ total, stale, byPhase, byCluster }: JobSummaryView): string {
  const phases = byPhase.filter(({ count }) => count > 0).map(({ phase, count }) => `${phase}=${count}`);
  return [`${total}/${stale}`, ...phases, '|', ...byCluster.map(({ cluster, total: own }) => `${cluster.name}=${own}`)].join(' ');
}

const summaries = (messages: readonly JobStatusMessage[]) =>
  messages.map(({ type, cluster, summary }) => `${type} ${cluster.name} ${print(summary)}`);

test('every message sums up all matching Jobs, of every requested cluster', async () => {
  const graph = graphOverMirrors({ model });
  const [north, south] = [join(graph, 'north'), join(graph, 'south')];
  const [sum, broken] = [job('sum'), job('broken', 'Failed')];
  north.mirror(jobs).list(sum, broken);
  const read = await readEagerly(jobStatus(graph, { labels: 'batch=nightly' }));
  await turns();
  south.mirror(jobs).list(job('sum', 'Complete'));
  await graph.clock.advance(5);
  const complete = { ...sum, status: statusOf(['Complete']), metadata: { ...sum.metadata, resourceVersion: 'x' } };
  north.mirror(jobs).put(complete);
  north.mirror(jobs).remove(broken);
  await graph.clock.advance(5);
  // The Job no longer matches the filter.
  north.mirror(jobs).put({ ...complete, metadata: { ...complete.metadata, labels: {}, resourceVersion: 'y' } });
  await graph.clock.advance(5);
  expect(summaries(read.messages)).toEqual([
    'INITIAL north 2/0 FAILED=1 RUNNING=1 | north=2 south=0',
    'SYNCED north 2/0 FAILED=1 RUNNING=1 | north=2 south=0',
    'INITIAL south 3/0 COMPLETE=1 FAILED=1 RUNNING=1 | north=2 south=1',
    'SYNCED south 3/0 COMPLETE=1 FAILED=1 RUNNING=1 | north=2 south=1',
    'LIVE north 2/0 COMPLETE=2 | north=1 south=1',
    'LIVE north 1/0 COMPLETE=1 | north=0 south=1',
  ]);
  const [first] = read.messages;
  expect(first?.summary.byPhase.map(({ phase }) => phase)).toEqual(jobPhases);
  expect(first?.summary.byCluster.every(({ byPhase }) => byPhase.length === jobPhases.length)).toBe(true);
  expect(first?.summary).toBe(first?.summary);
});

test('Jobs of clusters that are not in sync are counted as stale', async () => {
  const graph = graphOverMirrors({ model });
  const [north, south] = [join(graph, 'north'), join(graph, 'south')];
  north.mirror(jobs).list(job('a'), job('b', 'Complete'));
  south.mirror(jobs).list(job('c'));
  const read = await readEagerly(jobStatus(graph));
  await turns();
  north.mirror(jobs).fail({ code: 'UNREACHABLE', cluster: clusterName('north'), message: 'no answer', retry: 'LATER' });
  await graph.clock.advance(5);
  north.mirror(jobs).put(job('d'));
  await graph.clock.advance(5);
  expect(summaries(read.messages.slice(4))).toEqual([
    'FAILED north 3/2 COMPLETE=1 RUNNING=2 | north=2 south=1',
    'LIVE north 4/0 COMPLETE=1 RUNNING=3 | north=3 south=1',
  ]);
  expect(read.messages[4]?.summary.byCluster[0]?.sync).toMatchObject({ phase: 'STALE', fault: { code: 'UNREACHABLE' } });
});

test('a cluster that has left is no longer counted; if it was named, it is listed with no Jobs', async () => {
  const graph = graphOverMirrors({ model });
  const [north, south] = [join(graph, 'north'), join(graph, 'south')];
  north.mirror(jobs).list(job('a'));
  south.mirror(jobs).list(job('b'));
  const any = await readEagerly(jobStatus(graph));
  const named = await readEagerly(jobStatus(graph, { clusters: ['north', 'south'] }));
  await turns();
  north.leave();
  await graph.clock.advance(5);
  expect(summaries(any.messages.slice(4))).toEqual(['FAILED north 1/0 RUNNING=1 | south=1']);
  expect(summaries(named.messages.slice(4))).toEqual(['FAILED north 1/0 RUNNING=1 | north=0 south=1']);
});

test('a reader that falls behind gets the sum of all Jobs, also of those whose changes it has not received', async () => {
  const graph = graphOverMirrors({ model });
  const north = join(graph, 'north');
  north.mirror(jobs).list(job('a'));
  const slow = await readByHand(jobStatus(graph));
  await turns();
  slow.take();
  slow.reader.pause();
  north.mirror(jobs).put(job('b'));
  await graph.clock.advance(5);
  north.mirror(jobs).put(job('c', 'Failed'));
  await graph.clock.advance(5);
  expect(summaries(slow.take())).toEqual(['LIVE north 3/0 FAILED=1 RUNNING=2 | north=3']);
});

test('counts that were read do not change later', () => {
  const tally = createJobPhaseCounter();
  const one = job('a');
  tally.changed(undefined, one);
  const { counts } = tally;
  tally.changed(one, job('a', 'Complete'));
  expect([counts, tally.counts]).toEqual([
    [0, 0, 0, 0, 0, 1],
    [1, 0, 0, 0, 0, 0],
  ]);
  tally.recount([one, one]);
  expect(tally.counts).toEqual([0, 0, 0, 0, 0, 2]);
});
