import { describe, expect, test } from 'vitest';
import { hasTrueCondition } from '../../src/core/conditions.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { labelsAt, listAt, numberAt, objectAt, textAt, valueAt } from '../../src/core/json-at.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { isScheduled } from '../../src/sim/controllers/cron-jobs.ts';
import { isReady, podPhaseOf } from '../../src/sim/controllers/pods.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';
import { startLiving } from './start-controlled.ts';

const template = (image = 'web:1.0.0', outcome?: string): JsonObject => ({
  metadata: { labels: { app: 'web' }, ...(outcome === undefined ? {} : { annotations: { 'sim/outcome': outcome } }) },
  spec: { containers: [{ name: 'web', image, resources: { requests: { cpu: '100m' } } }] },
});

const metadata = (name: string) => ({ name, namespace: 'default' });

const deployment = (spec: JsonObject = {}): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadata('web'),
  spec: { replicas: 4, selector: { matchLabels: { app: 'web' } }, template: template(), ...spec },
});

const job = (spec: JsonObject = {}, outcome?: string): KubernetesObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: metadata('once'),
  spec: { completions: 1, parallelism: 1, backoffLimit: 1, template: template('once:1', outcome), ...spec },
});

const held = (cluster: SimCluster, kind: string, name: string): KubernetesObject => {
  const object = cluster.get(kind, name, 'default');
  if (object === undefined) throw new Error(`expected ${kind} ${name}, found ${cluster.objects(kind).map((one) => one.metadata.name)}`);
  return object;
};

const conditionsOf = (object: KubernetesObject) => listAt(object.status, 'conditions');
const imagesOf = (pods: readonly KubernetesObject[]) => new Set(pods.map(({ spec }) => textAt(listAt(spec, 'containers')[0], 'image')));
const reasonsOf = (cluster: SimCluster) => new Set(cluster.objects('Event').map((event) => textAt(event, 'reason')));

describe('a Deployment', () => {
  test('that exists at the start is already rolled out', async () => {
    const { cluster } = await startLiving(deployment());
    expect(held(cluster, 'Deployment', 'web').status).toMatchObject({
      observedGeneration: 1,
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
    });
    expect(hasTrueCondition(held(cluster, 'Deployment', 'web'), 'Available')).toBe(true);
    const [set] = cluster.objects('ReplicaSet');
    expect(set).toMatchObject({
      metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' }, ownerReferences: [{ kind: 'Deployment', name: 'web' }] },
      status: { replicas: 4, readyReplicas: 4 },
    });
    const pods = cluster.objects('Pod');
    expect(pods).toHaveLength(4);
    for (const pod of pods) {
      expect(pod.metadata.ownerReferences).toMatchObject([
        { kind: 'ReplicaSet', name: set?.metadata.name, uid: set?.metadata.uid, controller: true },
      ]);
      expect(labelsAt(pod, 'metadata', 'labels')).toMatchObject({ app: 'web', 'pod-template-hash': expect.any(String) });
      expect(textAt(pod.spec, 'nodeName')).toMatch(/^node-[ab]$/);
    }
  });

  test('that is new runs seconds later', async () => {
    const { cluster, clock } = await startLiving();
    cluster.put(deployment());
    await clock.advance(250);
    expect(cluster.objects('Pod').filter(isReady)).toEqual([]);
    await clock.advance(8_000);
    expect(cluster.objects('Pod').filter(isReady)).toHaveLength(4);
    expect([...reasonsOf(cluster)]).toEqual(expect.arrayContaining(['ScalingReplicaSet', 'SuccessfulCreate', 'Scheduled', 'Started']));
  });

  test('rolls out a new image within surge and unavailability, and keeps the old ReplicaSet empty', async () => {
    const { cluster, clock } = await startLiving(deployment());
    const counts: { total: number; ready: number }[] = [];
    using _following = cluster.observe(({ kind }) => {
      if (kind.kind !== 'Pod') return;
      const pods = cluster.objects('Pod').filter((pod) => pod.metadata.deletionTimestamp === undefined);
      counts.push({ total: pods.length, ready: pods.filter(isReady).length });
    });
    const web = held(cluster, 'Deployment', 'web');
    cluster.put({ ...web, spec: { ...objectAt(web.spec), template: template('web:1.0.1') } });
    await clock.advance(60_000);

    expect(imagesOf(cluster.objects('Pod'))).toEqual(new Set(['web:1.0.1']));
    expect(held(cluster, 'Deployment', 'web')).toMatchObject({
      metadata: { generation: 2, annotations: { 'deployment.kubernetes.io/revision': '2' } },
      status: { observedGeneration: 2, replicas: 4, updatedReplicas: 4, availableReplicas: 4 },
    });
    expect(
      cluster
        .objects('ReplicaSet')
        .map(({ spec }) => numberAt(spec, 'replicas'))
        .toSorted(),
    ).toEqual([0, 4]);
    expect(Math.max(...counts.map(({ total }) => total))).toBeLessThanOrEqual(5);
    expect(Math.min(...counts.map(({ ready }) => ready))).toBe(3);
  });

  test('reports new pods that never start after its deadline, and keeps the old ones', async () => {
    const { cluster, clock } = await startLiving(deployment({ progressDeadlineSeconds: 30 }));
    const web = held(cluster, 'Deployment', 'web');
    cluster.put({ ...web, spec: { ...objectAt(web.spec), template: template('web:9.9.9', 'no-image') } });
    await clock.advance(60_000);
    const [progressing] = conditionsOf(held(cluster, 'Deployment', 'web')).filter((one) => textAt(one, 'type') === 'Progressing');
    expect(progressing).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
    expect(numberAt(held(cluster, 'Deployment', 'web').status, 'availableReplicas')).toBeGreaterThanOrEqual(3);
    const stuck = cluster.objects('Pod').filter((pod) => podPhaseOf(pod) === 'Pending');
    expect(textAt(listAt(stuck[0]?.status, 'containerStatuses')[0], 'state', 'waiting', 'reason')).toBe('ImagePullBackOff');
  });

  test('removes pods when it is scaled down or deleted', async () => {
    const { cluster, clock } = await startLiving(deployment());
    const web = held(cluster, 'Deployment', 'web');
    cluster.put({ ...web, spec: { ...objectAt(web.spec), replicas: 1 } });
    await clock.advance(10_000);
    expect(cluster.objects('Pod')).toHaveLength(1);
    cluster.remove('Deployment', 'web', 'default');
    await clock.advance(10_000);
    expect([...cluster.objects('ReplicaSet'), ...cluster.objects('Pod')]).toEqual([]);
  });

  test('replaces a deleted pod', async () => {
    const { cluster, clock } = await startLiving(deployment({ replicas: 1 }));
    const [before] = cluster.objects('Pod');
    cluster.remove('Pod', before?.metadata.name ?? '', 'default');
    await clock.advance(5_000);
    const [after] = cluster.objects('Pod');
    expect(after && isReady(after)).toBe(true);
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  });
});

describe('a Job', () => {
  test('runs its pods and completes', async () => {
    const { cluster, clock } = await startLiving();
    cluster.put(job({ completions: 3, parallelism: 2 }));
    await clock.advance(1_500);
    expect(held(cluster, 'Job', 'once').status).toMatchObject({ active: 2, startTime: expect.any(String) });
    await clock.advance(40_000);
    expect(held(cluster, 'Job', 'once').status).toMatchObject({ succeeded: 3, completionTime: expect.any(String) });
    const { metadata, spec } = held(cluster, 'Job', 'once');
    expect(spec).toMatchObject({ selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid } } });
    expect(hasTrueCondition(held(cluster, 'Job', 'once'), 'Complete')).toBe(true);
    expect(cluster.objects('Pod').map(podPhaseOf)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
  });

  test('fails once more pods have failed than allowed', async () => {
    const { cluster, clock } = await startLiving();
    cluster.put(job({}, 'failed'));
    await clock.advance(60_000);
    expect(held(cluster, 'Job', 'once').status).toMatchObject({ failed: 2 });
    expect(hasTrueCondition(held(cluster, 'Job', 'once'), 'Failed')).toBe(true);
    expect(reasonsOf(cluster)).toContain('BackoffLimitExceeded');
  });

  test('runs for ever if its annotation says so', async () => {
    const { cluster, clock } = await startLiving(job({}, 'forever'));
    await clock.advance(120_000);
    expect(held(cluster, 'Job', 'once').status).toMatchObject({ active: 1, ready: 1 });
  });

  test('is removed with its pods after its TTL', async () => {
    const { cluster, clock } = await startLiving();
    cluster.put(job({ ttlSecondsAfterFinished: 30 }));
    await clock.advance(20_000);
    expect(hasTrueCondition(held(cluster, 'Job', 'once'), 'Complete')).toBe(true);
    await clock.advance(31_000);
    expect([...cluster.objects('Job'), ...cluster.objects('Pod')]).toEqual([]);
  });
});

test('a CronJob starts a Job in its minute, and keeps as many Jobs as its history limits', async () => {
  const cron = { schedule: '*/2 * * * *', successfulJobsHistoryLimit: 2, jobTemplate: { spec: job().spec ?? {} } };
  const { cluster, clock } = await startLiving();
  cluster.put({ apiVersion: 'batch/v1', kind: 'CronJob', metadata: metadata('tick'), spec: cron });
  await clock.advance(10 * 60_000 + 15_000);
  const jobs = cluster.objects('Job');
  expect(jobs).toHaveLength(2);
  expect(jobs.map(({ metadata: { ownerReferences } }) => ownerReferences?.[0]?.name)).toEqual(['tick', 'tick']);
  expect(textAt(held(cluster, 'CronJob', 'tick').status, 'lastScheduleTime')).toBe('2026-01-01T00:10:00Z');
});

test.each([
  ['* * * * *', '2026-03-01T12:34:00Z', true],
  ['*/15 * * * *', '2026-03-01T12:45:00Z', true],
  ['*/15 * * * *', '2026-03-01T12:44:00Z', false],
  ['5/20 * * * *', '2026-03-01T12:25:00Z', true],
  ['5/20 * * * *', '2026-03-01T12:20:00Z', false],
  ['0 2 * * 1-5', '2026-03-02T02:00:00Z', true],
  ['0 2 * * 1-5', '2026-03-01T02:00:00Z', false],
  ['0 0 * * 7', '2026-03-01T00:00:00Z', true],
  ['0 0 * * 7', '2026-03-02T00:00:00Z', false],
  ['0 9 * * MON', '2026-03-02T09:00:00Z', true],
  ['0 9 * * mon-fri', '2026-03-01T09:00:00Z', false],
  ['0 9 1 JAN *', '2026-01-01T09:00:00Z', true],
  ['0,30 * 1 3 *', '2026-03-01T09:30:00Z', true],
  // If both are given, the day of the month or the weekday must match.
  ['0 0 13 * 5', '2026-03-06T00:00:00Z', true],
  ['0 0 14 * 5', '2026-03-14T00:00:00Z', true],
  ['0 0 13 * 5', '2026-03-14T00:00:00Z', false],
  ['0 0 ? * 1', '2026-03-03T00:00:00Z', false],
  ['@hourly', '2026-03-01T09:00:00Z', true],
  ['@hourly', '2026-03-01T09:01:00Z', false],
  ['@weekly', '2026-03-01T00:00:00Z', true],
  ['nonsense', '2026-03-01T09:30:00Z', false],
  ['* * * * * *', '2026-03-01T09:30:00Z', false],
  ['*/0 * * * *', '2026-03-01T09:30:00Z', false],
])('%s at %s is scheduled: %s', (schedule, at, expected) => {
  expect(isScheduled({ schedule }, new Date(at))).toBe(expected);
});

test.each([
  ['Europe/Berlin', '2026-01-02T08:00:00Z', true],
  ['Europe/Berlin', '2026-07-02T07:00:00Z', true],
  ['Europe/Berlin', '2026-07-02T09:00:00Z', false],
  ['Mars/Olympus', '2026-07-02T09:00:00Z', false],
])('0 9 * * * in %s at %s is scheduled: %s', (timeZone, at, expected) => {
  expect(isScheduled({ schedule: '0 9 * * *', timeZone }, new Date(at))).toBe(expected);
});

test('a StatefulSet creates its pods one after the other, and updates them from the last to the first', async () => {
  const spec = { replicas: 3, serviceName: 'db', selector: { matchLabels: { app: 'web' } }, template: template('db:1') };
  const { cluster, clock } = await startLiving();
  const order: string[] = [];
  using _following = cluster.observe(({ kind, type, object }) => {
    if (kind.kind === 'Pod' && type !== 'MODIFIED') order.push(`${type} ${object.metadata.name}`);
  });
  cluster.put({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: metadata('db'), spec });
  await clock.advance(20_000);
  expect(order).toEqual(['ADDED db-0', 'ADDED db-1', 'ADDED db-2']);
  cluster.put({ ...held(cluster, 'StatefulSet', 'db'), spec: { ...spec, template: template('db:2') } });
  await clock.advance(40_000);
  expect(order.slice(3)).toEqual(['DELETED db-2', 'ADDED db-2', 'DELETED db-1', 'ADDED db-1', 'DELETED db-0', 'ADDED db-0']);
  const { status } = held(cluster, 'StatefulSet', 'db');
  expect(status).toMatchObject({ readyReplicas: 3, updatedReplicas: 3, currentRevision: textAt(status, 'updateRevision') });
});

test('a DaemonSet has a pod on every node, including a new one', async () => {
  const spec = { selector: { matchLabels: { app: 'web' } }, template: template() };
  const { cluster, clock } = await startLiving({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: metadata('agent'), spec });
  const nodes = () =>
    cluster
      .objects('Pod')
      .map((pod) => textAt(pod.spec, 'nodeName'))
      .toSorted();
  expect(nodes()).toEqual(['node-a', 'node-b']);
  cluster.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-c' } });
  await clock.advance(5_000);
  expect(nodes()).toEqual(['node-a', 'node-b', 'node-c']);
  expect(held(cluster, 'DaemonSet', 'agent').status).toMatchObject({ desiredNumberScheduled: 3, numberReady: 3 });
});

test('a pod that fits no node stays pending with a reason, until a node fits', async () => {
  const picky = { ...template(), spec: { ...objectAt(template().spec), nodeSelector: { gpu: 'yes' } } };
  const { cluster, clock } = await startLiving(deployment({ replicas: 1, template: picky }));
  await clock.advance(30_000);
  const [pending] = cluster.objects('Pod');
  expect(pending && conditionsOf(pending)).toMatchObject([{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }]);
  expect(reasonsOf(cluster)).toContain('FailedScheduling');
  cluster.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-gpu', labels: { gpu: 'yes' } } });
  await clock.advance(30_000);
  expect(textAt(cluster.objects('Pod')[0]?.spec, 'nodeName')).toBe('node-gpu');
});

test('a crashing pod restarts with growing delays', async () => {
  const { cluster, clock } = await startLiving();
  cluster.put(deployment({ replicas: 1, template: template('web:1', 'crash') }));
  const restarts = () => numberAt(listAt(cluster.objects('Pod')[0]?.status, 'containerStatuses')[0], 'restartCount') ?? 0;
  await clock.advance(60_000);
  const early = restarts();
  await clock.advance(60_000);
  expect(early).toBeGreaterThan(0);
  expect(restarts()).toBeGreaterThan(early);
  expect(restarts() - early).toBeLessThanOrEqual(early);
});

test('nodes send heartbeats, and an unreachable node is not ready', async () => {
  const { cluster, clock } = await startLiving();
  const beat = () => textAt(listAt(cluster.get('Node', 'node-a')?.status, 'conditions')[0], 'lastHeartbeatTime');
  const before = beat();
  await clock.advance(40_000);
  expect(beat()).not.toBe(before);
  expect(cluster.get('Lease', 'node-a', 'kube-node-lease')?.spec).toMatchObject({ holderIdentity: 'node-a' });
  const node = cluster.get('Node', 'node-a');
  cluster.put({ ...node, metadata: { ...node?.metadata, name: 'node-a', annotations: { 'sim/ready': 'false' } } });
  await clock.advance(500);
  expect(hasTrueCondition(cluster.get('Node', 'node-a'), 'Ready')).toBe(false);
  expect(reasonsOf(cluster)).toContain('NodeNotReady');
  cluster.put({ ...node, metadata: { ...node?.metadata, name: 'node-a' } });
  await clock.advance(500);
  expect(hasTrueCondition(cluster.get('Node', 'node-a'), 'Ready')).toBe(true);
});

test('a Service gets an address, and an EndpointSlice that follows its pods', async () => {
  const service = { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] };
  const { cluster, clock } = await startLiving(deployment({ replicas: 2 }), {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata('web'),
    spec: service,
  });
  expect(textAt(held(cluster, 'Service', 'web').spec, 'clusterIP')).toMatch(/^10\.96\./);
  const endpoints = () => listAt(cluster.objects('EndpointSlice')[0], 'endpoints').map((one) => textAt(one, 'targetRef', 'name'));
  expect(endpoints().toSorted()).toEqual(cluster.objects('Pod').map((pod) => pod.metadata.name));
  const web = held(cluster, 'Deployment', 'web');
  cluster.put({ ...web, spec: { ...objectAt(web.spec), replicas: 3 } });
  await clock.advance(10_000);
  expect(endpoints()).toHaveLength(3);
});

test('repeated Events are counted, old ones are removed, and there are at most 400', async () => {
  const { cluster, clock } = await startLiving();
  cluster.put(deployment({ replicas: 1, template: template('web:1', 'crash') }));
  await clock.advance(5 * 60_000);
  const backOffs = cluster.objects('Event').filter((event) => textAt(event, 'reason') === 'BackOff');
  expect(backOffs).toHaveLength(1);
  expect(numberAt(backOffs[0], 'count')).toBeGreaterThan(1);
  cluster.remove('Deployment', 'web', 'default');
  await clock.advance(20 * 60_000);
  expect(cluster.objects('Event')).toEqual([]);
  cluster.put(job({ completions: 300, parallelism: 100 }));
  let most = 0;
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    most = Math.max(most, cluster.objects('Event').length);
  }
  expect(cluster.objects('Pod')).toHaveLength(300);
  expect(most).toBeLessThanOrEqual(400);
});

test('namespaces have a ServiceAccount and a certificate', async () => {
  const { cluster } = await startLiving({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  expect(cluster.get('ServiceAccount', 'default', 'shop')).toBeDefined();
  expect(valueAt(cluster.get('ConfigMap', 'kube-root-ca.crt', 'shop'), 'data', 'ca.crt')).toBeDefined();
});

test('simulated past objects are younger than their owners, and older than now', async () => {
  const creationTimestamp = '2025-11-01T00:00:00Z';
  const { cluster, clock } = await startLiving({ ...deployment(), metadata: { ...metadata('web'), creationTimestamp } });
  for (const pod of cluster.objects('Pod')) {
    const made = Date.parse(String(pod.metadata.creationTimestamp));
    expect(made).toBeGreaterThanOrEqual(Date.parse(creationTimestamp));
    expect(made).toBeLessThanOrEqual(clock.now());
  }
});

test('an idle cluster changes only its heartbeats', async () => {
  const { cluster, clock } = await startLiving(deployment());
  await clock.advance(60_000);
  const changed = new Set<string>();
  using _following = cluster.observe(({ kind }) => void changed.add(kind.kind));
  await clock.advance(120_000);
  expect([...changed].toSorted()).toEqual(['Lease', 'Node']);
});

test('ends with its signal, without a timer or listener left', async () => {
  const { cluster, clock, end } = await startLiving(deployment());
  await end();
  expect(clock.sleepers).toBe(0);
  cluster.put(deployment({ replicas: 9 }));
  await clock.advance(10_000);
  expect(cluster.objects('Pod')).toHaveLength(4);
});
