import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';
import { type BenchServer, writeKubeconfig } from '../support/bench-kubeconfig.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

const podsEach = 1_000;
const query =
  '{ pods(first: 500, waitSeconds: 30) { totalCount items { cluster { name } metadata { name namespace } spec { nodeName } status { phase } } sync { phase } } }';

/**
 * From the start of the process to the first complete answer over three clusters. An earlier start has left its compiled modules, as on the
 * machine of a user.
 */
export const firstAnswerCase: BenchCase = {
  name: 'first answer',
  samples: 5,
  prepare: async ({ signal }) => {
    await using stack = new AsyncDisposableStack();
    const servers: BenchServer[] = [];
    for (const name of ['north', 'south', 'east']) {
      const server = stack.use(await startServer('servers/canned-server.ts', ['--pods', String(podsEach), '--uid', name], { signal }));
      servers.push({ name, url: server.address.url ?? '', ca: server.address.ca ?? '' });
    }
    const kubeconfig = writeKubeconfig(servers);
    const cacheFolder = mkdtempSync(path.join(tmpdir(), 'muster-bench-cache-'));
    await timeOfGateway(kubeconfig, { cacheFolder, signal });
    const kept = stack.move();
    return {
      programs: {
        ours: () => timeOfGateway(kubeconfig, { cacheFolder, signal }),
        floor: async () => {
          const from = performance.now();
          const { held = 0 } = await runProgram('import-and-list.ts', [kubeconfig], { signal });
          if (held !== 3 * podsEach) throw new Error(`the floor listed ${held} pods`);
          return { ms: performance.now() - from };
        },
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  },
  rows: [
    {
      name: 'process start to first answer',
      unit: 'ms',
      against: 'a bare Node process that imports client-node, lists and parses the same',
      ours: (all) => all.ours?.ms ?? Number.NaN,
      floor: (all) => all.floor?.ms ?? Number.NaN,
      target: { atMost: 1.5 },
    },
  ],
};

interface StartOptions {
  readonly cacheFolder: string;
  readonly signal: AbortSignal;
}

async function timeOfGateway(kubeconfig: string, { cacheFolder, signal }: StartOptions): Promise<Figures> {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-bench-state-'));
  const from = performance.now();
  const { url, kill, ended } = await startGatewayProcess(['--kubeconfig', kubeconfig], { folder, cacheFolder, signal });
  try {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
    const { data } = (await answer.json()) as { data: { pods: { totalCount: number; items: unknown[] } } };
    if (data.pods.totalCount !== 3 * podsEach || data.pods.items.length !== 500)
      throw new Error(`incomplete: ${data.pods.totalCount} pods`);
    return { ms: performance.now() - from };
  } finally {
    // Node writes the compiled modules at an orderly end.
    kill('SIGTERM');
    await ended;
  }
}
