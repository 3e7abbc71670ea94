import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../support/seeded-random.ts';
import type { GatewayProcess } from './gateway-process.ts';
import type { UntouchableObject } from './invariants.ts';
import { type MemberCluster, pathOf } from './member-cluster.ts';

/** The clusters, gateways and namespace of one seed. The first member is the hub. */
export interface ScheduleWorld {
  readonly members: readonly MemberCluster[];
  readonly gateways: readonly GatewayProcess[];
  /** The namespace of this seed, in every cluster. */
  readonly namespace: string;
}

/** One operation that ran, for the log of a failing seed. */
export interface OperationRecord {
  readonly number: number;
  readonly atMs: number;
  readonly operation: string;
  readonly detail: string;
  outcome: string;
}

/** The outcome of a schedule, with everything that the invariants need. */
export interface ScheduleResult {
  readonly records: readonly OperationRecord[];
  readonly intents: readonly ScheduledIntent[];
  readonly untouchables: readonly UntouchableObject[];
  /** Violations found while the operations ran, such as two editors whose digests were both accepted. */
  readonly violations: readonly string[];
  /** Resolves when the last fault that an operation caused is over. */
  readonly faultsOver: Promise<unknown>;
}

/** An intent as the schedule last requested it. */
export interface ScheduledIntent {
  readonly name: string;
  readonly form: 'data' | 'workload' | 'job' | 'source';
  clusters: readonly string[];
  /** Value in the data of copies. It grows with each change. */
  token: number;
  hasExtra: boolean;
  isReplaced: boolean;
  overridden: string | undefined;
  hasWaves: boolean;
  /** Token of the last accepted change, the lowest that the hub may hold. Undefined after a rollback, which restores an older one. */
  acceptedToken: number | undefined;
  deletion: 'none' | 'tried' | 'accepted';
}

interface Operation {
  readonly weight: number;
  /** Draws all random values before its first await. So a seed gives the same operations whatever the clusters answer. */
  run(): { readonly detail: string; readonly outcome: Promise<string> } | undefined;
}

const propagateDocument = `mutation P($input: PropagationInput!, $digest: String) {
  propagate(input: $input, digest: $digest) { result notes { code message } propagation { generation } } }`;
const planDocument = 'query P($input: PropagationInput!) { planPropagation(input: $input) { ok digest } }';
const byName = (field: string, more = '') =>
  `mutation M($namespace: String!, $name: String!) { ${field}(namespace: $namespace, name: $name${more}) { result notes { code message } } }`;

/** Runs `count` random operations against the fleet. The same seed gives the same operations with the same arguments, in the same order. */
export async function runSchedule(seed: number, count: number, world: ScheduleWorld): Promise<ScheduleResult> {
  const { members, gateways, namespace } = world;
  const random = seededRandom(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const subset = <T>(items: readonly T[]): readonly T[] => {
    const first = pick(items);
    return items.filter((item) => item === first || random() < 0.5);
  };
  const names = members.map(({ name }) => name);
  const memberOf = (name: string) => members.find((member) => member.name === name) as MemberCluster;
  const [hub] = members as readonly [MemberCluster];
  const intents: ScheduledIntent[] = [];
  const untouchables: UntouchableObject[] = [];
  const records: OperationRecord[] = [];
  const violations: string[] = [];
  const faults: Promise<unknown>[] = [];
  const strangerPlaces = new Set<string>();
  const kept = () => intents.filter(({ deletion }) => deletion === 'none');
  let made = 0;

  const createIntent = (form: ScheduledIntent['form'], clusters = subset(names)): ScheduledIntent => {
    made += 1;
    const intent: ScheduledIntent = {
      name: `${form}-${made}`,
      form,
      clusters,
      token: 1,
      hasExtra: false,
      isReplaced: false,
      overridden: undefined,
      hasWaves: false,
      acceptedToken: undefined,
      deletion: 'none',
    };
    intents.push(intent);
    return intent;
  };
  const inputOf = (intent: ScheduledIntent) => inputFor(intent, namespace, hub.name);
  const ask = <T>(gateway: GatewayProcess, document: string, variables: object): Promise<T> =>
    (gateway.isListening() ? gateway : (gateways.find((other) => other.isListening()) ?? gateway)).query<T>(document, variables);
  const propagate = async (gateway: GatewayProcess, intent: ScheduledIntent, digest?: string): Promise<string> => {
    const { token } = intent;
    const input = inputOf(intent);
    const { propagate } = await ask<{ propagate: { result: string; notes: readonly object[] } }>(gateway, propagateDocument, {
      input,
      digest,
    });
    if (propagate.result === 'ACCEPTED') intent.acceptedToken = Math.min(token, intent.token);
    return propagate.result === 'REFUSED' ? `REFUSED ${JSON.stringify(propagate.notes)}` : propagate.result;
  };
  const change = (intent: ScheduledIntent) => {
    intent.token += 1;
    intent.hasExtra = random() < 0.4;
    intent.isReplaced = random() < 0.3;
    intent.overridden = random() < 0.5 ? pick(names) : undefined;
    intent.hasWaves = random() < 0.3;
  };
  const disturb = (intent: ScheduledIntent, work: (member: MemberCluster, path: string) => Promise<number>) => {
    if (intent.form === 'job') return undefined;
    const cluster = pick(intent.clusters);
    const isSource = intent.form === 'source' && cluster === hub.name;
    if (isSource) return undefined;
    const detail = `${cluster}/${intent.name}`;
    if (strangerPlaces.has(detail)) return { detail, outcome: Promise.resolve('left alone: a stranger') };
    return { detail, outcome: work(memberOf(cluster), pathOf('ConfigMap', namespace, intent.name)).then(String) };
  };
  const onExisting = (work: (intent: ScheduledIntent) => ReturnType<Operation['run']>): Operation['run'] => {
    return () => (kept().length === 0 ? undefined : work(pick(kept())));
  };
  const later = (work: Promise<unknown>) => faults.push(work.catch(() => undefined));
  const putConfigMap = async (cluster: string, name: string, data: Record<string, string>, labels = {}): Promise<string> => {
    const member = memberOf(cluster);
    const status = await member.write('POST', pathOf('ConfigMap', namespace), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels },
      data,
    });
    const live = await member.get(pathOf('ConfigMap', namespace, name));
    if (status === 201 && live !== undefined) untouchables.push({ cluster, name, uid: live.metadata.uid, data });
    return String(status);
  };

  const operations: Readonly<Record<string, Operation>> = {
    create: {
      weight: 14,
      run: () => {
        const intent = createIntent(pick(['data', 'data', 'workload', 'job'] as const));
        const gateway = pick(gateways);
        return { detail: `${intent.name} in ${intent.clusters} by ${gateway.name}`, outcome: propagate(gateway, intent) };
      },
    },
    createFromSource: {
      weight: 3,
      run: () => {
        const intent = createIntent('source', names);
        const gateway = pick(gateways);
        const outcome = putConfigMap(hub.name, intent.name, { token: 'source' }).then(() => propagate(gateway, intent));
        return { detail: intent.name, outcome };
      },
    },
    editSource: {
      weight: 4,
      run: () => {
        const sources = kept().filter(({ form }) => form === 'source');
        if (sources.length === 0) return undefined;
        const { name } = pick(sources);
        const data = { token: `source ${below(1_000_000)}` };
        const outcome = hub.write('PATCH', pathOf('ConfigMap', namespace, name), { data }).then((status) => {
          const index = untouchables.findIndex((source) => source.name === name && source.cluster === hub.name);
          if (status === 200 && index >= 0) untouchables[index] = { ...(untouchables[index] as UntouchableObject), data };
          return String(status);
        });
        return { detail: name, outcome };
      },
    },
    createBesideStranger: {
      weight: 4,
      run: () => {
        const intent = createIntent('data');
        const cluster = pick(intent.clusters);
        const gateway = pick(gateways);
        strangerPlaces.add(`${cluster}/${intent.name}`);
        const outcome = putConfigMap(cluster, intent.name, { mine: 'yes' }).then(() => propagate(gateway, intent));
        return { detail: `${intent.name} in ${intent.clusters}, stranger in ${cluster}`, outcome };
      },
    },
    change: {
      weight: 18,
      run: onExisting((intent) => {
        if (intent.form === 'job') return undefined;
        change(intent);
        const gateway = pick(gateways);
        return { detail: `${JSON.stringify(intent)} by ${gateway.name}`, outcome: propagate(gateway, intent) };
      }),
    },
    move: {
      weight: 8,
      run: onExisting((intent) => {
        if (intent.form === 'job' || intent.form === 'source') return undefined;
        intent.clusters = subset(names);
        intent.token += 1;
        const gateway = pick(gateways);
        return { detail: `${intent.name} to ${intent.clusters}`, outcome: propagate(gateway, intent) };
      }),
    },
    twoEditors: {
      weight: 5,
      run: onExisting((intent) => {
        if (intent.form !== 'data') return undefined;
        const versions = gateways.map(() => {
          change(intent);
          return { ...intent };
        });
        const edit = async (index: number, digest: string) => {
          const gateway = gateways[index] as GatewayProcess;
          return propagate(gateway, versions[index] as ScheduledIntent, digest).catch((error: Error) => error.message);
        };
        const outcome = (async () => {
          const digests: string[] = [];
          for (const [index, gateway] of gateways.entries()) {
            const variables = { input: inputOf(versions[index] as ScheduledIntent) };
            const { planPropagation } = await ask<{ planPropagation: { digest: string } }>(gateway, planDocument, variables);
            digests.push(planPropagation.digest);
          }
          const results = await Promise.all(digests.map((digest, index) => edit(index, digest)));
          if (results.every((result) => result === 'ACCEPTED')) violations.push(`${intent.name}: two editors replaced the same intent`);
          // Another edit may have started meanwhile, so `intent.token` may belong to that edit.
          if (results.includes('ACCEPTED')) intent.acceptedToken = versions[0]?.token;
          return results.join(' and ');
        })();
        return { detail: intent.name, outcome };
      }),
    },
    rollback: {
      weight: 5,
      run: onExisting((intent) => {
        if (intent.form === 'job') return undefined;
        const gateway = pick(gateways);
        const outcome = ask<{ rollbackPropagation: { result: string } }>(gateway, byName('rollbackPropagation'), {
          namespace,
          name: intent.name,
        });
        intent.acceptedToken = undefined;
        return { detail: intent.name, outcome: outcome.then(({ rollbackPropagation }) => rollbackPropagation.result) };
      }),
    },
    pause: {
      weight: 2,
      run: onExisting((intent) => {
        const outcome = ask<object>(pick(gateways), byName('pausePropagation'), { namespace, name: intent.name });
        return { detail: intent.name, outcome: outcome.then((data) => JSON.stringify(data)) };
      }),
    },
    delete: {
      weight: 5,
      run: onExisting((intent) => {
        intent.deletion = 'tried';
        const gateway = pick(gateways);
        const outcome = ask<{ deletePropagation: { result: string } }>(gateway, byName('deletePropagation'), {
          namespace,
          name: intent.name,
        });
        return {
          detail: intent.name,
          outcome: outcome.then(({ deletePropagation: { result } }) => {
            if (result === 'ACCEPTED') intent.deletion = 'accepted';
            return result;
          }),
        };
      }),
    },
    deleteOnHub: {
      weight: 2,
      run: onExisting((intent) => {
        intent.deletion = 'tried';
        const outcome = hub.write('DELETE', pathOf('Propagation', namespace, intent.name)).then((status) => {
          if (status === 200) intent.deletion = 'accepted';
          return String(status);
        });
        return { detail: intent.name, outcome };
      }),
    },
    driftEdit: {
      weight: 9,
      run: onExisting((intent) => disturb(intent, (member, path) => member.write('PATCH', path, { data: { token: 'edited by hand' } }))),
    },
    driftDelete: {
      weight: 7,
      run: onExisting((intent) => disturb(intent, (member, path) => member.write('DELETE', path))),
    },
    driftMark: {
      weight: 4,
      run: onExisting((intent) =>
        disturb(intent, (member, path) =>
          member.write('PATCH', path, {
            metadata: { annotations: { 'muster.dev/generation': '999' }, labels: { 'muster.dev/propagation': 'x' } },
          }),
        ),
      ),
    },
    stealMarks: {
      weight: 3,
      run: onExisting((intent) => {
        const cluster = pick(intent.clusters);
        const name = `stolen-${below(1_000_000)}`;
        const outcome = hub
          .get(pathOf('Propagation', namespace, intent.name))
          .then((found) => putConfigMap(cluster, name, { mine: 'yes' }, { 'muster.dev/propagation': found?.metadata.uid ?? 'none' }));
        return { detail: `${cluster}/${name} of ${intent.name}`, outcome };
      }),
    },
    killGateway: {
      weight: 2,
      run: () => {
        const gateway = pick(gateways);
        const downMs = 200 + below(4_000);
        const outcome = gateway.kill('SIGKILL').then(() => 'killed');
        later(outcome.then(() => sleep(downMs)).then(() => gateway.start()));
        return { detail: `${gateway.name}, back after ${downMs} ms`, outcome };
      },
    },
    stopGateway: {
      weight: 1,
      run: () => {
        const gateway = pick(gateways);
        later(
          gateway
            .kill('SIGSTOP')
            .then(() => sleep(17_000))
            .then(() => gateway.kill('SIGCONT')),
        );
        return { detail: `${gateway.name} past its Lease`, outcome: Promise.resolve('stopped') };
      },
    },
    freezeCluster: {
      weight: 3,
      run: () => {
        const cluster = pick(names);
        const reached = random() < 0.5 ? gateways : [pick(gateways)];
        const state = pick(['frozen', 'cut'] as const);
        const forMs = 500 + below(8_000);
        const set = (next: 'open' | 'frozen' | 'cut') => reached.map(({ proxies }) => proxies.get(cluster)?.set(next));
        set(state);
        later(sleep(forMs).then(() => set('open')));
        return { detail: `${cluster} ${state} for ${reached.map(({ name }) => name)}, ${forMs} ms`, outcome: Promise.resolve(state) };
      },
    },
    deleteLeaseNamespace: {
      weight: 1,
      run: () => ({ detail: 'muster-system', outcome: hub.write('DELETE', '/api/v1/namespaces/muster-system').then(String) }),
    },
  };

  const entries = Object.entries(operations);
  const total = entries.reduce((sum, [, { weight }]) => sum + weight, 0);
  const draw = () => {
    let rest = below(total);
    return entries.find(([, { weight }]) => {
      rest -= weight;
      return rest < 0;
    }) as (typeof entries)[number];
  };
  const startedMs = performance.now();
  while (records.length < count) {
    const [operation, { run }] = draw();
    const begun = run();
    if (begun === undefined) continue;
    const record: OperationRecord = {
      number: records.length + 1,
      atMs: Math.round(performance.now() - startedMs),
      operation,
      detail: begun.detail,
      outcome: 'unanswered',
    };
    records.push(record);
    // The next operation starts while a long one still runs, because real editors do not wait for each other.
    const ended = begun.outcome.then(
      (outcome) => {
        record.outcome = outcome;
      },
      (error: Error) => {
        record.outcome = `failed: ${error.message}`;
      },
    );
    faults.push(ended);
    const pauseMs = below(500);
    await Promise.race([ended, sleep(2_000)]);
    await sleep(pauseMs);
  }
  return { records, intents, untouchables, violations, faultsOver: Promise.all(faults) };
}

/** Returns the mutation's input. All objects of an intent have its name, and so has the source of a template. */
function inputFor(intent: ScheduledIntent, namespace: string, hub: string): object {
  const { name, form, clusters, token, hasExtra, isReplaced, overridden, hasWaves } = intent;
  const metadata = { name, namespace };
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { token: String(token), ...(hasExtra ? { extra: 'yes', more: 'yes' } : {}) },
  };
  const pod = { containers: [{ name: 'main', image: 'registry.example/app:1' }] };
  const selector = { matchLabels: { app: name } };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { selector, template: { metadata: { labels: { app: name } }, spec: pod } },
  };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } };
  const templates = {
    data: [{ json: configMap }],
    workload: [{ json: configMap }, { json: deployment }],
    job: [{ json: configMap }, { json: job }],
    source: [{ ref: { cluster: hub, apiVersion: 'v1', kind: 'ConfigMap', namespace, name } }],
  };
  return {
    namespace,
    name,
    template: templates[form],
    placement: { clusters },
    ...(form === 'workload' ? { replicas: { mode: 'DIVIDED', total: 4 } } : {}),
    ...(overridden === undefined || form === 'source'
      ? {}
      : {
          overrides: [
            { name: 'tone', set: { clusters: [overridden] }, objects: { kind: 'ConfigMap' }, merge: { data: { tone: `low ${token}` } } },
          ],
        }),
    ...(hasWaves ? { rollout: { waves: [{ name: 'first', set: { clusters: clusters.slice(0, 1) } }] } } : {}),
    write: isReplaced ? 'REPLACE' : 'APPLY',
  };
}
