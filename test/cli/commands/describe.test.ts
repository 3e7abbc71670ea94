import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

const createdAt = '2025-12-31T23:00:00Z';
const named = (name: string, more: object = {}) => ({ name, namespace: 'shop', creationTimestamp: createdAt, ...more });
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } };
const selector = { matchLabels: { app: 'web' } };
const controlledBy = (apiVersion: string, kind: string, name: string, uid: string) => [{ apiVersion, kind, name, uid, controller: true }];

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: named('web', { uid: 'u-deployment', generation: 1 }),
  spec: { replicas: 2, selector, template },
  status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 },
};
const replicas = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: named('web-1', {
    uid: 'u-replicas',
    labels: { app: 'web' },
    ownerReferences: controlledBy('apps/v1', 'Deployment', 'web', 'u-deployment'),
  }),
  spec: { replicas: 2, selector, template },
  status: { replicas: 2, readyReplicas: 1 },
};
const pod = (name: string, ready: boolean) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: named(name, { labels: { app: 'web' }, ownerReferences: controlledBy('apps/v1', 'ReplicaSet', 'web-1', 'u-replicas') }),
  spec: { ...template.spec, nodeName: 'worker', serviceAccountName: 'web' },
  status: { phase: 'Running', containerStatuses: [{ name: 'web', ready, restartCount: 0, state: { running: {} } }] },
});
const others = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named('web') },
  { apiVersion: 'v1', kind: 'Service', metadata: named('web'), spec: { type: 'ClusterIP', selector: { app: 'web' } } },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker', creationTimestamp: createdAt } },
  { apiVersion: 'v1', kind: 'Secret', metadata: named('keys'), data: { password: 'aHVudGVyMg==' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: named('odd'), data: { text: 'a\u001b[31mred  b' } },
];
const event = (name: string, minute: number) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: named(name),
  involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u-deployment' },
  type: minute === 0 ? 'Normal' : 'Warning',
  reason: `Reason${minute}`,
  message: `message ${minute}\nand more`,
  lastTimestamp: `2025-12-31T23:${String(minute).padStart(2, '0')}:00Z`,
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    north: [deployment, replicas, pod('web-1-a', true), pod('web-1-b', false), ...others, event('first', 0), event('second', 5)],
    south: [deployment],
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const describeIt = (...args: string[]) => runCli(gateway, ['describe', ...args]);
/** Replaces ages, which grow, and the spaces that depend on them. */
const still = (text: string) => text.replaceAll(/\b\d+m(?:\d+s)?\b|\b\d+s\b/g, '0s').replaceAll(/ {2,}(?=\S)/g, '  ');

test('shows columns, related objects, YAML and events for each cluster', async () => {
  const { code, out, err } = await describeIt('deploy', 'web', '-n', 'shop');
  expect([code, err]).toEqual([0, '']);
  const [north = '', south = ''] = out.split(/^(?=CLUSTER)/m);
  expect(still(north).split('\nObject:')[0]).toBe(
    [
      'CLUSTER  NAMESPACE  NAME  READY  UP-TO-DATE  AVAILABLE  AGE  CONTAINERS  IMAGES  SELECTOR',
      'north  shop  web  1/2  2  1  0s  web  nginx:1  app=web',
      '',
      'Rollout: Waiting for deployment "web" rollout to finish: 1 of 2 updated replicas are available...',
      '',
      'Related:',
      '  RELATION  NAME  READY  STATUS  AGE',
      '  owned  replicaset.apps/web-1  1/2  0s',
      '  pods  pod/web-1-a  1/1  Running  0s',
      '  pods  pod/web-1-b  0/1  Running  0s',
      '',
    ].join('\n'),
  );
  expect(north).toContain('\nObject:\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: web\n');
  expect(still(north).split('\nEvents:\n')[1]).toBe(
    ['  LAST SEEN  TYPE  REASON  MESSAGE', '  0s  Normal  Reason0  message 0...', '  0s  Warning  Reason5  message 5...', '\n'].join('\n'),
  );
  expect(south).toContain('\nRelated: <none>\n');
  expect(south).toMatch(/\nEvents: <none>\n$/);
});

test('shows a Pod with all related objects', async () => {
  const { out } = await describeIt('po/web-1-a');
  expect(still(out).split('\nObject:')[0]?.split('Related:\n')[1]?.trimEnd().split('\n')).toEqual([
    '  RELATION  NAME  READY  STATUS  AGE',
    '  owner  replicaset.apps/web-1  1/2  0s',
    '  node  node/worker  Unknown  0s',
    '  serviceAccount  serviceaccount/web  0s',
    '  services  service/web  0s',
  ]);
});

test('shows the namespaces of objects related to a cluster-scoped object', async () => {
  const { out } = await describeIt('node/worker');
  expect(still(out)).toContain('  RELATION  NAMESPACE  NAME  READY  STATUS  AGE\n  pods  shop  pod/web-1-a  1/1  Running  0s\n');
});

test('never prints a value of a Secret or a terminal control character', async () => {
  const { code, out } = await describeIt('secret/keys', 'cm/odd');
  expect(code).toBe(0);
  expect(out).toContain('  kind: Secret\n');
  expect(out).not.toContain('aHVudGVyMg');
  expect(out).not.toContain('password');
  expect(out).not.toContain('\u001b');
  const whole = await describeIt('secret/keys', '-o', 'json');
  expect(whole.out).not.toContain('aHVudGVyMg');
});

test('-o json is a list of objects with their related objects', async () => {
  const { out } = await describeIt('deploy', 'web', '--context', 'north', '-o', 'json');
  const { cluster, object, related, events } = JSON.parse(out);
  expect([cluster, object.kind, object.spec.replicas]).toEqual(['north', 'Deployment', 2]);
  expect(related[0]).toEqual({
    relation: 'owned',
    items: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'shop', name: 'web-1' }],
    more: 0,
  });
  expect(events.map((one: { reason: string }) => one.reason)).toEqual(['Reason5', 'Reason0']);
});

test('reports a name that no cluster has, and shows the others', async () => {
  const { code, out, err } = await describeIt('deploy', 'web', 'api', '-n', 'shop');
  expect([code, err]).toEqual([1, 'muster: deploy api is in no cluster, in shop\n']);
  expect(out).toMatch(/^CLUSTER/);
});

test.each([
  ['no name', ['deploy'], 'muster: expected names of deploy: muster list shows all objects of a kind\n'],
  ['several kinds', ['deploy,pods', 'web'], 'muster: expected one kind, got deploy,pods: write several kinds as KIND/NAME\n'],
  ['an unknown kind', ['nope', 'web'], /^muster: no kind nope/],
])('refuses %s', async (_, args, line) => {
  const { code, out, err } = await describeIt(...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(line);
});
