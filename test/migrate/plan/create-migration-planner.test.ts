import { describe, expect, test } from 'vitest';
import type { Access } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import { createActingClients } from '../../../src/changes/acting-clients.ts';
import { createObjectClient } from '../../../src/changes/create-object-client.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type MigrationSpec, parseMigrationSpec } from '../../../src/migrate/model/migration.ts';
import type { MigrationPlan } from '../../../src/migrate/model/migration-plan.ts';
import { createMigrationPlanner } from '../../../src/migrate/plan/create-migration-planner.ts';
import type { MigrationPlanner, MigrationPlannerPorts } from '../../../src/migrate/plan/migration-planner.ts';
import { type PropagationWorld, startPropagationWorld } from '../../support/propagate/propagation-world.ts';
import { accessBut } from '../../support/restricting-access.ts';

const namespace = (name: string): KubernetesObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const node = (name: string, cpu = '16'): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  spec: {},
  status: { allocatable: { cpu, memory: '64Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] },
});
const web = (name: string, { cpu = '1', spec = {} }: { readonly cpu?: string; readonly spec?: JsonObject } = {}): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'shop', labels: { team: 'a' } },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'c:1', resources: { requests: { cpu } } }], ...spec },
    },
  },
});
const object = (kind: string, name: string, more: JsonObject = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'shop' },
  ...more,
});
const uses = (...maps: readonly string[]) => ({ volumes: maps.map((name) => ({ name, configMap: { name } })) });

interface PlannerWorld extends AsyncDisposable {
  readonly world: PropagationWorld;
  readonly planner: MigrationPlanner;
  plan(more?: Readonly<Record<string, Json>>): Promise<MigrationPlan>;
}

async function startPlanner(
  east: readonly KubernetesObject[],
  west: readonly KubernetesObject[],
  ports: Partial<MigrationPlannerPorts> = {},
): Promise<PlannerWorld> {
  const world = await startPropagationWorld({ hub: [], east: [namespace('shop'), ...east], west: [namespace('shop'), ...west] });
  const planner = createMigrationPlanner({
    members: world.members,
    clientOf: (name) => {
      const api = world.members.api(name);
      return api === undefined ? undefined : createObjectClient(api);
    },
    sensitiveKinds: { has: ({ kind }) => kind === 'Secret' },
    planner: { render: () => Promise.reject(new Error('expected no Propagation')) },
    readBackup: () => Promise.reject(new Error('expected no backup')),
    clock: world.clock,
    ...ports,
  });
  const signal = new AbortController().signal;
  return {
    world,
    planner,
    plan: (more = {}) => world.pumped(planner.plan({ namespace: 'shop', spec: specOf(more), signal })),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

function specOf(more: Readonly<Record<string, Json>>): MigrationSpec {
  const spec = parseMigrationSpec({ from: 'east', to: 'west', labels: { matchLabels: { team: 'a' } }, ...more });
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  return spec;
}

const verdicts = ({ apps }: MigrationPlan) => apps.map(({ key, skipped }) => `${key.name}: ${skipped?.reason ?? 'moves'}`);
const actions = (objects: readonly { readonly key: { readonly kind: string; readonly name: string }; readonly action: string }[]) =>
  objects.map(({ key, action }) => `${action} ${key.kind} ${key.name}`);

describe('a plan of a migration', () => {
  test('has figures, and skips an application that needs as much as is free', async () => {
    await using east = await startPlanner(
      [web('core', { cpu: '8' }), web('extra', { cpu: '8' })],
      ['a', 'b', 'c'].map((name) => node(name)),
    );
    const plan = await east.plan();
    expect(plan.apps.map(({ key, from, to, needs, free }) => [key.name, from, to, needs.cpu, free.cpu])).toEqual([
      ['core', 3, 3, '24', '48'],
      ['extra', 3, 3, '24', '24'],
    ]);
    expect([verdicts(plan), plan.needs.cpu, plan.needs.pods, plan.free.cpu, plan.ok]).toEqual([
      ['core: moves', 'extra: Capacity'],
      '48',
      6,
      '48',
      true,
    ]);
    expect(plan.notes).toEqual([
      expect.objectContaining({ severity: 'WARNING', code: 'CAPACITY', message: expect.stringContaining('needs 24 CPU') }),
    ]);
    expect(verdicts(await east.plan({ priority: ['extra'] }))).toEqual(['extra: moves', 'core: Capacity']);
    expect(verdicts(await east.plan({ copies: 0.5 }))).toEqual(['core: moves', 'extra: moves']);
    const again = await east.plan();
    expect(again.digest).toBe(plan.digest);
    expect((await east.plan({ priority: ['extra'] })).digest).not.toBe(plan.digest);
  });

  test('copies an object that another workload needs, and keeps it in the source', async () => {
    const service = object('Service', 'shop', { spec: { selector: { app: 'shop' }, ports: [{ port: 80 }] } });
    const other = { ...web('other', { spec: uses('common') }), metadata: { name: 'other', namespace: 'shop', labels: {} } };
    const maps = [object('ConfigMap', 'own', { data: { a: '1' } }), object('ConfigMap', 'common', { data: { b: '2' } })];
    await using east = await startPlanner([web('shop', { spec: uses('own', 'common') }), other, ...maps, service], [node('a')]);
    const [app] = (await east.plan()).apps;
    expect(actions(app?.target ?? [])).toEqual([
      'CREATE ConfigMap common',
      'CREATE ConfigMap own',
      'CREATE Service shop',
      'CREATE Deployment shop',
    ]);
    expect(actions(app?.source ?? [])).toEqual([
      'DELETE Deployment shop',
      'DELETE Service shop',
      'DELETE ConfigMap own',
      'HOLD ConfigMap common',
    ]);
    expect(app?.target.map(({ stage }) => stage)).toEqual(['Surge', 'Surge', 'Traffic', 'Surge']);
    expect(
      east.world
        .cluster('west')
        .objects('ConfigMap')
        .filter(({ metadata }) => metadata.namespace === 'shop'),
    ).toEqual([]);
  });

  test('uses an equal ConfigMap of the target, and skips an application whose name is taken', async () => {
    const config = object('ConfigMap', 'conf', { data: { a: '1' } });
    const taken = object('ConfigMap', 'mine', { data: { a: 'theirs' } });
    await using east = await startPlanner(
      [
        web('a', { spec: uses('conf') }),
        web('b', { spec: uses('mine') }),
        web('c'),
        config,
        object('ConfigMap', 'mine', { data: { a: 'ours' } }),
      ],
      [node('n'), config, taken, web('c')],
    );
    const plan = await east.plan();
    expect(verdicts(plan)).toEqual(['a: moves', 'b: Conflict', 'c: Conflict']);
    expect(plan.apps[0]?.target[0]).toMatchObject({ action: 'UNCHANGED', uid: expect.any(String) });
    expect(plan.apps[1]?.skipped?.message).toBe('ConfigMap shop/mine exists in west already');
  });

  test('skips applications that the target does not serve, has no namespace for, or refuses', async () => {
    await using east = await startPlanner([web('a')], [node('n')]);
    const elsewhere = { ...web('a'), metadata: { name: 'a', namespace: 'away', labels: { team: 'a' } } };
    east.world.cluster('east').put(namespace('away'));
    east.world.cluster('east').put(elsewhere);
    const plan = await east.plan({ namespaces: ['away'] });
    expect(plan.apps[0]?.skipped).toEqual({
      reason: 'NamespaceMissing',
      message: 'west has no namespace away, and a migration creates none',
    });
    expect([plan.ok, plan.notes.map(({ code }) => code)]).toEqual([false, ['NAMESPACE_MISSING', 'NOTHING_FITS']]);
  });

  test('shows only to a requester with the rights that a namespace does not exist', async () => {
    await using east = await startPlanner([web('a')], [node('n')]);
    using _forbidden = east.world.cluster('west').forbid({ kind: 'Deployment', verbs: ['create'] });
    const elsewhere = { ...web('a'), metadata: { name: 'a', namespace: 'away', labels: { team: 'a' } } };
    east.world.cluster('east').put(namespace('away'));
    east.world.cluster('east').put(elsewhere);

    expect((await east.plan({ namespaces: ['away'] })).apps[0]?.skipped).toEqual({
      reason: 'Denied',
      message: 'not allowed to create deployments in namespace away of west',
    });
  });

  test.each(['Node', 'Pod'])('shows no free room to a requester who may not list every %s', async (kind) => {
    const access = accessBut((request) => request.verb === 'list' && request.kind.kind === kind);
    const { visibility } = createActingClients({ member: () => undefined, access, accounts: 'many' });
    const objects = [web('core', { cpu: '8' }), web('extra', { cpu: '8' })];
    const nodes = ['a', 'b', 'c'].map((name) => node(name));
    const requester = { user: 'alice', groups: [], at: '2026-01-01T00:00:00Z' };
    await using hidden = await startPlanner(objects, nodes, { visibility });
    await using shown = await startPlanner(objects, nodes);
    const [plan, full] = [await hidden.plan({ requester }), await shown.plan({ requester })];
    const none = { pods: 0, cpu: '0', memory: '0' };

    expect(verdicts(plan)).toEqual(verdicts(full));
    expect(plan.needs).toEqual(full.needs);
    expect([plan.free, ...plan.apps.map(({ free }) => free)]).toEqual([none, none, none]);
    expect(plan.apps.map(({ skipped }) => skipped?.message)).toEqual([undefined, 'the target has too little free room for its replicas']);
    expect(plan.faults.map(({ code, cluster }) => [code, cluster])).toEqual([['FORBIDDEN', 'west']]);
    expect(full.faults).toEqual([]);
  });

  test.each(['to', 'from'])('answers for a hidden cluster in `%s` as for one that does not exist', async (side) => {
    const access: Access = { ...createLocalAccess(), maySeeCluster: (_caller, cluster) => cluster !== (side === 'to' ? 'west' : 'east') };
    const { visibility } = createActingClients({ member: () => undefined, access, accounts: 'many' });
    const requester = { user: 'alice', groups: [], at: '2026-01-01T00:00:00Z' };
    await using planner = await startPlanner([web('a')], [node('n')], { visibility });
    const [hidden, unknown] = [side === 'to' ? 'west' : 'east', 'moon'];
    const textOf = async (cluster: string) => {
      const { asOfMs: _time, digest: _digest, ...plan } = await planner.plan({ requester, [side]: cluster });
      return [JSON.stringify(plan).replaceAll(cluster, 'CLUSTER'), plan.notes.map((one) => one.code)];
    };
    const [ofHidden, ofUnknown] = [await textOf(hidden), await textOf(unknown)];
    expect(ofHidden).toEqual(ofUnknown);
    expect(ofHidden[1]).toEqual(['UNREACHABLE']);
  });

  test('skips a custom workload whose StatefulSet deletes its claims', async () => {
    const versions = [{ name: 'v1', served: true, storage: true, subresources: { scale: { specReplicasPath: '.spec.replicas' } } }];
    const spec = { group: 'example.com', scope: 'Namespaced', names: { kind: 'Database', plural: 'databases' }, versions };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'databases.example.com' },
    };
    const database = { ...object('Database', 'db', { spec: { replicas: 1 } }), apiVersion: 'example.com/v1' };
    const planOf = async (persistentVolumeClaimRetentionPolicy: JsonObject) => {
      await using east = await startPlanner([], [node('a')]);
      for (const cluster of ['east', 'west']) east.world.cluster(cluster).define({ ...definition, spec } as unknown as KubernetesObject);
      const { uid = '' } = east.world.cluster('east').put(database).metadata;
      const set = object('StatefulSet', 'db-data', { spec: { persistentVolumeClaimRetentionPolicy } });
      const owner = { apiVersion: 'example.com/v1', kind: 'Database', name: 'db', uid, controller: true };
      east.world.cluster('east').put({ ...set, apiVersion: 'apps/v1', metadata: { ...set.metadata, ownerReferences: [owner] } });
      const apps = [{ apiVersion: 'example.com/v1', kind: 'Database', namespace: 'shop', name: 'db' }];
      const kind = { apiVersion: 'example.com/v1', kind: 'Database' };
      const isServed = (cluster: string) => typeof east.world.members.objects.served(clusterName(cluster), kind) === 'object';
      await east.world.until(() => isServed('east') && isServed('west'));
      return await east.plan({ labels: null, apps });
    };
    expect((await planOf({ whenScaled: 'Retain', whenDeleted: 'Delete' })).apps[0]?.skipped).toEqual({
      reason: 'Invalid',
      message: expect.stringContaining('its StatefulSet db-data would delete claims'),
    });
    expect((await planOf({ whenScaled: 'Retain', whenDeleted: 'Retain' })).apps[0]?.skipped).toBeUndefined();
  });

  test('names applications that do not exist, and refuses a migration without applications', async () => {
    await using east = await startPlanner([web('a')], [node('n')]);
    const named = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
    expect(verdicts(await east.plan({ labels: null, apps: [named('a'), named('gone')] }))).toEqual(['a: moves', 'gone: Invalid']);
    const none = await east.plan({ labels: { matchLabels: { team: 'none' } } });
    expect([none.ok, none.apps, none.notes.map(({ code }) => code)]).toEqual([false, [], ['NO_APPS']]);
  });

  test('warns of volumes, and keeps their claims in the source', async () => {
    const claim = object('PersistentVolumeClaim', 'data', {
      spec: { volumeName: 'pv-1', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    const volume = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
    await using east = await startPlanner([web('a', { spec: volume }), claim], [node('n')]);
    const plan = await east.plan();
    expect(plan.notes.map(({ code }) => code)).toEqual(['VOLUME_DATA']);
    expect(plan.apps[0]?.target[0]?.desired.spec).not.toHaveProperty('volumeName');
    expect(actions(plan.apps[0]?.source ?? [])).toEqual(['DELETE Deployment a', 'HOLD PersistentVolumeClaim data']);
  });

  test('is refused for a cluster that has left, with its fault', async () => {
    await using east = await startPlanner([web('a')], [node('n')]);
    east.world.leave('east');
    const plan = await east.plan();
    expect([plan.ok, plan.apps, plan.notes.map(({ code }) => code), plan.faults.map(({ code }) => code)]).toEqual([
      false,
      [],
      ['UNREACHABLE'],
      ['GONE'],
    ]);
  });
});
