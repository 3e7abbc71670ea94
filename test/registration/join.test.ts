import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { systemClock } from '../../src/core/clock.ts';
import type { Json } from '../../src/core/json.ts';
import { runJoin, runLeave } from '../../src/registration/registration-commands.ts';
import { createRawClient, type RawClient } from '../support/clients/raw-client.ts';
import { realPrograms, realServerTitle, renamedContext, startRealCluster } from '../support/cluster/real-cluster.ts';

describe.skipIf(realPrograms === undefined)(`joining and leaving on ${realServerTitle}`, () => {
  const stack = new AsyncDisposableStack();
  const clients = {} as Record<'north' | 'south', RawClient>;
  let folder = '';
  const signal = new AbortController().signal;
  const ports = { environment: {}, clock: systemClock };
  const common = () => ({
    name: 'south',
    namespace: 'muster-system',
    hub: 'north',
    kubeconfig: path.join(folder, 'kubeconfig'),
    dryRun: false,
  });
  const join = (more: { readonly write?: boolean; readonly name?: string; readonly context?: string } = {}) =>
    runJoin({ ...common(), context: 'south', write: false, rotate: false, lifetimeSeconds: 3_600, ...more }, ports, signal);
  const leave = (more: { readonly name?: string; readonly context?: string | undefined } = {}) =>
    runLeave({ ...common(), context: 'south', abandon: false, ...more }, ports, signal);
  const actionsOf = ({ steps }: Awaited<ReturnType<typeof join>>) => new Set(steps.map(({ action }) => action));
  const create = (at: 'north' | 'south', target: string, body: Json) => clients[at].send('POST', target, { body });
  const existsInSouth = async (target: string) => (await clients.south.send('GET', target)).status === 200;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-join-'));
    const merged = { apiVersion: 'v1', kind: 'Config', clusters: [], contexts: [], users: [] } as Record<string, unknown[] | string>;
    for (const name of ['north', 'south'] as const) {
      const cluster = stack.use(await startRealCluster());
      clients[name] = stack.use(createRawClient(cluster.endpoint));
      const own = parse(renamedContext(cluster.kubeconfig, name));
      for (const list of ['clusters', 'contexts', 'users']) (merged[list] as unknown[]).push(...own[list]);
    }
    await writeFile(path.join(folder, 'kubeconfig'), JSON.stringify(merged));
  });
  afterAll(async () => {
    await stack.disposeAsync();
    await rm(folder, { recursive: true, force: true });
  });

  test('a hub without the definition, and then without the namespace, is refused with the next step', async () => {
    expect(await join()).toMatchObject({ result: 'failed', steps: [], message: expect.stringContaining('apply -f deploy/crds') });
    const crd = parseAllDocuments(await readFile(new URL('../../deploy/crds/clusters.yaml', import.meta.url), 'utf8'))[0]?.toJS();
    await create('north', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    await expect.poll(async () => (await clients.north.send('GET', '/apis/muster.dev/v1alpha1/clusters')).status).toBe(200);
    expect(await join()).toMatchObject({ result: 'failed', message: expect.stringContaining('create namespace muster-system') });
    await create('north', '/api/v1/namespaces', { metadata: { name: 'muster-system' } });
  });

  test('a failed step takes back what this run has created, in both clusters', async () => {
    const foreign = { metadata: { name: 'south' } };
    await create('north', '/api/v1/namespaces/muster-system/secrets', foreign);
    expect(await join()).toMatchObject({
      result: 'failed',
      steps: [],
      message: 'north: secret/south exists, and muster join has not made it',
    });
    expect(await existsInSouth('/apis/rbac.authorization.k8s.io/v1/clusterroles/muster-member')).toBe(false);
    expect((await clients.north.send('GET', '/apis/muster.dev/v1alpha1/clusters/south')).status).toBe(404);
    await clients.north.send('DELETE', '/api/v1/namespaces/muster-system/secrets/south');
    // Without a controller, the API server never ends the deletion of the namespace.
    await clients.south.send('PUT', '/api/v1/namespaces/muster-system/finalize', {
      body: { metadata: { name: 'muster-system' }, spec: {} },
    });
  });

  test('a second join changes nothing, and a third one with rights to write changes the role only', async () => {
    expect(actionsOf(await join())).toEqual(new Set(['created']));
    expect(actionsOf(await join())).toEqual(new Set(['unchanged']));
    const third = await join({ write: true });
    expect(third.steps.filter(({ action }) => action !== 'unchanged')).toEqual([
      { cluster: 'south', object: 'clusterrole/muster-member', action: 'configured' },
    ]);
  });

  test('another cluster under a taken name, and a second name of one cluster, are refused', async () => {
    expect(await join({ name: 'other' })).toMatchObject({ message: 'the cluster has joined this hub already, under the name south' });
    expect(await join({ context: 'north' })).toMatchObject({ message: expect.stringContaining('is the hub itself') });
    expect(await leave({ context: 'north' })).toMatchObject({ message: expect.stringContaining('registered as another cluster') });
    expect(await leave({ name: 'typo' })).toMatchObject({
      result: 'failed',
      steps: [],
      message: 'the cluster of this context is registered as south: expected muster leave south',
    });
  });

  test('the registration leaves alone, the rest later, and then nothing is left', async () => {
    const first = await leave({ context: undefined });
    expect(first.steps.map(({ object }) => object)).toEqual(['cluster/south', 'secret/south']);
    const rest = await leave();
    expect(rest.steps.map(({ object }) => object)).toEqual([
      'secret/muster-member-1',
      'rolebinding/muster-member',
      'role/muster-member',
      'clusterrolebinding/muster-member',
      'clusterrole/muster-member',
      'serviceaccount/muster-member',
      'namespace/muster-system',
    ]);
    await clients.south.send('PUT', '/api/v1/namespaces/muster-system/finalize', {
      body: { metadata: { name: 'muster-system' }, spec: {} },
    });
    expect(await leave()).toMatchObject({ result: 'failed', message: 'south has not joined: nothing of it was found' });
  });

  test('an unknown context is bad input, with the one that was meant', async () => {
    await expect(join({ context: 'sout' })).rejects.toThrow('the kubeconfig has no context "sout": did you mean south?');
  });
});
