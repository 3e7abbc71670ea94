import { expect, test } from 'vitest';
import { createLocalAccess } from '../../src/access/local-access.ts';
import type { MemberCluster } from '../../src/changes/members.ts';
import { fault } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';
import { createSensitiveKinds } from '../../src/core/sensitive-kinds.ts';
import { createImports } from '../../src/importers/create-imports.ts';
import { never } from '../support/cluster/transport.ts';
import { unsliced } from '../support/graph/unsliced.ts';

const caller = { caller: { key: 'ann' }, signal: never, timeSlices: unsliced };

function importsOver(clusters: Readonly<Record<string, Partial<MemberCluster>>>, hidden: readonly string[] = []) {
  const members = Object.entries(clusters).map(
    ([name, more]): MemberCluster => ({ name: clusterName(name), labels: {}, zones: [], taints: [], phase: 'SYNCED', faults: [], ...more }),
  );
  return createImports({
    members: { all: () => members, get: (name) => members.find((member) => member.name === name) },
    access: { ...createLocalAccess(), maySeeCluster: (_caller, name) => !hidden.includes(name) },
    apiOf: () => {
      throw new Error('expected no request');
    },
    sensitiveKinds: createSensitiveKinds(),
  });
}

test.each(['nowhere', 'secret'])('an unknown cluster and a hidden one are refused in the same way: %s', async (cluster) => {
  const imports = importsOver({ host: {}, secret: {} }, ['secret']);
  await expect(imports.importFromCluster(caller, { cluster, exact: false })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: `no cluster named ${JSON.stringify(cluster)}`,
  });
});

test('a cluster that does not answer is a fault, without a request', async () => {
  const away = fault('UNREACHABLE', 'no route', { cluster: clusterName('host'), retry: 'LATER' });
  const imports = importsOver({ host: { phase: 'UNREACHABLE', faults: [away] } });
  expect(await imports.importFromCluster(caller, { cluster: 'host', exact: false })).toEqual({
    propagations: [],
    unread: [],
    notes: [],
    faults: [away],
  });
});

test('clusters that the caller may not see are unknown to an import', async () => {
  const imports = importsOver({ member1: {}, secret: {} }, ['secret']);
  const yaml = JSON.stringify({
    apiVersion: 'types.kubefed.io/v1beta1',
    kind: 'FederatedConfigMap',
    metadata: { name: 'a', namespace: 'shop' },
    spec: { template: { data: {} }, placement: { clusters: [{ name: 'member1' }, { name: 'secret' }] } },
  });
  const { propagations } = await imports.importManifests(caller, { yaml, exact: false });
  const unknown = propagations.flatMap(({ notes }) => notes).filter(({ code }) => code === 'UNKNOWN_CLUSTER');
  expect(unknown.map(({ path }) => path)).toEqual(['[0].spec.placement.clusters[1].name']);
});
