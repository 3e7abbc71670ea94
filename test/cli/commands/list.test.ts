import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

const pod = (name: string, labels: Readonly<Record<string, string>> = {}, namespace = 'shop') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels, creationTimestamp: '2025-12-31T23:00:00Z' },
  spec: { containers: [{ name: 'web', image: 'nginx:1' }] },
  status: { phase: 'Pending' },
});
const running = {
  ...pod('web', { app: 'web' }),
  metadata: { ...pod('web', { app: 'web' }).metadata, creationTimestamp: '2025-12-31T22:50:00Z' },
  status: { phase: 'Running', containerStatuses: [{ name: 'web', ready: true, restartCount: 0, state: { running: {} } }] },
};
const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker', creationTimestamp: '2025-12-01T00:00:00Z' } };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', annotations: { owner: 'me' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: {}, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } },
  },
};
const huge = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'huge', namespace: 'shop' }, data: { text: 'a: 1' } };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    north: [pod('web', { app: 'web' }), pod('other', {}, 'default'), node, deployment, huge],
    south: [running, deployment],
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const list = (...args: string[]) => runCli(gateway, ['list', ...args]);

test('lists objects of all clusters and namespaces, each with its cluster', async () => {
  const { code, out, err } = await list('pods');
  expect([code, err]).toEqual([0, '']);
  expect(out.replaceAll(/\d+m$/gm, '60m')).toBe(
    [
      'CLUSTER   NAMESPACE   NAME    READY   STATUS    RESTARTS   AGE\n',
      'north     default     other   0/1     Pending   0          60m\n',
      'north     shop        web     0/1     Pending   0          60m\n',
      'south     shop        web     1/1     Running   0          60m\n',
    ].join(''),
  );
});

test.each([
  ['a namespace', ['-n', 'default'], ['north/default/pod/other']],
  ['two', ['-n', 'default', '-n', 'shop'], ['north/default/pod/other', 'north/shop/pod/web', 'south/shop/pod/web']],
  ['labels', ['-l', 'app=web'], ['north/shop/pod/web', 'south/shop/pod/web']],
  ['a cluster', ['--context', 'south'], ['south/shop/pod/web']],
  ['clusters', ['--context', 'south', '--context', 'north', '-A'], ['north/default/pod/other', 'north/shop/pod/web', 'south/shop/pod/web']],
])('of %s only, by name', async (_, args, lines) => {
  const { code, out } = await list('po', '-o', 'name', ...args);
  expect(code).toBe(0);
  expect(out).toBe(lines.map((line) => `${line}\n`).join(''));
});

test('prints a table per kind, with the kind in names, and none for a kind without objects', async () => {
  const { out } = await list('pods,deploy,jobs,Node', '--context', 'north');
  expect(out.replaceAll(/(?:\d+m|\d+s)$/gm, '60m')).toBe(
    [
      'CLUSTER   NAMESPACE   NAME        READY   STATUS    RESTARTS   AGE\n',
      'north     default     pod/other   0/1     Pending   0          60m\n',
      'north     shop        pod/web     0/1     Pending   0          60m\n',
      '\n',
      'CLUSTER   NAMESPACE   NAME                  READY   UP-TO-DATE   AVAILABLE   AGE\n',
      'north     shop        deployment.apps/web   0/2     0            0           60m\n',
      '\n',
      'CLUSTER   NAME          STATUS    ROLES    AGE   VERSION\n',
      'north     node/worker   Unknown   <none>   31d\n',
    ].join(''),
  );
});

test("-o wide adds kubectl's wide columns", async () => {
  const { out } = await list('deploy', '-o', 'wide', '--context', 'north');
  expect(out.split('\n')[0]).toBe('CLUSTER   NAMESPACE   NAME   READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES    SELECTOR');
  expect(out.split('\n')[1]).toMatch(/ web +nginx:1 +app=web$/);
});

test.each([
  ['equal to a value', ['--where', 'metadata.name=web'], ['north/shop/pod/web', 'south/shop/pod/web']],
  ['and to another', ['--where', 'metadata.name=web', '--where', 'cluster.name!=north'], ['south/shop/pod/web']],
  ['in a computed state', ['--where', 'phase^=Run'], ['south/shop/pod/web']],
  ['with a label', ['--where', 'metadata.labels["app"]'], ['north/shop/pod/web', 'south/shop/pod/web']],
  ['without one', ['--where', '!metadata.labels.app'], ['north/default/pod/other']],
  ['as JSON says', ['--where', '{"path": "metadata.name", "in": ["other", "third"]}'], ['north/default/pod/other']],
])('lists objects with %s', async (_, args, lines) => {
  const { out } = await list('po', '-o', 'name', ...args);
  expect(out.trimEnd().split('\n')).toEqual(lines);
});

test.each([
  [
    '!spec.hostNetwork',
    ['pods'],
    'hint: spec.hostNetwork is a Boolean field, and this condition tests whether it is not set: spec.hostNetwork!=true tests its value\n',
  ],
  ['ready', ['nodes'], 'hint: ready is a Boolean field, and this condition tests whether it is set: ready=true tests its value\n'],
  ['spec.nodeName', ['pods'], ''],
  ['metadata.labels.app', ['pods'], ''],
  ['cluster.region', ['pods'], ''],
])('prints a hint for a condition on the presence of a Boolean: %s', async (condition, kinds, hint) => {
  const { code, err } = await list(...kinds, '--where', condition);
  expect([code, err.replace('No resources found\n', '')]).toEqual([0, hint]);
});

test.each(['.status.phase', '{.status.phase}', 'phase'])('sorts by %s', async (path) => {
  const names = (out: string) =>
    out
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/ +/)[4]);
  const { out } = await list('po', '--sort-by', path);
  expect(names(out)).toEqual(['Pending', 'Pending', 'Running']);
  expect((await list('po', '--sort-by', '.metadata.creationTimestamp', '-o', 'name')).out).toBe(
    ['south/shop/pod/web', 'north/default/pod/other', 'north/shop/pod/web', ''].join('\n'),
  );
});

test('prints nothing if one of several kinds refuses the condition', async () => {
  expect(await list('pods,Node', '--where', 'phase=Running')).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^muster: no field phase in Node/),
  });
});

test('colors the output of a terminal only', async () => {
  const { out } = await runCli(gateway, ['list', 'pods', '--context', 'south'], { hasColor: true });
  expect(out).toContain('\x1b[1mCLUSTER\x1b[0m');
  expect(out).toContain('\x1b[32mRunning\x1b[0m');
});

test('-o json is a List as kubectl prints it, of whole objects with their clusters', async () => {
  const { out } = await list('deploy', '-o', 'json');
  const { apiVersion, kind, items } = JSON.parse(out) as { apiVersion: string; kind: string; items: (typeof deployment)[] };
  expect([apiVersion, kind]).toEqual(['v1', 'List']);
  expect(items.map(({ metadata }) => metadata.annotations)).toEqual([
    { owner: 'me', 'muster.dev/cluster': 'north' },
    { owner: 'me', 'muster.dev/cluster': 'south' },
  ]);
  expect(items[0]).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment', spec: deployment.spec });
  expect(out).toMatch(/^\{\n {4}"apiVersion": "v1",\n {4}"items": \[\n {8}\{\n {12}"apiVersion": "apps\/v1",\n/);
});

test('-o json prints an empty List if there is no object', async () => {
  const { code, out, err } = await list('deploy', '-n', 'nowhere', '-o', 'json');
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toEqual({ apiVersion: 'v1', kind: 'List', metadata: {}, items: [] });
});

test('-o yaml prints a document per object, after its cluster', async () => {
  const { out } = await list('cm', '-l', '!x', '-n', 'shop', '-o', 'yaml');
  const documents = out.split('---\n').filter((text) => text.includes('name: huge'));
  expect(documents).toHaveLength(1);
  expect(documents[0]).toMatch(/^# cluster: north\napiVersion: v1\nkind: ConfigMap\nmetadata:\n/);
});

describe('names', () => {
  const get = (...args: string[]) => runCli(gateway, ['get', ...args]);

  test.each([
    ['a kind and a name', ['pod', 'web'], ['north/shop/pod/web', 'south/shop/pod/web']],
    ['a kind and names', ['pod', 'web', 'other'], ['north/default/pod/other', 'north/shop/pod/web', 'south/shop/pod/web']],
    ['KIND/NAME', ['deploy/web'], ['north/shop/deployment.apps/web', 'south/shop/deployment.apps/web']],
    [
      'two of them',
      ['pod/other', 'deployment.apps/web', '--context', 'north'],
      ['north/default/pod/other', 'north/shop/deployment.apps/web'],
    ],
    ['two names of a kind', ['pod/other', 'po/web', '--context', 'north'], ['north/default/pod/other', 'north/shop/pod/web']],
    ['kinds and a name', ['pods,deploy', 'web', '--context', 'south'], ['south/shop/pod/web', 'south/shop/deployment.apps/web']],
  ])('%s select these objects', async (_, args, lines) => {
    expect(await get(...args, '-o', 'name')).toEqual({ code: 0, out: lines.map((line) => `${line}\n`).join(''), err: '' });
    const { out } = await get(...args);
    expect(out.split('\n').filter((line) => /^(?:north|south) /.test(line))).toHaveLength(lines.length);
    expect((JSON.parse((await get(...args, '-o', 'json')).out) as { items: unknown[] }).items).toHaveLength(lines.length);
  });

  test('fails for a name that no cluster has, and shows the others', async () => {
    const { code, out, err } = await get('pod', 'web', 'nosuch');
    expect([code, err]).toEqual([1, 'muster: pod nosuch is in no cluster\n']);
    expect(out.split('\n')).toHaveLength(4);
    expect(await get('pod/nosuch', '-n', 'shop')).toEqual({ code: 1, out: '', err: 'muster: pod nosuch is in no cluster, in shop\n' });
  });

  test.each([
    ['labels', ['pod', 'web', '-l', 'app=web']],
    ['conditions', ['pod/web', '--where', 'phase=Running']],
    ['a kind alone', ['deploy/web', 'pods']],
  ])('are refused together with %s', async (_, args) => {
    const { code, out, err } = await get(...args);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(/^muster: expected .+\n$/)]);
  });
});

describe('prints as kubectl does', () => {
  const printed = async (...args: string[]) => (await list(...args)).out;

  test('a jsonpath template, without a line end, on the List or on the only object', async () => {
    expect(await printed('po', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}{.kind}')).toBe('other\nweb\nweb\nList');
    expect(await printed('po', 'web', '-n', 'shop', '--context', 'north', '-o', 'jsonpath={.kind} {.metadata.name}')).toBe('Pod web');
    expect(await printed('node', 'worker', '--context', 'north', '-o', 'jsonpath={.kind}')).toBe('Node');
    expect(await printed('po', 'web', '--context', 'north', '-o', 'jsonpath={.kind}')).toBe('List');
    expect((JSON.parse(await printed('po/web', '-n', 'shop', '--context', 'north', '-o', 'json')) as { kind: string }).kind).toBe('Pod');
  });

  test('custom columns, also of the cluster', async () => {
    expect(await printed('po', '-n', 'shop', '-o', 'custom-columns=C:.cluster.name,NAME:metadata.name,N:{.spec.nodeName}')).toBe(
      'C       NAME   N\nnorth   web    <none>\nsouth   web    <none>\n',
    );
    expect(await printed('po', '-n', 'shop', '--no-headers', '-o', 'custom-columns=LONG:.metadata.name,X:.kind')).toBe(
      'web   Pod\nweb   Pod\n',
    );
  });

  test('labels, and no headers', async () => {
    const rows = (out: string) => out.replaceAll(/\d+m/g, '1m').replaceAll(/ +/g, ' ');
    expect(rows(await printed('po', '--context', 'north', '--show-labels', '-L', 'a.b/app,app', '--no-headers'))).toBe(
      'north default other 0/1 Pending 0 1m <none>\nnorth shop web 0/1 Pending 0 1m web app=web\n',
    );
    expect((await printed('po', '--show-labels', '-L', 'a.b/app')).split('\n')[0]).toMatch(/AGE +APP +LABELS$/);
  });

  test.each([
    ['status.phase=Running', ['south/shop/pod/web']],
    ['status.phase==Pending,metadata.namespace!=shop', ['north/default/pod/other']],
    ['spec.nodeName=', ['north/default/pod/other', 'north/shop/pod/web', 'south/shop/pod/web']],
    ['spec.nodeName!=', []],
    ['restarts=0,metadata.name=other', ['north/default/pod/other']],
    ['restarts=x', []],
    ['restarts!=x,metadata.name=other', ['north/default/pod/other']],
  ])('--field-selector %s', async (selector, lines) => {
    expect((await printed('po', '-o', 'name', '--field-selector', selector)).split('\n').filter(Boolean)).toEqual(lines);
  });

  test.each([['spec.nodeNam=x'], ['phase'], ['phase>1']])('refuses the field selector %s', async (selector) => {
    expect((await list('po', '--field-selector', selector)).code).toBe(2);
  });

  test.each([
    ['jsonpath={.items[*'],
    ['jsonpath='],
    ['custom-columns=NAME'],
    ['custom-columns=A:.{b}'],
    ['custom-columns-file=/nowhere'],
    ['jsonpath'],
  ])('refuses -o %s', async (output) => {
    expect(await list('po', '-o', output)).toMatchObject({ code: 2, out: '' });
  });

  test('a missing key is a failure only if the flag says so', async () => {
    expect(await list('po', '-o', 'jsonpath={.nope}')).toMatchObject({ code: 0, out: '' });
    expect(await list('po', '-o', 'jsonpath={.nope}', '--allow-missing-template-keys=false')).toMatchObject({ code: 1, out: '' });
  });

  test('a category stands for its kinds', async () => {
    const lines = (await printed('all', '-o', 'name', '--context', 'south')).split('\n').filter(Boolean);
    expect(lines).toEqual(expect.arrayContaining(['south/shop/pod/web', 'south/shop/deployment.apps/web']));
  });

  test('an object that is absent is no failure with --ignore-not-found', async () => {
    expect(await list('po', 'nosuch', '--ignore-not-found')).toEqual({ code: 0, out: '', err: '' });
    expect(await list('jobs', '--ignore-not-found')).toEqual({ code: 0, out: '', err: '' });
  });
});

test('reports that nothing was found, as kubectl does', async () => {
  expect(await list('jobs')).toEqual({ code: 0, out: '', err: 'No resources found\n' });
});

test('fails for a kind that no cluster serves any more', async () => {
  const names = { plural: 'gizmos', singular: 'gizmo', kind: 'Gizmo' };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
  const metadata = { name: 'gizmos.example.com' };
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [version] };
  gateway.cluster('south').define({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec });
  const isSaid = (text: string) => async () => (await list('gizmos')).err.includes(text);
  await gateway.until(isSaid('No resources found'));
  gateway.cluster('south').remove({ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }, metadata.name);
  await gateway.until(isSaid('no cluster serves'), 600_000);
  expect(await list('gizmos')).toEqual({ code: 1, out: '', err: 'muster: no cluster serves gizmos\n' });
});

test('reads all pages', async () => {
  for (let at = 0; at < 1_203; at++)
    gateway.cluster('south').put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: `s-${at}`, namespace: 'many' } });
  await gateway.until(
    async () =>
      (await gateway.query<{ secrets: { totalCount: number } }>('{ secrets(namespaces: "many") { totalCount } }')).secrets.totalCount ===
      1_203,
  );
  const { out } = await list('secrets', '-n', 'many', '-o', 'name');
  expect(new Set(out.trim().split('\n')).size).toBe(1_203);
});

describe('an invalid command line prints one line and exits with 2', () => {
  test.each([
    ['an unknown kind', ['list', 'nope'], /^muster: no kind nope.*\n$/],
    ['an unknown cluster', ['list', 'pods', '--context', 'nroth'], /^muster: .*nroth.*\n$/],
    ['a selector that is none', ['list', 'pods', '-l', 'a in ('], /^muster: .*\n$/],
    ['no kind', ['list'], "muster: missing required argument 'object'\n"],
    ['an empty kind', ['list', 'pods,'], /^muster: .*Expected names of kinds with commas between them.\n$/],
    [
      'an unknown format',
      ['list', 'pods', '-o', 'xml'],
      /^muster: expected -o with one of wide, json, yaml, name, jsonpath=.*, got xml\n$/,
    ],
    ['all namespaces and one', ['list', 'pods', '-A', '-n', 'shop'], /^muster: .*cannot be used with.*\n$/],
    ['a gateway and a fleet', ['list', 'pods', '--gateway', 'x', '--demo'], /^muster: .*cannot be used with.*\n$/],
    ['a URL that is none', ['list', 'pods', '--gateway', 'ftp://x'], /^muster: --gateway: expected a URL such as http:.*\n$/],
    [
      'a gateway that is not there',
      ['list', 'pods', '--gateway', 'http://127.0.0.1:1'],
      'muster: the gateway at http://127.0.0.1:1/graphql cannot be reached: ECONNREFUSED\n',
    ],
  ])('%s', async (_, args, line) => {
    const { code, out, err } = await runCli(gateway, args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(line);
  });
});

describe('with a cluster that is down', () => {
  let half: TestGateway;
  beforeAll(async () => {
    half = await startGateway({ north: [pod('web')], south: [pod('web')] });
    await half.query('{ pods { totalCount } }');
    half.cluster('south').disconnect();
    await half.until(
      async () => (await half.query<{ pods: { faults: unknown[] } }>('{ pods { faults { code } } }')).pods.faults.length > 0,
    );
  });
  afterAll(() => half[Symbol.asyncDispose]());

  test('lists all known objects, and reports the fault below', async () => {
    const { code, out, err } = await runCli(half, ['list', 'pods', '-o', 'name']);
    expect([code, out]).toEqual([0, 'north/shop/pod/web\nsouth/shop/pod/web\n']);
    expect(err).toMatch(/^warning: south: pods: UNREACHABLE .+\n$/);
  });

  test('exits with 1 if that cluster is named', async () => {
    expect((await runCli(half, ['list', 'pods', '--context', 'south'])).code).toBe(1);
    expect((await runCli(half, ['list', 'pods', '--context', 'north'])).code).toBe(0);
    expect((await runCli(half, ['clusters', '--context', 'south'])).code).toBe(1);
  });

  test('clusters shows it with its fault', async () => {
    const { code, out, err } = await runCli(half, ['clusters']);
    expect(code).toBe(0);
    expect(out).toMatch(/^south +v\S+ +(?:UNREACHABLE|DEGRADED) +.*\d+s$/m);
    expect(err).toMatch(/^warning: south: UNREACHABLE .+\n/);
  });
});
