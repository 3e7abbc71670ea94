import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { type Listed, startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { pod, widget, widgetDefinition } from '../support/workloads.ts';

// "A kind that is defined is a typed field seconds later, without a restart."

interface Widgets {
  readonly exampleWidgets: Omit<Listed, 'items'> & {
    readonly items: readonly { readonly spec: Readonly<Record<string, unknown>> | null }[];
  };
}

const sizes = '{ exampleWidgets { items { metadata { name } cluster { name } spec { size } } faults { code cluster { name } } } }';

const fieldsOf = async (gateway: TestGateway, type: string): Promise<readonly string[] | undefined> => {
  const text = `{ __type(name: "${type}") { fields { name } } }`;
  const { __type } = await gateway.query<{ __type: { fields: { name: string }[] } | null }>(text);
  return __type?.fields.map(({ name }) => name);
};

test('P5: a definition that is applied becomes a type and two fields within 5 s', async () => {
  await using gateway = await startGateway({ north: [pod('web')] });
  expect(await fieldsOf(gateway, 'ExampleWidget')).toBeUndefined();
  const north = gateway.cluster('north');
  north.define(widgetDefinition());
  north.put(widget('press', { size: 3 }));
  await gateway.until(async () => (await fieldsOf(gateway, 'ExampleWidget')) !== undefined, 5_000);

  // The type comes from the definition. The objects come a moment later, after discovery has reported the kind.
  await gateway.until(async () => (await gateway.query<Widgets>(sizes)).exampleWidgets.items.length > 0, 5_000);
  const { exampleWidgets } = await gateway.query<Widgets>(sizes);
  expect(exampleWidgets.items).toMatchObject([{ metadata: { name: 'press' }, spec: { size: 3 } }]);
  expect(exampleWidgets.faults).toEqual([]);
  const one = await gateway.query('{ exampleWidget(cluster: "north", namespace: "default", name: "press") { spec { size } } }');
  expect(one).toEqual({ exampleWidget: { spec: { size: 3 } } });
});

test('two clusters that define it differently are joined, each field nullable', async () => {
  await using gateway = await startGateway({
    north: [widgetDefinition({ size: { type: 'integer' }, colour: { type: 'string' } }), widget('press', { size: 3, colour: 'red' })],
    south: [widgetDefinition({ size: { type: 'integer' }, weight: { type: 'number' } }), widget('kiln', { size: 4, weight: 1.5 })],
  });
  await gateway.until(async () => (await fieldsOf(gateway, 'ExampleWidgetSpec'))?.length === 3, 5_000);
  const { exampleWidgets } = await gateway.query<Widgets>('{ exampleWidgets { items { spec { size colour weight } } } }');
  expect(exampleWidgets.items.map(({ spec }) => spec)).toEqual([
    { size: 4, colour: null, weight: 1.5 },
    { size: 3, colour: 'red', weight: null },
  ]);
});

test('a field with incompatible definitions in two clusters is JSON, and `conflicts` names it', async () => {
  const log: unknown[] = [];
  await using gateway = await startGateway(
    {
      north: [
        widgetDefinition({ size: { type: 'integer' }, parts: { type: 'object', properties: { a: { type: 'string' } } } }),
        widget('press', { size: 3, parts: { a: 'b' } }),
      ],
      south: [
        widgetDefinition({ size: { type: 'string' }, parts: { type: 'array', items: { type: 'string' } } }),
        widget('kiln', { size: 'large', parts: ['a'] }),
      ],
    },
    { log: { ...silentLog, warn: (fields, message) => log.push([message, fields]) } },
  );
  const kinds = '{ kinds(groups: ["example.com"]) { type conflicts } }';
  type Kinds = { readonly kinds: readonly { readonly type: string; readonly conflicts: readonly string[] }[] };
  await gateway.until(async () => (await gateway.query<Kinds>(kinds)).kinds[0]?.conflicts.length === 1, 5_000);
  expect(await gateway.query(kinds)).toEqual({ kinds: [{ type: 'ExampleWidget', conflicts: ['spec.parts'] }] });
  expect(log).toContainEqual([
    'clusters define a kind differently: these paths become JSON',
    { kind: 'Widget.example.com', paths: 'spec.parts' },
  ]);
  const { exampleWidgets } = await gateway.query<Widgets>('{ exampleWidgets { items { spec { size parts } } } }');
  expect(exampleWidgets.items.map(({ spec }) => spec)).toEqual([
    { size: 'large', parts: ['a'] },
    { size: 3, parts: { a: 'b' } },
  ]);
});

test('a field that is added to a definition can be queried, and the objects have it', async () => {
  await using gateway = await startGateway({ north: [widgetDefinition(), widget('press', { size: 3 })] });
  await gateway.until(async () => (await fieldsOf(gateway, 'ExampleWidget')) !== undefined, 5_000);
  const north = gateway.cluster('north');
  north.define(widgetDefinition({ size: { type: 'integer' }, colour: { type: 'string' } }));
  north.put(widget('press', { size: 3, colour: 'red' }));
  await gateway.until(async () => (await fieldsOf(gateway, 'ExampleWidgetSpec'))?.includes('colour') === true, 5_000);
  await gateway.until(async () => {
    const { exampleWidgets } = await gateway.query<Widgets>('{ exampleWidgets { items { spec { colour } } } }');
    return exampleWidgets.items[0]?.spec?.colour === 'red';
  });
});

test('a definition that is deleted takes its objects along; named clusters say that they do not serve it', async () => {
  await using gateway = await startGateway({ north: [widgetDefinition(), widget('press')], south: [pod('api')] });
  await gateway.until(async () => (await fieldsOf(gateway, 'ExampleWidget')) !== undefined, 5_000);
  await gateway.until(async () => (await gateway.query<Widgets>(sizes)).exampleWidgets.items.length === 1, 5_000);
  gateway.cluster('north').withdraw('widgets.example.com');
  await gateway.until(async () => (await gateway.query<Widgets>(sizes)).exampleWidgets.items.length === 0, 10_000);
  const named = sizes.replace('exampleWidgets', 'exampleWidgets(clusters: ["south"])');
  expect((await gateway.query<Widgets>(named)).exampleWidgets.faults).toEqual([{ code: 'NOT_SERVED', cluster: { name: 'south' } }]);
});

test('P5: a definition that cannot be built leaves out its group only, and is reported', async () => {
  await using gateway = await startGateway({ north: [pod('web')] });
  const north = gateway.cluster('north');
  // Another API server may serve a schema that is not valid.
  north.define(widgetDefinition({ size: 'large' }));
  const problem = async () =>
    (await gateway.query<{ gateway: { schemaProblem: string | null } }>('{ gateway { schemaProblem } }')).gateway.schemaProblem;
  await gateway.until(async () => (await problem()) !== null, 10_000);
  expect(await problem()).toContain('example.com');
  expect((await gateway.query<{ pods: Listed }>('{ pods { items { metadata { name } } } }')).pods.items).toHaveLength(1);
});

test('a group that the config denies stays out of the schema', async () => {
  const before = [widgetDefinition(), widget('press')];
  await using all = await startGateway({ north: before });
  expect(await fieldsOf(all, 'ExampleWidget')).toBeDefined();
  await using gateway = await startGateway({ north: before }, { configFile: { kinds: { deny: ['example.com'] } } });
  expect(await fieldsOf(gateway, 'ExampleWidget')).toBeUndefined();
  expect(await gateway.query('{ gateway { schemaProblem } }')).toEqual({ gateway: { schemaProblem: null } });
});
