import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { LiveStream } from '../support/clients/live-socket.ts';
import { changesIn } from '../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { widget, widgetDefinition } from '../support/workloads.ts';

// The version in which a cluster serves a kind can change while streams run. They then show the same as lists.

const both = definitionWith('v1', 'v2');
const query = `subscription ($after: String, $where: Where) {
  exampleWidgets(after: $after, where: $where) { type cursor added { ...State } modified { ...State } deleted { ...State } }
}
fragment State on ExampleWidget { id apiVersion object }`;

/** The gateway reads the newest served version. */
function definitionWith(...versions: readonly string[]): KubernetesObject {
  const definition = widgetDefinition();
  const [version] = (definition.spec as { readonly versions: readonly object[] }).versions;
  const spec = {
    ...(definition.spec as object),
    versions: versions.map((name, index) => ({ ...version, name, storage: index === 0 })),
  };
  return { ...definition, spec };
}

interface Told {
  readonly id: string;
  readonly apiVersion: string;
  readonly object: { readonly apiVersion: string };
}

/** Returns the objects of a client that handles these streams in order: their versions, from the field and from `object`. */
function heldIn(...streams: readonly LiveStream[]): readonly string[] {
  const held = new Map<string, Told>();
  for (const { type, ...message } of streams.flatMap((stream) => changesIn(stream, 'exampleWidgets'))) {
    const { added, modified, deleted } = message as unknown as Record<'added' | 'modified' | 'deleted', readonly Told[]>;
    if (type === 'RESET') held.clear();
    for (const told of [...added, ...modified]) held.set(told.id, told);
    for (const { id } of deleted) held.delete(id);
  }
  return [...held.values()].flatMap(({ apiVersion, object }) => [apiVersion, object.apiVersion]);
}

const isSynced = (stream: LiveStream) => changesIn(stream, 'exampleWidgets').at(-1)?.type === 'SYNCED';

async function listedVersions(gateway: TestGateway): Promise<readonly string[]> {
  const { exampleWidgets } = await gateway.query<{
    readonly exampleWidgets: { readonly items: readonly { readonly apiVersion: string }[] };
  }>('{ exampleWidgets { items { apiVersion } } }');
  return exampleWidgets.items.map(({ apiVersion }) => apiVersion);
}

/** Resolves once the schema has the kind. */
async function start(): Promise<TestGateway> {
  const gateway = await startGateway({ north: [definitionWith('v1'), widget('a'), widget('b')] });
  await gateway.until(async () => (await gateway.ask('{ exampleWidgets { totalCount } }')).errors === undefined);
  return gateway;
}

const inV2 = ['example.com/v2', 'example.com/v2', 'example.com/v2', 'example.com/v2'];

async function open(gateway: TestGateway, variables = {}): Promise<LiveStream> {
  const stream = await gateway.subscribe(query, variables);
  await gateway.until(() => isSynced(stream));
  return stream;
}

test('a running stream sends all objects again when the served version of their kind changes', async () => {
  await using gateway = await start();
  const stream = await open(gateway);
  gateway.cluster('north').define(both);
  await gateway.until(async () => (await listedVersions(gateway)).every((version) => version === 'example.com/v2'));
  await gateway.until(() => isSynced(stream));
  expect(heldIn(stream)).toEqual(inV2);
});

test('a stream that resumes after the change receives all objects again', async () => {
  await using gateway = await start();
  const stream = await open(gateway);
  const after = changesIn(stream, 'exampleWidgets').at(-1)?.cursor ?? '';
  stream.stop();
  gateway.cluster('north').define(both);
  await gateway.until(async () => (await listedVersions(gateway)).every((version) => version === 'example.com/v2'));
  const resumed = await gateway.subscribe(query, { after });
  await gateway.pass(200);
  expect(heldIn(stream, resumed)).toEqual(inV2);
});

test('a filter on the version selects the same in a stream as in a list', async () => {
  await using gateway = await start();
  const [old, next] = await Promise.all(
    ['example.com/v1', 'example.com/v2'].map((eq) => open(gateway, { where: { path: 'apiVersion', eq } })),
  );
  if (old === undefined || next === undefined) throw new Error('no streams');
  expect([heldIn(old).length, heldIn(next).length]).toEqual([4, 0]);
  gateway.cluster('north').define(both);
  await gateway.until(async () => (await listedVersions(gateway)).every((version) => version === 'example.com/v2'));
  await gateway.until(() => isSynced(old) && isSynced(next));
  expect([heldIn(old).length, heldIn(next).length]).toEqual([0, 4]);
});
