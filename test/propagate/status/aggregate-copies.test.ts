import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { aggregatesOf } from '../../../src/propagate/status/aggregate-copies.ts';
import { linesOf } from '../../../src/propagate/status/cluster-line.ts';
import type { ClusterFacts } from '../../../src/propagate/status/facts.ts';
import { clusterOf, copyOf, faultOf, leavingOf, nowMs, rolledOut, rollout, withStatus } from './cluster-facts.ts';

const aggregate = (...clusters: readonly ClusterFacts[]) =>
  aggregatesOf(clusters, linesOf(clusters, { generation: 3, spec: { rollout }, nowMs }), 3);
const older: JsonObject = { ...rolledOut, metadata: { generation: 1, annotations: { 'muster.dev/generation': '2' } } };

describe('the aggregate of one object in many clusters', () => {
  test('sums figures, and reports that all copies have observed the newest template', () => {
    const [web] = aggregate(clusterOf('north'), clusterOf('south', { copies: [copyOf({ object: withStatus({ readyReplicas: 1 }) })] }));
    expect(web).toMatchObject({
      key: { kind: 'Deployment', name: 'web' },
      status: { replicas: 4, readyReplicas: 3, observedGeneration: 3 },
      observed: true,
      health: 'Healthy',
    });
  });

  test('a copy that does not show our write keeps the generation from being observed', () => {
    const [web] = aggregate(clusterOf('north'), clusterOf('south', { copies: [copyOf({ object: older })] }));
    expect(web?.status).not.toHaveProperty('observedGeneration');
  });

  test('a cluster without its copy counts as a target', () => {
    const [web] = aggregate(clusterOf('north'), clusterOf('south', { copies: [copyOf({ object: 'absent' })] }));
    expect(web).toMatchObject({ status: { replicas: 2 }, observed: false, health: 'Unhealthy' });
  });

  test('a copy in an unreachable cluster has no figures', () => {
    const silent = clusterOf('south', { copies: [copyOf({ fault: faultOf('UNREACHABLE') })] });
    expect(aggregate(clusterOf('north'), silent)).toMatchObject([{ status: { replicas: 2 }, observed: false, health: 'Unknown' }]);
  });

  test('a copy that is being deleted is no target', () => {
    expect(aggregate(clusterOf('north'), leavingOf('south'))).toMatchObject([{ status: { replicas: 2 }, observed: true }]);
    const going = copyOf({ name: 'old', entry: { state: 'Deleting' } });
    const objects = [{ key: copyOf().entry.key, action: 'UNCHANGED' as const, desiredHash: 'h3' }];
    const gone = { key: going.entry.key, action: 'DELETE' as const, desiredHash: 'h3' };
    expect(aggregate(clusterOf('north', { copies: [copyOf(), going], planned: { wave: 0, objects: [...objects, gone] } }))).toHaveLength(1);
  });

  test('uses the rules of each kind, in the order of kinds and names', () => {
    const copies = (ip: string) => [
      copyOf(),
      copyOf({ kind: 'ConfigMap', name: 'b', object: { data: {} } }),
      copyOf({ kind: 'ConfigMap', name: 'a', object: { data: {} } }),
      {
        ...copyOf({ name: 'lb', object: { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip }] } } } }),
        entry: { ...copyOf().entry, key: { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'lb' } },
      },
    ];
    const told = aggregate(clusterOf('north', { copies: copies('192.0.2.2') }), clusterOf('south', { copies: copies('192.0.2.1') }));
    expect(told.map(({ key: { kind, name } }) => `${kind} ${name}`)).toEqual([
      'ConfigMap a',
      'ConfigMap b',
      'Service lb',
      'Deployment web',
    ]);
    expect(told[0]).toMatchObject({ status: {}, observed: true, health: 'Healthy', conditions: [] });
    expect(told[2]?.status).toEqual({ loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }] } });
  });
});

describe('conditions', () => {
  const condition = { type: 'Available', status: 'True' };
  const well = copyOf({ object: withStatus({ conditions: [condition] }) });
  const ill = copyOf({ object: withStatus({ availableReplicas: 0, conditions: [{ type: 'Available', status: 'False' }] }) });

  test('are listed per cluster, those of unhealthy copies first', () => {
    const [web] = aggregate(clusterOf('a', { copies: [well] }), clusterOf('b', { copies: [ill] }));
    expect(web?.conditions).toEqual([
      { cluster: 'b', condition: { type: 'Available', status: 'False' } },
      { cluster: 'a', condition },
    ]);
  });

  test('are at most 200 in one status, however many copies there are', () => {
    const names = ['one', 'two', 'three', 'four'];
    const copies = names.map((name) => copyOf({ name, object: withStatus({ conditions: [condition] }) }));
    const told = aggregate(...Array.from({ length: 120 }, (_, at) => clusterOf(`c${at}`, { copies })));
    expect(told.map(({ conditions }) => conditions.length)).toEqual([50, 50, 50, 50]);
  });

  test.each([30, 150, 200])('are at most 200 in one status of %s objects', (objects) => {
    const copies = Array.from({ length: objects }, (_, at) => copyOf({ name: `c${at}`, object: withStatus({ conditions: [condition] }) }));
    const counts = aggregate(...Array.from({ length: 10 }, (_, at) => clusterOf(`c${at}`, { copies }))).map(
      ({ conditions }) => conditions.length,
    );
    expect(counts).toEqual(Array.from({ length: objects }, () => Math.floor(200 / objects)));
  });
});
