import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { openClusters } from '../../src/open-clusters.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { until } from '../support/pumped-clock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-pod-'));
  await writeFile(path.join(folder, 'token'), 'token-of-the-pod');
  await writeFile(path.join(folder, 'namespace'), 'muster-system');
});
afterEach(() => rm(folder, { recursive: true }));

const kubeconfig = {
  ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'far' },
  clusters: [{ name: 'far', cluster: { server: 'https://far.example.com' } }],
  contexts: [{ name: 'far', context: { cluster: 'far' } }],
};

const writeConfig = (clusters: readonly object[]) =>
  writeFile(path.join(folder, 'muster.yaml'), JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', clusters }));

/** Opens the clusters of a config file, or of none, as in a Pod. */
async function openInPod(
  clusters: readonly object[],
  {
    environment = {},
    clock = systemClock,
    log = silentLog,
  }: { readonly environment?: Readonly<Record<string, string>>; readonly clock?: Clock; readonly log?: Log } = {},
) {
  await writeConfig(clusters);
  await writeFile(path.join(folder, 'far.kubeconfig'), JSON.stringify(kubeconfig));
  const inPod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443', HOME: path.join(folder, 'home'), ...environment };
  const flags = clusters.length === 0 ? {} : { config: 'muster.yaml' };
  const config = await loadConfig({ flags, environment: inPod, directory: folder });
  return openClusters({ config, serviceAccountFolder: folder, clock, log });
}

test.each<[string, readonly object[], string | undefined]>([
  ['without a config file it is the only cluster', [], 'in-cluster'],
  ['it is the cluster without a kubeconfig', [{ name: 'a', kubeconfig: 'far.kubeconfig' }, { name: 'main' }], 'main'],
  ['it is not in the fleet', [{ name: 'a', kubeconfig: 'far.kubeconfig' }], undefined],
])('finds the cluster of the Pod: %s', async (_, clusters, expected) => {
  await using opened = await openInPod(clusters);
  expect(opened.ownCluster).toBe(expected);
});

const live = { name: 'main', authorization: 'live' };
const far = { name: 'a', kubeconfig: 'far.kubeconfig' };
const refusal = 'muster.yaml: clusters[1].authorization: expected sar or rbac for the hub, got "live"';

test('refuses a cluster of the Pod that is not mirrored and would be the hub', async () => {
  await expect(openInPod([far, live])).rejects.toThrow(refusal);
  await using opened = await openInPod([{ ...far, hub: true }, live]);
  expect(opened.ownCluster).toBe('main');
});

test('keeps the clusters while the config file would end the mirrors of the hub in this Pod', async () => {
  const problems: object[] = [];
  const clock = createManualClock();
  const ending = new AbortController();
  await using opened = await openInPod([far, { name: 'main' }], { clock, log: { ...silentLog, warn: (fields) => problems.push(fields) } });
  const listings = opened.source.watch(ending.signal)[Symbol.asyncIterator]();
  expect((await listings.next()).value.candidates).toHaveLength(2);
  await writeConfig([far, live]);
  const next = listings.next();
  await until(clock, () => problems.length > 0);
  expect(problems).toEqual([{ problem: expect.stringContaining(refusal) }]);
  ending.abort();
  expect(await next).toMatchObject({ done: true });
});

test('a kubeconfig that is named wins over the service account of the Pod', async () => {
  await using opened = await openInPod([], { environment: { KUBECONFIG: path.join(folder, 'far.kubeconfig') } });
  expect(opened.ownCluster).toBeUndefined();
});

test('a kubeconfig of the home folder wins over the service account of the Pod', async () => {
  await mkdir(path.join(folder, 'home/.kube'), { recursive: true });
  await writeFile(path.join(folder, 'home/.kube/config'), JSON.stringify(kubeconfig));
  await using opened = await openInPod([]);
  expect(opened.ownCluster).toBeUndefined();
});
