import { describe, expect, test } from 'vitest';
import { codesOf, type LiveStream, transports } from '../../support/clients/live-socket.ts';
import { changesIn, PodReader, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { pod, widget, widgetDefinition } from '../../support/workloads.ts';

// "A stream keeps the schema that it began with": schema changes under load cause no outdated verdict and no outdated bytes. A stream
// whose schema is too old ends with an error, and its cursor can be resumed.

const fieldOf = async (gateway: TestGateway, type: string, field: string): Promise<string | undefined> => {
  const text = `{ __type(name: "${type}") { fields { name type { name } } } }`;
  const { __type } = await gateway.query<{ __type: { fields: { name: string; type: { name: string | null } }[] } | null }>(text);
  return __type?.fields.find(({ name }) => name === field)?.type.name ?? undefined;
};

const integer = { type: 'integer' };
const text = { type: 'string' };

const widgets = (selection: string) => `subscription ($after: String) {
  exampleWidgets(after: $after) {
    type cluster { name } cursor fault { code }
    added { metadata { name } spec { ${selection} } } modified { metadata { name } spec { ${selection} } } deleted { metadata { name } }
  }
}`;

interface Widget {
  readonly metadata: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
}

const widgetsIn = (stream: LiveStream): readonly Widget[] =>
  changesIn(stream, 'exampleWidgets').flatMap(({ added, modified }) => [...added, ...modified] as unknown as readonly Widget[]);

const isSynced = (stream: LiveStream) => changesIn(stream, 'exampleWidgets').some(({ type }) => type === 'SYNCED');

describe.each(transports)('over %s', (transport) => {
  test('a document is validated by the current schema: refused before a field exists, and accepted from then on', async () => {
    await using gateway = await startGateway({ north: [widgetDefinition({ size: integer }), widget('press', { size: 3, colour: 'red' })] });
    const north = gateway.cluster('north');
    const open = () => gateway.subscribe(widgets('size colour'), {}, transport);
    const codes = async () => {
      const stream = await open();
      await gateway.until(() => stream.completed || isSynced(stream));
      const all = new Set(codesOf(stream));
      if (!stream.completed) stream.stop();
      return all;
    };
    expect([...(await codes())]).toEqual(['BAD_INPUT']);
    north.define(widgetDefinition({ size: integer, colour: text }));
    await gateway.until(async () => (await fieldOf(gateway, 'ExampleWidgetSpec', 'colour')) !== undefined);
    expect([...(await codes())]).toEqual([]);
    const known = await open();
    await gateway.until(() => isSynced(known));
    north.put(widget('later', { size: 4, colour: 'blue' }));
    await gateway.until(() => widgetsIn(known).some(({ spec }) => spec?.size === 4));
    expect(widgetsIn(known).at(-1)).toEqual({ metadata: { name: 'later' }, spec: { size: 4, colour: 'blue' } });
  });

  test('equal documents on two schemas share no byte: each stream keeps the types it began with', async () => {
    await using gateway = await startGateway({
      north: [widgetDefinition({ weight: { type: 'number' } }), widget('press', { weight: 1.5 })],
    });
    const north = gateway.cluster('north');
    const before = await gateway.subscribe(widgets('weight'), {}, transport);
    await gateway.until(() => isSynced(before));
    expect(await fieldOf(gateway, 'ExampleWidgetSpec', 'weight')).toBe('Float');
    north.define(widgetDefinition({ weight: text }));
    await gateway.until(async () => (await fieldOf(gateway, 'ExampleWidgetSpec', 'weight')) === 'String');
    const after = await gateway.subscribe(widgets('weight'), {}, transport);
    await gateway.until(() => isSynced(after));
    north.put(widget('word', { weight: 'heavy' }));
    const toldOf = (stream: LiveStream) => widgetsIn(stream).find(({ metadata }) => metadata.name === 'word');
    await gateway.until(() => toldOf(before) !== undefined && toldOf(after) !== undefined);
    // The old schema promises a number. A word is not a number, so it is null.
    expect(toldOf(before)?.spec).toEqual({ weight: null });
    expect(codesOf(before)).toEqual([]);
    expect(toldOf(after)?.spec).toEqual({ weight: 'heavy' });
    expect(codesOf(after)).toEqual([]);
  });
});

/** Replaces the schema this many times, each with another field. */
async function swap(gateway: TestGateway, times: number, first: number): Promise<void> {
  for (let n = first; n < first + times; n++) {
    gateway.cluster('north').define(widgetDefinition({ [`field${n}`]: text }));
    await gateway.until(async () => (await fieldOf(gateway, 'ExampleWidgetSpec', `field${n}`)) !== undefined);
  }
}

test('at most three schemas are kept: the oldest streams end with GONE, resume by their cursor, and lose nothing', async () => {
  await using gateway = await startGateway({ north: [widgetDefinition({ first: text }), pod('web')] });
  const clusters = ['north'];
  const oldest = await Promise.all(transports.map((over) => PodReader.open(gateway, { over })));
  await untilAllHold(gateway, oldest, { clusters });
  await swap(gateway, 1, 1);
  const younger = await PodReader.open(gateway);
  await swap(gateway, 1, 2);
  gateway.cluster('north').put(pod('during'));
  await untilAllHold(gateway, [...oldest, younger], { clusters });
  await swap(gateway, 1, 3);
  await gateway.until(() => oldest.every(({ stream }) => stream.completed));
  for (const { stream } of oldest) expect(codesOf(stream)).toEqual(['GONE']);
  expect(younger.stream.completed).toBe(false);
  gateway.cluster('north').put(pod('after'));
  gateway.cluster('north').remove('Pod', 'web', 'default');
  const resumed = await Promise.all(oldest.map((reader) => reader.resumed(gateway)));
  await untilAllHold(gateway, [...resumed, younger], { clusters });
  for (const reader of resumed) expect(reader.messages.filter(({ type }) => type === 'RESET' || type === 'INITIAL')).toEqual([]);
});

test('under load, with a swap in the middle of everything, no stream loses a change and no query an answer', async () => {
  await using gateway = await startGateway({ north: [widgetDefinition({ first: text }), pod('web')], south: [pod('api')] });
  const clusters = ['north', 'south'];
  let readers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => PodReader.open(gateway, { over: n % 2 === 0 ? 'websocket' : 'sse' })),
  );
  await untilAllHold(gateway, readers, { clusters });
  const codes: string[] = [];
  for (let round = 1; round <= 6; round++) {
    const field = `round${round}`;
    gateway.cluster('north').define(widgetDefinition({ [field]: text }));
    let isThere = false;
    for (let n = 0; !isThere; n++) {
      gateway.cluster('north').put(pod(`n${n % 20}`, { annotations: { at: `${round}-${n}` } }));
      gateway.cluster('south').put(pod(`s${n % 7}`, { annotations: { at: `${round}-${n}` } }));
      gateway.cluster('south').remove('Pod', `s${(n + 3) % 7}`, 'default');
      const { errors } = await gateway.ask('{ pods { totalCount } }');
      codes.push(...(errors ?? []).map(({ extensions }) => extensions.code));
      await gateway.pass(100);
      isThere = (await fieldOf(gateway, 'ExampleWidgetSpec', field)) !== undefined;
      expect(n).toBeLessThan(100);
    }
    readers = await Promise.all(
      readers.map(async (reader) => {
        if (!reader.stream.completed) return reader;
        expect(codesOf(reader.stream)).toEqual(['GONE']);
        return reader.resumed(gateway);
      }),
    );
  }
  await gateway.pass(1_000);
  readers = await Promise.all(readers.map((reader) => (reader.stream.completed ? reader.resumed(gateway) : reader)));
  await untilAllHold(gateway, readers, { clusters });
  expect(codes).toEqual([]);
});

describe('B15: a kind that is deleted', () => {
  test.each(transports)('ends its streams with GONE over %s; defined again in another version, it is watched again', async (transport) => {
    await using gateway = await startGateway({ north: [widgetDefinition({ size: integer }), widget('press', { size: 3 })] });
    const north = gateway.cluster('north');
    const before = await gateway.subscribe(widgets('size'), {}, transport);
    await gateway.until(() => isSynced(before));
    const cursor = changesIn(before, 'exampleWidgets').at(-1)?.cursor ?? 'a cursor';
    north.withdraw('widgets.example.com');
    await gateway.until(() => before.completed);
    const told = changesIn(before, 'exampleWidgets');
    expect([...codesOf(before), ...told.map(({ fault }) => fault?.code)]).toContain('GONE');
    expect(told.flatMap(({ deleted }) => deleted).length).toBeLessThanOrEqual(1);

    north.define(widgetDefinition({ size: text }, 'v2'));
    north.put(widget('kiln', { size: 'large' }, 'v2'));
    await gateway.until(async () => (await fieldOf(gateway, 'ExampleWidgetSpec', 'size')) === 'String');
    for (const after of [undefined, cursor]) {
      const again = await gateway.subscribe(widgets('size'), after === undefined ? {} : { after }, transport);
      await gateway.until(() => isSynced(again));
      expect(widgetsIn(again)).toEqual([{ metadata: { name: 'kiln' }, spec: { size: 'large' } }]);
      const types = changesIn(again, 'exampleWidgets').map(({ type }) => type);
      expect(types.slice(0, 3)).toEqual(after === undefined ? ['INITIAL', 'SYNCED'] : ['RESET', 'INITIAL', 'SYNCED']);
      again.stop();
    }
  });

  test('in one of two clusters is FAILED with GONE for that one, and the other continues', async () => {
    const widgetsOf = (name: string) => [widgetDefinition({ size: integer }), widget(name, { size: 3 })];
    await using gateway = await startGateway({ north: widgetsOf('press'), south: widgetsOf('kiln') });
    const stream = await gateway.subscribe(widgets('size'));
    const syncedIn = () => changesIn(stream, 'exampleWidgets').filter(({ type }) => type === 'SYNCED').length;
    await gateway.until(() => syncedIn() === 2);
    gateway.cluster('north').withdraw('widgets.example.com');
    await gateway.until(() => changesIn(stream, 'exampleWidgets').some(({ fault }) => fault?.code === 'GONE'));
    gateway.cluster('south').put(widget('lathe', { size: 5 }));
    await gateway.until(() => widgetsIn(stream).some(({ metadata }) => metadata.name === 'lathe'));
    const gone = changesIn(stream, 'exampleWidgets').filter(({ fault }) => fault?.code === 'GONE');
    expect(gone.map(({ cluster }) => cluster.name)).toEqual(['north']);
    gateway.cluster('north').define(widgetDefinition({ size: integer }));
    gateway.cluster('north').put(widget('anew', { size: 6 }));
    await gateway.until(() => syncedIn() === 3);
    const names = widgetsIn(stream).map(({ metadata }) => metadata.name);
    expect(names.filter((name) => name === 'anew')).toEqual(['anew']);
    expect(stream.completed).toBe(false);
  });
});
