import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { openClusters } from '../../src/open-clusters.ts';

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

/** Opens the clusters of a config file, or of none, as in a Pod. */
async function openInPod(clusters: readonly object[], environment: Readonly<Record<string, string>> = {}) {
  await writeFile(path.join(folder, 'muster.yaml'), JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', clusters }));
  await writeFile(path.join(folder, 'far.kubeconfig'), JSON.stringify(kubeconfig));
  const inPod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443', HOME: path.join(folder, 'home'), ...environment };
  const flags = clusters.length === 0 ? {} : { config: 'muster.yaml' };
  const config = await loadConfig({ flags, environment: inPod, directory: folder });
  return openClusters({ config, serviceAccountFolder: folder, clock: systemClock, log: silentLog });
}

test.each<[string, readonly object[], string | undefined]>([
  ['without a config file it is the only cluster', [], 'in-cluster'],
  ['it is the cluster without a kubeconfig', [{ name: 'a', kubeconfig: 'far.kubeconfig' }, { name: 'main' }], 'main'],
  ['it is not in the fleet', [{ name: 'a', kubeconfig: 'far.kubeconfig' }], undefined],
])('finds the cluster of the Pod: %s', async (_, clusters, expected) => {
  await using opened = await openInPod(clusters);
  expect(opened.ownCluster).toBe(expected);
});

test('a kubeconfig that is named wins over the service account of the Pod', async () => {
  await using opened = await openInPod([], { KUBECONFIG: path.join(folder, 'far.kubeconfig') });
  expect(opened.ownCluster).toBeUndefined();
});

test('a kubeconfig of the home folder wins over the service account of the Pod', async () => {
  await mkdir(path.join(folder, 'home/.kube'), { recursive: true });
  await writeFile(path.join(folder, 'home/.kube/config'), JSON.stringify(kubeconfig));
  await using opened = await openInPod([]);
  expect(opened.ownCluster).toBeUndefined();
});
