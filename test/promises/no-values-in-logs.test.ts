import { GraphQLError, GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { expect, test } from 'vitest';
import { createProcessLog } from '../../src/cli/output/process-log.ts';
import { startGateway } from '../support/gateway/start-gateway.ts';
import { startServing } from '../support/serving/start-serving.ts';
import { widget, widgetDefinition } from '../support/workloads.ts';

// "No object's values in logs, errors or metrics": for every kind and on every path.

const canary = 'C4NARY';

/** Creates a real log whose lines the test reads. */
function keptLog() {
  const lines: string[] = [];
  return { lines, log: createProcessLog({ level: 'debug', write: (line) => void lines.push(line), isTerminal: false }) };
}

/** Resolvers that fail with errors whose messages quote values. */
const failures: Readonly<Record<string, () => unknown>> = {
  leaf: () => ({ password: canary }),
  json: () => JSON.parse(`{"password": ${canary}}`),
  search: () => 'password' in (canary as unknown as object),
  bigint: () => BigInt(canary),
  entries: () => Object.fromEntries([canary as never]),
  wrapped: () => {
    throw new GraphQLError(`odd: ${canary}`);
  },
};

test('a bug that a value causes is logged without the value', async () => {
  const { lines, log } = keptLog();
  const fields = Object.fromEntries(Object.entries(failures).map(([name, resolve]) => [name, { type: GraphQLString, resolve }]));
  const number = { type: GraphQLInt, resolve: () => canary };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { ...fields, number } }) });
  await using edge = await startServing({ schema: () => schema, log });
  const answer = await edge.ask(`{ number ${Object.keys(failures).join(' ')} }`);
  expect(answer.errors?.map(({ message }) => message)).toEqual(Array.from({ length: 7 }, () => 'Unexpected error.'));
  expect(lines.filter((line) => line.includes('a bug'))).toHaveLength(7);
  const metrics = await (await fetch(`${edge.origin}/metrics`)).text();
  expect([...lines, JSON.stringify(answer), metrics].join('')).not.toContain(canary);
});

test('E9: objects with unique values leave none of the values in logs, errors or metrics, for any request', async () => {
  const { lines, log } = keptLog();
  const odd = { [canary]: canary, list: [canary, null, { [canary]: canary }] };
  const properties = { flag: { type: 'boolean' }, size: { type: 'integer' }, parts: { type: 'array', items: { type: 'number' } } };
  const plain = { metadata: { name: 'odd', namespace: 'default', labels: null, annotations: { odd } } };
  await using gateway = await startGateway(
    {
      north: [
        widgetDefinition(properties),
        widget('odd', { flag: odd, size: canary, parts: [canary, odd] }),
        { apiVersion: 'v1', kind: 'Pod', ...plain, spec: { containers: canary, nodeName: odd }, status: odd },
        { apiVersion: 'v1', kind: 'Secret', ...plain, type: odd, data: canary },
        { apiVersion: 'apps/v1', kind: 'Deployment', ...plain, spec: { replicas: canary, selector: canary }, status: { replicas: odd } },
      ] as never,
    },
    { log },
  );
  const metadata = 'metadata { name labels annotations creationTimestamp ownerReferences { name } }';
  const asked = [
    `{ pods { items { ${metadata} nodeName: spec { nodeName containers { name image } } phase: status { phase conditions { type } } owner { name: id } node { id } } } }`,
    `{ deployments { items { ${metadata} spec { replicas selector { matchLabels } } status { replicas } pods { totalCount } } } }`,
    `{ secrets { items { ${metadata} type data } } }`,
    '{ exampleWidgets { items { spec { flag size parts } } } }',
    '{ pods(where: { path: "spec.containers.name", contains: "x" }, orderBy: [{ path: "spec.nodeName" }]) { totalCount } }',
    '{ exampleWidgets(where: { path: "spec.size", gt: 1 }, orderBy: [{ path: "spec.parts" }]) { totalCount } }',
    `{ resources(kinds: ["Pod", "Deployment", "Widget"]) { items { columns: __typename ${metadata} } } }`,
  ];
  for (const text of asked) {
    const answer = await gateway.ask(text);
    const told = { errors: answer.errors, faults: answer.extensions?.faults };
    expect(JSON.stringify(told), text).not.toContain(canary);
  }
  const stream = await gateway.subscribe(`subscription { pods { type added { ${metadata} status { phase } } } }`);
  await gateway.until(() => stream.seen.length > 0);
  stream.stop();
  const metrics = await (await fetch(gateway.url.replace('/graphql', '/metrics'))).text();
  expect([...lines, metrics, JSON.stringify(stream.seen.map(({ errors }) => errors))].join('')).not.toContain(canary);
});

test('a manifest where a text is expected is refused without its values', async () => {
  const { lines, log } = keptLog();
  await using gateway = await startGateway({ north: [] }, { log });
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' }, data: { password: canary } };
  const apply = 'mutation ($m: [Manifest!]!) { apply(clusters: ["north"], manifests: $m) { ok results { fault { message } } } }';
  const wrong = [
    [{ yaml: secret }],
    [{ jsn: secret }],
    [secret],
    canary,
    [{ yaml: `{"data": ${canary}, [` }],
    [{ yaml: `data:\n  a: ${canary}\n a: 1` }],
  ];
  for (const manifests of wrong) {
    const answer = await gateway.ask(apply, { m: manifests as never });
    expect(JSON.stringify(answer), JSON.stringify(manifests)).not.toContain(canary);
  }
  expect(lines.join('')).not.toContain(canary);
});
