import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { objectAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { columnsOf } from '../../../src/model/columns/columns.ts';
import { phaseOfJob } from '../../../src/model/columns/job-phase.ts';
import { podRequestsOf } from '../../../src/model/columns/pod-requests.ts';
import { lastRestartOfPod, phaseOfPod, readyOfPod, restartsOfPod } from '../../../src/model/columns/pod-status.ts';
import { workloadRolloutOf } from '../../../src/model/columns/rollout.ts';
import { createRawClient, type RawClient } from '../../support/clients/raw-client.ts';
import { type RealCluster, realPrograms, realServerTitle, startRealCluster } from '../../support/cluster/real-cluster.ts';
import { kubectlRollouts } from './kubectl-rollouts.ts';
import { containers, type PodState, podIn, podStates } from './pod-states.ts';
import { heavyOverhead, requestingPods } from './pods-that-request.ts';
import { randomPods } from './random-pods.ts';

// Compares columns with the output of kubectl, for objects whose statuses are written by hand.

const time = '2026-01-01T00:00:00Z';
const holds = (type: string) => ({ type, status: 'True', reason: 'Test', lastTransitionTime: time });

type PrintedPod = readonly [phase: string, ready: string, restarts: number, saysWhen: boolean];

/** Jobs, with the STATUS that kubectl prints. */
const jobStates: readonly {
  readonly name: string;
  readonly status: JsonObject;
  readonly suspend?: boolean;
  readonly deleted?: boolean;
  readonly prints: string;
}[] = [
  { name: 'new', status: {}, prints: 'Running' },
  { name: 'active', status: { startTime: time, active: 1, ready: 1 }, prints: 'Running' },
  { name: 'suspended', suspend: true, status: { conditions: [holds('Suspended')] }, prints: 'Suspended' },
  {
    name: 'complete',
    status: { startTime: time, completionTime: time, succeeded: 1, conditions: [holds('SuccessCriteriaMet'), holds('Complete')] },
    prints: 'Complete',
  },
  { name: 'success-criteria-met', status: { startTime: time, conditions: [holds('SuccessCriteriaMet')] }, prints: 'SuccessCriteriaMet' },
  { name: 'failing', status: { startTime: time, conditions: [holds('FailureTarget')] }, prints: 'FailureTarget' },
  { name: 'failed', status: { startTime: time, failed: 1, conditions: [holds('FailureTarget'), holds('Failed')] }, prints: 'Failed' },
  { name: 'deleted', deleted: true, status: { startTime: time }, prints: 'Terminating' },
  { name: 'failing-and-deleted', deleted: true, status: { startTime: time, conditions: [holds('FailureTarget')] }, prints: 'Terminating' },
  {
    name: 'failed-and-deleted',
    deleted: true,
    status: { startTime: time, conditions: [holds('FailureTarget'), holds('Failed')] },
    prints: 'Failed',
  },
];

/** The answer of kubectl for a workload with the strategy OnDelete. */
const refusal = 'error: rollout status is only available for RollingUpdate strategy type';

const kubectl = realPrograms === undefined ? undefined : path.join(realPrograms, 'kubectl');
const run = promisify(execFile);

describe.skipIf(kubectl === undefined || !existsSync(kubectl))(`kubectl prints the values of columns, with ${realServerTitle}`, () => {
  let cluster: RealCluster;
  let client: RawClient;

  beforeAll(async () => {
    cluster = await startRealCluster();
    client = createRawClient(cluster.endpoint);
  });
  afterAll(async () => {
    client?.[Symbol.dispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  async function ask(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(kubectl ?? '', ['--kubeconfig', cluster.kubeconfigPath, ...args]);
    return stdout;
  }

  async function namespace(name: string): Promise<string> {
    await made('/api/v1/namespaces', { metadata: { name } });
    return name;
  }

  async function made(collection: string, body: JsonObject): Promise<void> {
    const answer = await client.send('POST', collection, { body });
    if (answer.status !== 201) throw new Error(`${collection}: ${answer.text}`);
  }

  async function tell(object: string, status: JsonObject): Promise<void> {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer = await client.send('PATCH', `${object}/status`, { body: { status }, headers });
    if (answer.status !== 200) throw new Error(`${object}: ${answer.text}`);
  }

  async function objectsAt(collection: string): Promise<readonly KubernetesObject[]> {
    return (JSON.parse((await client.get(collection)).text) as { items: KubernetesObject[] }).items;
  }

  /** The cells of each line, by the first of them. Cells are apart by three spaces at least. */
  async function table(...args: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const lines = (await ask('get', ...args, '--no-headers')).trimEnd().split('\n');
    return new Map(lines.map((line) => line.split(/ {2,}/)).map(([name = '', ...cells]) => [name, cells]));
  }

  async function putPods(pods: readonly Omit<PodState, 'prints'>[], inNamespace: string): Promise<void> {
    const collection = `/api/v1/namespaces/${inNamespace}/pods`;
    for (const pod of pods) {
      const { spec } = podIn({ ...pod, prints: ['', '', 0] });
      const finalizers = pod.deleted === true ? ['test.example/keep'] : [];
      await made(collection, { metadata: { name: pod.name, finalizers }, spec });
      await tell(`${collection}/${pod.name}`, pod.status);
      if (pod.deleted === true) await client.send('DELETE', `${collection}/${pod.name}`);
    }
  }

  /** STATUS, READY and RESTARTS, and whether kubectl says how long ago the last of these was. */
  async function podsAsPrinted(inNamespace: string): Promise<ReadonlyMap<string, PrintedPod>> {
    const printed = await table('pods', '-n', inNamespace);
    const rowOf = ([ready = '', phase = '', restarts = '']: readonly string[]): PrintedPod => [
      phase,
      ready,
      Number.parseInt(restarts, 10),
      restarts.endsWith(' ago)'),
    ];
    return new Map([...printed].map(([name, cells]) => [name, rowOf(cells)]));
  }

  function podsByColumns(pods: readonly KubernetesObject[]): ReadonlyMap<string, PrintedPod> {
    const rowOf = (pod: KubernetesObject): PrintedPod => {
      const restarts = restartsOfPod(pod);
      return [phaseOfPod(pod), readyOfPod(pod), restarts, restarts !== 0 && lastRestartOfPod(pod) !== undefined];
    };
    return new Map(pods.map((pod) => [pod.metadata.name, rowOf(pod)]));
  }

  test('of Pods in every state', async () => {
    const place = await namespace('states');
    await putPods(podStates, place);
    const printed = await podsAsPrinted(place);
    const withoutAgo = [...printed].map(([name, [phase, ready, restarts]]) => [name, [phase, ready, restarts]] as const);
    expect(Object.fromEntries(withoutAgo)).toEqual(Object.fromEntries(podStates.map(({ name, prints }) => [name, prints])));
    expect(podsByColumns(await objectsAt(`/api/v1/namespaces/${place}/pods`))).toEqual(printed);
  }, 60_000);

  test('of Pods in random states', async () => {
    const place = await namespace('random');
    await putPods(randomPods(200, 1), place);
    const printed = await podsAsPrinted(place);
    expect(printed.size).toBe(200);
    expect(podsByColumns(await objectsAt(`/api/v1/namespaces/${place}/pods`))).toEqual(printed);
  }, 120_000);

  test('of the requests of Pods', async () => {
    const place = await namespace('requests');
    await made('/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'heavy' },
      handler: 'heavy',
      overhead: { podFixed: heavyOverhead },
    });
    await made('/api/v1/nodes', { metadata: { name: 'large' } });
    await tell('/api/v1/nodes/large', { capacity: { cpu: '1000', memory: '1Ti' }, allocatable: { cpu: '1000', memory: '1Ti' } });
    const collection = `/api/v1/namespaces/${place}/pods`;
    for (const { name, spec, status = {}, heavy = false } of requestingPods) {
      await made(collection, { metadata: { name }, spec: { ...spec, nodeName: 'large', ...(heavy ? { runtimeClassName: 'heavy' } : {}) } });
      await tell(`${collection}/${name}`, { phase: 'Running', ...status });
    }
    const lines = (await ask('describe', 'node', 'large')).split('\n').filter((line) => line.startsWith(`  ${place} `));
    const amount = (cell = '') => cell.replace(/ \(\d+%\)$/, '');
    const rows = lines.map((line) => line.trim().split(/ {2,}/));
    const printed = new Map(rows.map(([, name, cpu, , memory]) => [name, [amount(cpu), amount(memory)]]));
    const row = ({ cpu = '0', memory = '0' }: JsonObject) => [cpu, memory];
    expect(printed).toEqual(new Map(requestingPods.map(({ name, requests }) => [name, row(requests)])));
    expect(new Map((await objectsAt(collection)).map((pod) => [pod.metadata.name, row(podRequestsOf(pod))]))).toEqual(printed);
  }, 60_000);

  test('of Jobs', async () => {
    const place = await namespace('jobs');
    const collection = `/apis/batch/v1/namespaces/${place}/jobs`;
    const template = { spec: { restartPolicy: 'Never', containers: containers('run') } };
    for (const { name, status, deleted = false, suspend = false } of jobStates) {
      await made(collection, { metadata: { name, finalizers: deleted ? ['test.example/keep'] : [] }, spec: { template, suspend } });
      await tell(`${collection}/${name}`, status);
      if (deleted) await client.send('DELETE', `${collection}/${name}`);
    }
    const printed = new Map([...(await table('jobs', '-n', place))].map(([name, [status = '']]) => [name, status]));
    expect(Object.fromEntries(printed)).toEqual(Object.fromEntries(jobStates.map(({ name, prints }) => [name, prints])));
    // JobPhase has no value for states that last only until the last Pods have ended.
    const inCapitals = (text: string) =>
      text === 'SuccessCriteriaMet' ? 'RUNNING' : text.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
    const byColumn = (await objectsAt(collection)).map((job) => [job.metadata.name, phaseOfJob(job)] as const);
    expect(new Map(byColumn)).toEqual(new Map([...printed].map(([name, status]) => [name, inCapitals(status)])));
  }, 60_000);

  test('of Nodes', async () => {
    const isReady = columnsOf({ group: '', kind: 'Node' }).find(({ name }) => name === 'ready');
    const told = { yes: 'True', no: 'False', unheard: 'Unknown' };
    for (const [name, status] of Object.entries(told)) {
      await made('/api/v1/nodes', { metadata: { name, labels: { test: 'ready' } } });
      await tell(`/api/v1/nodes/${name}`, { conditions: [{ type: 'Ready', status }] });
    }
    await made('/api/v1/nodes', { metadata: { name: 'silent', labels: { test: 'ready' } } });
    await made('/api/v1/nodes', { metadata: { name: 'cordoned', labels: { test: 'ready' } }, spec: { unschedulable: true } });
    await tell('/api/v1/nodes/cordoned', { conditions: [{ type: 'Ready', status: 'True' }] });
    const printed = new Map(
      [...(await table('nodes', '-l', 'test=ready'))].map(([name, [status = '']]) => [name, status.split(',').includes('Ready')]),
    );
    expect(Object.fromEntries(printed)).toEqual({ yes: true, no: false, unheard: false, silent: false, cordoned: true });
    const nodes = await objectsAt('/api/v1/nodes?labelSelector=test%3Dready');
    expect(new Map(nodes.map((node) => [node.metadata.name, isReady?.get(node)]))).toEqual(printed);
  }, 60_000);

  test('of rollouts', async () => {
    const place = await namespace('rollouts');
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: containers('web') } };
    const byKubectl: string[] = [];
    const byColumn: string[] = [];
    for (const [index, { kind, says, object }] of kubectlRollouts.entries()) {
      const collection = `/apis/apps/v1/namespaces/${place}/${kind.toLowerCase()}s`;
      const name = `web-${index}`;
      await made(collection, { metadata: { name }, spec: { ...objectAt(object, 'spec'), selector: { matchLabels: labels }, template } });
      await tell(`${collection}/${name}`, objectAt(object, 'status'));
      const served = JSON.parse((await client.get(`${collection}/${name}`)).text) as JsonObject;
      const rollout = workloadRolloutOf({ group: 'apps', kind }, served);
      byKubectl.push((await rolloutStatus(kind, name, place)).trimEnd());
      byColumn.push(`${rollout?.phase === 'failed' ? 'error: ' : ''}${says === 'refused' ? refusal : rollout?.kubectlText}`);
    }
    expect(byColumn).toEqual(byKubectl);
  }, 120_000);

  async function rolloutStatus(kind: string, name: string, inNamespace: string): Promise<string> {
    const asked = ask('rollout', 'status', `${kind.toLowerCase()}/${name}`, '-n', inNamespace, '--watch=false');
    return asked.catch((error: { readonly stderr: string }) => error.stderr);
  }
});
