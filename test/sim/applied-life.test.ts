import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { labelsAt, listAt, objectAt, textAt } from '../../src/core/json-at.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { createWireClient, type WireBody } from '../support/clients/wire-client.ts';
import { type Living, startLiving } from './start-controlled.ts';

interface AppliedLife extends Living {
  /** Applies a workload named `web` as the manager `muster`. */
  apply(resource: string, object: object, query?: string): Promise<WireBody>;
}

async function startApplying(): Promise<AppliedLife> {
  const living = await startLiving();
  const client = createWireClient(living.cluster, 'h2');
  onTestFinished(() => client[Symbol.asyncDispose]());
  return {
    ...living,
    async apply(resource, body, query = '') {
      const path = `/apis/${resource}/web?fieldManager=muster${query}`;
      const answer = await client.ask(path, { method: 'PATCH', body, headers: { 'content-type': 'application/apply-patch+yaml' } });
      expect(answer.status, answer.text).toBeLessThan(300);
      return JSON.parse(answer.text);
    },
  };
}

const deployments = 'apps/v1/namespaces/default/deployments';
const jobs = 'batch/v1/namespaces/default/jobs';

const deployment = (image: string, more: JsonObject = {}, pod: JsonObject = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    ...{ replicas: 1, progressDeadlineSeconds: 10, selector: { matchLabels: { app: 'web' } } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }], ...pod } },
    ...more,
  },
});

const job = (outcome?: string): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'web' },
  spec: {
    backoffLimit: 0,
    template: {
      metadata: outcome === undefined ? {} : { annotations: { 'sim/outcome': outcome } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'web', image: 'web:1' }] },
    },
  },
});

const progressOf = (object: KubernetesObject | undefined) =>
  listAt(object?.status, 'conditions').find((condition) => textAt(condition, 'type') === 'Progressing');

test('rolls out an applied workload, and leaves its fields to their manager', async () => {
  const { cluster, clock, apply } = await startApplying();
  await apply(deployments, deployment('web:1', { replicas: 3 }));
  await clock.advance(20_000);
  await apply(deployments, deployment('web:2', { replicas: 3 }));
  await clock.advance(60_000);
  const web = cluster.get('Deployment', 'web');
  const counts = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, observedGeneration: 2 };
  expect(web).toMatchObject({ metadata: { generation: 2 }, status: counts });
  expect(web?.metadata.managedFields).toMatchObject([
    { manager: 'muster', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:template': {} } } },
    { manager: 'kube-controller-manager', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:annotations': {} } } },
    { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': {} } },
  ]);
  const again = await apply(deployments, deployment('web:2', { replicas: 3 }));
  expect(again.metadata.resourceVersion).toBe(web?.metadata.resourceVersion);
  await apply(deployments, deployment('web:3', { replicas: 3 }));
  expect(Object.keys(labelsAt(cluster.get('Deployment', 'web')?.metadata, 'annotations'))).toEqual(['deployment.kubernetes.io/revision']);
});

test('fails a rollout whose pods cannot run: the counts look good, but the condition fails after the deadline', async () => {
  const { cluster, clock, apply } = await startApplying();
  await apply(deployments, deployment('web:1'));
  await clock.advance(20_000);
  await apply(deployments, deployment('web:2', {}, { nodeSelector: { disk: 'none' } }));
  await clock.advance(5_000);
  const sums = { replicas: 2, updatedReplicas: 1, availableReplicas: 1, observedGeneration: 2 };
  expect(cluster.get('Deployment', 'web')?.status).toMatchObject(sums);
  expect(progressOf(cluster.get('Deployment', 'web'))).toMatchObject({ status: 'True' });
  await clock.advance(15_000);
  expect(cluster.get('Deployment', 'web')?.status).toMatchObject(sums);
  expect(progressOf(cluster.get('Deployment', 'web'))).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
  const pending = cluster.objects('Pod').filter((pod) => textAt(pod.status, 'phase') === 'Pending');
  expect(pending.map(({ spec }) => objectAt(spec, 'nodeSelector'))).toEqual([{ disk: 'none' }]);
});

test('gives the rollout after a failed one its whole deadline', async () => {
  const { cluster, clock, apply } = await startApplying();
  await apply(deployments, deployment('web:1'));
  await clock.advance(20_000);
  await apply(deployments, deployment('web:2', {}, { nodeSelector: { disk: 'none' } }));
  await clock.advance(25_000);
  await apply(deployments, deployment('web:3', {}, { nodeSelector: { disk: 'none either' } }));
  await clock.advance(2_000);
  expect(progressOf(cluster.get('Deployment', 'web'))).toMatchObject({ status: 'True', reason: 'ReplicaSetUpdated' });
  await apply(deployments, deployment('web:1'));
  await clock.advance(20_000);
  const web = cluster.get('Deployment', 'web');
  expect(web?.status).toMatchObject({ replicas: 1, updatedReplicas: 1, availableReplicas: 1, observedGeneration: 4 });
  expect(progressOf(web)).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
});

test.each([
  [undefined, 'Complete'],
  ['failed', 'Failed'],
])('runs an applied Job with the outcome %s to its condition %s', async (outcome, condition) => {
  const { cluster, clock, apply } = await startApplying();
  await apply(jobs, job(outcome));
  await clock.advance(60_000);
  const held = cluster.get('Job', 'web');
  expect(listAt(held?.status, 'conditions').map((one) => textAt(one, 'type'))).toContain(condition);
  const again = await apply(jobs, job(outcome));
  expect(again.metadata.uid).toBe(held?.metadata.uid);
  expect(cluster.objects('Pod')).toHaveLength(1);
});
