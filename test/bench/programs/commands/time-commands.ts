// Runs commands of the command line against a running gateway, alternately with their floors. Prints medians of whole processes.
//   time-commands.ts KUBECONFIG CONTEXT PODS ROUNDS
// Waits until the gateway has PODS pods. kubectl reads the cluster of CONTEXT; without it, kubectl is not measured.
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { realPrograms } from '../../../support/cluster/real-cluster.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { finish, medianOf } from '../../support/measuring.ts';

const [kubeconfig = '', context = '', podCount = '0', roundCount = '15'] = process.argv.slice(2);
const folder = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const run = promisify(execFile);
const muster = fileURLToPath(new URL('../../../../bin/muster.js', import.meta.url));
// The gateway ends with this process.
const { url } = await startGatewayProcess(['--kubeconfig', kubeconfig], { folder });
const env = { ...process.env, MUSTER_GATEWAY: url, XDG_CACHE_HOME: folder, HOME: folder };
const pods = Number(podCount);

/** The request that completion sends, as the least that a process can do for the same answer. */
const oneRequest = `
  const { request } = await import('node:http');
  const query = 'query { resources(kinds: ["pods"], first: 500, waitSeconds: 1) { items { metadata { name } } } }';
  const headers = { 'content-type': 'application/json' };
  request(process.env.MUSTER_GATEWAY, { method: 'POST', headers, agent: false }, (response) => response.resume()).end(JSON.stringify({ query }));
`;

const commands: Readonly<Record<string, () => Promise<string>>> = {
  ...(context === '' ? {} : { kubectlMs: () => output(path.join(realPrograms ?? '', 'kubectl'), kubectlArgs('get', 'pods', '-A')) }),
  getMs: () => output(process.execPath, [muster, 'get', 'pods', '-A']),
  bareMs: () => output(process.execPath, ['--input-type=module', '--eval', '']),
  requestMs: () => output(process.execPath, ['--input-type=module', '--eval', oneRequest]),
  completeMs: () => output(process.execPath, [muster, '__complete', 'get', 'pods', '']),
};

const listed = await commands.getMs?.();
if (listed?.trimEnd().split('\n').length !== pods + 1)
  throw new Error(`expected ${pods} pods and a header, got:\n${listed?.slice(0, 2_000)}`);

const samples = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]));
for (let round = -1; round < Number(roundCount); round += 1)
  for (const [name, command] of Object.entries(commands)) {
    const start = performance.now();
    await command();
    // The first round warms caches up, those of kubectl too.
    if (round >= 0) samples.get(name)?.push(performance.now() - start);
  }
finish(Object.fromEntries([...samples].map(([name, times]) => [name, medianOf(times)])));

function kubectlArgs(...args: readonly string[]): readonly string[] {
  return ['--kubeconfig', kubeconfig, '--context', context, ...args];
}

async function output(program: string, args: readonly string[]): Promise<string> {
  return (await run(program, args, { env, maxBuffer: 1 << 28 })).stdout;
}
