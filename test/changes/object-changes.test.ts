import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { brief, createMutations } from '../support/propagate/object-mutations.ts';
import { type EmbeddedFleet, startEmbedded } from '../support/propagate/writing-fleet.ts';

// Objects are applied and deleted through the whole gateway: real writes, dry runs and refusals.

let fleet: EmbeddedFleet;
beforeAll(async () => {
  fleet = await startEmbedded({ names: ['north', 'south'] });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const { mutate, apply, onTargets, configMap, workload, refOf, south, unchanged } = createMutations(() => fleet);

describe('apply', () => {
  test('creates, reports UNCHANGED, then changes the object, in each cluster separately', async () => {
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

  test('writes Namespaces and CustomResourceDefinitions first, and returns results in the given order', async () => {
    const team = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ordered' } };
    const settings = { ...configMap('settings', { a: '1' }), metadata: { name: 'settings', namespace: 'ordered' } };
    const manifests = [settings, team].map((json) => ({ json }));
    const { results } = await mutate('apply', { manifests: ['[Manifest!]!', manifests], clusters: ['[String!]!', ['south']] });
    expect(results.map(({ action, key }) => [key.kind, action])).toEqual([
      ['ConfigMap', 'CREATED'],
      ['Namespace', 'CREATED'],
    ]);
  });

  test('never writes a recreated object of the same name if the target is an id', async () => {
    await apply(configMap('again', { a: '1' }));
    const { configMaps } = await fleet.query<{ configMaps: { items: readonly { id: string }[] } }>(
      '{ configMaps(clusters: ["south"], where: { path: "metadata.name", eq: "again" }) { items { id } } }',
    );
    const id = configMaps.items[0]?.id ?? '';
    fleet.cluster('south').remove('ConfigMap', 'again', fleet.namespace);
    await apply(configMap('again', { a: '2' }));
    const refused = await onTargets('delete', [{ id }]);
    expect(brief(refused)).toEqual([['south', 'CONFLICT']]);
    expect(fleet.cluster('south').get('ConfigMap', 'again', fleet.namespace)?.data).toEqual({ a: '2' });
    const { resource } = await fleet.query<{ resource: unknown }>('query ($id: ID!) { resource(id: $id, live: true) { id } }', { id });
    expect(resource).toBeNull();
  });

  test('as a dry run reports the same actions with a diff, and writes nothing', async () => {
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

  test('reports a CONFLICT with the manager for fields of others, unless forced', async () => {
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

  test('a failed write stops no other, and has the reason of the API server', async () => {
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

  test('only the writes to an unreachable cluster fail', async () => {
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

  test('an unknown cluster refuses the mutation, an unknown kind fails in its own result', async () => {
    const { errors } = await fleet.ask(`mutation { apply(manifests: [{ yaml: "a: 1" }], clusters: ["sotuh"]) { ok } }`);
    expect(errors?.map(({ message, extensions }) => [extensions.code, message])).toEqual([
      ['BAD_INPUT', 'no cluster named "sotuh"; did you mean south?'],
    ]);
    await fleet.pass(60_000);
    const outcome = await apply({ apiVersion: 'example.com/v1', kind: 'Nothing', metadata: { name: 'a' } });
    expect(brief(outcome)).toEqual([['south', 'NOT_SERVED']]);
  });
});

describe('delete', () => {
  const remove = (name: string, more: Readonly<Record<string, readonly [string, Json]>> = {}) => onTargets('delete', [refOf(name)], more);

  test('deletes, shows the diff as a dry run, and reports NOT_FOUND for an absent object', async () => {
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
  ])('cascade %s: owned objects are deleted or stay', async (cascade, sent) => {
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

  test('is written without its values in results, diffs, refusals and the log', async () => {
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
      await onTargets('patch', [refOf('guarded', 'Secret')], {
        type: ['PatchType!', 'MERGE'],
        patch: ['JSON!', { data: { more: '!canary-five!' } }],
      }),
      await onTargets('delete', [refOf('guarded', 'Secret', { uid: '11111111-2222-3333-4444-555555555555' })]),
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
      'FAILED',
      'FAILED',
      'FAILED',
      'DELETED',
      'DELETED',
    ]);
    expect(outcomes[6]?.results[0]?.fault).toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining('illegal base64'),
      status: null,
    });
    expect(outcomes[8]?.results[0]?.fault).toMatchObject({ code: 'CONFLICT', status: null });
    // The diff shows that the value of a key changes, but not the value.
    expect(outcomes[2]?.results[0]?.diff).toContain('token');
    const visible = JSON.stringify([outcomes, fleet.logged()]);
    for (const value of ['one', 'two', 'three', 'four', 'five'].map((word) => `canary-${word}`)) {
      expect(visible).not.toContain(value);
      expect(visible).not.toContain(Buffer.from(value).toString('base64'));
    }
  });
});

test('each write is logged once with caller, object, cluster and result, a dry run is not', async () => {
  const before = fleet.logged().length;
  await apply(configMap('logged', { a: 'canary-value' }), { dryRun: true });
  await apply(configMap('logged', { a: 'canary-value' }));
  const lines = fleet
    .logged()
    .slice(before)
    .filter(({ message }) => message === 'wrote an object');
  expect(lines).toEqual([
    {
      ...{ cluster: 'south', apiVersion: 'v1', kind: 'ConfigMap', namespace: fleet.namespace, name: 'logged' },
      ...{ action: 'CREATED', verb: 'apply', caller: 'local', message: 'wrote an object' },
    },
  ]);
});
