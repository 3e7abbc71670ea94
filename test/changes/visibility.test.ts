import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noAudit } from '../../src/audit/audit.ts';
import { createObjectChanges } from '../../src/changes/create-object-changes.ts';
import type { ObjectChanges, ObjectChangesOutcome, TargetInput } from '../../src/changes/object-changes.ts';
import { MusterError } from '../../src/core/errors.ts';
import { idOfObject } from '../../src/core/object-ids.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { type PropagationWorld, startPropagationWorld } from '../support/propagate/propagation-world.ts';
import { createRestrictingAccess } from '../support/restricting-access.ts';

// A caller cannot write hidden objects, nor learn that they exist: hidden and absent objects give the same answer, and so do hidden and
// unknown clusters.

const configMap = (name: string, namespace: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { a: 'canary-value' },
});
const namespaces = ['open', 'closed'].map((name): KubernetesObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));

let world: PropagationWorld;
let writes: ObjectChanges;
/** The identity of each write. */
let actors: string[] = [];
beforeAll(async () => {
  const objects = [...namespaces, configMap('a', 'open'), configMap('a', 'closed')];
  world = await startPropagationWorld({ north: objects, quebec: objects });
  writes = createObjectChanges({
    members: world.members,
    access: createRestrictingAccess({ alice: { north: ['open'] }, bob: { north: [] }, carol: { north: 'all', quebec: 'all' } }),
    clientOf: (cluster, { caller }) => {
      actors.push(`${caller.key} ${cluster}`);
      return world.clientOf(cluster);
    },
    isSensitive: ({ kind }) => kind === 'Secret',
    audit: noAudit,
    clock: world.clock,
    log: world.log,
  });
});
afterAll(() => world[Symbol.asyncDispose]());

const as = (key: string) => ({ caller: { key }, signal: new AbortController().signal });
const target = (cluster: string, namespace: string, name = 'a'): TargetInput => ({
  ref: { cluster, apiVersion: 'v1', kind: 'ConfigMap', namespace, name },
});
const idOf = (cluster: string, namespace: string): TargetInput => ({
  id: idOfObject({ cluster, group: '', kind: 'ConfigMap', namespace, name: 'a' }),
});
const codes = ({ results }: ObjectChangesOutcome) => results.map(({ action, fault }) => fault?.code ?? action);

type Verb = readonly [name: string, write: (caller: string, targets: readonly TargetInput[]) => Promise<ObjectChangesOutcome>];
const dryRun = true;
const verbs: readonly Verb[] = [
  ['patch', (caller, targets) => writes.patch(as(caller), { targets, type: 'MERGE', patch: { data: { b: '1' } }, dryRun })],
  ['delete', (caller, targets) => writes.delete(as(caller), { targets, cascade: 'BACKGROUND', dryRun })],
  ['scale', (caller, targets) => writes.scale(as(caller), { targets, replicas: 1, dryRun })],
  ['restart', (caller, targets) => writes.restart(as(caller), { targets, dryRun })],
];

/** Returns the number of requests about objects so far. */
const asked = () =>
  ['north', 'quebec']
    .flatMap((name) => world.cluster(name).requests)
    .filter(({ resource }) => resource?.resource === 'configmaps' && resource.name !== undefined).length;

describe.each(verbs)('%s', (_name, write) => {
  test('of a hidden object gives the answer for an absent one, without a call to a cluster', async () => {
    const before = asked();
    const hidden = await world.pumped(write('alice', [target('north', 'closed'), idOf('north', 'closed')]));
    expect(asked()).toBe(before);
    const [byRef, byId] = hidden.results;
    expect(codes(hidden)).toEqual(['NOT_FOUND', 'NOT_FOUND']);
    const absent = await world.pumped(write('carol', [target('north', 'closed', 'none')]));
    expect(byRef?.fault?.message.replace('"a"', '"none"')).toBe(absent.results[0]?.fault?.message);
    expect({ ...byId?.fault, message: '' }).toEqual({ ...absent.results[0]?.fault, message: '' });
  });

  test('without any visibility finds no object', async () => {
    expect(codes(await world.pumped(write('bob', [target('north', 'open'), target('north', 'closed')])))).toEqual([
      'NOT_FOUND',
      'NOT_FOUND',
    ]);
  });

  test('in a hidden cluster is refused like in an unknown one, before any call', async () => {
    const before = asked();
    const refusal = async (cluster: string) => {
      const caught: unknown = await world.pumped(
        write('alice', [target('north', 'open'), target(cluster, 'open')]).catch((error: unknown) => error),
      );
      return caught instanceof MusterError ? [caught.code, caught.message] : caught;
    };
    expect(await refusal('quebec')).toEqual(['BAD_INPUT', 'no cluster named "quebec"']);
    expect(await refusal('zulu')).toEqual(['BAD_INPUT', 'no cluster named "zulu"']);
    expect(asked()).toBe(before);
  });
});

test('a visible object is written with the rights of the caller', async () => {
  actors = [];
  const patched = await world.pumped(
    writes.patch(as('alice'), { targets: [target('north', 'open')], type: 'MERGE', patch: { data: { b: '1' } }, dryRun: false }),
  );
  expect([codes(patched), actors]).toEqual([['CONFIGURED'], ['alice north']]);
  const applied = await world.pumped(
    writes.apply(as('carol'), {
      manifests: [{ json: { ...configMap('b', 'open') } as never }],
      clusters: ['north', 'quebec', 'north'],
      force: false,
      dryRun: false,
    }),
  );
  // A cluster that is named twice is written once.
  expect([codes(applied), actors.slice(1)]).toEqual([
    ['CREATED', 'CREATED'],
    ['carol north', 'carol quebec'],
  ]);
});

test('apply to a hidden cluster is refused like to an unknown one', async () => {
  const ask = (clusters: readonly string[]) =>
    writes.apply(as('alice'), { manifests: [{ yaml: 'a: 1' }], clusters, force: false, dryRun: false });
  await expect(ask(['quebec'])).rejects.toThrow('no cluster named "quebec"');
  await expect(ask(['north', 'zulu'])).rejects.toThrow('no cluster named "zulu"');
});

test('an abort of the request rejects with its reason', async () => {
  const end = new AbortController();
  const reason = new Error('gone');
  const north = world.cluster('north');
  using _slow = north.delay(5_000, { kind: 'ConfigMap' });
  const writing = writes
    .patch(
      { caller: { key: 'carol' }, signal: end.signal },
      { targets: [target('north', 'open')], type: 'MERGE', patch: {}, dryRun: false },
    )
    .catch((error: unknown) => error);
  await world.pass(200);
  end.abort(reason);
  expect(await world.pumped(writing)).toBe(reason);
});
