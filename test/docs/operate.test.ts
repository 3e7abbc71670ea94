import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestFile, settings } from '../support/cli/intent-files.ts';
import { type RealCluster, realPrograms, realServerTitle, renamedContext, startRealCluster } from '../support/cluster/real-cluster.ts';
import { blocksOf, commandsOf, repository } from '../support/documentation.ts';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

// Runs the commands of the guide that need a separate hub. They run in a shell, in order, against a real API server that is the hub.

const needed = [realPrograms === undefined ? undefined : path.join(realPrograms, 'kubectl'), '/bin/bash', '/usr/bin/jq'];
const shown = commandsOf(blocksOf(['docs/guide/propagate.md', 'docs/guide/operate.md'])).map(({ command }) => command);
const exec = promisify(execFile);

/** Finds the command on the pages that starts with `begin` and contains `part`. */
function command(begin: string, part = ''): string {
  const found = shown.find((text) => text.startsWith(begin) && text.includes(part));
  if (found === undefined) throw new Error(`no page shows a command that begins with ${begin} and contains ${part}`);
  return found.replaceAll('NAMESPACE', 'default').replaceAll('NAME', 'notes');
}

/** The example of the operator of MultiClusterResources, with an empty customization as its README allows. */
const operatorExample = `apiVersion: mulitcluster.practice.com/v1alpha1
kind: MultiClusterResource
metadata:
  name: notes
  namespace: default
spec:
  template:
    apiVersion: v1
    kind: Pod
    metadata: { name: multicluster-pod, namespace: default }
    spec: { containers: [{ image: busybox, command: [sleep, "3600"], name: busybox }] }
  placement:
    clusters:
      - name: north
  customize:
`;

describe.skipIf(needed.some((file) => file === undefined || !existsSync(file)))(`the hub of the guide on ${realServerTitle}`, () => {
  let folder: string;
  let cluster: RealCluster;
  let gateway: RunningProcess;
  let url = '';
  const ran = new Set<string>();

  async function shell(text: string, kubeconfig = path.join(folder, 'kubeconfig')): Promise<string> {
    ran.add(text);
    const script = text.replace(/^muster /, `"${process.execPath}" "${repository}/src/main.ts" `);
    const env = {
      PATH: `${realPrograms}:${process.env.PATH}`,
      HOME: folder,
      KUBECONFIG: kubeconfig,
      MUSTER_GATEWAY: url,
    };
    const { stdout } = await exec('/bin/bash', ['-o', 'pipefail', '-ec', script], { cwd: folder, env, timeout: 60_000 });
    return stdout;
  }

  const specOf = async () => JSON.parse(await shell('kubectl get propagation notes -n default -o json')) as { readonly spec: object };
  const untilSettled = () =>
    expect.poll(() => shell('kubectl get propagation notes -n default -o jsonpath={.status.phase}'), { timeout: 30_000 }).toBe('Settled');

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-operate-'));
    cluster = await startRealCluster();
    // The pages name the context of the hub `north`.
    await writeFile(path.join(folder, 'kubeconfig'), renamedContext(cluster.kubeconfig, 'north'));
    await symlink(path.join(repository, 'deploy'), path.join(folder, 'deploy'));
    const spec = { template: [{ json: settings('notes') }], placement: { clusters: ['north'] } };
    const metadata = { name: 'notes', namespace: 'default' };
    await writeFile(
      path.join(folder, 'notes.yaml'),
      manifestFile({ apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata, spec }),
    );
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test('the definitions can be applied, and a gateway with this hub starts', async () => {
    expect(await shell(command('kubectl --context north apply -f deploy/crds'))).toContain('propagations.muster.dev created');
    expect(await shell(command('kubectl apply -f deploy/crds'))).toContain('propagations.muster.dev unchanged');
    expect(await shell(command('kubectl --context north create namespace'))).toContain('namespace/muster-system created');
    const kubeconfig = path.join(folder, 'kubeconfig');
    gateway = runMuster(['--hub', 'north', '--port', '0', '--log-level', 'error'], { HOME: folder, KUBECONFIG: kubeconfig });
    url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
    await shell('kubectl apply -f notes.yaml');
    await untilSettled();
  });

  test('kubectl applies, lists and deletes an intent whose contexts were renamed', async () => {
    await shell(command('sed '));
    expect(await shell(command('kubectl --context north apply -f greeter.yaml'))).toContain('greeter created');
    expect(await shell(command('kubectl --context north get propagations'))).toMatch(/greeter[\s\S]*notes/);
    expect(await shell(command('kubectl --context north delete propagation greeter'))).toContain('deleted');
  });

  test('the definition and the role of an importer can be applied, and resources are listed and deleted', async () => {
    expect(await shell(command('kubectl apply', 'importers/multiclusterresources.yaml'))).toContain('mulitcluster.practice.com created');
    expect(await shell(command('kubectl apply', 'rbac/importers.yaml'))).toContain(
      'clusterrole.rbac.authorization.k8s.io/muster-importers created',
    );
    await shell('kubectl wait --for=condition=Established --timeout=30s crd/multiclusterresources.mulitcluster.practice.com');
    await writeFile(path.join(folder, 'resource.yaml'), operatorExample);
    await shell('kubectl apply -f resource.yaml');
    expect(await shell(command('kubectl get multiclusterresources'))).toContain('notes');
    const deletion = shell(command('kubectl delete multiclusterresources'));
    // The garbage collector, which this hub lacks, frees what the resource owns and then removes this finalizer.
    const finalizers = () => shell('kubectl get multiclusterresource notes -o jsonpath={.metadata.finalizers}');
    await expect.poll(finalizers, { timeout: 15_000 }).toBe('["orphan"]');
    await shell(command('kubectl patch multiclusterresource', 'finalizers'));
    expect(await deletion).toContain('deleted');
  });

  test('a backup holds the intents as they can be applied again', async () => {
    await shell(command('kubectl get propagations', 'jq'));
    expect(await shell('kubectl apply --dry-run=server -f intents.json')).toContain('propagation.muster.dev/notes');
    expect(await shell('jq -c ".items[] | [.metadata.name, .status, .spec.requester, .metadata.uid]" intents.json')).toBe(
      '["notes",null,null,null]\n',
    );
  });

  test('an intent is resumed, adopts its copies, and its copies are found by their label', async () => {
    expect(await shell(command('muster rollout resume NAME -n NAMESPACE'))).toContain('notes');
    await shell(command('kubectl patch', 'Adopt'));
    expect((await specOf()).spec).toMatchObject({ conflict: 'Adopt' });
    await untilSettled();
    expect(await shell(command('kubectl get all,configmaps,secrets'))).toContain('muster.dev/source');
  });

  test('copies can be kept, one intent at a time or all at once', async () => {
    await shell(command('kubectl patch', 'Orphan'));
    expect((await specOf()).spec).toMatchObject({ deletion: { policy: 'Orphan' } });
    await shell(`kubectl patch propagation notes -n default --type merge -p '{"spec":{"deletion":null}}'`);
    await shell(command('kubectl get propagations', 'while read'));
    expect((await specOf()).spec).toMatchObject({ deletion: { policy: 'Orphan' } });
    expect(await shell(command('muster rollout resume', '--confirm-prune'))).toContain('notes');
  });

  test('a cluster joins with few rights, gets more and a new token, and leaves', async () => {
    await using member = await startRealCluster();
    const both = parse(renamedContext(cluster.kubeconfig, 'north'));
    const other = parse(renamedContext(member.kubeconfig, 'south'));
    for (const list of ['clusters', 'contexts', 'users']) both[list].push(...other[list]);
    const contexts = path.join(folder, 'contexts');
    await writeFile(contexts, JSON.stringify(both));
    const joins = (part: string) => shell(command('muster join south', part), contexts);
    expect(await joins('--label tier=prod')).toMatch(/^south +serviceaccount\/muster-member +created$/m);
    expect(await joins('--write')).toMatch(/^south +clusterrole\/muster-member +configured$/m);
    expect(await joins('--rotate')).toMatch(/^south +secret\/muster-member-1 +deleted$/m);
    const registered = await shell('kubectl get cluster south -o jsonpath={.metadata.labels.tier}/{.spec.region}');
    expect(registered).toBe('prod/eu-2');
    expect(await shell(command('kubectl apply', 'rbac/registration.yaml'))).toContain('muster-registration created');
    expect(await shell(command('muster leave south', '--hub-only'), contexts)).toMatch(/^north +cluster\/south +deleted$/m);
    const rest = shown.find((text) => text === 'muster leave south --hub north') ?? '';
    expect(await shell(rest, contexts)).toMatch(/^south +serviceaccount\/muster-member +deleted$/m);
  }, 120_000);

  test('every command of these pages that needs a hub has run', () => {
    const own = shown.filter((text) => /^(?:kubectl|sed|muster join|muster leave) |NAMESPACE/.test(text));
    const missing = own.filter((text) => !ran.has(text.replaceAll('NAMESPACE', 'default').replaceAll('NAME', 'notes')));
    expect(missing).toEqual([]);
  });
});
