import { expect, test } from 'vitest';
import { clusterName } from '../../../../src/core/names.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import type { PropagationPlan } from '../../../../src/propagate/model/plan.ts';
import { firstIn, shown, startPlannerWorld } from '../planner-world.ts';
import { configMap, deployment, entry, shareOf } from '../snapshots.ts';

const template = [{ json: configMap('settings') }];
const existing = { uid: 'uid-of-web', status: {} };

test('reads the inventory from the hub if it is not given', async () => {
  const shares = [shareOf('south', [entry(configMap('old'), { uid: 'u' })]), shareOf('gone', [entry(configMap('old'), { uid: 'v' })])];
  await using planner = await startPlannerWorld({ hub: [], south: [] }, { shares });
  const plan = await planner.plan({ template, placement: { clusters: ['hub'] } }, { existing });
  const unknown = await planner.plan({ template, placement: { clusters: ['hub'] } });

  expect(plan.clusters.map(({ cluster, objects }) => [cluster, objects.map(({ action }) => action)])).toEqual([
    ['gone', ['DELETE']],
    ['hub', ['CREATE']],
    ['south', ['DELETE']],
  ]);
  expect(shown(plan, 'gone').fault).toMatchObject({ code: 'GONE' });
  expect(shown(unknown, 'south').objects).toEqual([]);
});

test('makes no plan without the inventory', async () => {
  await using planner = await startPlannerWorld({ hub: [] }, { shares: 'unreadable' });

  await expect(planner.plan({ template }, { existing })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('starts from the previous counts of clusters that are not being drained', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] });
  const line = (cluster: string, phase: 'Settled' | 'Draining', replicas: number) => ({
    cluster,
    phase,
    replicas,
    health: 'Healthy' as const,
    since: '2026-01-01T00:00:00Z',
  });
  const status = {
    scheduledAt: '2026-01-01T00:00:00Z',
    clusters: [line('hub', 'Settled', 3), line('south', 'Settled', 1), line('east', 'Draining', 2)],
  };
  const plan = await planner.plan(
    { template: [{ json: deployment('web', 4) }], replicas: { mode: 'Divided' } },
    { existing: { uid: 'u', status }, shares: [] },
  );

  expect(plan.clusters.map(({ cluster, rendered, detail }) => [cluster, rendered?.share?.from, rendered?.share?.to, detail])).toEqual([
    ['east', undefined, undefined, 'all replicas are placed already'],
    ['hub', 3, 3, undefined],
    ['south', 1, 1, undefined],
  ]);
});

test.each([
  { purpose: 'keep', held: ['needs a confirmation first: 1 of 7 objects would be deleted, 4 of 10 in total since this was decided'] },
  { purpose: 'decide', held: [] },
] as const)(
  'to $purpose a generation, a prune is compared with the copies since that generation was decided',
  async ({ purpose, held }) => {
    const maps = Array.from({ length: 7 }, (_, index) => configMap(`map-${index}`));
    const entries = maps.map((map) => entry(map, { uid: map.metadata.name }));
    await using planner = await startPlannerWorld({ hub: [] });
    const status = { scheduledAt: '2026-01-01T00:00:00Z', mostObjects: 10 };
    const known = { purpose, existing: { uid: 'u', status }, shares: [shareOf('hub', entries)] };
    const plan = await planner.plan({ template: maps.slice(1).map((json) => ({ json })) }, known);

    expect(plan.notes.filter(({ code }) => code === 'PRUNE_HELD').map(({ message }) => message)).toEqual(held);
  },
);

test('rejects clusters that do not serve a kind, but counts a kind that the template defines itself as served', async () => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' } };
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  planner.world.cluster('south').define(JSON.parse(JSON.stringify(definition)));
  await planner.world.until(() => planner.world.members.objects.served(clusterName('south'), widget) !== 'absent');
  const alone = await planner.plan({ template: [{ json: widget }] });
  const defined = await planner.plan({ template: [{ json: definition }, { json: widget }], placement: { clusters: ['hub'] } });

  expect(alone.clusters.map(({ cluster, reason, detail }) => [cluster, reason, detail])).toEqual([
    ['hub', 'API_MISSING', 'Widget.example.com/v1'],
    ['south', undefined, undefined],
  ]);
  expect(shown(defined, 'hub').objects.map(({ key, action, predicted }) => [key.kind, action, predicted])).toEqual([
    ['CustomResourceDefinition', 'CREATE', false],
    ['Widget', 'CREATE', true],
  ]);
  expect(shown(defined, 'hub').objects[1]?.key.namespace).toBe('default');
});

const node = (name: string, cpu: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: { allocatable: { cpu, memory: '8Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] },
});

/** An intent of four replicas that request one CPU each, divided by the free capacity. */
const dividedByCapacity = () => {
  const web = deployment('web', 4);
  const containers = [{ name: 'web', image: 'web', resources: { requests: { cpu: '1' } } }];
  const spec = {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers } },
  };
  return { template: [{ json: { ...web, spec } }], replicas: { mode: 'Divided', strategy: 'Available' } };
};

/** The capacity and the new count of each cluster that the plan chose. */
const sharesIn = ({ clusters }: PropagationPlan) =>
  clusters.map(({ cluster, rendered }) => [cluster, rendered?.share?.capacity, rendered?.share?.to]);

test('reads the free capacity before dividing by it', async () => {
  await using planner = await startPlannerWorld({ hub: [node('n', '1')], south: [node('n', '3')] });

  expect(sharesIn(await planner.plan(dividedByCapacity()))).toEqual([
    ['hub', 1, 1],
    ['south', 3, 3],
  ]);
});

test('divides by the Nodes that a cluster has now, if it has just returned', async () => {
  await using planner = await startPlannerWorld({ hub: [node('n', '1')], south: [node('n', '1')] });
  const { world } = planner;
  const south = world.cluster('south');
  const before = await planner.plan(dividedByCapacity());
  const away = south.refuse();
  south.disconnect();
  await world.until(() => world.members.get('south')?.phase === 'UNREACHABLE');
  await world.pass(20_000);
  south.put(node('n', '3'));
  using _slow = south.delay(2_000, { resource: 'nodes' });
  away[Symbol.dispose]();
  await world.until(() => world.members.get('south')?.phase !== 'UNREACHABLE');
  const after = await planner.plan(dividedByCapacity());

  expect(sharesIn(before).map(([cluster, capacity]) => [cluster, capacity])).toEqual([
    ['hub', 1],
    ['south', 1],
  ]);
  expect(sharesIn(after)).toEqual([
    ['hub', 1, 1],
    ['south', 3, 3],
  ]);
});

test('warns of an autoscaler that sets the same replicas in a cluster', async () => {
  const autoscaler: KubernetesObject = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'any', namespace: 'default' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 9 },
  };
  await using planner = await startPlannerWorld({ hub: [], south: [autoscaler] });
  const planned = (more: Readonly<Record<string, unknown>>) => planner.plan({ template: [{ json: deployment('web', 2) }], ...more });

  expect((await planned({})).notes.map(({ code }) => code)).toEqual(['AUTOSCALED']);
  expect((await planned({ placement: { clusters: ['hub'] } })).notes).toEqual([]);
  expect((await planned({ replicas: { mode: 'External' } })).notes).toEqual([]);
});

test('starts mirrors only in clusters that may get copies or hold some', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  await planner.plan({ template, placement: { clusters: ['hub'] } });
  const asked = (name: string) => planner.world.cluster(name).requests.some(({ path }) => path.endsWith('/configmaps'));

  expect([asked('hub'), asked('south')]).toEqual([true, false]);
});

test('waits at most 10 s for mirrors, and names the unread cluster', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  using _slow = planner.world.cluster('south').stall({ resource: 'configmaps' });
  const startMs = planner.world.clock.monotonic();
  const plan = await planner.plan({ template });
  const tookMs = planner.world.clock.monotonic() - startMs;

  expect(tookMs).toBeGreaterThanOrEqual(10_000);
  expect(tookMs).toBeLessThan(12_000);
  expect(shown(plan, 'south')).toMatchObject({ objects: [], fault: { code: 'SYNCING', cluster: 'south' } });
  expect(firstIn(plan, 'hub').action).toBe('CREATE');
});

test('reports the time of the oldest mirror that was read', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  const fresh = await planner.plan({ template });
  await planner.world.pass(5_000);
  using _silent = planner.world.cluster('south').silence();
  const cutMs = planner.world.clock.now();
  await planner.world.pass(20_000);
  const old = await planner.plan({ template });

  expect(fresh.asOfMs).toBeLessThanOrEqual(cutMs);
  expect(old.asOfMs).toBeLessThanOrEqual(cutMs + 1_000);
  expect(planner.world.clock.now() - old.asOfMs).toBeGreaterThan(15_000);
});

test.each([
  { accounts: 'one', more: {}, codes: [] },
  { accounts: 'many', more: {}, codes: ['NOT_MOVED'] },
  { accounts: 'many', more: { runAs: { serviceAccount: { namespace: 'default', name: 'deployer' } } }, codes: [] },
] as const)('with $accounts account and $more, a failover has the notes $codes', async ({ accounts, more, codes }) => {
  await using planner = await startPlannerWorld({ hub: [] }, { accounts });
  const plan = await planner.plan({ template, ...more, failover: { after: '5m' } });
  const without = await planner.plan({ template, ...more });

  expect(plan.notes.map(({ code, severity, path }) => [code, severity, path])).toEqual(codes.map((code) => [code, 'WARNING', 'failover']));
  expect(without.notes).toEqual([]);
});
