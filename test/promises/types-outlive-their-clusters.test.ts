import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Listed, startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { pod, widget, widgetDefinition } from '../support/workloads.ts';

// "A cluster that is down at the start takes no type away."

interface Widgets {
  readonly exampleWidgets: Listed;
}

const widgets = '{ exampleWidgets { items { metadata { name } spec { size } } totalCount faults { code cluster { name } } } }';

async function withLock(run: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-lock-'));
  try {
    await run(path.join(folder, 'schema.json'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const hashOf = async (gateway: TestGateway) =>
  (await gateway.query<{ gateway: { schemaHash: string } }>('{ gateway { schemaHash } }')).gateway.schemaHash;
const reasonOf = async (gateway: TestGateway) => {
  const text = '{ __type(name: "Query") { fields(includeDeprecated: true) { name deprecationReason } } }';
  const { __type } = await gateway.query<{ __type: { fields: { name: string; deprecationReason: string | null }[] } }>(text);
  return __type.fields.find(({ name }) => name === 'exampleWidgets')?.deprecationReason;
};

test('a kind of a cluster that is down at the start can be queried, and the cluster is reported as missing', async () => {
  await withLock(async (schemaLock) => {
    await using gateway = await startGateway(
      { north: [pod('web')], south: [widgetDefinition(), widget('press')] },
      { flags: { schemaLock } },
    );
    await gateway.until(async () => (await gateway.query<Widgets>(widgets)).exampleWidgets.totalCount === 1, 10_000);
    const hash = await hashOf(gateway);
    using _silence = gateway.cluster('south').refuse();
    gateway.cluster('south').disconnect();
    await gateway.restart();
    expect(await hashOf(gateway), 'the schema is the same').toBe(hash);
    expect(await reasonOf(gateway), 'who is down may serve it').toBeNull();
    const { exampleWidgets } = await gateway.query<Widgets>(widgets);
    expect(exampleWidgets).toMatchObject({ items: [], faults: [{ code: 'UNREACHABLE', cluster: { name: 'south' } }] });
  });
});

test('a cluster-scoped object of such a kind is reported as missing, not as absent, while the cluster is down', async () => {
  await withLock(async (schemaLock) => {
    const definition = widgetDefinition();
    const clusterScoped = { ...definition, spec: { ...(definition.spec as object), scope: 'Cluster' } };
    const press = { ...widget('press'), metadata: { name: 'press' } };
    await using gateway = await startGateway({ north: [definition], south: [clusterScoped, press] }, { flags: { schemaLock } });
    const text = `query ($live: Boolean!) {
      exampleWidget(cluster: "south", namespace: "", name: "press", live: $live) { metadata { name } }
    }`;
    await gateway.until(async () => (await reasonOf(gateway)) === null, 5_000);
    for (const live of [false, true])
      expect(await gateway.query(text, { live })).toEqual({ exampleWidget: { metadata: { name: 'press' } } });
    using _silence = gateway.cluster('south').refuse();
    gateway.cluster('south').disconnect();
    await gateway.restart();
    for (const live of [false, true]) {
      const { data, extensions } = await gateway.ask(text, { live });
      expect([data, extensions?.faults]).toMatchObject([{ exampleWidget: null }, [{ code: 'UNREACHABLE', cluster: 'south' }]]);
    }
  });
});

test('a kind that no cluster serves any more is deprecated once all clusters have reported it', async () => {
  await withLock(async (schemaLock) => {
    await using gateway = await startGateway({ north: [pod('web')], south: [widgetDefinition()] }, { flags: { schemaLock } });
    await gateway.until(async () => (await reasonOf(gateway)) === null, 5_000);
    await gateway.setMembers(['north']);
    await gateway.restart();
    await gateway.until(async () => (await reasonOf(gateway)) === 'No connected cluster serves this kind.', 5_000);
  });
});

test('without the file the kind is missing while its cluster is down', async () => {
  await withLock(async (schemaLock) => {
    await using gateway = await startGateway({ north: [pod('web')], south: [widgetDefinition()] }, { flags: { schemaLock } });
    await gateway.until(async () => (await reasonOf(gateway)) === null, 5_000);
    await gateway.setMembers(['north']);
    await gateway.kill();
    await rm(schemaLock);
    await gateway.restart();
    const { errors } = await gateway.ask(widgets);
    expect(errors).toMatchObject([{ message: expect.stringContaining('exampleWidgets'), extensions: { code: 'BAD_INPUT' } }]);
  });
});

test('a broken file is set aside and reported, and kinds of connected clusters can be queried', async () => {
  await withLock(async (schemaLock) => {
    await writeFile(schemaLock, '{ this is no lock');
    await using gateway = await startGateway({ north: [widgetDefinition(), widget('press')] }, { flags: { schemaLock } });
    await gateway.until(async () => (await gateway.ask<Widgets>(widgets)).data?.exampleWidgets.totalCount === 1, 10_000);
    const { gateway: told } = await gateway.query<{ gateway: { schemaProblem: string } }>('{ gateway { schemaProblem } }');
    expect(told.schemaProblem).toMatch(/^the schema lock file was broken .* has been set aside/);
    const aside = (await readdir(path.dirname(schemaLock))).find((name) => name.includes('.broken-')) ?? '';
    expect(await readFile(path.join(path.dirname(schemaLock), aside), 'utf8')).toBe('{ this is no lock');
  });
});

test('the names of two groups stay the same, in any order of the next start', async () => {
  const other = (group: string) => {
    const definition = widgetDefinition();
    return JSON.parse(JSON.stringify(definition).replaceAll('example.com', group)) as typeof definition;
  };
  const typesOf = async (gateway: TestGateway) => {
    const { kinds } = await gateway.query<{ kinds: { group: string; type: string }[] }>(
      '{ kinds(groups: ["a.org", "a.net"]) { group type } }',
    );
    return kinds.map(({ group, type }) => `${group} ${type}`);
  };
  await withLock(async (schemaLock) => {
    await using gateway = await startGateway({ north: [other('a.org')], south: [] }, { flags: { schemaLock } });
    await gateway.until(async () => (await typesOf(gateway)).length === 1, 5_000);
    gateway.cluster('south').define(other('a.net'));
    await gateway.until(async () => (await typesOf(gateway)).length === 2, 5_000);
    const before = await typesOf(gateway);
    expect(before).toEqual(['a.net ANetWidget', 'a.org AWidget']);
    await gateway.setMembers(['south']);
    await gateway.restart();
    expect(await typesOf(gateway)).toEqual(before);
  });
});

test('a definition that changed while the gateway was down is read anew, and no other cluster is reported to differ', async () => {
  const sizeOf = async (gateway: TestGateway) => {
    const { __type, kinds } = await gateway.query<{
      __type: { fields: { name: string; type: { name: string } }[] };
      kinds: { conflicts: string[] }[];
    }>('{ __type(name: "ExampleWidgetSpec") { fields { name type { name } } } kinds(groups: ["example.com"]) { conflicts } }');
    return [__type.fields.find(({ name }) => name === 'size')?.type.name, ...kinds.flatMap(({ conflicts }) => conflicts)];
  };
  await withLock(async (schemaLock) => {
    await using gateway = await startGateway({ north: [widgetDefinition()], south: [widgetDefinition()] }, { flags: { schemaLock } });
    await gateway.until(async () => (await reasonOf(gateway)) === null, 5_000);
    expect(await sizeOf(gateway)).toEqual(['Int64']);
    await gateway.kill();
    for (const name of ['north', 'south']) gateway.cluster(name).define(widgetDefinition({ size: { type: 'boolean' } }));
    await gateway.restart();
    await gateway.until(async () => (await sizeOf(gateway)).join() === 'Boolean', 5_000);
  });
});
