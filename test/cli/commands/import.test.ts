import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { printYaml } from '../../../src/core/json/print-yaml.ts';
import { federatedObject, kubefedCluster, kubefedDefinitions } from '../../importers/living/living-systems.ts';
import { intentFile, settings, standing } from '../../support/cli/intent-files.ts';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ north: [], south: [] }, { hub: 'north', living: true });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const run = (args: readonly string[], input = '') => runCli(gateway, ['import', ...args], { input });
const names = async () => {
  const { propagations } = await gateway.query<{ propagations: { items: { name: string }[] } }>('{ propagations { items { name } } }');
  return propagations.items.map(({ name }) => name);
};
/** A Propagation as an import makes it from a federated object of this namespace. */
const imported = (name: string, from: string, namespace: string, spec = {}) =>
  intentFile(name, {
    template: [{ json: settings(name) }],
    replicas: { mode: 'Duplicated' },
    placement: { clusters: ['south'] },
    conflict: 'Adopt',
    source: {
      system: 'Kubefed',
      cluster: from,
      objects: [{ apiVersion: 'types.kubefed.io/v1beta1', kind: 'FederatedConfigMap', namespace, name, role: 'Template' }],
    },
    ...spec,
  });

test.each([
  ['neither -f nor --from-cluster', [], /expected either -f or --from-cluster, got none/],
  ['both -f and --from-cluster', ['-f', '-', '--from-cluster', 'north'], /expected either -f or --from-cluster, got both/],
  ['--kinds with -f', ['-f', '-', '--kinds', 'deploy'], /expected --kinds and -n only with --from-cluster/],
  ['--undo with -f', ['-f', '-', '--undo'], /expected --undo only with --from-cluster/],
  ['--undo with --apply', ['--from-cluster', 'north', '--undo', '--apply'], /expected --undo without --exact, -o and --apply/],
  ['--undo with --exact', ['--from-cluster', 'north', '--undo', '--exact'], /expected --undo without --exact, -o and --apply/],
  ['--undo with -o', ['--from-cluster', 'north', '--undo', '-o', 'yaml'], /expected --undo without --exact, -o and --apply/],
  ['an empty namespace', ['--from-cluster', 'north', '-n', ''], /expected the name of a namespace with -n, got ""/],
  ['--wait alone', ['--from-cluster', 'north', '--wait'], /expected --wait only with --apply or --undo/],
  ['an unknown cluster', ['--from-cluster', 'nort'], /no cluster named "nort"; did you mean north\?/],
  ['an unknown kind', ['--from-cluster', 'north', '--kinds', 'deploymint'], /no kind deploymint; did you mean Deployment\?/],
  [
    'an unknown kind to undo',
    ['--from-cluster', 'north', '--undo', '--kinds', 'deploymint'],
    /no kind deploymint; did you mean Deployment\?/,
  ],
])('exits with 2 for %s', async (_, args, message) => {
  const { code, out, err } = await run(args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(message);
});

test('a cluster without another system imports nothing', async () => {
  expect(await run(['--from-cluster', 'south'])).toEqual({ code: 0, out: '', err: 'nothing was found that can be imported\n' });
});

test('something that cannot be read is an error, and nothing is applied', async () => {
  using _broken = gateway.cluster('south').answer({ status: 503 }, { path: '/apis/policy.karmada.io' });
  const { code, err } = await run(['--from-cluster', 'south', '--apply']);
  expect(code).toBe(1);
  expect(err).toContain('muster: something could not be read, so nothing was written\n');
});

describe('--apply of namespaced objects', () => {
  const documents = (clusters: string) =>
    `apiVersion: types.kubefed.io/v1beta1
kind: FederatedConfigMap
metadata: { name: settings, namespace: team }
spec: { template: { data: { mode: calm } }, placement: { clusters: [${clusters}] } }
---
apiVersion: types.kubefed.io/v1beta1
kind: FederatedNamespace
metadata: { name: team, namespace: team }
spec: { placement: { clusters: [${clusters}] } }
`;

  test('writes nothing if the hub lacks their namespace and gets none', async () => {
    await using fleet = await startGateway({ north: [], south: [] }, { hub: 'north', living: true });
    const { code, err } = await runCli(fleet, ['import', '-f', '-', '--apply'], { input: documents('{ name: south }') });
    expect(code).toBe(1);
    expect(err).toMatch(/^warning: NO_NAMESPACE: .*namespace team .*hub north/m);
    expect(err).toContain('muster: a namespace is not on the hub, so nothing was written\n');
    expect(await fleet.query('{ propagations { items { name } } }')).toEqual({ propagations: { items: [] } });
  });

  test('propagates the Namespace first, also if it is the last document', async () => {
    await using fleet = await startGateway({ north: [], south: [] }, { hub: 'north', living: true });
    const text = documents('{ name: north }, { name: south }');
    const { code, out } = await runCli(fleet, ['import', '-f', '-', '--apply', '--wait'], { input: text });
    expect([code, out.match(/^propagation\S+ created$/gm)]).toEqual([
      0,
      ['propagation.muster.dev/team-namespace created', 'propagation.muster.dev/settings-configmap created'],
    ]);
    expect(fleet.cluster('south').get({ group: '', kind: 'ConfigMap' }, 'settings', 'team')).toMatchObject({ data: { mode: 'calm' } });
  });
});

test('names the documents of a file that no Propagation was made from, by index and object', async () => {
  const { code, err } = await run(['-f', '-'], `${printYaml(settings('alone'))}---\nno: object\n`);
  expect(code).toBe(0);
  expect(err).toMatch(/warning: UNCLAIMED \[0\]: [\s\S]*\nnot imported: \[0\] ConfigMap alone\nnot imported: \[1\]\n/);
});

test('notes name the object if there are several files, and a list keeps its index', async () => {
  const wrong = (name: string) => federatedObject('FederatedConfigMap', `shop/${name}`, { placement: { clusters: 'south' } });
  const list = { apiVersion: 'v1', kind: 'List', items: [wrong('b'), wrong('c')] };
  const noKubernetes = { no: 'object' };
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-import-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'one.yaml'), printYaml(wrong('a')));
  await writeFile(path.join(folder, 'two.yaml'), `${printYaml(noKubernetes)}---\n${printYaml(list)}`);
  const pathsOf = async (...args: readonly string[]) => {
    const { err } = await run(args);
    return err.split('\n').flatMap((line) => /^\w+: (?:INVALID|NOT_AN_OBJECT) (.*?):/.exec(line)?.[1] ?? []);
  };
  const one = path.join(folder, 'one.yaml');
  expect(await pathsOf('-f', one)).toEqual(['[0].spec.placement.clusters']);
  const named = ['FederatedConfigMap shop/a spec.placement.clusters', '[1]'];
  const inList = ['[2].items[0].spec.placement.clusters', '[2].items[1].spec.placement.clusters'];
  expect((await pathsOf('-f', folder)).toSorted()).toEqual([...named, ...inList].toSorted());
});

describe('--undo', () => {
  const apply = (text: string) => runCli(gateway, ['propagate', '-f', '-', '--wait'], { input: text });

  test('deletes the Propagations of that cluster, kinds and namespaces, and leaves the copies without a mark', async () => {
    const before = gateway.cluster('south').put(standing('a', { mode: '0644' }));
    for (const text of [
      imported('a', 'host', 'shop'),
      imported('b', 'host', 'bank'),
      imported('c', 'other', 'shop'),
      imported('d', 'host', 'shop', { template: [{ json: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'd' } } }] }),
      intentFile('e', { template: [{ json: settings('e') }], replicas: { mode: 'Duplicated' } }),
    ])
      expect((await apply(text)).code).toBe(0);

    const undone = await run(['--from-cluster', 'host', '--kinds', 'cm', '-n', 'shop', '--undo', '--wait']);
    expect(undone).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^propagation\.muster\.dev\/a deleted\n/),
      err: 'default/a: gone\n',
    });
    expect(await names()).toEqual(['b', 'c', 'd', 'e']);
    const after = gateway.cluster('south').get({ group: '', kind: 'ConfigMap' }, 'a', 'default');
    expect(after).toMatchObject({ data: { mode: '0644' }, metadata: { uid: before.metadata.uid } });
    expect(JSON.stringify(after)).not.toContain('muster');

    expect((await run(['--from-cluster', 'host', '--undo', '--wait'])).code).toBe(0);
    expect(await names()).toEqual(['c', 'e']);
    expect(gateway.cluster('south').get({ group: '', kind: 'ConfigMap' }, 'b', 'default')).toMatchObject({ data: { mode: '0644' } });
  });

  test('says if there is nothing to undo', async () => {
    expect(await run(['--from-cluster', 'host', '--undo'])).toEqual({
      code: 0,
      out: '',
      err: 'no such Propagation was imported from cluster host\n',
    });
  });
});

describe('a living KubeFed', () => {
  const copy = standing('settings', { mode: 'calm' });
  const federated = (name: string) =>
    federatedObject('FederatedConfigMap', `default/${name}`, { template: { data: { mode: 'calm' } }, placement: { clusterSelector: {} } });
  const host = [
    ...kubefedDefinitions,
    kubefedCluster('host'),
    kubefedCluster('south'),
    federatedObject('FederatedNamespace', 'default/default', { placement: { clusterSelector: {} } }),
    federated('settings'),
    federated('others'),
    federatedObject('FederatedDeployment', 'default/broken', { placement: {}, overrides: [{ clusterName: 'a' }, { clusterName: 'a' }] }),
    copy,
  ];

  test('is shown, printed for Git, applied and given back', async () => {
    await using living = await startGateway({ host, south: [copy], other: [] }, { hub: 'host', living: true });
    const importing = (...args: readonly string[]) => runCli(living, ['import', '--from-cluster', 'host', ...args], {});
    const shown = await importing('--kinds', 'configmaps');
    expect(shown.code).toBe(0);
    expect(shown.out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['NAMESPACE', 'NAME', 'SYSTEM', 'DOCUMENTS', 'NOTES'],
      ['default', 'others-configmap', 'KubeFed', expect.any(String), expect.any(String)],
      ['default', 'settings-configmap', 'KubeFed', expect.any(String), expect.any(String)],
      [''],
    ]);
    expect(shown.err).toMatch(/^warning: STOP_FIRST: .*KubeFed.*host/m);
    const file = await importing('--kinds', 'configmaps', '-o', 'yaml');
    expect(file.out.match(/^kind: Propagation$/gm)).toHaveLength(2);
    const plan = await runCli(living, ['plan', '-f', '-'], { input: file.out });
    expect(plan.code).toBe(0);
    for (const cluster of ['host', 'south']) expect(plan.out).toMatch(new RegExp(`^${cluster}/default/configmap/settings ADOPT$`, 'm'));

    // The broken object is an error, so nothing of the whole import is written.
    const refused = await importing('--apply');
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(/error: INVALID FederatedDeployment default\/broken spec\.[\s\S]*so nothing was written\n/),
    ]);
    expect(refused.err).toContain('\nnot imported: FederatedDeployment default/broken\n');
    const applied = await importing('--kinds', 'cm', '-n', 'default', '--apply', '--wait');
    expect(applied.code).toBe(0);
    const live = (name: string) => living.cluster('south').get({ group: '', kind: 'ConfigMap' }, name, 'default');
    expect(live('others')).toMatchObject({ data: { mode: 'calm' } });
    expect(living.cluster('other').get({ group: '', kind: 'ConfigMap' }, 'others', 'default')).toBeUndefined();

    expect((await importing('--kinds', 'deploy', '--undo', '--wait')).err).toContain('no such Propagation');
    expect((await importing('-n', 'elsewhere', '--undo', '--wait')).err).toContain('no such Propagation');
    expect((await importing('--kinds', 'cm', '-n', 'default', '--undo', '--wait')).code).toBe(0);
    for (const name of ['settings', 'others']) expect(JSON.stringify(live(name))).toMatch(/^(?!.*muster).*calm/);
  });
});

describe('a Propagation that has the name already', () => {
  const federated = federatedObject('FederatedConfigMap', 'default/web', {
    template: { data: { mode: 'calm' } },
    placement: { clusterSelector: {} },
  });
  const host = (member: string) => [
    ...kubefedDefinitions,
    kubefedCluster(member),
    federatedObject('FederatedNamespace', 'default/default', { placement: { clusterSelector: {} } }),
    federated,
  ];
  const copy = standing('web', { mode: 'calm' });
  const start = () => startGateway({ hub: [], one: host('m1'), two: host('m2'), m1: [copy], m2: [copy] }, { hub: 'hub', living: true });
  const importing = (living: TestGateway, cluster: string, ...args: readonly string[]) =>
    runCli(living, ['import', '--from-cluster', cluster, '--kinds', 'cm', ...args], {});
  const data = (living: TestGateway, cluster: string) => living.cluster(cluster).get({ group: '', kind: 'ConfigMap' }, 'web', 'default');

  test('is not replaced by the import of another cluster, and keeps its copies', async () => {
    await using living = await start();
    expect((await importing(living, 'one', '--apply', '--wait')).code).toBe(0);
    const second = await importing(living, 'two', '--apply', '--wait');
    expect(second.code).toBe(1);
    expect(second.err).toMatch(
      /^error: NAME_TAKEN: Propagation default\/web-configmap exists and was imported from Kubefed FederatedConfigMap default\/web of cluster one, not from Kubefed FederatedConfigMap default\/web of cluster two: /m,
    );
    expect(second.err).toContain('muster: a note is an error, so nothing was written\n');
    // The same holds for the printed Propagation.
    const printed = { input: (await importing(living, 'two', '-o', 'yaml')).out };
    for (const command of ['plan', 'propagate']) {
      const refused = await runCli(living, [command, '-f', '-'], printed);
      expect([refused.code, refused.out + refused.err]).toEqual([
        1,
        expect.stringContaining('NAME_TAKEN source: Propagation default/web-configmap exists'),
      ]);
    }
    expect(data(living, 'm1')).toMatchObject({ data: { mode: 'calm' } });
    expect(JSON.stringify(data(living, 'm2'))).not.toContain('muster');
    // The same source again is an update.
    const again = await importing(living, 'one', '--apply', '--wait');
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('unchanged')]);
  });

  test('is not replaced if a user wrote it', async () => {
    await using living = await start();
    const written = intentFile('web-configmap', { template: [{ json: settings('own') }], replicas: { mode: 'Duplicated' } });
    expect((await runCli(living, ['propagate', '-f', '-', '--wait'], { input: written })).code).toBe(0);
    const refused = await importing(living, 'one', '--apply', '--wait');
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/NAME_TAKEN: .* exists and was not imported/)]);
    expect(living.cluster('m1').get({ group: '', kind: 'ConfigMap' }, 'own', 'default')).toMatchObject({ data: { mode: '0644' } });
  });
});
