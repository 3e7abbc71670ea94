import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

interface Made {
  readonly name: string;
  readonly owners?: readonly (readonly [name: string, isController?: boolean])[];
  readonly kind?: string;
  readonly namespace?: string;
}

/** Returns an object, a ConfigMap by default, with its name as uid. Any kind may own any other. */
const made = ({ name, owners = [], kind = 'ConfigMap', namespace = 'shop' }: Made) => ({
  apiVersion: kind === 'ReplicaSet' || kind === 'Deployment' ? 'apps/v1' : 'v1',
  kind,
  metadata: {
    name,
    namespace,
    uid: `u-${name}`,
    creationTimestamp: '2025-12-31T23:00:00Z',
    ownerReferences: owners.map(([owner, isController = false]) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner,
      uid: `u-${owner}`,
      controller: isController,
    })),
  },
});
const owned = (apiVersion: string, kind: string, name: string) => [{ apiVersion, kind, name, uid: `u-${name}`, controller: true }];
const workload = (kind: string, name: string, ownerReferences: ReturnType<typeof owned> = []) => {
  const object = made({ name, kind });
  const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: { metadata: {}, spec: { containers: [] } } };
  return { ...object, metadata: { ...object.metadata, ownerReferences }, spec, status: { replicas: 2, readyReplicas: 1 } };
};
const pod = (name: string) => {
  const object = made({ name, kind: 'Pod' });
  const containerStatuses = [{ name: 'web', ready: true, restartCount: 0, state: { running: {} } }];
  return {
    ...object,
    metadata: { ...object.metadata, ownerReferences: owned('apps/v1', 'ReplicaSet', 'web-1') },
    spec: { containers: [{ name: 'web', image: 'nginx:1' }] },
    status: { phase: 'Running', containerStatuses },
  };
};

const links = 1_000;
const chain = Array.from({ length: links }, (_, at) => made({ name: `link-${at}`, owners: at === 0 ? [] : [[`link-${at - 1}`]] }));

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    north: [
      workload('Deployment', 'web'),
      workload('ReplicaSet', 'web-1', owned('apps/v1', 'Deployment', 'web')),
      pod('web-1-b'),
      pod('web-1-a'),
      made({ name: 'round', owners: [['about']] }),
      made({ name: 'about', owners: [['round']] }),
      made({ name: 'below', owners: [['about']] }),
      made({ name: 'itself', owners: [['itself']] }),
      made({ name: 'orphan', owners: [['nobody']] }),
      made({ name: 'left' }),
      made({ name: 'right' }),
      made({ name: 'shared', owners: [['left'], ['right', true]] }),
      made({ name: 'elsewhere', owners: [['left']], namespace: 'other' }),
    ],
    south: [workload('Deployment', 'web'), ...chain],
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const tree = (...args: string[]) => runCli(gateway, ['tree', ...args]);
/** Returns the cluster and the drawn name of each line. */
const shown = async (...args: string[]) => {
  const [header = '', ...lines] = (await tree(...args)).out.trimEnd().split('\n');
  const [start, end] = [header.indexOf('NAME '), header.indexOf('READY')];
  return lines.map((line) => `${line.split(' ')[0]} ${line.slice(start, end).trimEnd()}`);
};

test('shows owned objects with their states below their owner, in each cluster', async () => {
  const { code, out, err } = await tree('deploy', 'web', '-n', 'shop');
  expect([code, err]).toEqual([0, '']);
  expect(out.replaceAll(/\d+m$/gm, '60m')).toBe(
    [
      'CLUSTER   NAMESPACE   NAME                      READY   STATUS    AGE\n',
      'north     shop        deployment.apps/web       1/2               60m\n',
      'north     shop        └─replicaset.apps/web-1   1/2               60m\n',
      'north     shop          ├─pod/web-1-a           1/1     Running   60m\n',
      'north     shop          └─pod/web-1-b           1/1     Running   60m\n',
      'south     shop        deployment.apps/web       1/2               60m\n',
    ].join(''),
  );
});

test('shows the owners above the object, up to the outermost', async () => {
  expect(await shown('pod/web-1-a')).toEqual(['north deployment.apps/web', 'north └─replicaset.apps/web-1', 'north   └─pod/web-1-a']);
});

test('names an owner that does not exist', async () => {
  expect(await shown('cm/orphan')).toEqual(['north configmap/nobody (not found, or not readable)', 'north └─configmap/orphan']);
});

test.each([
  [
    'of two',
    'round',
    ['north configmap/round', 'north └─configmap/about', 'north   ├─configmap/below', 'north   └─configmap/round (circle of owners)'],
  ],
  ['of itself', 'itself', ['north configmap/itself', 'north └─configmap/itself (circle of owners)']],
])('ends a circle of owners %s where it closes', async (_, name, lines) => {
  expect(await shown(`cm/${name}`)).toEqual(lines);
});

test('shows the owners of an object below a circle, each once', async () => {
  expect(await shown('cm/below')).toEqual(['north configmap/round', 'north └─configmap/about', 'north   └─configmap/below']);
});

test('shows an object of several owners once below its controller, and owners only within a namespace', async () => {
  expect(await shown('cm', 'left', 'right')).toEqual(['north configmap/left', 'north configmap/right', 'north └─configmap/shared']);
});

test('shows a chain of a thousand objects upwards and downwards', async () => {
  const lines = await shown(`cm/link-${links - 50}`);
  expect(lines).toHaveLength(links);
  expect(lines[0]).toBe('south configmap/link-0');
  expect(lines.at(-1)).toBe(`south ${' '.repeat(2 * (links - 2))}└─configmap/link-${links - 1}`);
}, 60_000);

test('-o json nests owned objects in their owners', async () => {
  const { out } = await tree('rs/web-1', '-o', 'json');
  const deployment = JSON.parse(out);
  expect(deployment).toMatchObject({ cluster: 'north', kind: 'Deployment', name: 'web', ready: '1/2' });
  expect(deployment.owned[0].owned.map((one: { name: string; status: string }) => [one.name, one.status])).toEqual([
    ['web-1-a', 'Running'],
    ['web-1-b', 'Running'],
  ]);
});

test('exits with 1 for a name that no cluster has', async () => {
  expect(await tree('deploy/none')).toEqual({ code: 1, out: '', err: 'muster: deploy none is in no cluster\n' });
});

test('prints a fault of a cluster once, for any number of kinds', async () => {
  await using half = await startGateway({ north: [workload('Deployment', 'web')], south: [workload('Deployment', 'web')] });
  await half.query('{ resources { totalCount } }');
  half.cluster('south').disconnect();
  await half.until(async () => (await half.query<{ pods: { faults: unknown[] } }>('{ pods { faults { code } } }')).pods.faults.length > 0);
  const { code, out, err } = await runCli(half, ['tree', 'deploy/web']);
  expect([code, out.trimEnd().split('\n').length]).toEqual([0, 3]);
  expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
  expect(err).toMatch(/^warning: south: .*UNREACHABLE/);
  expect((await runCli(half, ['tree', 'deploy/web', '--context', 'south'])).code).toBe(1);
  expect((await runCli(half, ['tree', 'deploy/web', '--context', 'north'])).code).toBe(0);
});
