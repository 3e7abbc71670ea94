import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Json } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { runJoin, runLeave } from '../../src/registration/registration-commands.ts';
import type { RawClient } from '../support/clients/raw-client.ts';
import { type JoinableClusters, startJoinableClusters } from '../support/cluster/joinable-clusters.ts';
import { realPrograms, realServerTitle } from '../support/cluster/real-cluster.ts';

describe.skipIf(realPrograms === undefined)(`joining and leaving on ${realServerTitle}`, () => {
  let clusters: JoinableClusters;
  let clients: Readonly<Record<'north' | 'south', RawClient>>;
  const signal = new AbortController().signal;
  const ports = { environment: {}, clock: systemClock };
  const common = () => ({
    name: 'south',
    namespace: 'muster-system',
    hub: 'north',
    kubeconfig: clusters.kubeconfig,
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
    clusters = await startJoinableClusters();
    clients = clusters.clients;
  });
  afterAll(() => clusters[Symbol.asyncDispose]());

  test('a hub without the definition, and then without the namespace, is refused with the next step', async () => {
    expect(await join()).toMatchObject({ result: 'failed', steps: [], message: expect.stringContaining('apply -f deploy/crds') });
    await clusters.define();
    expect(await join()).toMatchObject({ result: 'failed', message: expect.stringContaining('create namespace muster-system') });
    await create('north', '/api/v1/namespaces', { metadata: { name: 'muster-system' } });
  });

  test('a failed step deletes the objects that this run has created, in both clusters', async () => {
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
    await clusters.endNamespace();
  });

  test('a second join changes nothing, and a third one with rights to write changes the role only', async () => {
    expect(actionsOf(await join())).toEqual(new Set(['created']));
    expect(actionsOf(await join())).toEqual(new Set(['unchanged']));
    const third = await join({ write: true });
    expect(third.steps.filter(({ action }) => action !== 'unchanged')).toEqual([
      { cluster: 'south', object: 'clusterrole/muster-member', action: 'configured' },
    ]);
    expect(third).toMatchObject({ notes: [expect.stringContaining('allowPrivate')] });
  });

  test('a join without rights to write takes them away with a note, and the next one has no note', async () => {
    const lost = expect.stringContaining('could write and no longer can');
    expect(await join()).toMatchObject({ result: 'done', notes: [lost, expect.stringContaining('allowPrivate')] });
    expect(await join()).toMatchObject({ result: 'done', notes: [expect.stringContaining('allowPrivate')] });
    await join({ write: true });
  });

  test('after a restore of the hub, a join makes a new token in place of one that was rotated since', async () => {
    const path = '/api/v1/namespaces/muster-system/secrets/south';
    const { type, data, metadata } = (await clients.north.send('GET', path)).json() as unknown as KubernetesObject;
    expect(
      (await runJoin({ ...common(), context: 'south', write: false, rotate: true, lifetimeSeconds: 3_600 }, ports, signal)).result,
    ).toBe('done');
    const { name, labels, annotations, ownerReferences } = metadata;
    const restored = { metadata: { name, labels, annotations, ownerReferences }, type, data } as unknown as Json;
    await clients.north.send('DELETE', path);
    await create('north', '/api/v1/namespaces/muster-system/secrets', restored);
    const again = await join({ write: true });
    expect(again.steps.filter(({ action }) => action !== 'unchanged')).toEqual([
      { cluster: 'south', object: 'secret/muster-member-3', action: 'created' },
      { cluster: 'north', object: 'secret/south', action: 'configured' },
      { cluster: 'south', object: 'secret/muster-member-2', action: 'deleted' },
    ]);
    expect(actionsOf(await join({ write: true }))).toEqual(new Set(['unchanged']));
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

  test('a member that is a hub itself loses the account too, and keeps its own registrations', async () => {
    const secrets = '/api/v1/namespaces/muster-system/secrets';
    await create('south', secrets, { metadata: { name: 'east', labels: { 'app.kubernetes.io/managed-by': 'muster' } } });
    const { steps } = await leave();
    expect(steps.map(({ object }) => object)).toContain('serviceaccount/muster-member');
    expect(await existsInSouth(`${secrets}/east`)).toBe(true);
    await clients.south.send('DELETE', `${secrets}/east`);
    await join();
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
    const nothing = { result: 'failed', steps: [], message: 'south has not joined: none of its objects were found' };
    // The namespace is being deleted for a while. Its deletion is not reported again.
    expect(await leave()).toMatchObject(nothing);
    await clusters.endNamespace();
    expect(await leave()).toMatchObject(nothing);
  });

  test('a join right after a leave waits until the namespace is gone', async () => {
    await join();
    await leave();
    // This clock is 20 s later after each wait of 500 ms.
    let waited = 0;
    const hasty: Clock = {
      ...systemClock,
      monotonic: () => systemClock.monotonic() + waited * 20_000,
      sleep: (ms, until) => {
        if (ms === 500) waited += 1;
        return systemClock.sleep(ms, until);
      },
    };
    const request = { ...common(), context: 'south', write: false, rotate: false, lifetimeSeconds: 3_600 };
    expect(await runJoin(request, { ...ports, clock: hasty }, signal)).toMatchObject({
      result: 'failed',
      steps: [],
      message: expect.stringMatching(/^south: namespace\/muster-system is being deleted: expected it to be gone within 30 s/),
    });
    const joining = join();
    await clusters.endNamespace();
    const { steps } = await joining;
    expect(steps[0]).toEqual({ cluster: 'south', object: 'namespace/muster-system', action: 'created' });
  });

  test('a context with a proxy gives a note that the proxy is not registered', async () => {
    await using proxy = await startProxy();
    const text = await readFile(clusters.kubeconfig, 'utf8');
    const { server } = (JSON.parse(text) as { clusters: { name: string; cluster: { server: string } }[] }).clusters[1]?.cluster ?? {};
    const kubeconfig = `${clusters.kubeconfig}-proxy`;
    await writeFile(kubeconfig, text.replace(JSON.stringify(server), `${JSON.stringify(server)},"proxy-url":"${proxy.url}"`));
    const request = { ...common(), kubeconfig, context: 'south', write: false, rotate: false, lifetimeSeconds: 3_600, dryRun: true };
    const note = expect.stringMatching(/proxy, which is not registered: .* its own HTTPS_PROXY$/);
    expect(await runJoin(request, ports, signal)).toMatchObject({ result: 'done', notes: expect.arrayContaining([note]) });
    expect(proxy.targets()).toContain(new URL(server ?? '').host);
    const direct = await runJoin({ ...request, kubeconfig: clusters.kubeconfig }, ports, signal);
    expect(direct).toMatchObject({ result: 'done', notes: expect.not.arrayContaining([note]) });
  });

  test('an unknown context is bad input, with the one that was meant', async () => {
    await expect(join({ context: 'sout' })).rejects.toThrow('the kubeconfig has no context "sout": did you mean south?');
  });
});

/** Starts a proxy that serves CONNECT and nothing else. */
async function startProxy() {
  const targets: string[] = [];
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer().on('connect', ({ url = '' }, socket) => {
    targets.push(url);
    const { hostname, port } = new URL(`http://${url}`);
    const upstream = net.connect({ host: hostname, port: Number(port) }, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    for (const one of [socket, upstream]) {
      sockets.add(one);
      one.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets: () => targets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
