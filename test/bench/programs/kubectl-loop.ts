// Reads all pods of a fleet, alternately with kubectl (one cluster after the other) and with the gateway.
//   kubectl-loop.ts KUBECONFIG CLUSTERS PODS
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { realPrograms } from '../../support/cluster/real-cluster.ts';
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { finish, medianOf } from '../support/measuring.ts';
import { readPages, startRealGateway, timed, warmPages } from '../support/real-clusters.ts';

const [kubeconfig = '', clusterCount = '10', podCount = '2000'] = process.argv.slice(2);
const rounds = 3;
const all = Number(clusterCount) * Number(podCount);
const run = promisify(execFile);
const gateway = await startRealGateway(['--kubeconfig', kubeconfig], mkdtempSync(path.join(tmpdir(), 'muster-bench-')));
const question = `{ pods(first: 1) { totalCount groups(by: ["cluster.name", "phase"]) { keys count sum(path: "requests.cpu") { value } } } }`;
for (const selection of [fifteenLeaves, 'object']) await warmPages(gateway, selection, all);

const samples: Record<string, number>[] = [];
for (let round = 0; round < rounds; round += 1) {
  const times = {
    kubectlMs: await timed(byKubectl),
    leavesMs: await timed(() => readPages(gateway, fifteenLeaves)),
    objectsMs: await timed(() => readPages(gateway, 'object')),
    questionMs: await timed(oneQuestion),
  };
  samples.push(times);
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

/** Asks the gateway the question for which users mostly write such a loop: counts and sums per cluster. */
async function oneQuestion(): Promise<void> {
  expectAll(((await gateway.ask(question)) as { pods: { totalCount: number } }).pods.totalCount);
}

function expectAll(seen: number): void {
  if (seen !== all) throw new Error(`expected ${all} pods, got ${seen}`);
}
