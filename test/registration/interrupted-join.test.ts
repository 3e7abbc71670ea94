import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApplyObjectRequest, ObjectCallResult, ObjectClient } from '../../src/changes/object-client.ts';
import { systemClock } from '../../src/core/clock.ts';
import { fault } from '../../src/core/faults.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { labelsAt, listAt, textAt } from '../../src/core/json-at.ts';
import { type JoinRequest, joinCluster } from '../../src/registration/join-cluster.ts';
import { readContexts } from '../../src/registration/open-contexts.ts';
import type { RawClient } from '../support/clients/raw-client.ts';
import { type JoinableClusters, startJoinableClusters } from '../support/cluster/joinable-clusters.ts';
import { realPrograms, realServerTitle } from '../support/cluster/real-cluster.ts';

type Interrupt = (request: ApplyObjectRequest, send: () => Promise<ObjectCallResult>) => Promise<ObjectCallResult>;

const paths = {
  cluster: '/apis/muster.dev/v1alpha1/clusters/south',
  secret: '/api/v1/namespaces/muster-system/secrets/south',
  account: '/api/v1/namespaces/muster-system/serviceaccounts/muster-member',
  bound: '/api/v1/namespaces/muster-system/secrets',
};

describe.skipIf(realPrograms === undefined)(`joins that something interrupts, on ${realServerTitle}`, () => {
  let clusters: JoinableClusters;
  let clients: Readonly<Record<'north' | 'south', RawClient>>;
  const life = new AbortController();

  beforeAll(async () => {
    clusters = await startJoinableClusters();
    clients = clusters.clients;
    await clusters.define();
    await clients.north.send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'muster-system' } } });
    await clients.south.send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'muster-system' } } });
  });
  afterAll(async () => {
    life.abort();
    await clusters[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    for (const path of [paths.cluster, paths.secret]) await clients.north.send('DELETE', path);
    await clients.south.send('DELETE', paths.account);
    await clients.south.send('DELETE', `${paths.bound}?labelSelector=muster.dev/hub`);
  });

  const request = { name: 'south', namespace: 'muster-system', write: false, rotate: false, lifetimeSeconds: 3_600, dryRun: false };
  /** Joins with every apply of the member or the hub passing through `interrupt`. */
  async function join(more: Partial<JoinRequest> = {}, interrupt: { readonly [at in 'member' | 'hub']?: Interrupt } = {}) {
    const open = await readContexts({ kubeconfig: clusters.kubeconfig, environment: {}, clock: systemClock }, life.signal);
    const through = (client: ObjectClient, by: Interrupt = (_, send) => send()): ObjectClient => ({
      ...client,
      apply: (applied, signal) => by(applied, () => client.apply(applied, signal)),
    });
    const [member, hub] = [open('south'), open('north')];
    const ports = {
      member: { ...member, client: through(member.client, interrupt.member) },
      hub: { ...hub, client: through(hub.client, interrupt.hub) },
      clock: systemClock,
    };
    return joinCluster({ ...request, ...more }, ports, life.signal);
  }
  const lost = { result: 'failed', fault: fault('UNREACHABLE', 'no answer', { cluster: 'north' as never, retry: 'NOW' }) } as const;
  /** Lets the cluster write objects of this kind, and loses the answer. */
  const losing =
    (kind: string): Interrupt =>
    async ({ manifest }, send) => {
      const answer = await send();
      return manifest.kind === kind ? lost : answer;
    };
  const read = async (at: 'north' | 'south', path: string) => (await clients[at].send('GET', path)).json() as unknown as JsonObject;
  const boundNames = async () =>
    listAt(await read('south', `${paths.bound}?labelSelector=muster.dev/hub`), 'items').map((one) => textAt(one, 'metadata', 'name'));
  const boundTo = async () => textAt(await read('north', paths.secret), 'metadata', 'annotations', 'muster.dev/token-bound-to');

  test('a rotation whose answer from the hub is lost keeps the token that the hub has now', async () => {
    await join();
    expect(await join({ rotate: true }, { hub: losing('Secret') })).toMatchObject({
      result: 'failed',
      message: expect.stringContaining('The hub may have the new token: run the command again'),
    });
    expect(await boundTo()).toBe('muster-member-2');
    expect(await boundNames()).toContain('muster-member-2');
    expect(await join()).toMatchObject({ result: 'done' });
    expect(await boundNames()).toEqual(['muster-member-2']);
  });

  test('an object is deleted too if the answer to its creation was lost', async () => {
    const { result, steps } = await join({}, { member: losing('ServiceAccount') });
    expect([result, steps.filter(({ action }) => action === 'created')]).toEqual(['failed', []]);
    expect((await clients.south.send('GET', paths.account)).status).toBe(404);
  });

  test('a join does not take over a name that another cluster takes meanwhile', async () => {
    const other = { 'muster.dev/cluster-uid': 'another' };
    const metadata = { name: 'south', labels: { 'app.kubernetes.io/managed-by': 'muster' }, annotations: other };
    const body = { apiVersion: 'muster.dev/v1alpha1', kind: 'Cluster', metadata, spec: { secretRef: { name: 'south' } } };
    const taking: Interrupt = async ({ manifest }, send) => {
      if (manifest.kind === 'Cluster') await clients.north.send('POST', '/apis/muster.dev/v1alpha1/clusters', { body });
      return send();
    };
    expect(await join({}, { hub: taking })).toMatchObject({
      result: 'failed',
      message: expect.stringContaining('the hub has the cluster south already'),
    });
    expect(labelsAt(await read('north', paths.cluster), 'metadata', 'annotations')).toEqual(other);
    expect((await clients.south.send('GET', paths.account)).status).toBe(404);
  });

  test('of two joins under two names at once, the later one is refused, and the account of the other one stays', async () => {
    const overtaken: Interrupt = async ({ manifest }, send) => {
      if (manifest.kind === 'Cluster') expect(await join({ name: 'twin' })).toMatchObject({ result: 'done' });
      return send();
    };
    expect(await join({}, { hub: overtaken })).toMatchObject({
      result: 'failed',
      message: expect.stringContaining('at the same time, under the name twin'),
    });
    expect((await clients.north.send('GET', paths.cluster)).status).toBe(404);
    expect((await clients.south.send('GET', paths.account)).status).toBe(200);
    expect(await join({ name: 'twin' })).toMatchObject({ result: 'done' });
    await clients.north.send('DELETE', '/apis/muster.dev/v1alpha1/clusters/twin');
    await clients.north.send('DELETE', '/api/v1/namespaces/muster-system/secrets/twin');
  });

  test('a later join that has created the account keeps it for the earlier one, which has no token yet', async () => {
    const overtaken: Interrupt = async ({ manifest }, send) => {
      if (manifest.kind === 'Cluster') await clients.north.send('POST', '/apis/muster.dev/v1alpha1/clusters', { body: await twin() });
      return send();
    };
    expect(await join({}, { hub: overtaken })).toMatchObject({ result: 'failed', message: expect.stringContaining('under the name twin') });
    expect((await clients.north.send('GET', paths.cluster)).status).toBe(404);
    expect((await clients.south.send('GET', paths.account)).status).toBe(200);
    await clients.north.send('DELETE', '/apis/muster.dev/v1alpha1/clusters/twin');
  });

  test('two joins under two names that run side by side register the cluster at most once', async () => {
    const results = await Promise.all([join(), join({ name: 'twin' })]);
    const done = results.filter(({ result }) => result === 'done').length;
    const names = listAt(await read('north', '/apis/muster.dev/v1alpha1/clusters'), 'items').map((one) => textAt(one, 'metadata', 'name'));
    expect(names).toHaveLength(done);
    expect(done).toBeLessThan(2);
    await clients.north.send('DELETE', '/apis/muster.dev/v1alpha1/clusters/twin');
    await clients.north.send('DELETE', '/api/v1/namespaces/muster-system/secrets/twin');
  });

  /** Returns a Cluster that another `muster join` would make for the same member under another name. */
  async function twin() {
    const uid = textAt(await read('south', '/api/v1/namespaces/kube-system'), 'metadata', 'uid') ?? '';
    const metadata = {
      name: 'twin',
      labels: { 'app.kubernetes.io/managed-by': 'muster' },
      annotations: { 'muster.dev/cluster-uid': uid },
    };
    return { apiVersion: 'muster.dev/v1alpha1', kind: 'Cluster', metadata, spec: { secretRef: { name: 'twin' } } };
  }

  test('of two rotations at once, the later one is refused and its token is revoked', async () => {
    await join();
    const overtaken: Interrupt = async ({ manifest }, send) => {
      if (manifest.kind === 'Secret') await join({ rotate: true });
      return send();
    };
    expect(await join({ rotate: true }, { hub: overtaken })).toMatchObject({
      result: 'failed',
      message: expect.stringContaining('secret/south was changed meanwhile'),
    });
    expect(await boundNames()).toEqual([await boundTo()]);
  });

  test('a failed join leaves the account to another hub that has a token of it by now', async () => {
    const secret = {
      metadata: { name: 'muster-member-9', labels: { 'app.kubernetes.io/managed-by': 'muster', 'muster.dev/hub': 'other' } },
    };
    const failing: Interrupt = async ({ manifest }, send) => {
      if (manifest.kind !== 'Cluster') return send();
      await clients.south.send('POST', paths.bound, { body: secret });
      return { result: 'failed', fault: { ...lost.fault, code: 'FORBIDDEN' } };
    };
    expect(await join({}, { hub: failing })).toMatchObject({ result: 'failed' });
    expect((await clients.south.send('GET', paths.account)).status).toBe(200);
  });
});
