import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { type EmbeddedFleet, startEmbedded } from '../../support/writing-fleet.ts';

// Changes of single objects through the whole gateway: what is done, what a dry run says of the same, and what is refused.

let fleet: EmbeddedFleet;
beforeAll(async () => {
  fleet = await startEmbedded({ names: ['north', 'south'] });
});
afterAll(() => fleet[Symbol.asyncDispose]());

interface Result {
  readonly cluster: { readonly name: string };
  readonly key: { readonly apiVersion: string; readonly kind: string; readonly namespace: string | null; readonly name: string };
  readonly action: string;
  readonly resource: { readonly object: JsonObject } | null;
  readonly diff: string | null;
  readonly warnings: readonly string[];
  readonly fault: {
    readonly code: string;
    readonly message: string;
    readonly status: { readonly reason: string | null; readonly message: string } | null;
  } | null;
}

interface Outcome {
  readonly ok: boolean;
  readonly results: readonly Result[];
}

const fields =
  'ok results { cluster { name } key { apiVersion kind namespace name } action resource { object } diff warnings fault { code message status { reason message } } }';

/** One mutation, with its arguments as GraphQL declares them. */
async function mutate(field: string, args: Readonly<Record<string, readonly [type: string, value: Json]>>): Promise<Outcome> {
  const declared = Object.entries(args).map(([name, [type]]) => `$${name}: ${type}`);
  const given = Object.keys(args).map((name) => `${name}: $${name}`);
  const text = `mutation (${declared.join(', ')}) { done: ${field}(${given.join(', ')}) { ${fields} } }`;
  const values = Object.fromEntries(Object.entries(args).map(([name, [, value]]) => [name, value]));
  return (await fleet.query<{ done: Outcome }>(text, values)).done;
}

const apply = (json: JsonObject, { dryRun = false, force = false, clusters = ['south'] } = {}) =>
  mutate('apply', {
    manifests: ['[Manifest!]!', [{ json }]],
    clusters: ['[String!]!', clusters],
    dryRun: ['Boolean', dryRun],
    force: ['Boolean', force],
  });

const onTargets = (field: string, targets: readonly Json[], more: Readonly<Record<string, readonly [string, Json]>> = {}) =>
  mutate(field, { targets: ['[Target!]!', targets], ...more });

const configMap = (name: string, data: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: fleet.namespace },
  data,
});

function workload(name: string, kind = 'Deployment', spec: JsonObject = {}): JsonObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'registry.example.com/web:1.0' }] } };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: fleet.namespace },
    spec: { ...(kind === 'DaemonSet' ? {} : { replicas: 2 }), selector: { matchLabels: labels }, template, ...spec },
  };
}

const refOf = (name: string, kind = 'ConfigMap', more: JsonObject = {}): Json => ({
  ref: {
    cluster: 'south',
    apiVersion: kind === 'ConfigMap' || kind === 'Secret' ? 'v1' : 'apps/v1',
    kind,
    namespace: fleet.namespace,
    name,
    ...more,
  },
});

const south = (kind: string, name: string) => fleet.cluster('south').get(kind, name, fleet.namespace);
const brief = ({ results }: Outcome) => results.map(({ cluster, action, fault }) => [cluster.name, fault?.code ?? action]);

/** Nothing in any cluster is another one afterwards. */
async function unchanged<T>(work: () => Promise<T>): Promise<T> {
  const state = () =>
    JSON.stringify(
      fleet.names.map((name) =>
        ['ConfigMap', 'Deployment.apps', 'Secret'].map((kind) => fleet.cluster(name).list(kind, fleet.namespace).items),
      ),
    );
  const before = state();
  const done = await work();
  expect(state()).toBe(before);
  return done;
}

describe('apply', () => {
  test('creates, then finds it unchanged, then changes it: in each cluster for itself', async () => {
    const both = ['south', 'north'];
    fleet.cluster('north').put(configMap('each', { a: '0', theirs: '1' }) as never);
    expect(brief(await apply(configMap('each', { a: '1' }), { clusters: both, force: true }))).toEqual([
      ['south', 'CREATED'],
      ['north', 'CONFIGURED'],
    ]);
    expect(brief(await apply(configMap('each', { a: '1' }), { clusters: both }))).toEqual([
      ['south', 'UNCHANGED'],
      ['north', 'UNCHANGED'],
    ]);
    const changed = await apply(configMap('each', { a: '2' }), { clusters: both });
    expect(brief(changed)).toEqual([
      ['south', 'CONFIGURED'],
      ['north', 'CONFIGURED'],
    ]);
    expect(changed.results.map(({ resource }) => resource?.object.data)).toEqual([{ a: '2' }, { a: '2', theirs: '1' }]);
    expect(changed.results.every(({ diff }) => diff === null)).toBe(true);
    expect(changed.results[0]?.key).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', namespace: fleet.namespace, name: 'each' });
  });

  test('dry, it says the same and shows the difference, and does nothing', async () => {
    await apply(configMap('dry', { a: '1' }));
    const dry = { dryRun: true };
    const same = await unchanged(() => apply(configMap('dry', { a: '1' }), dry));
    expect([brief(same), same.results[0]?.diff]).toEqual([[['south', 'UNCHANGED']], null]);
    const changed = await unchanged(() => apply(configMap('dry', { a: '2' }), dry));
    expect(brief(changed)).toEqual([['south', 'CONFIGURED']]);
    expect(changed.results[0]?.diff).toMatch(/^-.*a: ["']1["']$/m);
    expect(changed.results[0]?.diff).toMatch(/^\+.*a: ["']2["']$/m);
    const created = await unchanged(() => apply(configMap('never', { a: '1' }), dry));
    expect(brief(created)).toEqual([['south', 'CREATED']]);
    expect(created.results[0]?.diff).toContain('+data:');
  });

  test('of what others own is a CONFLICT with their manager, unless it is forced', async () => {
    const path = `/api/v1/namespaces/${fleet.namespace}/configmaps/owned`;
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    await fleet.send('south', 'PATCH', `${path}?fieldManager=argocd`, { body: configMap('owned', { a: 'theirs' }), headers });
    for (const dryRun of [true, false]) {
      const refused = await unchanged(() => apply(configMap('owned', { a: 'ours' }), { dryRun }));
      expect(brief(refused)).toEqual([['south', 'CONFLICT']]);
      expect(refused.ok).toBe(false);
    }
    expect(brief(await apply(configMap('owned', { a: 'ours' }), { force: true }))).toEqual([['south', 'CONFIGURED']]);
    expect(south('ConfigMap', 'owned')?.data).toEqual({ a: 'ours' });
  });

  test('one that fails stops no other, and the API server says why', async () => {
    const broken = { ...workload('broken'), spec: { replicaz: 1 } };
    const outcome = await mutate('apply', {
      manifests: ['[Manifest!]!', [{ json: broken }, { json: configMap('beside', { a: '1' }) }]],
      clusters: ['[String!]!', ['south', 'north']],
    });
    expect(outcome.ok).toBe(false);
    expect(brief(outcome)).toEqual([
      ['south', 'INVALID'],
      ['north', 'INVALID'],
      ['south', 'CREATED'],
      ['north', 'CREATED'],
    ]);
    expect(outcome.results[0]?.fault?.status?.message).toContain('.spec.replicaz: field not declared in schema');
  });

  test('a cluster that is away fails alone', async () => {
    const north = fleet.cluster('north');
    using _down = north.refuse();
    north.disconnect();
    await fleet.pass(12_000);
    const outcome = await apply(configMap('away', { a: '1' }), { clusters: ['south', 'north'] });
    expect(brief(outcome)).toEqual([
      ['south', 'CREATED'],
      ['north', 'UNREACHABLE'],
    ]);
  });

  test('an unknown cluster or kind is told before, or in its own result', async () => {
    const { errors } = await fleet.ask(`mutation { apply(manifests: [{ yaml: "a: 1" }], clusters: ["sotuh"]) { ok } }`);
    expect(errors?.map(({ message, extensions }) => [extensions.code, message])).toEqual([
      ['BAD_INPUT', 'no cluster named "sotuh"; did you mean south?'],
    ]);
    await fleet.pass(60_000);
    const outcome = await apply({ apiVersion: 'example.com/v1', kind: 'Nothing', metadata: { name: 'a' } });
    expect(brief(outcome)).toEqual([['south', 'NOT_SERVED']]);
  });
});

describe('patch', () => {
  const patch = (type: string, value: Json, { name = 'patched', dryRun = false, more = {} as JsonObject } = {}) =>
    onTargets('patch', [refOf(name, 'ConfigMap', more)], {
      type: ['PatchType!', type],
      patch: ['JSON!', value],
      dryRun: ['Boolean', dryRun],
    });

  test.each<[string, Json, Json]>([
    ['JSON', [{ op: 'replace', path: '/data/a', value: '2' }], [{ op: 'test', path: '/data/a', value: '2' }]],
    ['MERGE', { data: { a: '2' } }, { data: { a: '2' } }],
    ['APPLY', { data: { b: '2' } }, { data: { b: '2' } }],
  ])('%s: changes what is there, finds it unchanged, and dry shows it', async (type, change, again) => {
    fleet.cluster('south').put(configMap('patched', { a: '1' }) as never);
    const dry = await unchanged(() => patch(type, change, { dryRun: true }));
    expect([brief(dry), dry.results[0]?.diff?.includes('+')]).toEqual([[['south', 'CONFIGURED']], true]);
    expect(brief(await patch(type, change))).toEqual([['south', 'CONFIGURED']]);
    expect(Object.values(south('ConfigMap', 'patched')?.data ?? {})).toContain('2');
    const second = await patch(type, again);
    expect([brief(second), second.results[0]?.diff]).toEqual([[['south', 'UNCHANGED']], null]);
    fleet.cluster('south').remove('ConfigMap', 'patched', fleet.namespace);
    expect(brief(await patch(type, change))).toEqual([['south', 'NOT_FOUND']]);
    // Not even an apply makes what was to be patched.
    expect(south('ConfigMap', 'patched')).toBeUndefined();
  });

  test('STRATEGIC is passed on: where a server does not know it, it says so itself', async () => {
    fleet.cluster('south').put(configMap('patched', { a: '1' }) as never);
    const outcome = await unchanged(() => patch('STRATEGIC', { data: { a: '2' } }));
    expect([brief(outcome), outcome.results[0]?.fault?.message]).toEqual([[['south', expect.any(String)]], expect.stringContaining('415')]);
  });

  test.each<[string, string, Json]>([
    ['JSON', 'INVALID', [{ op: 'test', path: '/data/a', value: 'other' }]],
    ['JSON', 'INVALID', [{ op: 'remove', path: '/data/none' }]],
    ['MERGE', 'INVALID', { data: 'text' }],
  ])('%s that does not fit is %s', async (type, code, value) => {
    fleet.cluster('south').put(configMap('patched', { a: 'canary' }) as never);
    const outcome = await unchanged(() => patch(type, value));
    expect(brief(outcome)).toEqual([['south', code]]);
    expect(JSON.stringify(outcome)).not.toContain('canary');
  });

  test.each<[string, Json]>([
    ['JSON', { data: {} }],
    ['JSON', [{ op: 'replace' }]],
    ['MERGE', []],
    ['APPLY', 'text'],
    ['STRATEGIC', null],
  ])('%s of a wrong form is BAD_INPUT: %j', async (type, value) => {
    const text = `mutation ($patch: JSON!) { patch(targets: [], type: ${type}, patch: $patch) { ok } }`;
    const { errors } = await fleet.ask(text, { patch: value });
    // A null is refused by GraphQL itself.
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_INPUT']);
  });

  test('of a subresource changes that alone', async () => {
    fleet.cluster('south').put(workload('scaled') as never);
    const outcome = await onTargets('patch', [refOf('scaled', 'Deployment')], {
      type: ['PatchType!', 'MERGE'],
      patch: ['JSON!', { status: { readyReplicas: 1 }, spec: { replicas: 9 } }],
      subresource: ['String', 'status'],
    });
    expect(brief(outcome)).toEqual([['south', 'CONFIGURED']]);
    expect(south('Deployment.apps', 'scaled')).toMatchObject({ spec: { replicas: 2 }, status: { readyReplicas: 1 } });
  });
});

describe('preconditions', () => {
  const writes: readonly (readonly [string, Readonly<Record<string, readonly [string, Json]>>])[] = [
    ['patch', { type: ['PatchType!', 'JSON'], patch: ['JSON!', [{ op: 'add', path: '/metadata/labels', value: { x: 'y' } }]] }],
    ['patch', { type: ['PatchType!', 'MERGE'], patch: ['JSON!', { metadata: { labels: { x: 'y' } } }] }],
    ['patch', { type: ['PatchType!', 'APPLY'], patch: ['JSON!', { metadata: { labels: { x: 'y' } } }] }],
    ['scale', { replicas: ['Int!', 5] }],
    ['restart', {}],
    ['delete', {}],
  ];

  test.each(writes)('%s %j: another uid or version is refused, the right ones are not', async (field, more) => {
    const { metadata } = fleet.cluster('south').put(workload('guarded') as never);
    const { uid = '', resourceVersion = '' } = metadata;
    for (const wrong of [{ uid: '11111111-1111-1111-1111-111111111111' }, { resourceVersion: '1' }]) {
      const refused = await unchanged(() => onTargets(field, [refOf('guarded', 'Deployment', wrong)], more));
      expect([field, wrong, refused.results[0]?.action, refused.results[0]?.fault?.code]).toEqual([
        field,
        wrong,
        'FAILED',
        expect.stringMatching(/^(CONFLICT|INVALID)$/),
      ]);
    }
    expect((await onTargets(field, [refOf('guarded', 'Deployment', { uid, resourceVersion })], more)).ok).toBe(true);
    fleet.cluster('south').remove('Deployment.apps', 'guarded', fleet.namespace);
  });
});

describe('scale', () => {
  const scale = (name: string, replicas: number, dryRun = false) =>
    onTargets('scale', [refOf(name, 'Deployment')], { replicas: ['Int!', replicas], dryRun: ['Boolean', dryRun] });

  test('sets the count, finds it unchanged, and dry shows it', async () => {
    fleet.cluster('south').put(workload('web') as never);
    const dry = await unchanged(() => scale('web', 5, true));
    expect(brief(dry)).toEqual([['south', 'CONFIGURED']]);
    expect(dry.results[0]?.diff).toMatch(/-\s+replicas: 2\n\+\s+replicas: 5/);
    expect(dry.results[0]?.resource?.object).toMatchObject({ spec: { replicas: 5 } });
    const done = await scale('web', 5);
    expect([brief(done), south('Deployment.apps', 'web')?.spec]).toMatchObject([[['south', 'CONFIGURED']], { replicas: 5 }]);
    expect(done.results[0]?.resource?.object).toMatchObject({ kind: 'Deployment', spec: { replicas: 5 } });
    expect(brief(await scale('web', 5))).toEqual([['south', 'UNCHANGED']]);
    expect(brief(await scale('web', 0))).toEqual([['south', 'CONFIGURED']]);
    expect(brief(await scale('absent', 1))).toEqual([['south', 'NOT_FOUND']]);
  });

  test('below 0 is BAD_INPUT; of what cannot be scaled a fault', async () => {
    const { errors } = await fleet.ask('mutation { scale(targets: [], replicas: -1) { ok } }');
    expect(errors?.map(({ message }) => message)).toEqual(['replicas: expected 0 or more, got -1']);
    fleet.cluster('south').put(configMap('flat', {}) as never);
    const outcome = await unchanged(() => onTargets('scale', [refOf('flat')], { replicas: ['Int!', 1] }));
    expect(outcome.results.map(({ action }) => action)).toEqual(['FAILED']);
  });
});

describe('restart', () => {
  const restart = (name: string, kind = 'Deployment', dryRun = false) =>
    onTargets('restart', [refOf(name, kind)], { dryRun: ['Boolean', dryRun] });

  test.each(['Deployment', 'StatefulSet', 'DaemonSet'])('a %s gets the annotation that kubectl sets, once each time', async (kind) => {
    const name = `restarted-${kind.toLowerCase()}`;
    fleet.cluster('south').put(workload(name, kind) as never);
    const dry = await unchanged(() => restart(name, kind, true));
    expect([brief(dry), dry.results[0]?.diff?.includes('kubectl.kubernetes.io/restartedAt')]).toEqual([[['south', 'CONFIGURED']], true]);
    expect(brief(await restart(name, kind))).toEqual([['south', 'CONFIGURED']]);
    const annotations = () =>
      south(`${kind}.apps`, name)?.spec as never as { template: { metadata: { annotations: Record<string, string> } } };
    const first = annotations().template.metadata.annotations['kubectl.kubernetes.io/restartedAt'];
    expect(first).toMatch(/^2026-01-01T\d\d:\d\d:\d\dZ$/);
    await fleet.pass(2_000);
    await restart(name, kind);
    expect(annotations().template.metadata.annotations['kubectl.kubernetes.io/restartedAt']).not.toBe(first);
  });

  test('refuses what kubectl refuses: another kind, and a Deployment that is paused', async () => {
    fleet.cluster('south').put(configMap('flat', {}) as never);
    fleet.cluster('south').put(workload('paused', 'Deployment', { paused: true }) as never);
    const outcome = await unchanged(() =>
      onTargets('restart', [refOf('flat'), refOf('paused', 'Deployment'), refOf('absent', 'Deployment')]),
    );
    expect(outcome.results.map(({ fault }) => [fault?.code, fault?.message])).toEqual([
      ['INVALID', 'expected a Deployment, a StatefulSet or a DaemonSet, got ConfigMap'],
      ['INVALID', 'expected a Deployment that is not paused: resume it first'],
      ['NOT_FOUND', expect.stringContaining('absent')],
    ]);
  });
});

describe('delete', () => {
  const remove = (name: string, more: Readonly<Record<string, readonly [string, Json]>> = {}) => onTargets('delete', [refOf(name)], more);

  test('deletes; dry it shows what would go; what is absent is NOT_FOUND', async () => {
    fleet.cluster('south').put(configMap('going', { a: '1' }) as never);
    const dry = await unchanged(() => remove('going', { dryRun: ['Boolean', true] }));
    expect([brief(dry), dry.results[0]?.diff?.includes('-data:')]).toEqual([[['south', 'DELETED']], true]);
    const done = await remove('going');
    expect([brief(done), done.results[0]?.resource]).toEqual([[['south', 'DELETED']], null]);
    expect(south('ConfigMap', 'going')).toBeUndefined();
    expect(brief(await remove('going'))).toEqual([['south', 'NOT_FOUND']]);
  });

  test.each([
    ['BACKGROUND', 'Background'],
    ['FOREGROUND', 'Foreground'],
    ['ORPHAN', 'Orphan'],
  ])('cascade %s: what it owns goes, or stays', async (cascade, sent) => {
    const owner = fleet.cluster('south').put(configMap(`owner-${sent.toLowerCase()}`, {}) as never);
    const { uid = '', name } = owner.metadata;
    const owned = {
      ...configMap(`owned-${sent.toLowerCase()}`, {}),
      metadata: {
        name: `owned-${sent.toLowerCase()}`,
        namespace: fleet.namespace,
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }],
      },
    };
    fleet.cluster('south').put(owned as never);
    expect((await remove(name, { cascade: ['Cascade', cascade] })).ok).toBe(true);
    expect(south('ConfigMap', `owned-${sent.toLowerCase()}`) !== undefined).toBe(cascade === 'ORPHAN');
  });

  test('by the id of a resource', async () => {
    fleet.cluster('south').put(configMap('by-id', {}) as never);
    const { configMaps } = await fleet.query<{ configMaps: { items: readonly { id: string }[] } }>(
      `{ configMaps(clusters: ["south"], where: { path: "metadata.name", eq: "by-id" }) { items { id } } }`,
    );
    expect(brief(await onTargets('delete', [{ id: configMaps.items[0]?.id ?? '' }]))).toEqual([['south', 'DELETED']]);
    const { errors } = await fleet.ask('mutation { delete(targets: [{ id: "bm9uZQ" }]) { ok } }');
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_INPUT']);
  });
});

describe('a Secret', () => {
  const secret = (value: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'guarded',
      namespace: fleet.namespace,
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":"${value}"}` },
    },
    data: { token: Buffer.from(value).toString('base64') },
  });

  test('is written, and no value of it is told: in results, differences, refusals, or the log', async () => {
    const outcomes = [
      await apply(secret('canary-one'), { dryRun: true }),
      await apply(secret('canary-one')),
      await apply(secret('canary-two'), { dryRun: true }),
      await apply(secret('canary-two')),
      await onTargets('patch', [refOf('guarded', 'Secret')], {
        type: ['PatchType!', 'MERGE'],
        patch: ['JSON!', { stringData: { more: 'canary-three' } }],
      }),
      await onTargets('patch', [refOf('guarded', 'Secret')], {
        type: ['PatchType!', 'JSON'],
        patch: ['JSON!', [{ op: 'test', path: '/data/token', value: 'x' }]],
      }),
      await apply({ ...secret('canary-four'), data: { token: '!canary-five!' } }),
      await onTargets('delete', [refOf('guarded', 'Secret')], { dryRun: ['Boolean', true] }),
      await onTargets('delete', [refOf('guarded', 'Secret')]),
    ];
    expect(outcomes.map(({ results }) => results[0]?.action)).toEqual([
      'CREATED',
      'CREATED',
      'CONFIGURED',
      'CONFIGURED',
      'CONFIGURED',
      'FAILED',
      expect.any(String),
      'DELETED',
      'DELETED',
    ]);
    // That something changes, and which key, is told.
    expect(outcomes[2]?.results[0]?.diff).toContain('token');
    const told = JSON.stringify([outcomes, fleet.logged()]);
    for (const value of ['one', 'two', 'three', 'four', 'five'].map((word) => `canary-${word}`)) {
      expect(told).not.toContain(value);
      expect(told).not.toContain(Buffer.from(value).toString('base64'));
    }
  });
});

test('each write is in the log once: who, what, where, and what came of it; a dry run is not', async () => {
  const before = fleet.logged().length;
  await apply(configMap('logged', { a: 'canary-value' }), { dryRun: true });
  await apply(configMap('logged', { a: 'canary-value' }));
  const lines = fleet
    .logged()
    .slice(before)
    .filter(({ message }) => message === 'an object was written');
  expect(lines).toEqual([
    {
      ...{ cluster: 'south', apiVersion: 'v1', kind: 'ConfigMap', namespace: fleet.namespace, name: 'logged' },
      ...{ action: 'CREATED', verb: 'apply', caller: 'local', message: 'an object was written' },
    },
  ]);
});
