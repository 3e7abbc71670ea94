import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import {
  configMapAt,
  configMapOf,
  intentOf,
  linesOf,
  objectAt,
  othersApply,
  planned,
  propagate,
  propagated,
  stateWhere,
} from '../../support/propagate/propagating.ts';
import { type EmbeddedFleet, startEmbedded } from '../../support/propagate/writing-fleet.ts';

// Invalid requests touch no cluster: A7, A8, A9, A11 to A13, D16, D17, through mutations and intents. Tests in test/manifests enumerate
// how texts are read and what patches do.

let fleet: EmbeddedFleet;
beforeAll(async () => {
  fleet = await startEmbedded();
  for (const name of fleet.names)
    await othersApply(fleet, name, { path: configMapAt(fleet, 'victim'), body: configMapOf(fleet, 'victim', { a: 'canary-value' }) });
});
afterAll(() => fleet[Symbol.asyncDispose]());

interface Result {
  readonly cluster: { readonly name: string };
  readonly key: { readonly name: string };
  readonly action: string;
  readonly resource: { readonly object: JsonObject } | null;
  readonly fault: { readonly code: string; readonly message: string; readonly status: { readonly reason: string | null } | null } | null;
}

const results = 'ok results { cluster { name } key { name } action resource { object } fault { code message status { reason } } }';
const applyText = `mutation ($manifests: [Manifest!]!, $clusters: [String!]!) { done: apply(manifests: $manifests, clusters: $clusters) { ${results} } }`;
const patchText = `mutation ($targets: [Target!]!, $patch: JSON!) { done: patch(targets: $targets, type: JSON, patch: $patch) { ${results} } }`;
const deleteText = `mutation ($targets: [Target!]!) { done: delete(targets: $targets) { ${results} } }`;

interface Done {
  readonly done: { readonly ok: boolean; readonly results: readonly Result[] };
}

/** Counts the requests about single objects in all clusters, without the gateway's own. */
const touches = () =>
  fleet.names
    .flatMap((name) => fleet.cluster(name).requests)
    .filter(({ resource }) => resource?.name !== undefined && resource.resource !== 'leases' && resource.resource !== 'namespaces').length;

/** Returns the errors of a request, and expects that no cluster is touched. */
async function refusalOf(
  text: string,
  variables: Readonly<Record<string, Json>>,
): Promise<{ readonly code: string; readonly message: string }> {
  const before = touches();
  const { errors } = await fleet.ask(text, variables);
  expect(touches()).toBe(before);
  const [error] = errors ?? [];
  if (error === undefined) throw new Error('expected it to be refused');
  return { code: error.extensions.code, message: error.message };
}

const target = (more: JsonObject = {}): JsonObject => ({
  ref: { cluster: 'south', apiVersion: 'v1', kind: 'ConfigMap', namespace: fleet.namespace, name: 'victim', ...more },
});

const tooMany = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' }));

describe('A7: a JSON patch', () => {
  test.each<[string, Json, string]>([
    ['has an operation that is none', [{ op: 'merge', path: '/data' }], 'patch[0].op'],
    ['has a path with ~2', [{ op: 'remove', path: '/data/~2' }], 'patch[0].path'],
    ['has a path without a slash', [{ op: 'remove', path: 'data' }], 'patch[0].path'],
    ['is no list', { op: 'remove', path: '/data' }, 'expected a list of operations'],
    ['has 10,001 operations', tooMany, '10000'],
  ])('that %s is refused before any cluster is touched', async (_what, patch, message) => {
    const refused = await refusalOf(patchText, { targets: [target()], patch });
    expect(refused.code).toBe('BAD_INPUT');
    expect(refused.message).toContain(message);
  });

  test.each<[string, JsonObject]>([
    ['a missing parent', { op: 'add', path: '/data/none/such', value: 'x' }],
    ['a failing test', { op: 'test', path: '/data/a', value: 'other' }],
    ['a removal of nothing', { op: 'remove', path: '/data/none' }],
  ])('with %s is INVALID in that cluster, and shows no value', async (_what, operation) => {
    const { done } = await fleet.query<Done>(patchText, { targets: [target()], patch: [operation] });
    expect(done.results.map(({ action, fault }) => [action, fault?.code])).toEqual([['FAILED', 'INVALID']]);
    expect(JSON.stringify(done)).not.toContain('canary-value');
    expect(fleet.cluster('south').get('ConfigMap', 'victim', fleet.namespace)?.data).toEqual({ a: 'canary-value' });
  });

  test.each<[string, readonly JsonObject[], RegExp]>([
    ['a missing path', [{ op: 'replace', path: '/spec/nothing/here', value: 1 }], /\/spec\/nothing\/here/],
    ['a failing test', [{ op: 'test', path: '/data/a', value: 'other' }], /test|\/data\/a/],
    ['a path with ~2', [{ op: 'remove', path: '/data/~2' }], /path/],
    ['a path to what names it', [{ op: 'replace', path: '/metadata/name', value: 'other' }], /cannot change metadata.name/],
    [
      'copies that grow',
      [
        { op: 'add', path: '/data/big', value: 'x'.repeat(100_000) },
        ...Array.from({ length: 40 }, (_, n) => ({ op: 'copy', from: '/data', path: `/data/c${n}` })),
      ],
      /./,
    ],
    ['10,001 operations', tooMany, /10.?000/],
  ])('in an override, with %s, is refused with the whole intent', async (_what, jsonPatch, message) => {
    const before = touches();
    const input = intentOf(fleet, 'patched', [configMapOf(fleet, 'patched', { a: 'canary-value' })], { overrides: [{ jsonPatch }] });
    const { result, notes } = await propagate(fleet, input);
    expect(result).toBe('REFUSED');
    expect(JSON.stringify(notes)).toMatch(message);
    expect(JSON.stringify(notes)).not.toContain('canary-value');
    // The only request checks on the hub whether the object exists.
    expect(touches() - before).toBeLessThanOrEqual(1);
  });
});

describe('A8: a text of YAML', () => {
  const bomb = [
    'a0: &a0 [x,x,x,x,x,x,x,x,x]',
    ...Array.from({ length: 8 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`)}]`),
  ].join('\n');
  test.each<[string, string]>([
    ['is a bomb of aliases', bomb],
    ['is 100,000 levels deep', `a: ${'['.repeat(100_000)}`],
    ['has a key twice', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\n'],
    ['has a tag of its own', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: !name a}\n'],
    ['has 10,000 documents', '---\na: 1\n'.repeat(10_000)],
    ['has empty documents only', '---\n---\n'],
    ['is no object', 'just a text'],
    ['is cut off', 'apiVersion: v1\nkind: {'],
  ])('that %s is refused at once, in a mutation and in an intent', async (_what, yaml) => {
    const startedMs = performance.now();
    expect((await refusalOf(applyText, { manifests: [{ yaml }], clusters: ['south'] })).code).toBe('BAD_INPUT');
    expect((await propagate(fleet, { ...intentOf(fleet, 'text', []), template: [{ yaml }] })).result).toBe('REFUSED');
    // On a busy machine. Another test measures the reader alone.
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});

test('A9: plain scalars in YAML mean the same as to kubectl', async () => {
  const annotations = 'metadata: {name: plain, annotations: {mode: "0644", at: "2024-01-01"}}';
  const yaml = `apiVersion: v1\nkind: ConfigMap\n${annotations}\ndata: {time: "1:30", y: "2", none: ""}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: plain}\nspec: {replicas: 0x10, selector: {matchLabels: {at: 2024-01-01, half: 1:30}}, template: {metadata: {labels: {at: 2024-01-01, half: 1:30}}, spec: {containers: [{name: a, image: b, stdin: yes}], terminationGracePeriodSeconds: 1_000}}}\n`;
  const { done } = await fleet.query<Done>(applyText, { manifests: [{ yaml }], clusters: ['east'] });
  expect(done.results.map(({ action, fault }) => fault ?? action)).toEqual(['CREATED', 'CREATED']);
  const east = fleet.cluster('east');
  expect(east.get('ConfigMap', 'plain', 'default')).toMatchObject({
    metadata: { annotations: { mode: '0644', at: '2024-01-01' } },
    data: { time: '1:30', true: '2', none: '' },
  });
  expect(east.get('Deployment.apps', 'plain', 'default')).toMatchObject({
    spec: {
      replicas: 16,
      selector: { matchLabels: { at: '2024-01-01', half: '1:30' } },
      template: { spec: { containers: [{ stdin: true }], terminationGracePeriodSeconds: 1000 } },
    },
  });
  // The server reports a number in place of a text. The gateway does not guess: kubectl also reads 0644 as 420.
  const number = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: number}\ndata: {mode: 0644}\n';
  const refused = await fleet.query<Done>(applyText, { manifests: [{ yaml: number }], clusters: ['east'] });
  expect(refused.done.results.map(({ fault }) => fault?.code)).toEqual(['INVALID']);
});

describe('A11: a name', () => {
  const names = ['..', '.', 'a/b', 'a\nb', 'x'.repeat(254), '', 'a b/../c', '%2f', '%2e%2e'];
  test.each(names)('%j is refused before any cluster is touched', async (name) => {
    expect((await refusalOf(deleteText, { targets: [target({ name })] })).code).toBe('BAD_INPUT');
    expect((await refusalOf(patchText, { targets: [target({ name })], patch: [{ op: 'remove', path: '/data' }] })).code).toBe('BAD_INPUT');
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
    expect((await refusalOf(applyText, { manifests: [{ json: manifest }], clusters: ['south'] })).code).toBe('BAD_INPUT');
    expect((await propagate(fleet, intentOf(fleet, 'named', [manifest]))).result).toBe('REFUSED');
    expect((await propagate(fleet, intentOf(fleet, name, [configMapOf(fleet, 'a', {})]))).result).toBe('REFUSED');
  });

  test.each(['a?b=c', 'a#b', '😀', 'a;b', 'Ünder'])('%j is one segment of a path, and no other object is meant', async (name) => {
    const { done } = await fleet.query<Done>(deleteText, { targets: [target({ name })] });
    expect(done.results.map(({ fault }) => fault?.code)).toEqual(['NOT_FOUND']);
    const [last] = fleet
      .cluster('south')
      .requests.filter(({ method, path }) => method === 'DELETE' && path.includes('/configmaps'))
      .slice(-1);
    expect(last?.path).toBe(configMapAt(fleet, encodeURIComponent(name)));
  });

  test.each(['..', 'a/b', '', 'x'.repeat(254)])('of a namespace, %j, is refused too, where it is one at all', async (namespace) => {
    if (namespace === '')
      return expect((await fleet.query<Done>(deleteText, { targets: [target({ namespace, name: 'none' })] })).done.ok).toBe(false);
    expect((await refusalOf(deleteText, { targets: [target({ namespace })] })).code).toBe('BAD_INPUT');
  });

  test.each(['*', '', 'nowhere', 'south/', '..'])('of a cluster, %j, is BAD_INPUT: no cluster is meant by it', async (cluster) => {
    expect((await refusalOf(deleteText, { targets: [target({ cluster })] })).code).toBe('BAD_INPUT');
    expect((await refusalOf(applyText, { manifests: [{ json: configMapOf(fleet, 'a', {}) }], clusters: [cluster] })).code).toBe(
      'BAD_INPUT',
    );
    const { result, notes } = await propagate(
      fleet,
      intentOf(fleet, 'nowhere', [configMapOf(fleet, 'a', {})], { placement: { clusters: [cluster] } }),
    );
    expect([result, notes.some(({ severity }) => severity === 'ERROR')]).toEqual(['REFUSED', true]);
  });
});

describe('A12: size', () => {
  test('an object of 1.5 MiB is served', async () => {
    const json = configMapOf(fleet, 'large', { a: 'x'.repeat(1_400_000) });
    const { done } = await fleet.query<Done>(applyText, { manifests: [{ json }], clusters: ['south'] });
    expect(done.results.map(({ action, fault }) => fault?.code ?? action)).toEqual(['CREATED']);
  });

  test('a manifest above 3 MiB is refused', async () => {
    const json = configMapOf(fleet, 'larger', { a: 'x'.repeat(3_200_000) });
    expect((await refusalOf(applyText, { manifests: [{ json }], clusters: ['south'] })).code).toBe('BAD_INPUT');
    expect((await propagate(fleet, intentOf(fleet, 'larger', [json]))).result).toBe('REFUSED');
  });

  test('more than 1,000 writes in one mutation are refused', async () => {
    const targets = Array.from({ length: 1_001 }, (_, index) => target({ name: `t${index}` }));
    expect((await refusalOf(deleteText, { targets })).message).toContain('1000');
  });
});

describe('A13: a manifest', () => {
  test('that was read from a cluster is applied without the fields that a server fills in', async () => {
    const metadata = {
      ...{
        name: 'exported',
        namespace: fleet.namespace,
        uid: '11111111-1111-1111-1111-111111111111',
        resourceVersion: '42',
        generation: 7,
      },
      ...{ creationTimestamp: '2020-01-01T00:00:00Z', managedFields: [{ manager: 'x' }], selfLink: '/x' },
    };
    const json = { ...configMapOf(fleet, 'exported', { a: '1' }), metadata, status: { phase: 'Odd' } };
    const { done } = await fleet.query<Done>(applyText, { manifests: [{ json }], clusters: ['south'] });
    expect(done.results.map(({ action, fault }) => fault ?? action)).toEqual(['CREATED']);
    const made = fleet.cluster('south').get('ConfigMap', 'exported', fleet.namespace);
    expect(made?.metadata.uid).not.toBe(metadata.uid);
    expect(made?.metadata.creationTimestamp).not.toBe(metadata.creationTimestamp);
    const plan = await planned(fleet, intentOf(fleet, 'exported', [json], { conflict: 'ADOPT' }));
    expect(plan.clusters[0]?.objects[0]?.manifest).toEqual(configMapOf(fleet, 'exported', { a: '1' }));
  });

  test.each<[string, JsonObject]>([
    ['without a name', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'x-' } }],
    ['without a kind', { apiVersion: 'v1', metadata: { name: 'a' } }],
    ['without metadata', { apiVersion: 'v1', kind: 'ConfigMap' }],
    ['of no version', { kind: 'ConfigMap', metadata: { name: 'a' } }],
    ['whose labels are none', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { a: 1 } } }],
  ])('%s is refused', async (_what, json) => {
    expect((await refusalOf(applyText, { manifests: [{ json }], clusters: ['south'] })).code).toBe('BAD_INPUT');
    expect((await propagate(fleet, intentOf(fleet, 'wrong', [json]))).result).toBe('REFUSED');
  });

  test('that is a List is divided into its items in a mutation, as in kubectl; an intent refuses it', async () => {
    const json = { apiVersion: 'v1', kind: 'List', items: [configMapOf(fleet, 'one', { a: '1' }), configMapOf(fleet, 'two', { a: '1' })] };
    const { done } = await fleet.query<Done>(applyText, { manifests: [{ json }], clusters: ['south'] });
    expect(done.results.map(({ key, action }) => [key.name, action])).toEqual([
      ['one', 'CREATED'],
      ['two', 'CREATED'],
    ]);
    expect((await propagate(fleet, intentOf(fleet, 'listed', [json]))).result).toBe('REFUSED');
  });

  test('never carries owners and finalizers of another cluster into an intent', async () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'y' }];
    const json = {
      ...configMapOf(fleet, 'owned', { a: '1' }),
      metadata: { name: 'owned', namespace: fleet.namespace, ownerReferences, finalizers: ['a/b'] },
    };
    const plan = await planned(fleet, intentOf(fleet, 'owned', [json]));
    expect(plan.clusters[0]?.objects[0]?.manifest).toEqual(configMapOf(fleet, 'owned', { a: '1' }));
  });
});

test.each(['__proto__', 'constructor', 'prototype'])('A6: %s is a key like any other, in a mutation as in an intent', async (key) => {
  const south = fleet.cluster('south');
  const text = (name: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${fleet.namespace}}\ndata: {"${key}": "1"}\n`;
  const name = `key-${key.replaceAll('_', '')}`;
  const { done } = await fleet.query<Done>(applyText, { manifests: [{ yaml: text(name) }], clusters: ['south'] });
  expect(done.results.map(({ action }) => action)).toEqual(['CREATED']);
  const input = { ...intentOf(fleet, `${name}-in`, []), template: [{ yaml: text(`${name}-in`) }], placement: { clusters: ['south'] } };
  await propagated(fleet, input);
  await fleet.until(() => south.get('ConfigMap', `${name}-in`, fleet.namespace) !== undefined);
  for (const made of [name, `${name}-in`]) expect(Object.keys(south.get('ConfigMap', made, fleet.namespace)?.data ?? {})).toEqual([key]);
  expect(Object.keys(Object.getPrototypeOf({}))).toEqual([]);
});

describe('D16: an override', () => {
  test('that breaks the schema is refused at plan, with the path and without the value', async () => {
    const input = intentOf(fleet, 'broken', [configMapOf(fleet, 'broken', { a: '1' })], {
      overrides: [{ jsonPatch: [{ op: 'add', path: '/dataz', value: { secret: 'canary-value' } }] }],
    });
    const plan = await planned(fleet, input);
    expect(plan.ok).toBe(false);
    expect(JSON.stringify(plan.notes)).toContain('dataz');
    expect(JSON.stringify([plan.notes, plan.clusters.map(({ fault }) => fault)])).not.toContain('canary-value');
  });

  test('is the same for the same input: nothing but the object and the cluster is read for it', async () => {
    const input = intentOf(fleet, 'pure', [configMapOf(fleet, 'pure', { a: '1' })], {
      overrides: [{ labels: [{ operator: 'ADD', values: { fleet: 'shop' } }] }],
    });
    const [first, second] = [await planned(fleet, input), await planned(fleet, input)];
    expect(second).toEqual(first);
  });

  test('cannot put a Secret in an intent: only a reference is allowed, and its data is stored nowhere', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: fleet.namespace },
      stringData: { a: 'canary-value' },
    };
    const { result, notes } = await propagate(fleet, intentOf(fleet, 'secret', [secret]));
    expect(result).toBe('REFUSED');
    expect(JSON.stringify(notes)).not.toContain('canary-value');
    await othersApply(fleet, 'north', { path: `/api/v1/namespaces/${fleet.namespace}/secrets/s`, body: secret });
    const ref = { cluster: 'north', apiVersion: 'v1', kind: 'Secret', namespace: fleet.namespace, name: 's' };
    const input = { ...intentOf(fleet, 'secret', []), template: [{ ref }], placement: { clusters: ['south'] } };
    const plan = await planned(fleet, input);
    expect(plan.notes.filter(({ severity }) => severity === 'ERROR')).toEqual([]);
    await propagated(fleet, input);
    const path = `/api/v1/namespaces/${fleet.namespace}/secrets/s`;
    await fleet.until(async () => (await objectAt(fleet, 'south', path)) !== undefined);
    expect((await objectAt(fleet, 'south', path))?.data).toEqual({ a: Buffer.from('canary-value').toString('base64') });
    const now = await stateWhere(fleet, 'secret', ({ phase }) => phase === 'SETTLED');
    const kept = ['Propagation.muster.dev', 'ClusterShare.muster.dev', 'ControllerRevision.apps'].flatMap((kind) =>
      fleet.cluster('north').objects(kind),
    );
    const everything = JSON.stringify([plan, now, kept, fleet.logged()]);
    for (const value of ['canary-value', Buffer.from('canary-value').toString('base64')]) expect(everything).not.toContain(value);
  });
});

describe('D17: rights', () => {
  test('that a requester lost are DENIED there, and stay so; the other clusters go on', async () => {
    using _lost = fleet.cluster('south').forbid({ kind: 'ConfigMap', verbs: ['patch', 'create', 'update'] });
    await propagated(fleet, intentOf(fleet, 'denied', [configMapOf(fleet, 'denied', { a: '1' })]));
    const now = await stateWhere(
      fleet,
      'denied',
      ({ clusters }) =>
        clusters.filter(({ phase }) => phase === 'SETTLED').length === 2 && clusters.some(({ phase }) => phase === 'DENIED'),
    );
    expect(linesOf(now)).toEqual([
      ['east', 'SETTLED', ''],
      ['north', 'SETTLED', ''],
      ['south', 'DENIED', 'DENIED'],
    ]);
    expect(fleet.cluster('south').get('ConfigMap', 'denied', fleet.namespace)).toBeUndefined();
  });

  test('are those of the ServiceAccount it runs as: never the gateway’s own instead', async () => {
    const user = `system:serviceaccount:${fleet.namespace}:deployer`;
    using _none = fleet.cluster('east').forbid({ kind: 'ConfigMap', users: [user] });
    const runAs = { serviceAccount: { namespace: fleet.namespace, name: 'deployer' } };
    await propagated(
      fleet,
      intentOf(fleet, 'as', [configMapOf(fleet, 'as', { a: '1' })], { runAs, placement: { clusters: ['south', 'east'] } }),
    );
    const now = await stateWhere(
      fleet,
      'as',
      ({ clusters }) => clusters.some(({ phase }) => phase === 'DENIED') && clusters.some(({ phase }) => phase === 'SETTLED'),
    );
    expect(linesOf(now)).toEqual([
      ['east', 'DENIED', 'DENIED'],
      ['south', 'SETTLED', ''],
    ]);
    for (const name of ['south', 'east']) {
      const asked = fleet
        .cluster(name)
        .requests.filter(({ resource, method }) => resource?.name === 'as' && resource.resource === 'configmaps' && method !== 'GET');
      expect(asked.length).toBeGreaterThan(0);
      expect(asked.every(({ headers }) => headers['impersonate-user'] === user)).toBe(true);
    }
  });
});
