import { once } from 'node:events';
import { connect } from 'node:net';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { createDocumentCache, createErrorCache } from '../../src/operations/engine.ts';
import { IntrospectionCache } from '../../src/operations/introspection-cache.ts';
import { type Listed, startGateway } from '../support/gateway/start-gateway.ts';
import { pod } from '../support/workloads.ts';

// "Everything has a bound": above it the gateway refuses the request and continues.

test('an operation past a limit is refused before it runs, and the next one is answered', async () => {
  await using gateway = await startGateway({ north: [pod('web')] });
  const refused = async (text: string) => (await gateway.ask(text)).errors?.map(({ extensions }) => extensions.code);
  const aliases = Array.from({ length: 31 }, (_, n) => `a${n}: kind`).join(' ');
  expect(await refused(`{ pods { items { ${aliases} } } }`)).toEqual(['TOO_COSTLY']);
  // Reading stops at the maximum number of tokens, and the tokens so far are not a document.
  expect(await refused(`{ ${'gateway { version } '.repeat(1_000)} }`)).toEqual(['BAD_INPUT']);
  expect(await refused('{ pods(first: 501) { totalCount } }')).toEqual(['BAD_INPUT']);
  expect(await refused('{ pods(first: 0) { totalCount } }')).toEqual(['BAD_INPUT']);
  const large = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ gateway { version } }', variables: { padding: 'x'.repeat(4 << 20) } }),
  });
  expect(large.status).toBe(413);
  expect(await gateway.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 1 } });
});

test('lists inside lists are refused as a whole before they fill the memory', async () => {
  await using gateway = await startGateway({ north: [pod('web')] });
  await gateway.query('{ pods { totalCount } }');
  const kinds = (levels: number): string => (levels === 0 ? 'kinds { count }' : `kinds { sync { cluster { ${kinds(levels - 1)} } } }`);
  // The field `cluster` may be null. An answer with null would mean that the cluster does not exist, so the gateway refuses instead.
  const { data, errors } = await gateway.ask(`{ gateway { version } cluster(name: "north") { ${kinds(3)} } }`);
  expect(data).toBeUndefined();
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['TOO_COSTLY']);
  expect(errors?.[0]?.message).toMatch(/expected at most 10000 objects in one answer.*, got 1\d{4} so far: narrow the request/);
  expect(await gateway.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 1 } });
});

test('an answer of gigabytes is refused, however its fields select the same objects, and others are answered meanwhile', async () => {
  const data = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`key-${n}`, 'x'.repeat(1_000)]));
  const maps = Array.from({ length: 100 }, (_, n) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `large-${n}`, namespace: 'default' },
    data,
  }));
  await using gateway = await startGateway({ north: maps });
  await gateway.query('{ configMaps { totalCount } }');
  for (const field of ['object', 'yaml', 'data']) {
    const aliases = Array.from({ length: 30 }, (_, n) => `a${n}: ${field}`).join(' ');
    const { data: none, errors } = await gateway.ask(`{ configMaps(first: 100) { items { ${aliases} } } }`);
    expect([none, errors?.map(({ extensions }) => extensions.code)]).toEqual([undefined, ['TOO_COSTLY']]);
  }
  expect(await gateway.query('{ configMaps(first: 1) { totalCount } }')).toEqual({ configMaps: { totalCount: 100 } });
});

test('an object of more than 16 MiB is a fault of its kind, the mirror keeps its objects, and other kinds are unaffected', async () => {
  await using gateway = await startGateway({ north: [pod('web')] });
  await gateway.query('{ pods { totalCount } configMaps { totalCount } }');
  const north = gateway.cluster('north');
  north.put({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'huge', namespace: 'default' },
    data: { text: 'x'.repeat(17 << 20) },
  });
  const text = '{ configMaps(waitSeconds: 0) { totalCount faults { code } } pods(waitSeconds: 0) { totalCount faults { code } } }';
  const ask = () => gateway.query<{ configMaps: Listed; pods: Listed }>(text);
  await gateway.until(async () => (await ask()).configMaps.faults.some(({ code }) => code === 'TOO_LARGE'));
  north.put(pod('later'));
  await gateway.until(async () => (await ask()).pods.totalCount === 2);
  expect((await ask()).pods.faults).toEqual([]);
  expect((await ask()).configMaps.faults).toEqual([{ code: 'TOO_LARGE' }]);
  north.remove('ConfigMap', 'huge', 'default');
  await gateway.until(async () => (await ask()).configMaps.faults.length === 0, 10 * 60_000);
});

test('a page is never longer than requested, and all pages together are the list', async () => {
  await using gateway = await startGateway({ north: [], south: [] });
  for (const name of ['north', 'south']) gateway.cluster(name).fill('Pod', 60, pod('many'));
  await gateway.until(async () => (await gateway.query<{ pods: Listed }>('{ pods { totalCount } }')).pods.totalCount === 120);
  const query = `query ($after: String) { pods(first: 50, after: $after) { items { metadata { name } cluster { name } } pageInfo { endCursor hasNextPage } } }`;
  interface Page {
    readonly pods: {
      readonly items: readonly { readonly metadata: { readonly name: string }; readonly cluster: { readonly name: string } }[];
      readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
    };
  }
  const sizes: number[] = [];
  const seen = new Set<string>();
  for (let after: string | null = null, more = true; more; ) {
    const { pods }: Page = await gateway.query<Page>(query, { after });
    sizes.push(pods.items.length);
    expect(sizes.length).toBeLessThanOrEqual(3);
    for (const { metadata, cluster } of pods.items) seen.add(`${cluster.name}/${metadata.name}`);
    [after, more] = [pods.pageInfo.endCursor, pods.pageInfo.hasNextPage];
  }
  expect(sizes).toEqual([50, 50, 20]);
  expect(seen.size).toBe(120);
});

test('operations past those that may be in flight are refused with 429, and the next one is answered', async () => {
  await using gateway = await startGateway({ north: [pod('web')] }, { configFile: { limits: { requestsInFlight: 1 } } });
  const post = (query: string) =>
    fetch(gateway.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
  using _slow = gateway.cluster('north').delay(60_000, { resource: 'secrets' });
  const first = post('{ secrets(waitSeconds: 5) { totalCount } }');
  const inFlight = async () => (await post('{ gateway { version } }')).status;
  await gateway.until(async () => (await inFlight()) === 429);
  const refused = await post('{ gateway { version } }');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({ errors: [{ extensions: { code: 'OVERLOADED' } }] });
  await gateway.pass(6_000);
  expect((await first).status).toBe(200);
  expect(await gateway.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 1 } });
});

test('a socket that sends too many headers gets an error, and is closed', async () => {
  await using gateway = await startGateway({ north: [] });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(`POST /graphql HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(17 << 10)}\r\n\r\n`);
  const [answer] = (await once(socket.setEncoding('utf8'), 'data')) as [string];
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  await once(socket, 'close');
  expect(await gateway.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 0 } });
});

test('the cache of documents does not grow with their number', async () => {
  const [documents, errors] = [createDocumentCache<object>(), createErrorCache()];
  const introspections = new IntrospectionCache();
  const schema = buildSchema('type Query { hello: String }');
  let made = 0;
  const make = async () => Buffer.from(`${made++}`);
  const texts = Array.from({ length: 5_000 }, (_, place) => `{ a${place} } #`.padEnd(1_000, ' '));
  for (const text of texts) {
    documents.set(text, {});
    errors.set(text, new Error(text));
  }
  for (const query of texts.slice(0, 50)) await introspections.answerFor(schema, { query }, make);
  for (const query of texts.slice(0, 50)) await introspections.answerFor(schema, { query }, make);
  expect(texts.filter((text) => documents.get(text) !== undefined).length).toBeLessThanOrEqual(1_024);
  expect(texts.filter((text) => errors.get(text) !== undefined).length).toBeLessThanOrEqual(256);
  expect(made, 'each was forgotten before it was asked for again').toBe(100);
});
