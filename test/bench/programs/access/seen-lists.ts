// Measures a page of 500 pods over HTTP, from 100,000 pods in 1,000 namespaces, for a local caller and for callers whose rights are checked.
//   access/seen-lists.ts HELD

import type { Access, Caller } from '../../../../src/access/access.ts';
import { createLocalAccess } from '../../../../src/access/local-access.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import { silentLog } from '../../../../src/core/log.ts';
import { parseResourceVersion } from '../../../../src/core/names.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { TimeSliceScheduler } from '../../../../src/core/scheduling/operation-scheduler.ts';
import { createBudget } from '../../../../src/graph/context/budget.ts';
import { buildGraph } from '../../../../src/graph/graph.ts';
import { createReads } from '../../../../src/load/create-reads.ts';
import { createLoaderFactory } from '../../../../src/load/reads/operation-loaders.ts';
import type { OperationScope } from '../../../../src/operations/operation.ts';
import { createFakeMirrors } from '../../../support/graph/fake-mirrors.ts';
import { loadBaseline } from '../../../support/kubernetes-objects.ts';
import { startServing } from '../../../support/serving/start-serving.ts';
import { fifteenLeaves } from '../../fifteen-leaves.ts';
import { podOf } from '../../pods.ts';
import { cpuNow, cpuSince, finish } from '../../support/measuring.ts';
import { benchCaller, createBenchAccess, engageReviewing, namespacesOfTeam } from '../../support/reviewing-clusters.ts';

const held = Number(process.argv[2] ?? '100000');
const namespaceCount = 1_000;
const rounds = 40;
const rights = { teams: 100, namespacesEach: 10 };

const model = loadBaseline();
const schema = buildGraph(model);
const { signal } = new AbortController();
const mirrors = createFakeMirrors(systemClock);
const reviewed = createBenchAccess(mirrors, systemClock, signal);
const cluster = mirrors.join('bench');
engageReviewing(reviewed, cluster, { rights, signal });
const mirror = cluster.mirror({ group: '', kind: 'Pod' });
mirror.list();
const stage = mirror.store.replace();
for (let index = 0; index < held; index += 1) {
  const pod = podIn(index);
  stage.add(pod, () => pod);
}
stage.commit(parseResourceVersion('1'));
// The second check of the rights after the RBAC objects were listed.
await new Promise((resolve) => setTimeout(resolve, 1_500));

const page = `first: 500) { items { ${fifteenLeaves} } } }`;
const [all, some] = [benchCaller('all', 'all'), benchCaller('some', 7)];
const named = namespacesOfTeam(7, rights).map((name) => `"${name}"`);
const lists = {
  localAll: await serverOf(createLocalAccess(), { key: 'local' }, `{ pods(${page}`),
  reviewedAll: await serverOf(reviewed, all, `{ pods(${page}`),
  localSome: await serverOf(createLocalAccess(), { key: 'local' }, `{ pods(namespaces: [${named}], ${page}`),
  reviewedSome: await serverOf(reviewed, some, `{ pods(${page}`),
};
const [localText, reviewedText] = [await lists.localSome(), await lists.reviewedSome()];
if (localText !== reviewedText) throw new Error(`expected equal answers:\n${localText.slice(0, 300)}\n${reviewedText.slice(0, 300)}`);

const spent: Record<string, number> = { localAll: 0, reviewedAll: 0, localSome: 0, reviewedSome: 0 };
// In turns, so that garbage collections and the compiler affect all of them equally.
for (let round = -10; round < rounds; round += 1) {
  for (const [name, list] of Object.entries(lists)) {
    const start = cpuNow();
    await list();
    if (round >= 0) spent[name] = (spent[name] ?? 0) + cpuSince(start).main;
  }
}
finish(Object.fromEntries(Object.entries(spent).map(([name, ms]) => [`${name}Ms`, ms / rounds])));

/** Serves the mirrors to one caller, and returns a function that requests the list. */
async function serverOf(access: Access, caller: Caller, query: string): Promise<() => Promise<string>> {
  const reads = createReads({
    ...{ mirrors, access, model: () => model, sealKey: new Uint8Array(32), sensitiveKinds: [] },
    ...{ member: () => undefined, clock: systemClock, log: silentLog },
  });
  const timeSlices = new TimeSliceScheduler(systemClock);
  const loadersOf = createLoaderFactory({ mirrors, clock: systemClock });
  const contextOf = ({ servedSchema: _, resources, isMessage, throwIfOver, ...asked }: OperationScope) => {
    const budget = createBudget(throwIfOver);
    const loaders = resources.use(loadersOf({ ...asked, isMessage }));
    return {
      reads,
      read: { ...asked, loaders, countReads: budget.countReads, timeSlices: timeSlices.createSlices(throwIfOver) },
      clock: systemClock,
      budget,
    };
  };
  const { post } = await startServing({ schema: () => schema, contextOf, caller, prepare: (who, until) => access.prepare(who, until) });
  const list = async () => (await post(JSON.stringify({ query }))).text();
  const first = JSON.parse(await list()) as { readonly data?: { readonly pods: { readonly items: readonly unknown[] } } };
  if (first.data?.pods.items.length !== 500) throw new Error(JSON.stringify(first).slice(0, 500));
  return list;
}

/** Creates a pod as a mirror holds it, in one of the namespaces. */
function podIn(index: number): KubernetesObject {
  const { metadata, ...rest } = podOf(index) as KubernetesObject;
  const { managedFields: _, ...kept } = metadata;
  return { ...rest, metadata: { ...kept, namespace: `namespace-${index % namespaceCount}` } } as KubernetesObject;
}
