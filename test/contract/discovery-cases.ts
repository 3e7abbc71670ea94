import { expect } from 'vitest';
import { createRawClient } from '../support/clients/raw-client.ts';
import { type DeclareCase, statusOf } from './place.ts';

const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };

interface GroupDiscovery {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly freshness: string;
    readonly resources: readonly { readonly resource: string; readonly verbs: readonly string[] }[];
  }[];
}

/** Discovery, rights, and answers to unknown paths. */
export function discoveryCases(declare: DeclareCase): void {
  declare('lists all groups in one document with an ETag, and answers 304 to a client that has it', async ({ client }) => {
    const answer = await client.get('/apis', aggregated);
    expect(answer.headers['content-type']).toBe(aggregated.accept);
    expect(answer.headers.etag).toMatch(/^"[0-9A-F]+"$/);
    expect(answer.json()).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    const groups = answer.json().items as unknown as readonly GroupDiscovery[];
    expect(new Set(groups.flatMap(({ versions }) => versions.map(({ freshness }) => freshness)))).toEqual(new Set(['Current']));
    const apps = groups.find(({ metadata }) => metadata.name === 'apps');
    expect(apps?.versions[0]?.version).toBe('v1');
    expect(apps?.versions[0]?.resources.find(({ resource }) => resource === 'deployments')).toMatchObject({
      scope: 'Namespaced',
      singularResource: 'deployment',
      shortNames: ['deploy'],
      categories: ['all'],
      verbs: expect.arrayContaining(['create', 'delete', 'get', 'list', 'update', 'watch']),
    });
    const same = await client.get('/apis', { ...aggregated, 'if-none-match': String(answer.headers.etag) });
    expect([same.status, same.text]).toEqual([304, '']);
  });

  declare('lists the core group in the same form, with an empty name', async ({ client }) => {
    const groups = (await client.get('/api', aggregated)).json().items as unknown as readonly GroupDiscovery[];
    expect(groups).toHaveLength(1);
    expect(groups[0]?.metadata.name ?? '').toBe('');
    const resources = groups[0]?.versions[0]?.resources ?? [];
    expect(resources.find(({ resource }) => resource === 'pods')).toMatchObject({
      scope: 'Namespaced',
      shortNames: ['po'],
      categories: ['all'],
    });
    expect(resources.find(({ resource }) => resource === 'nodes')).toMatchObject({ scope: 'Cluster', shortNames: ['no'] });
  });

  declare('lists the same group by group for a client that accepts plain JSON only', async ({ client }) => {
    expect((await client.get('/api')).json()).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    expect((await client.get('/apis')).json()).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
    expect((await client.get('/apis/apps')).json()).toMatchObject({
      kind: 'APIGroup',
      name: 'apps',
      preferredVersion: { groupVersion: 'apps/v1' },
    });
    expect((await client.get('/api/v1')).json()).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    const { resources } = JSON.parse((await client.get('/apis/apps/v1')).text) as { resources: readonly { readonly name: string }[] };
    expect(resources.find(({ name }) => name === 'deployments')).toMatchObject({
      singularName: 'deployment',
      namespaced: true,
      kind: 'Deployment',
    });
  });

  declare('answers 404 as text for an unserved group, and as a Status for an unserved kind', async ({ client }) => {
    for (const path of ['/apis/nobody.example.com/v1/things', '/apis/nobody.example.com', '/bogus']) {
      const absent = await client.get(path);
      expect([absent.status, absent.text.trim(), absent.headers['content-type']]).toEqual([
        404,
        '404 page not found',
        'text/plain; charset=utf-8',
      ]);
    }
    for (const path of ['/api/v1/things', '/apis/apps/v9/deployments', '/api/v1/namespaces/default/nodes', '/api/v1/configmaps/one']) {
      expect(statusOf((await client.get(path)).json())).toEqual({ kind: 'Status', code: 404, reason: 'NotFound', causes: [] });
    }
  });

  declare('answers 404 for an absent object, with its name and the plural of its kind', async ({ client, at }) => {
    const core = (await client.get(`${at('configmaps')}/nothing`)).json();
    expect(statusOf(core)).toEqual({ kind: 'Status', code: 404, reason: 'NotFound', causes: [] });
    expect(core.details).toEqual({ name: 'nothing', kind: 'configmaps' });
    const apps = (await client.get(`${at('deployments', 'apps/v1')}/nothing`)).json();
    expect(apps.details).toEqual({ name: 'nothing', group: 'apps', kind: 'deployments' });
  });

  declare('answers 405 for a method that a path does not have', async ({ client, at }) => {
    const refused = (await client.send('PUT', at('configmaps'), { body: {} })).json();
    expect(statusOf(refused)).toEqual({ kind: 'Status', code: 405, reason: 'MethodNotAllowed', causes: [] });
  });

  declare('serves its version and its liveness', async ({ client }) => {
    const version = JSON.parse((await client.get('/version')).text) as object;
    expect(version).toMatchObject({ major: '1', minor: '36', gitVersion: expect.stringMatching(/^v1\.36\.\d+/) });
    for (const path of ['/livez', '/readyz']) expect((await client.get(path)).text).toBe('ok');
  });

  declare('has the four namespaces of every cluster, and kube-system has a uid', async ({ client }) => {
    const names = (await client.get('/api/v1/namespaces')).json().items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(['default', 'kube-node-lease', 'kube-public', 'kube-system']));
    expect((await client.get('/api/v1/namespaces/kube-system')).json()).toMatchObject({
      metadata: { uid: expect.stringMatching(/-/), labels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      status: { phase: 'Active' },
    });
  });

  declare('answers 401 to an unknown token', async ({ server }) => {
    using stranger = createRawClient({ url: server.endpoint.url, caPem: server.endpoint.caPem, token: 'nobody-gave-it' });
    const refused = (await stranger.get('/api/v1/pods')).json();
    expect(statusOf(refused)).toEqual({ kind: 'Status', code: 401, reason: 'Unauthorized', causes: [] });
  });

  declare(
    'answers 403 to a user without the right, and SelfSubjectAccessReviews give the same answer',
    async ({ client, server, namespace, at }) => {
      using outsider = createRawClient(await server.outsider(namespace));
      const refused = (await outsider.get(at('configmaps'))).json();
      expect(statusOf(refused)).toEqual({ kind: 'Status', code: 403, reason: 'Forbidden', causes: [] });
      expect(refused.details).toEqual({ kind: 'configmaps' });
      const watch = (await outsider.get(`${at('configmaps')}?watch=1`)).json();
      expect(statusOf(watch)).toMatchObject({ code: 403, reason: 'Forbidden' });
      const review = (where: string) => ({
        kind: 'SelfSubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        spec: { resourceAttributes: { verb: 'list', resource: 'configmaps', namespace: where } },
      });
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      const denied = await outsider.send('POST', path, { body: review(namespace) });
      expect([denied.status, denied.json().status]).toMatchObject([201, { allowed: false }]);
      const allowed = await client.send('POST', path, { body: review('default') });
      expect([allowed.status, allowed.json().status]).toMatchObject([201, { allowed: true }]);
    },
  );
}
