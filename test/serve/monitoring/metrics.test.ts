import { expect, test } from 'vitest';
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
