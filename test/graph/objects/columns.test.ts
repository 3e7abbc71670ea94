import { type GraphQLObjectType, getNamedType } from 'graphql';
import { expect, test } from 'vitest';
import { createRedaction } from '../../../src/changes/changes-outcome.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import { columnsOf } from '../../../src/model/columns/columns.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { callerNamed } from '../../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';

const model = loadBaseline();

/** A gateway over one cluster with these objects of a kind. */
function graphWith(key: string, ...objects: readonly ReturnType<typeof objectNamed>[]) {
  const graph = graphOverMirrors({ model });
  const served = servedAs(model, key);
  const north = graph.mirrors.join('north');
  north.discover(served);
  north.mirror(served).list(...objects);
  return graph;
}

function pod(name: string, cpu: string | undefined, state: JsonObject, restartCount = 0) {
  const requests = cpu === undefined ? {} : { resources: { requests: { cpu } } };
  const status = { name: 'web', ready: 'running' in state, restartCount, state };
  const spec = { containers: [{ name: 'web', ...requests }] };
  return objectNamed(name, { namespace: 'shop' }, { spec, status: { phase: 'Running', containerStatuses: [status] } });
}

const pods = () =>
  graphWith(
    'Pod',
    pod('a', '250m', { running: {} }),
    pod('b', '2', { waiting: { reason: 'CrashLoopBackOff' } }, 12),
    pod('c', undefined, { running: {} }, 3),
  );

test('a Pod has the columns that kubectl prints', async () => {
  const { at, errors } = await pods().ask('{ pods { items { phase ready restarts lastRestart requests { cpu cpuCores memory all } } } }');
  expect(errors).toBeUndefined();
  expect(at('pods.items')).toEqual([
    {
      phase: 'Running',
      ready: '1/1',
      restarts: 0,
      lastRestart: null,
      requests: { cpu: '250m', cpuCores: 0.25, memory: null, all: { cpu: '250m' } },
    },
    {
      phase: 'CrashLoopBackOff',
      ready: '0/1',
      restarts: 12,
      lastRestart: null,
      requests: { cpu: '2', cpuCores: 2, memory: null, all: { cpu: '2' } },
    },
    { phase: 'Running', ready: '1/1', restarts: 3, lastRestart: null, requests: { cpu: null, cpuCores: null, memory: null, all: {} } },
  ]);
});

test.each([
  ['{ path: "phase", eq: "Running" }', ['a', 'c']],
  ['{ path: "phase", startsWith: "Crash" }', ['b']],
  ['{ path: "phase", ne: "Running" }', ['b']],
  ['{ path: "restarts", gte: 3 }', ['b', 'c']],
  ['{ path: "requests.cpu", gt: "1" }', ['b']],
  ['{ path: "requests.cpu", exists: false }', ['c']],
  ['{ path: "requests", exists: true }', ['a', 'b', 'c']],
  ['{ path: "lastRestart", exists: true }', []],
  ['{ not: { or: [{ path: "ready", eq: "0/1" }, { path: "restarts", eq: 0 }] } }', ['c']],
])('a filter may ask for a column: %s', async (where, names) => {
  const { at, errors } = await pods().ask(`{ pods(where: ${where}) { totalCount items { metadata { name } } } }`);
  expect(errors).toBeUndefined();
  expect(at('pods.items.metadata.name')).toEqual(names);
  expect(at('pods.totalCount')).toBe(names.length);
});

test.each([
  ['[{ path: "restarts", direction: DESC }]', ['b', 'c', 'a']],
  ['[{ path: "phase" }, { path: "restarts", direction: DESC }]', ['b', 'c', 'a']],
  ['[{ path: "requests.cpu" }]', ['a', 'b', 'c']],
  ['[{ path: "requests.cpu", direction: DESC }]', ['b', 'a', 'c']],
])('an order may go by a column, page after page: %s', async (orderBy, names) => {
  const graph = pods();
  const query = `query ($after: String) { pods(first: 1, after: $after, orderBy: ${orderBy}) { items { metadata { name } } pageInfo { endCursor } } }`;
  const seen: unknown[] = [];
  for (let after: unknown = null; seen.length < names.length; ) {
    const { at, errors } = await graph.ask(query, { after });
    expect(errors).toBeUndefined();
    seen.push(...(at('pods.items.metadata.name') as readonly unknown[]));
    after = at('pods.pageInfo.endCursor');
  }
  expect(seen).toEqual(names);
});

test.each([
  ['pods(where: { path: "phse", eq: "Running" })', 'no field phse in Pod; did you mean phase?'],
  ['pods(where: { path: "restarts", eq: "3" })', 'expected a number for eq on restarts, which is a Int, got "3"'],
  ['pods(orderBy: { path: "requests" })', 'expected a path to a single value, got requests, which is a ResourceList'],
  [
    'jobs(where: { path: "phase", in: ["COMPLETE", "Failed"] })',
    'expected one of COMPLETE, FAILED, TERMINATING, SUSPENDED, FAILURE_TARGET, RUNNING for in on phase, got "Failed"',
  ],
])('a wrong question about a column is refused: %s', async (field, message) => {
  const { errors } = await pods().ask(`{ ${field} { totalCount } }`);
  expect(errors?.map((error) => error.message)).toEqual([expect.stringContaining(message)]);
});

test('kinds whose columns have the same name but different values are listed together', async () => {
  const graph = pods();
  const jobs = servedAs(model, 'Job.batch');
  const south = graph.mirrors.join('south');
  south.discover(jobs);
  south.mirror(jobs).list(objectNamed('sum', { namespace: 'shop' }), objectNamed('done', { namespace: 'shop' }, complete));
  const query =
    '{ resources(kinds: ["Pod", "Job"], where: { path: "phase", in: ["COMPLETE", "RUNNING"] }) { items { metadata { name } } } }';
  const { at, errors } = await graph.ask(query);
  expect(errors).toBeUndefined();
  expect(at('resources.items.metadata.name')).toEqual(['done', 'sum']);
});

test('an enum value of one kind filters only that kind', async () => {
  const graph = pods();
  for (const kinds of ['["Job", "Pod"]', '["Pod", "Job"]']) {
    const { at, errors } = await graph.ask(
      `{ resources(kinds: ${kinds}, where: { path: "phase", eq: "Running" }) { items { metadata { name } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(at('resources.items.metadata.name')).toEqual(['a', 'c']);
  }
});

/** A Pod and a Job that have failed, and one of each that has not. */
function failedOnes() {
  const graph = pods();
  const jobs = servedAs(model, 'Job.batch');
  const deployments = servedAs(model, 'Deployment.apps');
  const south = graph.mirrors.join('south');
  south.discover(jobs, deployments);
  const failed = { status: { conditions: [{ type: 'Failed', status: 'True' }] } };
  south.mirror(jobs).list(objectNamed('lost', { namespace: 'shop' }, failed), objectNamed('going', { namespace: 'shop' }));
  south.mirror(deployments).list(objectNamed('web', { namespace: 'shop' }));
  return graph;
}

test.each([
  ['["Job"]', '{ path: "phase", in: ["FAILED"] }', ['lost']],
  ['["Pod", "Job"]', '{ path: "phase", in: ["CrashLoopBackOff", "FAILED"] }', ['b', 'lost']],
  ['["Job", "Pod"]', '{ path: "phase", in: ["FAILED", "CrashLoopBackOff"] }', ['b', 'lost']],
  ['["Pod", "Job"]', '{ path: "phase", in: ["CrashLoopBackOff"] }', ['b']],
  ['["Pod", "Job"]', '{ not: { path: "phase", in: ["Running", "RUNNING"] } }', ['b', 'lost']],
  ['["Pod", "Job"]', '{ path: "phase", in: [] }', []],
  ['["Job", "Deployment"]', '{ path: "phase", in: ["FAILED", "COMPLETE"] }', ['lost']],
])('each kind is asked for those of several values that it can have: of %s %s', async (kinds, where, names) => {
  const { at, errors } = await failedOnes().ask(
    `{ resources(kinds: ${kinds}, where: ${where}) { totalCount items { metadata { name } } } }`,
  );
  expect(errors).toBeUndefined();
  expect([at('resources.totalCount'), at('resources.items.metadata.name') ?? []]).toEqual([names.length, names]);
});

test.each(['["Job"]', '["Job", "Deployment"]', '["Deployment", "Job"]'])(
  'a value that none of the kinds %s can have is refused',
  async (kinds) => {
    for (const values of ['["FAILED", "Failed"]', '["Failed"]']) {
      const { errors } = await failedOnes().ask(`{ resources(kinds: ${kinds}, where: { path: "phase", in: ${values} }) { totalCount } }`);
      expect(errors?.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^where: expected one of COMPLETE, .* for in on phase, got "Failed"$/),
      ]);
    }
  },
);

const complete = { status: { conditions: [{ type: 'Complete', status: 'True' }] } };

test('a rollout has the text of kubectl, for the kinds that kubectl supports', async () => {
  const sized = { spec: { replicas: 3 }, status: { observedGeneration: 1, updatedReplicas: 1 } };
  const deployment = graphWith('Deployment.apps', objectNamed('web', { namespace: 'shop', generation: 1 }, sized));
  const { at } = await deployment.ask('{ deployments(where: { path: "rollout.done", eq: false }) { items { rollout { done message } } } }');
  expect(at('deployments.items.rollout')).toEqual([
    { done: false, message: 'Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...' },
  ]);
  const replicaSets = graphWith('ReplicaSet.apps', objectNamed('web', { namespace: 'shop' }));
  expect((await replicaSets.ask('{ replicaSets { items { rollout { done } } } }')).at('replicaSets.items.rollout')).toEqual([null]);
});

/** Creates a graph with one object of every kind that has columns. All these kinds are sensitive. */
function guarded() {
  const kinds = [...model.kinds].filter(([, kind]) => columnsOf(kind).length > 0).map(([key]) => key);
  const graph = graphOverMirrors({ model, sensitiveKinds: kinds });
  const north = graph.mirrors.join('north');
  const served = kinds.map((key) => servedAs(model, key));
  north.discover(...served);
  for (const one of served) {
    const status = { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running', replicas: 2 };
    north.mirror(one).list(objectNamed('one', one.namespaced ? { namespace: 'shop' } : {}, { data: { a: '1' }, status }));
  }
  return graph;
}

const columnsOfAll = [...model.kinds].flatMap(([key, kind]) =>
  columnsOf(kind).map((column) => ({ kind, key, column, name: `${key} ${column.name}` })),
);

test.each(columnsOfAll)('nothing is computed from an object without more than its metadata: $name', async ({ kind, key, column }) => {
  const below = 'type' in column.type ? (column.type.type === 'Rollout' ? '{ done }' : '{ all }') : '';
  for (const list of [kind.many, `resources(kinds: ["${key}"])`]) {
    const field = list === kind.many ? `${column.name} ${below}` : `... on ${kind.type} { ${column.name} ${below} }`;
    const { at, errors } = await guarded().ask(`{ found: ${list} { items { ${field} } } }`);
    if (column.nullable) {
      expect(errors).toBeUndefined();
      expect(at(`found.items.${column.name}`)).toEqual([null]);
    } else {
      const advice = `${kind.one} with live: true returns it`;
      expect(errors?.map(({ message }) => message)).toEqual([
        `expected fields other than ${column.name} of ${key}: only its metadata is mirrored; ${advice}`,
      ]);
      expect(errors?.[0]?.originalError).toMatchObject({ code: 'BAD_INPUT' });
    }
  }
});

test('the result of writing an object of a sensitive kind has only its metadata', async () => {
  const kind = servedAs(model, 'ConfigMap');
  const shown = createRedaction(true);
  const object = shown.object(objectNamed('one', { namespace: 'shop' }, { data: { a: '1' } }));
  const key = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'one' };
  const written = { object, metadataOnly: shown.metadataOnly, resource: kind };
  const result = { cluster: clusterName('north'), key, action: 'CONFIGURED', written, warnings: [] } as const;
  const restart = () => Promise.resolve({ ok: true, results: [result] });
  const writes = { apply: restart, patch: restart, delete: restart, scale: restart, restart };
  const graph = graphOverMirrors({ model, writing: { writes } });
  graph.mirrors.join('north');
  const target = '{ ref: { cluster: "north", apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "one" } }';
  const { errors } = await graph.ask(
    `mutation { restart(targets: [${target}]) { results { resource { metadata { name } ... on ConfigMap { dataCount } } } } }`,
  );
  expect(errors?.map(({ message }) => message)).toEqual([expect.stringContaining('fields other than dataCount of ConfigMap')]);
});

test('the status of Jobs cannot be streamed if only their metadata is mirrored', () => {
  const { streams } = guarded();
  const kind = model.kinds.get('Job.batch');
  if (kind === undefined) throw new Error('no Jobs');
  expect(() => streams.jobStatus(callerNamed('me'), kind, {})).toThrow(
    'expected a kind of which more than metadata is mirrored, got Job.batch',
  );
});

test('every kind lists its columns, and each is a field of its type', async () => {
  const graph = graphOverMirrors({ model });
  const { data, errors } = await graph.ask('{ kinds { group kind type columns { name type description } } }');
  expect(errors).toBeUndefined();
  const { kinds } = data as { kinds: readonly { group: string; kind: string; type: string; columns: readonly Record<string, string>[] }[] };
  for (const { group, kind, type, columns } of kinds) {
    expect(columns.map(({ name }) => name)).toEqual(columnsOf({ group, kind }).map(({ name }) => name));
    const fields = (graph.schema.getType(type) as GraphQLObjectType).getFields();
    for (const { name = '', type: named, description } of columns) {
      expect(getNamedType(fields[name]?.type)?.name).toBe(named);
      expect(fields[name]?.description).toBe(description);
    }
  }
  expect(kinds.filter(({ columns }) => columns.length > 0).length).toBeGreaterThanOrEqual(7);
});
