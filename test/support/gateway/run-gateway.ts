import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StartProgress } from '../../../src/cli/output/start-view.ts';
import type { Flags } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import type { SimCluster } from '../sim/sim-cluster.ts';

/** A context of the test's kubeconfig: its cluster and user. */
export interface TestContext {
  readonly name: string;
  readonly cluster: Pick<SimCluster, 'url' | 'caPem' | 'token'>;
}

/** Makes the text of a kubeconfig with these contexts. The first one is the current context. */
export function kubeconfigText(contexts: readonly TestContext[]): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': contexts[0]?.name,
    clusters: contexts.map(({ name, cluster }) => ({
      name,
      cluster: { server: cluster.url, 'certificate-authority-data': Buffer.from(cluster.caPem).toString('base64') },
    })),
    users: contexts.map(({ name, cluster }) => ({ name, user: { token: cluster.token } })),
    contexts: contexts.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  });
}

export interface RunGatewayOptions {
  readonly contexts: readonly TestContext[];
  readonly flags?: Flags;
  /** The text of a config file. */
  readonly configFile?: string;
  readonly log?: Log;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
}

/** Starts the whole gateway in this process, on its own port. The test may change its kubeconfig on disk. */
export async function runGateway({ contexts, flags = {}, configFile, log = silentLog, clock = systemClock }: RunGatewayOptions) {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-gateway-'));
  const kubeconfig = path.join(folder, 'kubeconfig');
  const file = path.join(folder, 'muster.yaml');
  await writeFile(kubeconfig, kubeconfigText(contexts));
  if (configFile !== undefined) await writeFile(file, configFile);
  const config = await loadConfig({
    flags: { kubeconfig, port: '0', ...(configFile === undefined ? {} : { config: file }), ...flags },
    environment: { HOME: folder, XDG_STATE_HOME: folder },
    directory: folder,
  });
  const progress: StartProgress[] = [];
  const gateway = await createGateway({ config, clock, log, onProgress: (step) => progress.push(step) });
  return {
    gateway,
    progress,
    /** Replaces the whole file by a rename, as an editor does. */
    rewrite: async (which: 'kubeconfig' | 'config', text: string) => {
      const target = which === 'kubeconfig' ? kubeconfig : file;
      await writeFile(`${target}.new`, text);
      await rename(`${target}.new`, target);
    },
    /** Returns the data of one operation. Rejects if it has errors. */
    query: async (query: string, variables?: object) => {
      const answer = await fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = (await answer.json()) as { data: unknown; errors?: unknown };
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return data;
    },
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
