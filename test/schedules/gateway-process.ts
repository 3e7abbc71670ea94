import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type RunningProcess, runMuster } from '../support/run-process.ts';
import { createFaultyProxy, type FaultyProxy } from './faulty-proxy.ts';
import type { readMembers } from './member-cluster.ts';

/** A gateway in a separate process. It reaches each cluster through its own proxy, so a fault can hit this gateway alone. */
export interface GatewayProcess extends AsyncDisposable {
  readonly name: string;
  readonly proxies: ReadonlyMap<string, FaultyProxy>;
  isListening(): boolean;
  /** Starts the process unless it runs. Resolves when the gateway listens. */
  start(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Runs one GraphQL operation. Rejects if the gateway does not answer within 20 s, or answers with errors. */
  query<T>(document: string, variables: object): Promise<T>;
  /** Returns everything that the processes of this gateway wrote to stderr. */
  log(): string;
}

/** Prepares a gateway over all contexts of the kubeconfig, without starting it. The first context is the hub. */
export async function createGatewayProcess(name: string, { members, kubeconfig }: ReturnType<typeof readMembers>): Promise<GatewayProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), `muster-schedules-${name}-`));
  const proxies = new Map<string, FaultyProxy>();
  for (const { name: cluster, host, port } of members) proxies.set(cluster, await createFaultyProxy({ host, port }));
  const clusters = kubeconfig.clusters.map((entry) => {
    const context = kubeconfig.contexts.find(({ context: { cluster } }) => cluster === entry.name);
    return { ...entry, cluster: { ...entry.cluster, server: `https://127.0.0.1:${proxies.get(context?.name ?? '')?.port}` } };
  });
  const file = path.join(folder, 'kubeconfig');
  await writeFile(file, JSON.stringify({ ...kubeconfig, clusters }));
  let running: RunningProcess | undefined;
  let url = '';
  let isReady = false;
  let written = '';
  return {
    name,
    proxies,
    isListening: () => running !== undefined && isReady,
    log: () => written + (running?.err() ?? ''),
    async start() {
      if (running !== undefined) return;
      running = runMuster(['serve', '--kubeconfig', file, '--hub', members[0]?.name ?? '', '--port', '0'], {
        HOME: folder,
        XDG_STATE_HOME: folder,
      });
      url = (await running.says(/http:\/\/\S+\/graphql/))[0];
      isReady = true;
    },
    async kill(signal) {
      const stopped = running;
      stopped?.kill(signal);
      if (signal !== 'SIGKILL' || stopped === undefined) return;
      running = undefined;
      isReady = false;
      await stopped.ended;
      written += stopped.err();
    },
    async query<T>(document: string, variables: object): Promise<T> {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: document, variables }),
        signal: AbortSignal.timeout(20_000),
      });
      const { data, errors } = (await answer.json()) as { data: T; errors?: unknown };
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return data;
    },
    [Symbol.asyncDispose]: async () => {
      await running?.[Symbol.asyncDispose]();
      for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
