import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RealCluster, realPrograms, realServerTitle, startRealCluster } from '../support/cluster/real-cluster.ts';
import { blocksOf, commandsOf, repository } from '../support/documentation.ts';
import { helm } from '../support/helm.ts';

// Runs the commands of the page about the chart, in order, against a real API server.

const needed = [realPrograms && path.join(realPrograms, 'kubectl'), helm, '/bin/bash', '/usr/bin/openssl'];
const shown = commandsOf(blocksOf(['docs/guide/install.md'])).map(({ command }) => command);

describe.skipIf(needed.some((file) => file === undefined || !existsSync(file)))(`the chart of the guide on ${realServerTitle}`, () => {
  let folder: string;
  let cluster: RealCluster;
  const ran = new Set<string>();

  async function shell(script: string): Promise<string> {
    ran.add(script);
    const env = {
      PATH: [realPrograms, path.dirname(helm ?? ''), process.env.PATH].join(':'),
      ...{ HOME: folder, KUBECONFIG: path.join(folder, 'kubeconfig') },
    };
    const { stdout, stderr } = await promisify(execFile)('/bin/bash', ['-ec', script], { cwd: folder, env, timeout: 60_000 });
    return `${stdout}${stderr}`;
  }
  const command = (begin: string) => shown.find((text) => text.startsWith(begin)) ?? `echo no command begins with ${begin}; false`;
  const named = (kind: string) => shell(`kubectl get ${kind} -n muster-system -o name`);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-install-'));
    cluster = await startRealCluster();
    await writeFile(path.join(folder, 'kubeconfig'), cluster.kubeconfig);
    await symlink(path.join(repository, 'deploy'), path.join(folder, 'deploy'));
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test('the namespace, the token and the release are made, without a warning about Pod Security', async () => {
    expect(await shell(command('kubectl create namespace'))).toContain('created');
    await shell(`${command('kubectl label namespace')} pod-security.kubernetes.io/warn=restricted`);
    expect(await shell(command('kubectl label namespace'))).toContain('not labeled');
    expect(await shell(command('kubectl --namespace muster-system create secret'))).toContain('secret/muster-token created');
    const installed = await shell(command('helm install'));
    expect(installed).toContain('muster join CONTEXT --hub HUB --namespace muster-system');
    expect(installed).not.toMatch(/violat|warning/i);
    expect(await named('deployments,services,poddisruptionbudgets,networkpolicies')).toMatch(
      /deployment[\s\S]*service[\s\S]*disruption[\s\S]*policy/,
    );
  });

  test('the commands of its notes print the token', async () => {
    const notes = await shell('helm get notes muster --namespace muster-system');
    const print = notes.split('\n').find((line) => line.includes('get secret')) ?? '';
    await shell(print.trim());
    expect(await shell('cat muster-token')).toMatch(/^[0-9a-f]{64}$/);
  });

  test('the plain manifests are the same objects, and no field belongs to another writer', async () => {
    const applied = await shell(`${command('kubectl apply --server-side')} --force-conflicts --field-manager=helm`);
    expect(applied).toContain('deployment.apps/muster serverside-applied');
    expect(applied).not.toMatch(/violat|warning/i);
    await shell(command('kubectl apply --server-side'));
  });

  test('the release is upgraded with its values, and its definitions stay when it is removed', async () => {
    await shell(command('helm upgrade'));
    expect(await shell('helm get values muster --namespace muster-system')).toContain('existingSecret: muster-token');
    await shell(command('helm uninstall'));
    expect(await named('deployments,services')).toBe('');
    expect(await shell('kubectl get crd -o name')).toContain('propagations.muster.dev');
    await shell(command('helm install'));
  });

  test('the API server accepts the objects of every option, without a warning', async () => {
    const values = {
      autoscaling: { enabled: true, targetStreams: 100 },
      ingress: { enabled: true, host: 'muster.example.com', className: 'nginx', tlsSecret: 'tls' },
      dashboard: { enabled: true },
      rbac: { writer: true, resources: [{ apiGroup: 'example.com', resource: 'widgets' }] },
      inventories: [{ type: 'ClusterAPI', namespaces: ['default'] }, { type: 'Karmada' }],
      config: {
        importers: ['MultiClusterResource'],
        tls: { certFile: '/etc/tls/tls.crt', keyFile: '/etc/tls/tls.key' },
        authentication: { tokenReview: { audiences: ['muster'] } },
      },
      extraVolumes: [{ name: 'tls', secret: { secretName: 'tls' } }],
      extraVolumeMounts: [{ name: 'tls', mountPath: '/etc/tls', readOnly: true }],
      tolerations: [{ operator: 'Exists' }],
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      networkPolicy: { ingressFrom: [{ namespaceSelector: {} }], egressCIDRs: ['10.0.0.0/8', 'fd00::/8'] },
    };
    await writeFile(path.join(folder, 'all.json'), JSON.stringify(values));
    const template = 'helm template muster deploy/chart --namespace muster-system --values all.json --set crds.install=false';
    const answer = await shell(`${template} | kubectl apply --server-side --force-conflicts --dry-run=server -f -`);
    for (const kind of ['horizontalpodautoscaler', 'ingress', 'validatingadmissionpolicybinding', 'deployment'])
      expect(answer).toContain(kind);
    expect(answer).not.toMatch(/violat|warning/i);
  });

  test('every command of the page has run', () => {
    expect(shown.filter((text) => !ran.has(text))).toEqual([]);
  });
});
