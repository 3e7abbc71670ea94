// Measures Deployments to three complete clusters until all copies are ready: by kubectl, and as Propagations through a gateway as a user
// starts it.
//   real-propagate.ts KUBECONFIG ROUNDS     the first context is the hub; the clusters have controllers and nodes
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { medianOf } from '../../support/measuring.ts';
import { type BenchDeployment, benchDeployment, prepareRealClusters, startRealGateway, timed } from '../../support/real-clusters.ts';

const [kubeconfig = '', roundCount = '3'] = process.argv.slice(2);
const many = 50;
const clusters = await prepareRealClusters(kubeconfig);
const { contexts, hub, namespace, folder, kubectl, applyFile, waitFor } = clusters;
const gateway = await startRealGateway(['--kubeconfig', kubeconfig, '--hub', hub], folder);
try {
  const samples: Record<string, number>[] = [];
  // The first round warms both sides up: images of programs, mirrors, discovery.
  for (let round = -1; round < Number(roundCount); round += 1) {
    const sample = await measured(round + 1);
    // The nodes have room for the pods of one sample only.
    await clean();
    if (round >= 0) samples.push(sample);
  }
  const figures = Object.keys(samples[0] ?? {}).map((name) => [name, medianOf(samples.map((sample) => sample[name] ?? Number.NaN))]);
  console.log(JSON.stringify(Object.fromEntries(figures)));
} finally {
  gateway.kill();
  await clusters[Symbol.asyncDispose]();
}
process.exit(0);

async function measured(round: number): Promise<Record<string, number>> {
  const one = deploymentsOf(`one-${round}`, 1);
  const fifty = deploymentsOf(`many-${round}`, many);
  return {
    kubectlOneMs: await timed(() => Promise.all(contexts.map((context) => byKubectl(context, one)))),
    loopOneMs: await timed(() => inTurn(contexts, (context) => byKubectl(context, one.map(renamed)))),
    musterOneMs: await timed(() => byMuster(one.map(muster))),
    kubectlManyMs: await timed(() => Promise.all(contexts.map((context) => byKubectl(context, fifty)))),
    fileManyMs: await timed(() => Promise.all(contexts.map((context) => byOneFile(context, fifty.map(renamed))))),
    musterManyMs: await timed(() => byMuster(fifty.map(muster))),
  };
}

async function clean(): Promise<void> {
  await kubectl(hub, ['delete', 'propagations', '--all', '-n', namespace, '--timeout=120s']);
  await Promise.all(
    contexts.map(async (context) => {
      await kubectl(context, ['delete', 'deployments', '--all', '-n', namespace, '--cascade=foreground', '--timeout=120s']);
      await kubectl(context, ['wait', 'pods', '--all', '-n', namespace, '--for=delete', '--timeout=120s']);
    }),
  );
}

function deploymentsOf(prefix: string, count: number): readonly BenchDeployment[] {
  return Array.from({ length: count }, (_, index) => benchDeployment(`${prefix}-${index}`));
}

function renamed({ metadata: { name } }: BenchDeployment): BenchDeployment {
  return benchDeployment(`${name}-again`);
}

function muster({ metadata: { name } }: BenchDeployment): BenchDeployment {
  return benchDeployment(`${name}-muster`);
}

/** Applies each Deployment and then waits for all, as a script does in one cluster. */
async function byKubectl(context: string, deployments: readonly BenchDeployment[]): Promise<void> {
  for (const [index, one] of deployments.entries()) {
    const file = path.join(folder, `${context}-${index}.json`);
    writeFileSync(file, JSON.stringify(one));
    await kubectl(context, ['apply', '-n', namespace, '-f', file]);
  }
  await waitFor(context, deployments);
}

async function byOneFile(context: string, deployments: readonly BenchDeployment[]): Promise<void> {
  await applyFile(context, deployments);
  await waitFor(context, deployments);
}

/** Sends one Propagation per Deployment, all at once, and waits until every one has settled. */
async function byMuster(deployments: readonly BenchDeployment[]): Promise<void> {
  const mutation = 'mutation ($input: PropagationInput!) { propagate(input: $input) { result notes { message } faults { message } } }';
  await Promise.all(
    deployments.map(async (json) => {
      const input = { namespace, name: json.metadata.name, template: [{ json }], placement: { clusters: contexts } };
      const { propagate } = (await gateway.ask(mutation, { input })) as { propagate: { result: string } };
      if (propagate.result !== 'ACCEPTED') throw new Error(JSON.stringify(propagate));
    }),
  );
  const names = new Set(deployments.map(({ metadata: { name } }) => name));
  const query = `{ propagations(namespaces: ["${namespace}"], phases: [SETTLED], first: 500) { items { name ready } } }`;
  for (let tries = 0; ; tries += 1) {
    const { propagations } = (await gateway.ask(query, {})) as { propagations: { items: readonly { name: string; ready: number }[] } };
    const settled = propagations.items.filter(({ name, ready }) => names.has(name) && ready === contexts.length);
    if (settled.length === deployments.length) return;
    if (tries > 3_000) throw new Error(`${settled.length} of ${deployments.length} have settled`);
    await sleep(20);
  }
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await work(item);
}
