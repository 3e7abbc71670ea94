import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { startGateway } from '../../support/gateway/start-gateway.ts';
import { imported, planned, propagated } from './living-imports.ts';
import { deployment, objectOf, operatorDefinition } from './living-systems.ts';

// The operator of MultiClusterResources, in the cluster `host`, which is the hub too.

const multiClusterResource = (place: string, template: JsonObject, spec: JsonObject = {}) =>
  objectOf('mulitcluster.practice.com/v1alpha1 MultiClusterResource', place, {
    metadata: { finalizers: ['host', 'south'] },
    spec: { template, placement: { clusters: [{ name: 'host' }, { name: 'south' }] }, ...spec },
    status: { phase: 'old' },
  });
const host = [
  operatorDefinition,
  multiClusterResource('default/web', deployment('default/web', 1), {
    customize: { clusters: [{ name: 'south', action: [{ path: '/spec/replicas', op: 'replace', value: [2] }] }] },
  }),
  multiClusterResource('bank/settings', objectOf('v1 ConfigMap', 'bank/settings', { data: { a: '1' } })),
  multiClusterResource('bank/keys', objectOf('v1 Secret', 'bank/keys', { stringData: { a: 'hidden' } })),
  deployment('default/web', 1),
];

test('adopts the copies of the operator', async () => {
  await using gateway = await startGateway({ host, south: [deployment('default/web', 2)], other: [] }, { hub: 'host', living: true });
  const result = await imported(gateway, 'host');
  expect(result.propagations.map(({ system, input }) => [system, input.namespace, input.name, input.conflict])).toEqual([
    ['MULTI_CLUSTER_RESOURCE', 'bank', 'settings', 'ADOPT'],
    ['MULTI_CLUSTER_RESOURCE', 'default', 'web', 'ADOPT'],
  ]);
  expect(result.unread).toEqual([{ key: { kind: 'MultiClusterResource', name: 'keys' } }]);
  expect(result.notes.map(({ code }) => code)).toEqual(['SECRET', 'STOP_FIRST']);
  expect([JSON.stringify(result).includes('hidden'), result.faults]).toEqual([false, []]);
  const [, web] = result.propagations;
  if (web === undefined) throw new Error('expected a Propagation');
  expect(await planned(gateway, web.input)).toEqual([
    ['host', [['ADOPT', '']]],
    ['south', [['ADOPT', '']]],
  ]);
  await propagated(gateway, web.input);
  const source = gateway.cluster('host').get({ group: 'mulitcluster.practice.com', kind: 'MultiClusterResource' }, 'web', 'default');
  expect(source?.metadata).toMatchObject({ generation: 1, finalizers: ['host', 'south'] });
});

test('imports the kinds and namespaces of the scope', async () => {
  await using gateway = await startGateway({ host, south: [] }, { hub: 'host' });
  const deployments = await imported(gateway, 'host', { kinds: ['deploy'] });
  expect([deployments.propagations.map(({ input }) => input.name), deployments.unread]).toEqual([['web'], []]);
  const bank = await imported(gateway, 'host', { kinds: ['cm', 'deploy'], namespaces: ['bank'] });
  expect(bank.propagations.map(({ input }) => input.name)).toEqual(['settings']);
});

test('says of resources that the leader keeps in sync that there is nothing to import', async () => {
  await using gateway = await startGateway(
    { host, south: [deployment('default/web', 2)] },
    { hub: 'host', living: true, configFile: { importers: ['MultiClusterResource'] } },
  );
  const isKept = async () => {
    const { propagations } = await gateway.query<{ propagations: { totalCount: number } }>('{ propagations { totalCount } }');
    return propagations.totalCount === 2;
  };
  await gateway.until(isKept);
  const result = await imported(gateway, 'host', { kinds: ['cm', 'deploy'] });
  expect(result.propagations).toEqual([]);
  expect(result.unread.map(({ key }) => key.name).toSorted()).toEqual(['settings', 'web']);
  // The note STOP_FIRST is absent, because Muster takes nothing over.
  expect(result.notes).toEqual(
    ['bank/settings', 'default/web'].map((name) => ({
      severity: 'INFO',
      code: 'KEPT_IN_SYNC',
      message: expect.stringContaining(`keeps Propagation ${name} in sync`),
    })),
  );
});
