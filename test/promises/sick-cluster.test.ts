import { expect, test } from 'vitest';
import { type Listed, startGateway } from '../support/start-gateway.ts';
import { pod } from '../support/workloads.ts';

const allPods = '{ pods { items { metadata { name } } sync { phase asOf cluster { name } } faults { code message cluster { name } } } }';

test('keeps answering from the last mirror while a cluster is unreachable', async () => {
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
  expect((await gateway.query<{ pods: Listed }>(allPods)).pods.faults).toEqual([]);
  using _down = gateway.cluster('south').refuse();
  gateway.cluster('south').disconnect();
  await gateway.until(async () => (await gateway.query<{ pods: Listed }>(allPods)).pods.faults.length > 0);

  const { pods } = await gateway.query<{ pods: Listed }>(allPods);
  expect(pods.items.map(({ metadata }) => metadata.name)).toEqual(['api', 'web']);
  expect(pods.faults).toMatchObject([{ code: 'UNREACHABLE', cluster: { name: 'south' } }]);
});
