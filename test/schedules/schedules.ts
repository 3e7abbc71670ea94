// npm run schedules [-- --seeds 27] [--first 1] [--only migrations|failovers]
//   Runs random migrations and failovers over embedded clusters, this number of seeds of each.
// npm run schedules -- --kubeconfig fleet.kubeconfig [--seeds 20] [--first 1] [--operations 100]
//   Runs random operations against two gateways over real clusters with controllers and nodes. The first context is the hub.
// Exit code 1 if an invariant does not hold.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { runFailoverSchedule } from './failovers/run-failover-schedule.ts';
import { createGatewayProcess, type GatewayProcess } from './gateway-process.ts';
import { type ClusterShareObject, type FleetState, violationsIn } from './invariants.ts';
import { type LiveObject, type MemberCluster, pathOf, readMembers } from './member-cluster.ts';
import { runMigrationSchedule } from './migrations/run-migration-schedule.ts';
import { runSeeds } from './run-seeds.ts';
import { type OperationRecord, runSchedule, type ScheduledIntent, type ScheduleResult, type ScheduleWorld } from './schedule.ts';
import { watchSettled } from './settled-watch.ts';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    seeds: { type: 'string' },
    first: { type: 'string', default: '1' },
    operations: { type: 'string', default: '100' },
    only: { type: 'string' },
  },
});
const first = Number(values.first);
if (values.kubeconfig === undefined) {
  // 27 seeds undo and delete migrations at each step.
  const range = { first, seeds: Number(values.seeds ?? '27') };
  const failed = [
    values.only === 'failovers' ? 0 : await runSeeds({ name: 'migration', ...range, run: runMigrationSchedule }),
    values.only === 'migrations' ? 0 : await runSeeds({ name: 'failover', ...range, run: runFailoverSchedule }),
  ];
  process.exit(failed.every((count) => count === 0) ? 0 : 1);
}
const seeds = Number(values.seeds ?? '20');
/**
 * Longest time in which the fleet must come to rest after the last fault. Only a retry after a permanent refusal may wait longer, up to 5
 * minutes.
 */
const restMs = 150_000;

const fleet = readMembers(values.kubeconfig);
const [hub] = fleet.members;
if (hub === undefined) throw new Error(`expected contexts in ${values.kubeconfig}`);
await installDefinitions(hub);
const gateways = await Promise.all(['first', 'second'].map((name) => createGatewayProcess(name, fleet)));
await Promise.all(gateways.map((gateway) => gateway.start()));
let failures = 0;
let operationsRun = 0;
for (let seed = first; seed < first + seeds; seed += 1) {
  const startedMs = performance.now();
  const { records, violations } = await runSeed(seed);
  operationsRun += records.length;
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  console.log(
    `seed ${seed}: ${records.length} operations in ${seconds} s, ${violations.length === 0 ? 'good' : `${violations.length} violations`}`,
  );
  if (violations.length > 0) {
    failures += 1;
    report(seed, records, violations);
  }
}
for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
for (const member of fleet.members) member[Symbol.dispose]();
console.log(`${operationsRun} operations over ${seeds} seeds: ${failures === 0 ? 'good' : `${failures} seeds with violations`}`);
process.exit(failures === 0 ? 0 : 1);

async function runSeed(seed: number): Promise<{ readonly records: readonly OperationRecord[]; readonly violations: readonly string[] }> {
  const namespace = `schedule-${seed}-${Date.now().toString(36)}`;
  const world: ScheduleWorld = { members: fleet.members, gateways, namespace };
  const recording = new AbortController();
  const podsOfJobs = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();
  for (const member of fleet.members) {
    await member.write('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    podsOfJobs.set(member.name, member.recordPods(namespace, recording.signal));
  }
  const settled = watchSettled(world, recording.signal);
  const result = await runSchedule(seed, Number(values.operations), world);
  await result.faultsOver;
  await Promise.all(gateways.map((gateway) => gateway.start()));
  const atRest = await violationsAtRest(world, result, podsOfJobs);
  recording.abort();
  await cleanUp(world, atRest.length === 0);
  return { records: result.records, violations: [...result.violations, ...settled.violations(), ...atRest] };
}

/** Makes the decisions of a person and waits until no invariant is violated. Returns the violations that remain when the time is over. */
async function violationsAtRest(
  world: ScheduleWorld,
  result: ScheduleResult,
  podsOfJobs: FleetState['podsOfJobs'],
): Promise<readonly string[]> {
  const endMs = performance.now() + restMs;
  for (let round = 0; ; round += 1) {
    // These need a person: a pause, a prune to confirm, a copy that was edited too often, a stale plan.
    if (round % 5 === 0) await decideForThePerson(world, result.intents);
    const violations = await readViolations(world, result, podsOfJobs).catch((error: Error) => [
      `the fleet could not be read: ${error.message}`,
    ]);
    if (violations.length === 0 || performance.now() > endMs) return violations;
    await sleep(2_000);
  }
}

async function readViolations(
  world: ScheduleWorld,
  { untouchables, intents }: ScheduleResult,
  podsOfJobs: FleetState['podsOfJobs'],
): Promise<readonly string[]> {
  const state = { ...(await readState(world)), untouchables, podsOfJobs };
  return [...violationsIn(state), ...intents.flatMap((intent) => recordedWrongly(intent, state))];
}

/** Returns violations unless the hub has the accepted change of an intent or a newer one, and an accepted deletion is complete. */
function recordedWrongly({ name, acceptedToken, deletion, form }: ScheduledIntent, { propagations }: FleetState): readonly string[] {
  const recorded = propagations.find(({ metadata }) => metadata.name === name);
  if (deletion === 'accepted') return recorded === undefined ? [] : [`${name}: its deletion was accepted, and it is still there`];
  if (deletion === 'tried' || acceptedToken === undefined) return [];
  if (recorded === undefined) return [`${name}: it was accepted, and is not on the hub`];
  if (form === 'source') return [];
  const [template] = (recorded.spec as { template: readonly { json: { data: { token: string } } }[] }).template;
  const token = Number(template?.json.data.token);
  return token >= acceptedToken ? [] : [`${name}: change ${acceptedToken} was accepted, and the hub has change ${token}`];
}

async function decideForThePerson(
  { members: [hub], gateways, namespace }: ScheduleWorld,
  intents: readonly ScheduledIntent[],
): Promise<void> {
  const [gateway] = gateways;
  const propagations = (await hub?.list(pathOf('Propagation', namespace)).catch(() => [])) ?? [];
  for (const { metadata, status } of propagations) {
    if (status?.phase === 'Settled' || intents.every(({ name }) => name !== metadata.name)) continue;
    const document = `mutation R($namespace: String!, $name: String!) {
      resumePropagation(namespace: $namespace, name: $name, confirmPrune: true) { result } }`;
    await gateway?.query(document, { namespace, name: metadata.name }).catch(() => undefined);
    // A stale plan is requested again without a digest.
    const conditions = (status?.conditions ?? []) as readonly { readonly reason: string }[];
    if (conditions.some(({ reason }) => reason === 'PlanStale'))
      await hub?.write('PATCH', pathOf('Propagation', namespace, metadata.name), {
        metadata: { annotations: { 'muster.dev/plan-digest': null } },
      });
  }
}

async function readState({ members, namespace }: ScheduleWorld): Promise<Omit<FleetState, 'untouchables' | 'podsOfJobs'>> {
  const objects = await Promise.all(
    members.map(async (member) => {
      const kinds = await Promise.all(
        ['ConfigMap', 'Deployment', 'Job'].map(async (kind) =>
          (await member.list(pathOf(kind, namespace))).map((object) => ({ ...object, kind }) as LiveObject),
        ),
      );
      return [member.name, kinds.flat().filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')] as const;
    }),
  );
  const [hub] = members as readonly [MemberCluster];
  return {
    propagations: await hub.list(pathOf('Propagation', namespace)),
    shares: (await hub.list(pathOf('ClusterShare', namespace))) as readonly ClusterShareObject[],
    objects: new Map(objects),
  };
}

/** Deletes the seed's intents and then its namespaces. A fleet that violates an invariant is left unchanged for inspection. */
async function cleanUp({ members, namespace }: ScheduleWorld, isGood: boolean): Promise<void> {
  const [hub] = members as readonly [MemberCluster];
  if (!isGood) return;
  for (const { metadata } of await hub.list(pathOf('Propagation', namespace)))
    await hub.write('DELETE', pathOf('Propagation', namespace, metadata.name));
  for (let tries = 0; tries < 60 && (await hub.list(pathOf('Propagation', namespace))).length > 0; tries += 1) await sleep(500);
  for (const member of members) await member.write('DELETE', `/api/v1/namespaces/${namespace}`);
}

async function installDefinitions(hub: MemberCluster): Promise<void> {
  for (const file of ['propagations.yaml', 'clustershares.yaml']) {
    const text = readFileSync(path.join(import.meta.dirname, '../../deploy/crds', file), 'utf8');
    for (const document of parseAllDocuments(text))
      await hub.write('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', document.toJS() as object);
  }
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await hub.get('/apis/muster.dev/v1alpha1/propagations')) !== undefined) return;
    await sleep(100);
  }
  throw new Error('expected the hub to serve propagations within 10 s');
}

function report(seed: number, records: readonly OperationRecord[], violations: readonly string[]): void {
  const lines = records.map(({ number, atMs, operation, detail, outcome }) => `${number}\t${atMs} ms\t${operation}\t${detail}\t${outcome}`);
  const file = `schedule-${seed}.log`;
  const logs = gateways.map((gateway: GatewayProcess) => `# gateway ${gateway.name}\n${gateway.log()}`);
  writeFileSync(file, [...violations, '', ...lines, '', ...logs].join('\n'));
  console.log(violations.map((violation) => `  ${violation}`).join('\n'));
  console.log(lines.map((line) => `    ${line}`).join('\n'));
  console.log(`  ${file} has the gateways' logs too. Run it again with --first ${seed} --seeds 1 --operations ${records.length}`);
}
