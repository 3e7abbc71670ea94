// Reads all pods of a fleet, alternately with kubectl (one cluster after the other) and with the gateway.
//   kubectl-loop.ts KUBECONFIG CLUSTERS PODS
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { realPrograms } from '../../support/cluster/real-cluster.ts';
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { finish, medianOf } from '../support/measuring.ts';

const [kubeconfig = '', clusterCount = '10', podCount = '2000'] = process.argv.slice(2);
const rounds = 3;
const all = Number(clusterCount) * Number(podCount);
const run = promisify(execFile);
const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const config = await loadConfig({ flags: { kubeconfig, port: '0' }, environment: { XDG_STATE_HOME: directory }, directory });
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenReady(new AbortController().signal);

const samples: Record<string, number>[] = [];
for (let round = -1; round < rounds; round += 1) {
  const times = {
    kubectlMs: await timed(byKubectl),
    leavesMs: await timed(() => everyPage(fifteenLeaves)),
    objectsMs: await timed(() => everyPage('object')),
    questionMs: await timed(oneQuestion),
  };
  // The first round warms both sides up.
  if (round >= 0) samples.push(times);
}
const names = Object.keys(samples[0] ?? {});
finish(Object.fromEntries(names.map((name) => [name, medianOf(samples.map((sample) => sample[name] ?? Number.NaN))])));

/** Runs kubectl as a shell loop would: `for context in …; do kubectl get pods -A -o json --context $context; done`. */
async function byKubectl(): Promise<void> {
  let seen = 0;
  for (let index = 0; index < Number(clusterCount); index += 1) {
    const args = ['--kubeconfig', kubeconfig, '--context', `cluster-${index}`, 'get', 'pods', '-A', '-o', 'json'];
    const { stdout } = await run(path.join(realPrograms ?? '', 'kubectl'), args, { maxBuffer: 1 << 30 });
    // Pods are only counted, because parsing the text is not a cost of kubectl.
    seen += stdout.split('"kind": "Pod"').length - 1;
  }
  expectAll(seen);
}

async function everyPage(selection: string): Promise<void> {
  let seen = 0;
  let after: string | null = null;
  do {
    const query = `query ($after: String) { pods(first: 500, after: $after) { items { ${selection} } pageInfo { hasNextPage endCursor } } }`;
    const { pods }: { readonly pods: Page } = JSON.parse(await ask(query, { after })).data;
    seen += pods.items.length;
    after = pods.pageInfo.hasNextPage ? pods.pageInfo.endCursor : null;
  } while (after !== null);
  expectAll(seen);
}

/** Asks the gateway the question for which users mostly write such a loop: counts and sums per cluster. */
async function oneQuestion(): Promise<void> {
  const query = `{ pods(first: 1) { totalCount groups(by: ["cluster.name", "phase"]) { keys count sum(path: "requests.cpu") { value } } } }`;
  expectAll(JSON.parse(await ask(query, {})).data.pods.totalCount);
}

interface Page {
  readonly items: readonly unknown[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

async function ask(query: string, variables: object): Promise<string> {
  const body = JSON.stringify({ query, variables });
  return (await fetch(gateway.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text();
}

function expectAll(seen: number): void {
  if (seen !== all) throw new Error(`expected ${all} pods, got ${seen}`);
}

async function timed(act: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}
