import { expect, test } from 'vitest';
import { shown, startPlannerWorld } from './planner-world.ts';
import { configMap, entry, shareOf } from './snapshots.ts';

const template = [{ json: configMap('settings', { ours: '1' }) }];
const rollback = { template, rollout: { onFailure: 'Rollback' } };

test('has no notes if every cluster answers, accepts the objects and allows all writes', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  const plan = await planner.plan(rollback);

  expect([plan.ok, plan.notes]).toEqual([true, []]);
  const reviews = planner.world.cluster('south').requests.filter(({ path }) => path.endsWith('/selfsubjectaccessreviews'));
  expect(reviews.length).toBeGreaterThan(0);
});

test('checks no rights unless a breach is rolled back or a preflight is requested', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  using _forbidden = planner.world.cluster('south').forbid({ kind: 'ConfigMap', verbs: ['delete'] });
  const planned = await planner.plan({ template });
  const asked = await planner.preflight({ template });

  expect([planned.ok, planned.notes]).toEqual([true, []]);
  expect(asked.ok).toBe(false);
  expect(asked.digest).toBe(planned.digest);
});

test('names each missing right in each cluster', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] });
  using _south = planner.world.cluster('south').forbid({ kind: 'ConfigMap', verbs: ['delete'], namespaces: ['default'] });
  using _east = planner.world.cluster('east').forbid({ kind: 'ConfigMap', verbs: ['create'], exceptNamespaces: ['other'] });
  const plan = await planner.plan(rollback);

  expect(plan.ok).toBe(false);
  const messages = plan.notes.filter(({ code }) => code === 'PREFLIGHT_FAILED').map(({ severity, message }) => [severity, message]);
  expect(messages).toContainEqual(['ERROR', 'cluster south: not allowed to delete configmaps in default']);
  expect(messages).toContainEqual(['ERROR', 'cluster east: not allowed to create configmaps in default']);
  expect(messages.some(([, message]) => message?.startsWith('cluster hub'))).toBe(false);
});

test('includes removals: without the right to delete the plan must not start', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  using _forbidden = planner.world.cluster('south').forbid({ kind: 'ConfigMap', verbs: ['delete'] });
  const shares = [shareOf('south', [entry(configMap('old'), { uid: 'u' })])];
  const plan = await planner.plan({ ...rollback, placement: { clusters: ['hub'] } }, { shares });

  expect(plan.notes.map(({ message }) => message)).toEqual(['cluster south: not allowed to delete configmaps in default']);
});

test('reports a conflict, a refusal and an unreachable cluster', async () => {
  await using planner = await startPlannerWorld({ hub: [configMap('settings')], south: [], east: [], west: [] });
  await planner.plan({ template });
  using _refused = planner.world.cluster('south').refuseWrites({ type: 'quota' });
  using _gone = planner.world.cluster('west').refuse();
  planner.world.cluster('west').disconnect();
  await planner.world.until(() => planner.world.members.get('west')?.phase === 'UNREACHABLE');
  // A cluster that does not answer is chosen only if its taint is tolerated.
  const tolerations = [{ key: 'muster.dev/unreachable', operator: 'Exists' }];
  const plan = await planner.plan({ ...rollback, placement: { tolerations } });
  const failed = plan.notes.filter(({ code }) => code === 'PREFLIGHT_FAILED').map(({ message }) => message);

  expect(plan.ok).toBe(false);
  expect(failed).toContainEqual(
    'cluster hub: ConfigMap default/settings: it exists and does not belong to this Propagation: conflict Adopt or Overwrite takes it over',
  );
  expect(failed.some((message) => message.startsWith('cluster south: ConfigMap default/settings'))).toBe(true);
  expect(failed.some((message) => message.startsWith('cluster west: '))).toBe(true);
  expect(failed.some((message) => message.startsWith('cluster east'))).toBe(false);
  expect(shown(plan, 'west').fault).toBeDefined();
});

test('treats a refusal by some clusters as an error, because a rollback would start at once', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  using _refused = planner.world.cluster('south').refuseWrites({ type: 'denied' });
  const plan = await planner.plan(rollback);

  expect(plan.notes.map(({ severity, code }) => `${severity} ${code}`)).toEqual(['ERROR REFUSED_SOMEWHERE', 'ERROR PREFLIGHT_FAILED']);
});
