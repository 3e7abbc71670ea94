import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type Listed, startGateway } from '../support/gateway/start-gateway.ts';
import { liveHeapBytes } from '../support/heap.ts';
import { pod } from '../support/workloads.ts';

// A12: a list of the maximum size of a server is served, at the cost of its objects only.

const count = 100_000;
const template: JsonObject = { metadata: { name: 'many' }, data: { a: '1' } };

const liveBytes = () => liveHeapBytes() + process.memoryUsage().arrayBuffers;

test.each([
  // A list from the watch cache ignores the limit and comes as one page.
  { version: '1.29.0', comes: 'in one page', requests: [{ limit: '500', resourceVersion: '0' }, { watch: '1' }] },
  { version: '1.36.0', comes: 'as a stream', requests: [{ watch: '1', sendInitialEvents: 'true' }] },
])(
  'A12: 100,000 objects that come $comes are all there, and weigh less than 1 KiB each',
  async ({ version, requests }) => {
    await using gateway = await startGateway({ north: [pod('web')] }, { clusters: { north: { version } } });
    await gateway.query('{ pods { totalCount } }');
    const north = gateway.cluster('north');
    north.fill('ConfigMap', count, template);
    const before = liveBytes();
    const ask = () => gateway.query<{ configMaps: Listed }>('{ configMaps(waitSeconds: 0) { totalCount } }');
    expect((await ask()).configMaps.totalCount).toBe(0);
    // Other requests are answered meanwhile.
    expect(await gateway.query('{ pods(waitSeconds: 0) { totalCount faults { code } } }')).toEqual({ pods: { totalCount: 1, faults: [] } });
    await gateway.until(async () => (await ask()).configMaps.totalCount === count);
    expect((liveBytes() - before) / count).toBeLessThan(1_024);
    const { configMaps } = await gateway.query<{ configMaps: Listed }>(
      '{ configMaps(first: 2, waitSeconds: 0) { totalCount items { metadata { name } } faults { code } } }',
    );
    expect([configMaps.totalCount, configMaps.items.length, configMaps.faults]).toEqual([count, 2, []]);
    const asked = north.requests.filter(({ path }) => path === '/api/v1/configmaps').map(({ query }) => query);
    expect(asked).toMatchObject(requests);
    expect(asked.length).toBe(requests.length);
  },
  120_000,
);
