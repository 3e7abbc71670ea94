import { expect, test } from 'vitest';
import type { ClusterApi } from '../../src/cluster/cluster-api.ts';
import { clusterName } from '../../src/core/names.ts';
import { UpstreamCounts } from '../../src/fleet/upstream-counts.ts';

const never = new AbortController().signal;

function apiOf(name: string): ClusterApi {
  const send = async () => ({ type: 'answered', status: 200, body: new Uint8Array() }) as const;
  return { cluster: clusterName(name), send, connectionFaults: [] } as unknown as ClusterApi;
}

test('the series of a cluster are dropped when it leaves, and its late answers make no new ones', async () => {
  const counts = new UpstreamCounts();
  const life = new AbortController();
  const [north, south] = [counts.counted(apiOf('north'), life.signal), counts.counted(apiOf('south'), never)];
  for (const api of [north, north, south]) await api.send({ method: 'GET', path: ['version'] }, never);
  expect(counts.all().map(({ cluster, verb, code, count }) => [cluster, verb, code, count])).toEqual([
    ['north', 'get', 'OK', 2],
    ['south', 'get', 'OK', 1],
  ]);
  const late = north.send({ method: 'GET', path: ['version'] }, never);
  life.abort();
  await late;
  expect(counts.all().map(({ cluster }) => cluster)).toEqual(['south']);
});

test('an apply has a verb of its own, unless it is a dry run', async () => {
  const counts = new UpstreamCounts();
  const north = counts.counted(apiOf('north'), never);
  const apply = { method: 'PATCH', path: ['api', 'v1', 'namespaces', 'shop'], contentType: 'application/apply-patch+yaml' } as const;
  await north.send(apply, never);
  await north.send({ ...apply, query: { dryRun: 'All' } }, never);
  await north.send({ ...apply, contentType: 'application/merge-patch+json' }, never);
  expect(counts.all().map(({ verb, count }) => [verb, count])).toEqual([
    ['apply', 1],
    ['patch', 2],
  ]);
});
