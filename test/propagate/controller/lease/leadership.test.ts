import { expect, test } from 'vitest';
import type { Log } from '../../../../src/core/log.ts';
import { configMap, intent, startControllerWorld } from '../controller-world.ts';

const leaseIn = (fleet: Awaited<ReturnType<typeof startControllerWorld>>, namespace: string) =>
  fleet.world.cluster('hub').get('Lease.coordination.k8s.io', 'muster-controller', namespace);

test('a gateway leads again after the Namespace of its Lease was deleted', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const { controller } = fleet.startProcess();
  await fleet.world.until(() => controller.isLeading());
  fleet.world.cluster('hub').remove('Namespace', 'muster-system');
  expect(leaseIn(fleet, 'muster-system')).toBeUndefined();
  await fleet.world.until(() => !controller.isLeading());
  await fleet.world.until(() => controller.isLeading(), 20_000);
  expect(leaseIn(fleet, 'muster-system')).toBeDefined();
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south'] } }));
  await fleet.phase('web', 'Settled');
  expect(controller.leadership.problem()).toBeUndefined();
}, 60_000);

test('a gateway leads in another Namespace if the deletion of the first one never ends', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const { controller } = fleet.startProcess();
  await fleet.world.until(() => controller.isLeading());
  const hub = fleet.world.cluster('hub');
  const namespace = hub.get('Namespace', 'muster-system');
  if (namespace === undefined) throw new Error('expected the Namespace of the Lease');
  const metadata = { ...namespace.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/never'] };
  hub.put({ ...namespace, metadata, status: { phase: 'Terminating' } });
  hub.remove('Lease.coordination.k8s.io', 'muster-controller', 'muster-system');
  hub.forbid({ resource: 'leases', namespaces: ['muster-system'] });
  await fleet.world.until(() => !controller.isLeading());
  await fleet.world.until(() => controller.isLeading(), 60_000);
  expect(leaseIn(fleet, 'default')).toBeDefined();
}, 60_000);

test('reports once that no gateway has led for 30 s: in the log, in every Propagation and in the gateway, until one leads', async () => {
  const errors: string[] = [];
  const silent = () => undefined;
  const log: Log = { debug: silent, info: silent, warn: silent, error: (_fields, message) => void errors.push(message) };
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { log });
  const { controller } = fleet.startProcess();
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south'] } }));
  await fleet.phase('web', 'Settled');
  const ledOf = () => fleet.mirrored('web')?.status.conditions?.find(({ type }) => type === 'Led');
  const refusal = fleet.world.cluster('hub').forbid({ resource: 'leases' });
  await fleet.world.until(() => !controller.isLeading());
  await fleet.world.pass(20_000);
  expect([controller.leadership.problem(), ledOf(), errors]).toEqual([undefined, undefined, []]);
  await fleet.world.pass(20_000);
  expect(controller.leadership.problem()).toMatch(/^no gateway has led since 2026-01-01T00:00:\d\d\.\d{3}Z: .*cannot|HTTP 403/);
  expect(controller.leadership.leaderlessSeconds()).toBeGreaterThan(30);
  expect(ledOf()).toMatchObject({ status: 'False', reason: 'NoLeader', observedGeneration: 1 });
  await fleet.world.pass(30_000);
  expect(errors).toEqual(['no gateway leads: Propagations are not kept in sync']);
  refusal[Symbol.dispose]();
  await fleet.world.until(() => controller.isLeading());
  await fleet.world.until(() => ledOf() === undefined);
  expect([controller.leadership.problem(), controller.leadership.leaderlessSeconds()]).toEqual([undefined, 0]);
}, 60_000);

test('a gateway that waits while another one leads reports no problem', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const first = fleet.startProcess();
  await fleet.world.until(() => first.controller.isLeading());
  const second = fleet.startProcess();
  await fleet.world.pass(60_000);
  expect([second.controller.isLeading(), second.controller.leadership.problem()]).toEqual([false, undefined]);
}, 60_000);
