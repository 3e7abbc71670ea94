// Measures how fifty Deployments leave one of three complete clusters: by failover, and by a migration. The floor is `kubectl apply` of fifty
// Deployments to the same targets, until they are available.
//   real-move.ts KUBECONFIG ROUNDS     the first context is the hub; the clusters have controllers and nodes
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { hasTrueCondition } from '../../../../src/core/conditions.ts';
import { createFaultyProxy } from '../../../schedules/faulty-proxy.ts';
import { pathOf, readMembers } from '../../../schedules/member-cluster.ts';
import { medianOf } from '../../support/measuring.ts';
import { type BenchDeployment, benchDeployment, prepareRealClusters, startRealGateway, timed } from '../../support/real-clusters.ts';

const [kubeconfig = '', roundCount = '3'] = process.argv.slice(2);
const many = 50;
/** Milliseconds of `failover.after`. */
const afterMs = 3_000;
const clusters = await prepareRealClusters(kubeconfig);
const { hub, namespace, folder, kubectl, applyFile } = clusters;
const [near = '', middle = '', far = ''] = clusters.contexts;
const { members } = readMembers(kubeconfig);
const farMember = memberNamed(far);
const proxy = await createFaultyProxy({ host: farMember.host, port: farMember.port });
const gateway = await startRealGateway(['--kubeconfig', kubeconfigWithProxy(), '--hub', hub], folder);
try {
  const samples: Record<string, number>[] = [];
  // The first round warms both sides up: images of programs, mirrors, discovery.
  for (let round = 0; round <= Number(roundCount); round += 1) {
    const sample = await measured(round);
    if (round > 0) samples.push(sample);
    console.error(JSON.stringify(sample));
  }
  const figures = Object.keys(samples[0] ?? {}).map((name) => [name, medianOf(samples.map((sample) => sample[name] ?? Number.NaN))]);
  console.log(JSON.stringify(Object.fromEntries(figures)));
} finally {
  gateway.kill();
  await clusters[Symbol.asyncDispose]();
}
process.exit(0);

/** Takes one sample of each. Floor and figure change places with each round, so that none always runs on the warmer clusters. */
async function measured(round: number): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  const works = [floorOfFailover, failover, floorOfMigration, migration];
  for (const work of round % 2 === 0 ? works : works.toReversed()) {
    Object.assign(figures, await work(round));
    await clean();
  }
  const { failoverMs = Number.NaN, failoverFloorMs = Number.NaN, migrationMs = Number.NaN, migrationFloorMs = Number.NaN } = figures;
  return { ...figures, failoverRatio: failoverMs / failoverFloorMs, migrationRatio: migrationMs / migrationFloorMs };
}

async function floorOfFailover(round: number) {
  const halves = halvesOf(deploymentsOf(`floor-${round}`));
  const failoverFloorMs = await timed(() =>
    Promise.all(
      halves.map(async ({ context, deployments }) => {
        await applyFile(context, deployments);
        await untilAvailable(context, deployments);
      }),
    ),
  );
  return { failoverFloorMs };
}

/** Fifty Propagations run in the far cluster, and have two others to go to, half each. Counts from the end of `after`. */
async function failover(round: number) {
  const halves = halvesOf(deploymentsOf(`lost-${round}`));
  await Promise.all(halves.flatMap(({ context, deployments }) => deployments.map((one) => propagate(one, context))));
  await untilAvailable(far, deploymentsOf(`lost-${round}`));
  await untilSettled();
  proxy.set('cut');
  await untilAnswer('{ clusters { name phase } }', ({ clusters: all }: { clusters: readonly { name: string; phase: string }[] }) =>
    all.some(({ name, phase }) => name === far && phase === 'UNREACHABLE'),
  );
  await sleep(afterMs);
  const failoverMs = await timed(() => Promise.all(halves.map(({ context, deployments }) => untilAvailable(context, deployments))));
  proxy.set('open');
  await untilSettled();
  return { failoverMs };
}

async function floorOfMigration(round: number) {
  const deployments = deploymentsOf(`plain-${round}`);
  const migrationFloorMs = await timed(async () => {
    await applyFile(far, deployments);
    await untilAvailable(far, deployments);
  });
  return { migrationFloorMs };
}

/** `migrationMs`: from the request until the source has nothing left. */
async function migration(round: number) {
  const deployments = deploymentsOf(`moved-${round}`, { moves: 'yes' });
  await applyFile(middle, deployments);
  await untilAvailable(middle, deployments);
  const name = `move-${round}`;
  const input = { namespace, name, from: middle, to: far, labels: 'moves=yes' };
  const mutation = 'mutation ($input: MigrateInput!) { migrate(input: $input) { phase notes { code message } faults { message } } }';
  const from = performance.now();
  const { migrate } = (await gateway.ask(mutation, { input })) as { migrate: { phase: string } };
  if (migrate.phase !== 'PLANNING') throw new Error(JSON.stringify(migrate));
  const migrationPlannedMs = performance.now() - from;
  await untilAvailable(far, deployments);
  const migrationHealthyMs = performance.now() - from;
  const query = `{ migration(namespace: "${namespace}", name: "${name}") { phase apps { step } } }`;
  await untilAnswer(query, ({ migration: one }: { migration: { phase: string } }) => one.phase === 'SETTLED');
  return { migrationMs: performance.now() - from, migrationHealthyMs, migrationPlannedMs };
}

async function propagate(json: BenchDeployment, target: string): Promise<void> {
  const affinityGroups = [far, target].map((name) => ({ name, set: { clusters: [name] } }));
  const failoverRules = { after: `${afterMs / 1_000}s` };
  const input = { namespace, name: json.metadata.name, template: [{ json }], placement: { affinityGroups }, failover: failoverRules };
  const mutation = 'mutation ($input: PropagationInput!) { propagate(input: $input) { result notes { message } faults { message } } }';
  const { propagate: answer } = (await gateway.ask(mutation, { input })) as { propagate: { result: string } };
  if (answer.result !== 'ACCEPTED') throw new Error(JSON.stringify(answer));
}

async function untilSettled(): Promise<void> {
  const query = `{ propagations(namespaces: ["${namespace}"], phases: [SETTLED], first: 500) { totalCount } }`;
  await untilAnswer(query, ({ propagations }: { propagations: { totalCount: number } }) => propagations.totalCount === many);
}

async function untilAnswer<Answer>(query: string, isSo: (answer: Answer) => boolean): Promise<void> {
  const endMs = performance.now() + 120_000;
  for (;;) {
    const answer = (await gateway.ask(query)) as Answer;
    if (isSo(answer)) return;
    if (performance.now() > endMs) throw new Error(`expected another answer, got ${JSON.stringify(answer).slice(0, 1_000)}`);
    await sleep(20);
  }
}

/** Reads the cluster directly, for the floor too, so that both end by the same observation. */
async function untilAvailable(context: string, deployments: readonly BenchDeployment[]): Promise<void> {
  const names = new Set(deployments.map(({ metadata: { name } }) => name));
  const endMs = performance.now() + 120_000;
  for (;;) {
    const live = await memberNamed(context).list(pathOf('Deployment', namespace));
    const available = live.filter((one) => names.has(one.metadata.name) && hasTrueCondition(one as never, 'Available'));
    if (available.length === names.size) return;
    if (performance.now() > endMs) throw new Error(`${available.length} of ${names.size} Deployments in ${context} are available`);
    await sleep(50);
  }
}

async function clean(): Promise<void> {
  await kubectl(hub, ['delete', 'propagations,migrations', '--all', '-n', namespace, '--timeout=120s']);
  await Promise.all(
    clusters.contexts.map(async (context) => {
      await kubectl(context, ['delete', 'deployments', '--all', '-n', namespace, '--cascade=foreground', '--timeout=120s']);
      await kubectl(context, ['wait', 'pods', '--all', '-n', namespace, '--for=delete', '--timeout=120s']);
    }),
  );
}

function deploymentsOf(prefix: string, labels: Readonly<Record<string, string>> = {}): readonly BenchDeployment[] {
  return Array.from({ length: many }, (_, index) => benchDeployment(`${prefix}-${index}`, labels));
}

function halvesOf(deployments: readonly BenchDeployment[]) {
  return [
    { context: near, deployments: deployments.slice(0, many / 2) },
    { context: middle, deployments: deployments.slice(many / 2) },
  ];
}

function memberNamed(context: string) {
  const member = members.find(({ name }) => name === context);
  if (member === undefined) throw new Error(`expected the context ${context}`);
  return member;
}

/** Writes a kubeconfig that reaches the far cluster through the proxy. */
function kubeconfigWithProxy(): string {
  const document = parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly clusters: readonly { readonly name: string; readonly cluster: { server: string } }[];
    readonly contexts: readonly { readonly name: string; readonly context: { readonly cluster: string } }[];
  };
  const wanted = document.contexts.find(({ name }) => name === far)?.context.cluster;
  const servers = document.clusters.map((one) =>
    one.name === wanted ? { ...one, cluster: { ...one.cluster, server: `https://127.0.0.1:${proxy.port}` } } : one,
  );
  const file = path.join(folder, 'kubeconfig');
  writeFileSync(file, JSON.stringify({ ...document, clusters: servers }));
  return file;
}
