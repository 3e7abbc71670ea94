import { expect, test } from 'vitest';
import type { LiveAnswer, LiveRequest } from '../../../src/cluster/cluster-api.ts';
import type { Fault, FaultCode } from '../../../src/core/faults.ts';
import { type ClusterName, clusterName } from '../../../src/core/names.ts';
import { idOfObject } from '../../../src/core/object-ids.ts';
import type { MemberSettings } from '../../../src/fleet/member.ts';
import type { LiveMember } from '../../../src/load/reads/read-object.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { turns } from '../../support/manual-clock.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const deployments = servedAs(model, 'Deployment.apps');
const secrets = servedAs(model, 'Secret');
const nodes = servedAs(model, 'Node');

const faultOf = (code: FaultCode): Fault => ({ code, cluster: clusterName('north'), message: 'as the test says', retry: 'LATER' });
const answered = (text: string): LiveAnswer => ({ type: 'answered', status: 200, body: new TextEncoder().encode(text) });

interface Upstream {
  readonly requests: LiveRequest[];
  answer: LiveAnswer;
}

function graphWithLive(secretsRule: MemberSettings['secrets'] = 'live', sensitiveKinds: readonly string[] = []) {
  const upstream: Upstream = { requests: [], answer: { type: 'failed', fault: faultOf('NOT_FOUND') } };
  const nothing = async function* () {};
  const member = (name: ClusterName): LiveMember => ({
    settings: { labels: {}, namespaces: [], secrets: secretsRule, authorization: 'sar' },
    api: {
      cluster: name,
      list: nothing,
      watch: nothing,
      logs: nothing,
      connectionFaults: [],
      send: async (request) => {
        upstream.requests.push(request);
        return upstream.answer;
      },
    },
  });
  const graph = graphOverMirrors({ model, member, sensitiveKinds });
  const north = graph.mirrors.join('north');
  north.discover(pods, deployments, secrets, nodes);
  return { ...graph, north, upstream };
}

const getPod = '{ pod(cluster: "north", namespace: "shop", name: "web") { metadata { name } sync { phase asOf } } }';
const getPodLive =
  '{ pod(cluster: "north", namespace: "shop", name: "web", live: true) { metadata { name resourceVersion } sync { phase resourceVersion } object } }';

test('gets one object from the mirror, after its first list', async () => {
  const { ask, north, upstream } = graphWithLive();
  const answer = ask(getPod);
  north.mirror(pods).list(objectNamed('web', { namespace: 'shop' }));
  expect((await answer).at('pod.metadata.name')).toBe('web');
  expect((await answer).at('pod.sync.phase')).toBe('SYNCED');
  expect(upstream.requests).toEqual([]);
  expect(north.leases).toBe(0);
});

test('an absent object is null without a fault', async () => {
  const { ask, north } = graphWithLive();
  north.mirror(pods).list(objectNamed('web', { namespace: 'other' }));
  const { data, errors, faults } = await ask(getPod);
  expect([data, errors, faults]).toEqual([{ pod: null }, undefined, []]);
});

test('a null that is not certain has its fault and path', async () => {
  const { ask, north, clock } = graphWithLive();
  const waiting = ask(getPod);
  await clock.advance(10_000);
  expect((await waiting).faults).toMatchObject([{ fault: { code: 'SYNCING', cluster: 'north' }, path: ['pod'] }]);
  expect((await waiting).errors).toBeUndefined();

  north.mirror(pods).list();
  north.mirror(pods).fail(faultOf('UNREACHABLE'));
  expect((await ask(getPod)).faults).toMatchObject([{ fault: { code: 'UNREACHABLE' } }]);
  const notServed = await ask('{ x: service(cluster: "north", namespace: "shop", name: "web") { id } }');
  expect(notServed.faults).toMatchObject([{ fault: { code: 'NOT_SERVED' }, path: ['x'] }]);
});

test('a mirrored object is answered although its cluster is unreachable', async () => {
  const { ask, north } = graphWithLive();
  north.mirror(pods).list(objectNamed('web', { namespace: 'shop' }));
  north.mirror(pods).fail(faultOf('UNREACHABLE'));
  const { at, faults } = await ask(getPod);
  expect(at('pod.sync.phase')).toBe('STALE');
  expect(faults).toEqual([]);
});

test('live reads the object from the API server, once per operation', async () => {
  const { ask, upstream, clock } = graphWithLive();
  upstream.answer = answered(
    '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","resourceVersion":"7","managedFields":[{}]},"x":9007199254740993}',
  );
  const { data, errors, at } = await ask(
    getPodLive.replace('{', '{ again: pod(cluster: "north", namespace: "shop", name: "web", live: true) { id }'),
  );

  expect(errors).toBeUndefined();
  expect(upstream.requests).toEqual([{ method: 'GET', path: ['api', 'v1', 'namespaces', 'shop', 'pods', 'web'] }]);
  expect(at('pod.sync')).toEqual({ phase: 'SYNCED', resourceVersion: '7' });
  expect(JSON.stringify(data)).not.toContain('managedFields');
  await ask('{ pod(cluster: "north", namespace: "shop", name: "web", live: true) { sync { asOf } } }');
  expect(upstream.requests).toHaveLength(2);
  expect(clock.sleepers).toBe(0);
});

test('live does not wait for an unreachable cluster, and returns its fault at once', async () => {
  const { ask, north, upstream, clock } = graphWithLive();
  north.fail(faultOf('UNREACHABLE'));
  const { data, errors, faults } = await ask(getPodLive);
  expect([data, errors]).toEqual([{ pod: null }, undefined]);
  expect(faults).toEqual([{ fault: { ...faultOf('UNREACHABLE'), kind: { group: '', kind: 'Pod' } }, path: ['pod'] }]);
  expect([upstream.requests.length, clock.sleepers]).toEqual([0, 0]);
  north.discover(pods);
  await ask(getPodLive);
  expect(upstream.requests).toHaveLength(1);
});

test('live waits for a cluster that has not answered yet', async () => {
  const { ask, mirrors, upstream } = graphWithLive();
  const south = mirrors.join('south');
  const answer = ask(getPodLive.replace('north', 'south'));
  await turns();
  south.discover(pods);
  expect((await answer).faults).toEqual([]);
  expect(upstream.requests).toHaveLength(1);
});

test('live paths: groups, and kinds without a namespace', async () => {
  const { ask, upstream } = graphWithLive();
  await ask(
    '{ deployment(cluster: "north", namespace: "shop", name: "web", live: true) { id } node(cluster: "north", name: "n1", live: true) { id } }',
  );
  expect(upstream.requests.map(({ path }) => path.join('/'))).toEqual(['apis/apps/v1/namespaces/shop/deployments/web', 'api/v1/nodes/n1']);
});

test('an empty namespace reads an object of a cluster that has the kind in no namespace, live or not', async () => {
  const { ask, north, upstream } = graphWithLive();
  const clusterScoped = { ...pods, namespaced: false };
  north.discover(clusterScoped);
  upstream.answer = answered(JSON.stringify(objectNamed('web')));
  const text = 'query ($live: Boolean!) { pod(cluster: "north", namespace: "", name: "web", live: $live) { metadata { name } } }';
  expect((await ask(text, { live: true })).at('pod.metadata.name')).toBe('web');
  expect(upstream.requests.map(({ path }) => path.join('/'))).toEqual(['api/v1/pods/web']);
  const held = ask(text, { live: false });
  north.mirror(clusterScoped).list(objectNamed('web'));
  expect((await held).at('pod.metadata.name')).toBe('web');
});

test('an object with an invalid name is absent without a request', async () => {
  const { ask, upstream } = graphWithLive();
  for (const name of ['', '.', '..', 'a/b', 'a%2fb', '../../nodes/x']) {
    const { data, faults } = await ask('query ($name: String!) { node(cluster: "north", name: $name, live: true) { id } }', { name });
    expect([data, faults]).toEqual([{ node: null }, []]);
  }
  expect(upstream.requests).toEqual([]);
});

test('live: an absent object is null, a failure has its fault, and another object is MALFORMED', async () => {
  const { ask, upstream } = graphWithLive();
  expect([(await ask(getPodLive)).data, (await ask(getPodLive)).faults]).toEqual([{ pod: null }, []]);
  upstream.answer = { type: 'failed', fault: faultOf('TIMED_OUT') };
  expect((await ask(getPodLive)).faults).toMatchObject([{ fault: { code: 'TIMED_OUT', kind: { group: '', kind: 'Pod' } }, path: ['pod'] }]);
  for (const text of ['<html>', '[]', '{"metadata":{}}', '{"metadata":{"name":"another"}}', '{"metadata":{"name":"\xff"}}']) {
    upstream.answer = answered(text);
    expect((await ask(getPodLive)).faults).toMatchObject([{ fault: { code: 'MALFORMED' } }]);
  }
});

const canary = 'canary-7f3a';
const secretText = JSON.stringify({
  kind: 'Secret',
  apiVersion: 'v1',
  type: 'Opaque',
  metadata: {
    name: 'keys',
    namespace: 'shop',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': canary, kept: 'yes' },
    managedFields: [{ fieldsV1: canary }],
  },
  data: { token: canary },
  stringData: { other: canary },
});

test('lists of Secrets, and their ids, give metadata only', async () => {
  const { ask, north, logged } = graphWithLive();
  north.mirror(secrets).list(JSON.parse(secretText));
  const query =
    '{ secrets(search: "keys") { items { id type data stringData object yaml metadata { name annotations } } } resources(kinds: "Secret") { items { object yaml } } }';
  const { data, errors, at } = await ask(query);
  expect(errors).toBeUndefined();
  expect(JSON.stringify(data)).not.toContain(canary);
  expect(at('secrets.items.metadata')).toEqual([{ name: 'keys', annotations: { kept: 'yes' } }]);
  expect(at('secrets.items.object')).toEqual([{ apiVersion: 'v1', kind: 'Secret', metadata: expect.anything() }]);

  const [id] = at('secrets.items.id') as string[];
  const byId = await ask('query ($id: ID!) { resource(id: $id) { object yaml ... on Secret { data } } }', { id });
  expect(byId.at('resource.data')).toBeNull();
  expect(JSON.stringify(byId.data)).not.toContain(canary);
  const live = await ask('query ($id: ID!) { resource(id: $id, live: true) { object } }', { id });
  expect(live.errors?.[0]?.message).toMatch(/with secret\(live: true\)/);
  expect(JSON.stringify(logged)).not.toContain(canary);
});

test('only secret(live: true) returns values, and logs one line without them', async () => {
  const { ask, upstream, logged } = graphWithLive();
  upstream.answer = answered(secretText);
  const { at, data } = await ask(
    '{ secret(cluster: "north", namespace: "shop", name: "keys", live: true) { data object yaml metadata { annotations } } }',
  );
  expect(at('secret.data')).toEqual({ token: canary });
  expect(at('secret.object.stringData')).toEqual({ other: canary });
  // Neither the annotation that repeats the values nor managedFields.
  expect(at('secret.metadata.annotations')).toEqual({ kept: 'yes' });
  expect(JSON.stringify(data)).not.toContain('managedFields');
  expect(logged).toEqual([
    { fields: { cluster: 'north', namespace: 'shop', name: 'keys', caller: 'me' }, message: 'a Secret was read live' },
  ]);
});

test.each(['metadata', 'none'] as const)('secrets: %s allows no live read', async (rule) => {
  const { ask, upstream, logged } = graphWithLive(rule);
  upstream.answer = answered(secretText);
  const { data, faults } = await ask('{ secret(cluster: "north", namespace: "shop", name: "keys", live: true) { data } }');
  expect(data).toEqual({ secret: null });
  expect(faults).toMatchObject([{ fault: { code: 'FORBIDDEN' } }]);
  expect([upstream.requests, logged]).toEqual([[], []]);
});

test('an id with a wrong scope is absent, live or not', async () => {
  const { ask, upstream } = graphWithLive();
  const place = { cluster: 'north', group: '', name: 'x' };
  for (const id of [idOfObject({ ...place, kind: 'Node', namespace: 'shop' }), idOfObject({ ...place, kind: 'Pod', namespace: '' })]) {
    for (const live of [true, false]) {
      const { data, errors, faults } = await ask('query ($id: ID!, $live: Boolean!) { resource(id: $id, live: $live) { id } }', {
        id,
        live,
      });
      expect([data, errors, faults]).toEqual([{ resource: null }, undefined, []]);
    }
  }
  expect(upstream.requests).toEqual([]);
});

test('a sensitive kind of the config is treated like Secrets, whatever the rule for Secrets', async () => {
  const { ask, north, upstream, logged } = graphWithLive('none', ['Deployment.apps']);
  const text = secretText.replace('"Secret"', '"Deployment"').replace('"data"', '"spec"');
  north.mirror(deployments).list(JSON.parse(text));
  const listed = await ask('{ deployments { items { id object yaml metadata { name annotations } } } }');
  expect(listed.at('deployments.items.metadata')).toEqual([{ name: 'keys', annotations: { kept: 'yes' } }]);
  expect(listed.at('deployments.items.object')).toEqual([{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: expect.anything() }]);
  const [id] = listed.at('deployments.items.id') as string[];
  const byId = await ask('query ($id: ID!) { resource(id: $id) { object } }', { id });
  expect(JSON.stringify([listed.data, byId.data])).not.toContain(canary);

  for (const [query, message] of [
    ['{ deployment(cluster: "north", namespace: "shop", name: "keys") { id } }', /expected deployment with live: true/],
    [`{ resource(id: "${id}", live: true) { id } }`, /with deployment\(live: true\)/],
    ['{ deployments(where: { path: "spec.replicas", gt: 0 }) { totalCount } }', /only the metadata of Deployment\.apps is mirrored/],
    ['{ resources(kinds: ["deploy", "rs"], orderBy: { path: "spec.replicas" }) { totalCount } }', /or kinds without Deployment\.apps/],
  ] as const) {
    expect((await ask(query)).errors?.[0]?.message).toMatch(message);
  }

  upstream.answer = answered(text);
  const live = await ask(
    '{ deployment(cluster: "north", namespace: "shop", name: "keys", live: true) { object metadata { annotations } } }',
  );
  expect(live.at('deployment.object.spec')).toEqual({ token: canary });
  expect(live.at('deployment.metadata.annotations')).toEqual({ kept: 'yes' });
  expect(logged).toEqual([
    {
      fields: { cluster: 'north', namespace: 'shop', name: 'keys', caller: 'me', kind: 'Deployment.apps' },
      message: 'an object of a sensitive kind was read live',
    },
  ]);
});
