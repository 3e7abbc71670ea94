import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { Metrics } from '../../../src/serve/monitoring/metrics.ts';

test('a scrape reads the clusters once for all of their series, and the next scrape reads them again', async () => {
  let reads = 0;
  const clusters = () => {
    reads += 1;
    return [{ cluster: 'north', phase: 'SYNCED', objects: reads, ageSeconds: 2 }];
  };
  const metrics = new Metrics({ clusters, upstream: () => [], anomalies: () => [] });

  expect(await metrics.text()).toContain('muster_mirror_objects{cluster="north"} 1');
  expect(await metrics.text()).toContain('muster_mirror_objects{cluster="north"} 2');
  expect(reads).toBe(2);
});

test('counts applies, decisions about rights and disagreements, and reports whether this gateway leads', async () => {
  const upstream = () => [
    { cluster: 'north', verb: 'apply', code: 'OK', count: 3 },
    { cluster: 'north', verb: 'apply', code: 'CONFLICT', count: 1 },
    { cluster: 'north', verb: 'patch', code: 'OK', count: 9 },
  ];
  const access = {
    decisions: [{ mode: 'sar', result: 'allowed', count: 4 } as const, { mode: 'rbac', result: 'denied', count: 2 } as const],
    disagreements: [{ cluster: clusterName('south'), count: 1 }],
  };
  let leads = true;
  const leadership = { leadsHere: () => leads, leaderlessSeconds: () => 0 };
  const metrics = new Metrics({ clusters: () => [], upstream, anomalies: () => [], leadership, access });
  const own = (text: string) => text.split('\n').filter((line) => /^muster_(apply|authz|leader)/.test(line));
  expect(own(await metrics.text()).toSorted()).toEqual([
    'muster_apply_total{cluster="north",result="CONFLICT"} 1',
    'muster_apply_total{cluster="north",result="OK"} 3',
    'muster_authz_decisions_total{mode="rbac",result="denied"} 2',
    'muster_authz_decisions_total{mode="sar",result="allowed"} 4',
    'muster_authz_disagreements_total{cluster="south"} 1',
    'muster_leader 1',
  ]);
  leads = false;
  expect(own(await metrics.text())).toContain('muster_leader 0');
});

test('a cluster that has left gives its label to a later one', async () => {
  let names = Array.from({ length: 501 }, (_, index) => `cluster-${index}`);
  const clusters = () => names.map((cluster) => ({ cluster, phase: 'SYNCED', objects: 7 }));
  const metrics = new Metrics({ clusters, upstream: () => [], anomalies: () => [] });
  expect(await metrics.text()).toContain('muster_mirror_objects{cluster="other"} 7');
  names = [...names.slice(1), 'new'];
  const text = await metrics.text();
  expect(text).toContain('muster_mirror_objects{cluster="cluster-500"} 7');
  expect(text).toContain('muster_mirror_objects{cluster="other"} 7');
  names = names.slice(1);
  expect(await metrics.text()).toContain('muster_mirror_objects{cluster="new"} 7');
});
