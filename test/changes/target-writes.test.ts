import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { brief, createMutations } from '../support/propagate/object-mutations.ts';
import { type EmbeddedFleet, startEmbedded } from '../support/propagate/writing-fleet.ts';

// Objects are patched, scaled and restarted through the whole gateway: real writes, dry runs and refusals.

let fleet: EmbeddedFleet;
beforeAll(async () => {
  fleet = await startEmbedded({ names: ['north', 'south'] });
});
afterAll(() => fleet[Symbol.asyncDispose]());

const { onTargets, configMap, workload, refOf, south, unchanged } = createMutations(() => fleet);

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
  ])('%s: changes the object, reports UNCHANGED the second time, and shows the diff as a dry run', async (type, change, again) => {
    fleet.cluster('south').put(configMap('patched', { a: '1' }) as never);
    const dry = await unchanged(() => patch(type, change, { dryRun: true }));
    expect([brief(dry), dry.results[0]?.diff?.includes('+')]).toEqual([[['south', 'CONFIGURED']], true]);
    expect(brief(await patch(type, change))).toEqual([['south', 'CONFIGURED']]);
    expect(Object.values(south('ConfigMap', 'patched')?.data ?? {})).toContain('2');
    const second = await patch(type, again);
    expect([brief(second), second.results[0]?.diff]).toEqual([[['south', 'UNCHANGED']], null]);
    fleet.cluster('south').remove('ConfigMap', 'patched', fleet.namespace);
    expect(brief(await patch(type, change))).toEqual([['south', 'NOT_FOUND']]);
    // A patch never creates an object, not even with type APPLY.
    expect(south('ConfigMap', 'patched')).toBeUndefined();
  });

  test('STRATEGIC is sent as it is, and a server that does not support it answers with its own error', async () => {
    fleet.cluster('south').put(configMap('patched', { a: '1' }) as never);
    const outcome = await unchanged(() => patch('STRATEGIC', { data: { a: '2' } }));
    expect([brief(outcome), outcome.results[0]?.fault?.message]).toEqual([[['south', expect.any(String)]], expect.stringContaining('415')]);
  });

  test.each<[string, string, Json]>([
    ['JSON', 'INVALID', [{ op: 'test', path: '/data/a', value: 'other' }]],
    ['JSON', 'INVALID', [{ op: 'remove', path: '/data/none' }]],
    ['MERGE', 'INVALID', { data: 'text' }],
  ])('%s that does not apply is %s', async (type, code, value) => {
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
    // GraphQL itself refuses null.
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_INPUT']);
  });

  test('of a subresource changes only the subresource', async () => {
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

  test.each(writes)('%s %j: another uid or version is refused, the current ones are accepted', async (field, more) => {
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

  test('sets the count, reports UNCHANGED the second time, and shows the diff as a dry run', async () => {
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

  test('below 0 is BAD_INPUT, and a kind without scale gives a fault', async () => {
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

  test.each(['Deployment', 'StatefulSet', 'DaemonSet'])('a %s gets the annotation of kubectl, once per restart', async (kind) => {
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

  test('refuses other kinds and a paused Deployment, like kubectl', async () => {
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
