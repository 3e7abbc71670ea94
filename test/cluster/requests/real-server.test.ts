import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeEvent, decodeItem, identityInBytes } from '../../../src/cluster/decoding/decode.ts';
import { discover } from '../../../src/cluster/discovery.ts';
import type { Endpoint } from '../../../src/cluster/endpoint.ts';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig/kubeconfig.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { identityOf } from '../../../src/core/objects.ts';
import { readServerFacts } from '../../../src/watch/server/server-facts.ts';
import { type RealCluster, realPrograms, realServerTitle, startRealCluster } from '../../support/cluster/real-cluster.ts';
import {
  type Connected,
  configMapResource,
  connect,
  faultIn,
  gather,
  never,
  pageOf,
  podResource,
  resourceOf,
  startOf,
} from '../../support/cluster/transport.ts';

describe.skipIf(realPrograms === undefined)(`the transport against ${realServerTitle}`, () => {
  let cluster: RealCluster;
  let endpoint: Endpoint;
  let south: Connected;
  const path = ['api', 'v1', 'namespaces', 'default', 'configmaps'];

  beforeAll(async () => {
    cluster = await startRealCluster();
    const kubeconfig = await loadKubeconfig({ file: cluster.kubeconfigPath, environment: {} });
    const [context] = kubeconfig?.contexts ?? [];
    if (context?.result !== 'usable') throw new Error('expected a usable context');
    endpoint = context.endpoint;
    south = connect(endpoint);
    for (let index = 0; index < 30; index++) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `config-${index}` }, data: { text: `é${'x'.repeat(10_000)}` } };
      expect(await south.api.send({ method: 'POST', path, body }, never)).toMatchObject({ type: 'answered', status: 201 });
    }
  });
  afterAll(async () => {
    south?.[Symbol.dispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test('discovers it, its version and its uid', async () => {
    expect(await readServerFacts(south.api, never)).toEqual({
      version: expect.stringMatching(/^v1\.\d+\.\d+$/),
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      revision: expect.stringMatching(/^\d+$/),
    });
    const found = await discover(south.api, {}, never);
    if (found.type !== 'discovered') throw new Error('expected discovery to succeed');
    expect(found.resources.find(({ kind }) => kind === 'Deployment')).toMatchObject({
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
    });
    expect(found.partial).toEqual([]);
    expect(await discover(south.api, { ...(found.etag === undefined ? {} : { etag: found.etag }) }, never)).toEqual({ type: 'unchanged' });
  });

  test('pages, packed and not, give the same items, whose identity is read from their bytes', async () => {
    using packed = connect({ ...endpoint, compression: 'on' });
    const whole = await gather(packed.api.list(pageOf(configMapResource, { namespace: 'default' }), never));
    const first = await gather(south.api.list(pageOf(configMapResource, { namespace: 'default', limit: 7 }), never));
    expect(first.last).toMatchObject({ type: 'pageEnded', continue: expect.any(String) });
    const token = first.last?.type === 'pageEnded' ? (first.last.continue ?? '') : '';
    const rest = await gather(
      south.api.list({ resource: configMapResource, namespace: 'default', form: 'object', continue: token }, never),
    );
    expect([...first.texts, ...rest.texts]).toEqual(whole.texts);
    for (const text of whole.texts) {
      const item = decodeItem(Buffer.from(text));
      expect(item.type === 'item' && identityInBytes(Buffer.from(text))).toEqual(item.type === 'item' && identityOf(item.object));
      expect(item.type === 'item' && item.object.metadata).not.toHaveProperty('managedFields');
    }
    expect(whole.texts.length).toBeGreaterThanOrEqual(30);
  });

  test.each(['object', 'metadata'] as const)('a WatchList of each %s ends its initial events with a bookmark', async (form) => {
    const context = { cluster: endpoint.name, resource: configMapResource };
    const watched = await gather(
      south.api.watch(startOf(configMapResource, { namespace: 'default', form, initialEvents: true, timeoutSeconds: 5 }), never),
      ({ texts }) => texts.at(-1)?.includes('initial-events-end') === true,
    );
    const events = watched.texts.map((text) => decodeEvent(Buffer.from(text), context));
    expect(events.at(-1)).toMatchObject({ type: 'bookmark', initialEventsEnd: true, version: expect.stringMatching(/^\d+$/) });
    expect(events.slice(0, -1).every(({ type }) => type === 'applied')).toBe(true);
    expect(events.length).toBeGreaterThan(30);
  });

  test('a watch ends cleanly when its time is up', async () => {
    const version = (await gather(south.api.list(pageOf(podResource), never))).last;
    const start = startOf(podResource, { version: version?.type === 'pageEnded' ? (version.version ?? '') : '', timeoutSeconds: 1 });
    expect((await gather(south.api.watch(start, never))).last).toEqual({ type: 'closed' });
  });

  test('refusals become faults with the right codes', async () => {
    const code = async (request: Parameters<Connected['api']['send']>[0]) => {
      const answer = await south.api.send(request, never);
      return answer.type === 'failed' ? `${answer.fault.code} ${answer.fault.status?.code}` : answer.status;
    };
    expect(await code({ method: 'GET', path: [...path, 'nope'] })).toBe('NOT_FOUND 404');
    expect(await code({ method: 'GET', path: ['apis', 'nope.example', 'v1', 'things'] })).toBe('NOT_SERVED 404');
    expect(await code({ method: 'GET', path: ['api', 'v1', 'nopes'] })).toBe('NOT_SERVED 404');
    expect(await code({ method: 'POST', path, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config-1' } } })).toBe(
      'CONFLICT 409',
    );
    expect(await code({ method: 'POST', path, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Not A Name' } } })).toBe(
      'INVALID 422',
    );
    const apply = {
      method: 'PATCH',
      path: [...path, 'config-1'],
      query: { fieldManager: 'test' },
      contentType: 'application/apply-patch+yaml',
    } as const;
    expect(await code({ ...apply, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config-1' }, zzz: 1 } })).toBe(
      'INVALID 500',
    );
    const old = faultIn(await gather(south.api.watch(startOf(resourceOf('Widget', 'widgets', { group: 'example.com' })), never)));
    expect(old).toMatchObject({ code: 'NOT_SERVED' });
    const future = faultIn(await gather(south.api.list(pageOf(configMapResource, { version: '999999999' as never }), never)));
    expect(future).toMatchObject({
      code: 'TIMED_OUT',
      status: { code: 504, retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] },
    });
  });

  test('a user without the right is refused, and may impersonate only with the right', async () => {
    using acting = connect({ ...endpoint, impersonation: { user: 'jürgen', groups: ['dev'], extra: { 'example.com/team': ['a'] } } });
    expect(faultIn(await gather(acting.api.list(pageOf(podResource), never)))).toMatchObject({
      code: 'FORBIDDEN',
      status: { message: expect.stringContaining('jürgen') },
    });
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const answer = await acting.api.send(
      { method: 'POST', path: ['apis', 'authentication.k8s.io', 'v1', 'selfsubjectreviews'], body: review },
      never,
    );
    const body =
      answer.type === 'answered'
        ? (JSON.parse(Buffer.from(answer.body).toString()) as KubernetesObject & { status: { userInfo: unknown } })
        : undefined;
    expect(body?.status.userInfo).toMatchObject({
      username: 'jürgen',
      groups: expect.arrayContaining(['dev']),
      extra: { 'example.com/team': ['a'] },
    });
  });

  test('a request without a client certificate is anonymous', async () => {
    const { clientCertificate: _, ...nobody } = endpoint;
    using anonymous = connect({ ...nobody, credentials: { type: 'token', token: 'wrong' } });
    expect(await anonymous.api.send({ method: 'GET', path }, never)).toMatchObject({ type: 'failed', fault: { code: 'UNAUTHENTICATED' } });
  });
});
