import { GraphQLObjectType, type GraphQLScalarType, parseConstValue } from 'graphql';
import { expect, test } from 'vitest';
import { parseJsonExactly } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { jsonOfLiteral } from '../../src/graph/builder/scalars.ts';
import { buildGraph } from '../../src/graph/graph.ts';
import { joinShapes } from '../../src/model/join-shapes.ts';
import type { Model, ModelField, ModelKind, ScalarName } from '../../src/model/model.ts';
import type { Shape } from '../../src/model/shapes.ts';
import type { MirrorStore } from '../../src/store/mirror-store.ts';
import { graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';

const baseline = loadBaseline();

/** The built-in kinds and a Thing with these fields in its spec. */
function withThing(...fields: readonly ModelField[]): Model {
  const names = {
    plural: 'things',
    singular: 'thing',
    shortNames: [],
    categories: [],
    type: 'ExampleThing',
    many: 'exampleThings',
    one: 'exampleThing',
  };
  const kind: ModelKind = {
    group: 'example.com',
    kind: 'Thing',
    versions: ['v1'],
    namespaced: true,
    source: 'CUSTOM',
    conflicts: [],
    ...names,
  };
  const spec: ModelField = { name: 'spec', key: 'spec', type: { type: 'ExampleThingSpec' } };
  return {
    kinds: new Map([...baseline.kinds, ['Thing.example.com', kind]]),
    types: new Map([
      ...baseline.types,
      ['ExampleThing', { name: 'ExampleThing', fields: [spec] }],
      ['ExampleThingSpec', { name: 'ExampleThingSpec', fields }],
    ]),
  };
}

const joined = (a: Shape, b: Shape) => joinShapes(a, b, { path: [], conflict: () => undefined });
const schema = buildGraph(baseline);
const scalar = (name: string) => schema.getType(name) as GraphQLScalarType;

/** Lists Things by name with these specs, each as a cluster sends it. */
function listExactly(store: MirrorStore, specs: Readonly<Record<string, string>>): void {
  const stage = store.replace();
  for (const [name, spec] of Object.entries(specs)) {
    const text = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}","namespace":"shop","uid":"${name}","resourceVersion":"1"},"spec":${spec}}`;
    stage.add(JSON.parse(text), () => parseJsonExactly(text) as KubernetesObject);
  }
  stage.commit(undefined);
}

async function ask(model: Model, spec: string, query: string) {
  const graph = graphOverMirrors({ model });
  const things = servedAs(model, 'Thing.example.com');
  const north = graph.mirrors.join('north');
  north.discover(things);
  listExactly(north.mirror(things).store, { a: spec });
  north.mirror(things).put(objectNamed('b', { namespace: 'shop' }));
  return graph.ask(query);
}

test('fields with inherited names return the own value of the object', async () => {
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];
  const model = withThing(...names.map((key) => ({ name: key.replaceAll('__', '_'), key, type: { scalar: 'String' } }) as const));
  const query = '{ exampleThings { items { metadata { name } spec { constructor toString valueOf hasOwnProperty _proto_ } object } } }';

  const full = await ask(model, '{"constructor":"c","toString":"t","valueOf":"v","hasOwnProperty":"h","__proto__":"p"}', query);
  expect(full.errors).toBeUndefined();
  const spec = { constructor: 'c', toString: 't', valueOf: 'v', hasOwnProperty: 'h', _proto_: 'p' };
  expect(full.at('exampleThings.items.spec')).toEqual([spec, null]);
  expect(JSON.stringify(full.at('exampleThings.items.object'))).toContain('"__proto__":"p"');

  const empty = await ask(model, '{}', query);
  expect(empty.errors).toBeUndefined();
  expect(empty.at('exampleThings.items.spec')).toEqual([
    { constructor: null, toString: null, valueOf: null, hasOwnProperty: null, _proto_: null },
    null,
  ]);
  expect(({} as Record<string, unknown>).p).toBeUndefined();
});

test('integers beyond 2^53 are exact in fields, in object and in yaml; below they are numbers', async () => {
  const model = withThing({ name: 'size', key: 'size', type: { scalar: 'Int64' } }, { name: 'any', key: 'any', type: { scalar: 'JSON' } });
  const query = '{ exampleThings(search: "a") { items { spec { size any } object yaml } } }';
  const { at } = await ask(model, '{"size":9007199254740993,"any":9007199254740991}', query);
  expect(at('exampleThings.items.spec')).toEqual([{ size: '9007199254740993', any: 9007199254740991 }]);
  expect(String(at('exampleThings.items.yaml'))).toContain('size: 9007199254740993\n');
});

test('integers beyond 2^53 keep all digits in a Float, also in its lists', async () => {
  const model = withThing(
    { name: 'size', key: 'size', type: { scalar: 'Float' } },
    { name: 'sizes', key: 'sizes', type: { list: { scalar: 'Float' } } },
  );
  const query = '{ exampleThings(search: "a") { items { spec { size sizes } } } }';
  const { errors, json } = await ask(model, '{"size":9007199254740993,"sizes":[1.5,-9223372036854775808]}', query);
  expect(errors).toBeUndefined();
  expect(json).toContain('{"size":9007199254740993,"sizes":[1.5,-9223372036854775808]}');
});

test('amounts beyond 2^53 are exact as numbers, whether they were stored as numbers or as text', async () => {
  const model = withThing({ name: 'amounts', key: 'amounts', type: { type: 'ResourceList' } });
  const query = `{ exampleThings(search: "a") {
    sum(path: "spec.amounts.memory") { text value } items { spec { amounts { cpu cpuCores memoryBytes all } } }
  } }`;
  const { errors, json } = await ask(model, '{"amounts":{"cpu":9007199254740993,"memory":"9007199254740995"}}', query);
  expect(errors).toBeUndefined();
  expect(json).toContain('"sum":{"text":"9007199254740995","value":9007199254740995}');
  const all = '"all":{"cpu":"9007199254740993","memory":"9007199254740995"}';
  expect(json).toContain(`{"cpu":9007199254740993,"cpuCores":9007199254740993,"memoryBytes":9007199254740995,${all}}`);
});

const everyType: readonly ModelField[] = [
  { name: 'text', key: 'text', type: { scalar: 'String' } },
  { name: 'time', key: 'time', type: { scalar: 'DateTime' } },
  { name: 'bytes', key: 'bytes', type: { scalar: 'Bytes' } },
  { name: 'age', key: 'age', type: { scalar: 'Duration' } },
  { name: 'count', key: 'count', type: { scalar: 'Int' } },
  { name: 'long', key: 'long', type: { scalar: 'Int64' } },
  { name: 'flag', key: 'flag', type: { scalar: 'Boolean' } },
  { name: 'ratio', key: 'ratio', type: { scalar: 'Float' } },
  { name: 'amount', key: 'amount', type: { scalar: 'Quantity' } },
  { name: 'port', key: 'port', type: { scalar: 'IntOrString' } },
  { name: 'map', key: 'map', type: { scalar: 'StringMap' } },
  { name: 'any', key: 'any', type: { scalar: 'JSON' } },
  { name: 'counts', key: 'counts', type: { list: { scalar: 'Int' } } },
  { name: 'part', key: 'part', type: { type: 'ExampleThingSpec' } },
  { name: 'parts', key: 'parts', type: { list: { type: 'ExampleThingSpec' } } },
  { name: 'amounts', key: 'amounts', type: { type: 'ResourceList' } },
];

const everyField =
  'text time bytes age count long flag ratio amount port map any counts part { text } parts { text } amounts { cpu cpuCores all }';

test.each<[string, string, Readonly<Record<string, unknown>>]>([
  ['a text', '"x"', { text: 'x', time: 'x', bytes: 'x', age: 'x', amount: 'x', port: 'x', any: 'x' }],
  ['a number', '7', { count: 7, long: 7, ratio: 7, amount: 7, port: 7, any: 7 }],
  ['a fraction', '1.5', { ratio: 1.5, amount: 1.5, port: 1.5, any: 1.5 }],
  ['a truth value', 'true', { flag: true, any: true }],
  ['null', 'null', {}],
  ['an empty list', '[]', { any: [], counts: [], parts: [] }],
  [
    'a map',
    '{"text":"t","cpu":"1"}',
    {
      map: { text: 't', cpu: '1' },
      any: { text: 't', cpu: '1' },
      part: { text: 't' },
      amounts: { cpu: '1', cpuCores: 1, all: { text: 't', cpu: '1' } },
    },
  ],
])('%s is null where the type is another one, and a MISFIT fault without an error', async (_, value, fitting) => {
  const spec = `{${everyType.map(({ key }) => `"${key}":${value}`).join()}}`;
  const { errors, faults, at } = await ask(
    withThing(...everyType),
    spec,
    `{ exampleThings(search: "a") { items { spec { ${everyField} } } } }`,
  );
  expect(errors).toBeUndefined();
  const absent = Object.fromEntries(everyType.map(({ name }) => [name, null]));
  expect(at('exampleThings.items.spec')).toEqual([{ ...absent, ...fitting }]);
  const misfits = value === 'null' ? [] : everyType.filter(({ name }) => !(name in fitting));
  expect(faults.map(({ path }) => path)).toEqual(misfits.map(({ name }) => ['exampleThings', 'items', 0, 'spec', name]));
  for (const { fault } of faults)
    expect(fault).toMatchObject({ code: 'MISFIT', cluster: 'north', kind: { kind: 'Thing' }, retry: 'NEVER' });
  expect(faults.filter(({ fault }) => fault.message.startsWith('ExampleThingSpec.text: expected String')).length).toBe(
    misfits.some(({ name }) => name === 'text') ? 1 : 0,
  );
});

test('an item that does not fit is left out of its list, an entry out of its map; the others stay', async () => {
  const spec =
    '{"text":{"secret":"s3cr3t"},"counts":[1,"s3cr3t",null,2],"parts":[{"text":"a"},null,"s3cr3t",{"text":"b"}],"map":{"a":"b","c":1}}';
  const query = '{ exampleThings(search: "a") { items { spec { text numbers: counts parts { text } map } object yaml } } }';
  const { errors, faults, at } = await ask(withThing(...everyType), spec, query);
  expect(errors).toBeUndefined();
  expect(at('exampleThings.items.spec')).toEqual([{ text: null, numbers: [1, 2], parts: [{ text: 'a' }, { text: 'b' }], map: { a: 'b' } }]);
  expect(faults.map(({ path }) => path.slice(4).join('.'))).toEqual(['text', 'numbers.1', 'numbers.2', 'parts.1', 'parts.2', 'map']);
  expect(faults.map(({ fault }) => fault.message.split(',')[0])).toEqual([
    'ExampleThingSpec.text: expected String',
    'ExampleThingSpec.counts: expected Int',
    'ExampleThingSpec.counts: expected Int',
    'ExampleThingSpec.parts: expected ExampleThingSpec',
    'ExampleThingSpec.parts: expected ExampleThingSpec',
    'ExampleThingSpec.map: expected StringMap',
  ]);
  expect(JSON.stringify(faults)).not.toContain('s3cr3t');
  expect(at('exampleThings.items.object')).toEqual([expect.objectContaining({ spec: JSON.parse(spec) })]);
  expect(String(at('exampleThings.items.yaml'))).toContain('s3cr3t');
});

test('an amount that is none is null, and the others of its list stay', async () => {
  const spec = '{"amounts":{"cpu":[],"memory":"1Gi","pods":true,"gpu":2}}';
  const query = '{ exampleThings(search: "a") { items { spec { amounts { cpu cpuCores memory pods gpu: get(name: "gpu") all } } } } }';
  const { errors, faults, at } = await ask(withThing(...everyType), spec, query);
  expect(errors).toBeUndefined();
  expect(at('exampleThings.items.spec.amounts')).toEqual([
    { cpu: null, cpuCores: null, memory: '1Gi', pods: null, gpu: 2, all: { memory: '1Gi', gpu: '2' } },
  ]);
  expect(faults.map(({ path }) => path.at(-1))).toEqual(['cpu', 'cpuCores', 'pods', 'all']);
});

test('a misfit names the cluster and kind of its own row, also next to related rows', async () => {
  const graph = graphOverMirrors({ model: baseline });
  for (const name of ['north', 'south']) {
    const cluster = graph.mirrors.join(name);
    cluster.discover(servedAs(baseline, 'Pod'), servedAs(baseline, 'Endpoints'));
    const pod = { spec: { hostname: 1, containers: [{ name: 'c', image: 2 }] } };
    cluster.mirror({ group: '', kind: 'Pod' }).list(objectNamed('p', { namespace: 'n' }, pod));
    const addresses = [{ hostname: 3, ip: 4, targetRef: { kind: 'Pod', name: 'p', namespace: 'n' } }];
    cluster.mirror({ group: '', kind: 'Endpoints' }).list(objectNamed('e', { namespace: 'n' }, { subsets: [{ addresses }] }));
  }
  const { errors, faults } = await graph.ask(`{ endpoints { items { subsets { addresses {
    hostname targetRef { resource { ... on Pod { spec { hostname containers { image } } } } } ip
  } } } } }`);
  expect(errors).toBeUndefined();
  const inEach = (['north', 'south'] as const).flatMap((cluster) => [
    [cluster, 'Endpoints', 'hostname'],
    [cluster, 'Pod', 'hostname'],
    [cluster, 'Pod', 'image'],
    [cluster, 'Endpoints', 'ip'],
  ]);
  expect(faults.map(({ fault, path }) => [fault.cluster, fault.kind?.kind, path.at(-1)]).sort()).toEqual(inEach.sort());
});

test('where one cluster has quantities and another one text, numbers and texts are shown, found, grouped and ordered as they are stored', async () => {
  const { scalar } = joined({ scalar: 'Quantity' }, { scalar: 'String' }) as { readonly scalar: ScalarName };
  const model = withThing({ name: 'size', key: 'size', type: { scalar } });
  const graph = graphOverMirrors({ model });
  const things = servedAs(model, 'Thing.example.com');
  for (const [name, sizes] of [
    ['north', ['5', '9007199254740993', '"1Gi"']],
    ['south', ['"5"']],
  ] as const) {
    const cluster = graph.mirrors.join(name);
    cluster.discover(things);
    cluster.mirror(things).list();
    listExactly(cluster.mirror(things).store, Object.fromEntries(sizes.map((size, index) => [`${name}-${index}`, `{"size":${size}}`])));
  }
  const all = '{ exampleThings { groups(by: "spec.size", orderBy: KEY_ASC) { keys count } items { spec { size } } } }';
  const { errors, json } = await graph.ask(all);
  expect(errors).toBeUndefined();
  expect(json.match(/"keys":\[[^\]]*\],"count":\d/g)?.join()).toBe(
    '"keys":[5],"count":1,"keys":[9007199254740993],"count":1,"keys":["1Gi"],"count":1,"keys":["5"],"count":1',
  );
  expect(json.match(/"size":[^}]*/g)?.sort()).toEqual(['"size":"1Gi"', '"size":"5"', '"size":5', '"size":9007199254740993']);
  const found = async (condition: string) =>
    (await graph.ask(`{ exampleThings(where: { path: "spec.size", ${condition} }) { items { metadata { name } } } }`)).at(
      'exampleThings.items.metadata.name',
    );
  expect(await found('eq: "5"')).toEqual(['south-0']);
  expect(await found('eq: 5')).toEqual(['north-0']);
  expect(await found('in: [5, "5"]')).toEqual(['north-0', 'south-0']);
  expect(await found('eq: 9007199254740993')).toEqual(['north-1']);
  expect(await found('gt: 5')).toEqual(['north-1']);
  expect(await found('startsWith: "1"')).toEqual(['north-2']);
});

test('object reaches JSON.stringify with every digit', () => {
  const coerce = (name: string, text: string) => scalar(name).coerceOutputValue(parseJsonExactly(text));
  expect(JSON.stringify(coerce('JSON', '{"size":9007199254740993}'))).toBe('{"size":9007199254740993}');
  expect(coerce('Int64', '-9223372036854775808')).toBe('-9223372036854775808');
  expect(coerce('Int64', '9007199254740991')).toBe(9007199254740991);
});

test('literals keep large integers and odd keys as they are written', () => {
  const literalOf = (text: string) => jsonOfLiteral(parseConstValue(text));
  expect(JSON.stringify(literalOf('9007199254740993'))).toBe('9007199254740993');
  const odd = literalOf('{__proto__: 1, constructor: [true, null, 1.5, "x", E]}');
  expect(JSON.stringify(odd)).toBe('{"__proto__":1,"constructor":[true,null,1.5,"x","E"]}');
  expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
});

test('filters compare large integers exactly, from literals and from variables', async () => {
  const model = withThing({ name: 'size', key: 'size', type: { scalar: 'Int64' } });
  const count = async (eq: string) => {
    const { at } = await ask(
      model,
      '{"size":9007199254740993}',
      `{ exampleThings(where: { path: "spec.size", eq: ${eq} }) { totalCount } }`,
    );
    return at('exampleThings.totalCount');
  };
  expect([await count('9007199254740993'), await count('9007199254740992'), await count('"9007199254740993"')]).toEqual([1, 0, 1]);
});

test('maps return only their own keys, and quantities come as text and as numbers', async () => {
  const list = { cpu: '250m', memory: '1Gi', 'nvidia.com/gpu': '2', 'ephemeral-storage': '5Gi', pods: '10' };
  const graph = graphOverMirrors({ model: baseline });
  const north = graph.mirrors.join('north');
  north.discover(servedAs(baseline, 'Node'));
  north
    .mirror({ group: '', kind: 'Node' })
    .list(
      objectNamed('n', { labels: { 'a.b/c': 'x' }, annotations: { k: 'v', l: 'w' } }, { status: { capacity: list } }),
      objectNamed('o', {}, { status: { capacity: {} } }),
    );
  const { at, errors } = await graph.ask(`{ nodes { items {
    metadata { label(key: "a.b/c") none: label(key: "constructor") annotation(key: "k") some: annotations(keys: ["l", "toString"]) annotations }
    status { capacity { cpu cpuCores memory memoryBytes ephemeralStorage pods gpu: get(name: "nvidia.com/gpu") inherited: get(name: "valueOf") all } }
  } } }`);
  expect(errors).toBeUndefined();
  expect(at('nodes.items.metadata')).toEqual([
    { label: 'x', none: null, annotation: 'v', some: { l: 'w' }, annotations: { k: 'v', l: 'w' } },
    { label: null, none: null, annotation: null, some: null, annotations: null },
  ]);
  expect(at('nodes.items.status.capacity')).toEqual([
    {
      cpu: '250m',
      cpuCores: 0.25,
      memory: '1Gi',
      memoryBytes: 2 ** 30,
      ephemeralStorage: '5Gi',
      pods: '10',
      gpu: '2',
      inherited: null,
      all: list,
    },
    { cpu: null, cpuCores: null, memory: null, memoryBytes: null, ephemeralStorage: null, pods: null, gpu: null, inherited: null, all: {} },
  ]);
});

test('keys such as __proto__ are keys like any other, in labels, annotations, data and filters', async () => {
  const map = JSON.parse('{"__proto__":"p","constructor":"c","prototype":"q"}') as Record<string, string>;
  const graph = graphOverMirrors({ model: baseline });
  const north = graph.mirrors.join('north');
  north.discover(servedAs(baseline, 'ConfigMap'));
  const odd = objectNamed('odd', { namespace: 'n', labels: map, annotations: map }, { data: map });
  north.mirror({ group: '', kind: 'ConfigMap' }).list(odd, objectNamed('plain', { namespace: 'n', labels: {} }, { data: {} }));
  const where = { or: ['__proto__', 'constructor', 'prototype'].map((key) => ({ path: `data["${key}"]`, exists: true })) };
  const { data, errors } = await graph.ask(
    `query ($where: Where, $key: String!) { configMaps(where: $where) { items { data metadata { labels label(key: $key) annotations(keys: [$key]) annotation(key: $key) } } } }`,
    { where, key: '__proto__' },
  );
  expect(errors).toBeUndefined();
  const one = JSON.parse('{"__proto__":"p"}');
  expect(JSON.stringify(data)).toBe(
    JSON.stringify({ configMaps: { items: [{ data: map, metadata: { labels: map, label: 'p', annotations: one, annotation: 'p' } }] } }),
  );
  expect(['p', 'c', 'q'].map((key) => (({}) as Record<string, unknown>)[key])).toEqual([undefined, undefined, undefined]);
});

test('ages are as of the moment they are read, and never below 0', async () => {
  const graph = graphOverMirrors({ model: baseline });
  const north = graph.mirrors.join('north');
  north.discover(servedAs(baseline, 'Pod'));
  north.mirror({ group: '', kind: 'Pod' }).list();
  await graph.clock.advance(1_500);
  const query = '{ pods { sync { ageSeconds asOf } } gateway { schemaBuiltAt schemaProblem version demo } }';
  const { data } = await graph.ask(query);
  expect(data).toEqual({
    pods: { sync: [{ ageSeconds: 1.5, asOf: '2026-01-01T00:00:00.000Z' }] },
    gateway: { schemaBuiltAt: '1970-01-01T00:00:00.000Z', schemaProblem: null, version: '0.0.0', demo: false },
  });
  graph.clock.jump(-3_600_000);
  expect((await graph.ask(query)).at('pods.sync.ageSeconds')).toEqual([0]);
});

test('only root fields are asynchronous', async () => {
  const graph = graphOverMirrors({ model: baseline });
  const promised: string[] = [];
  let called = 0;
  for (const type of Object.values(graph.schema.getTypeMap())) {
    if (!(type instanceof GraphQLObjectType) || type === graph.schema.getQueryType() || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const resolve = field.resolve;
      if (resolve === undefined) continue;
      expect(resolve.constructor.name, `${type.name}.${field.name}`).toBe('Function');
      field.resolve = (source, args, context, info) => {
        const value = resolve(source, args, context, info);
        called++;
        if (typeof value === 'object' && value !== null && 'then' in value) promised.push(`${type.name}.${field.name}`);
        return value;
      };
    }
  }
  const north = graph.mirrors.join('north');
  north.discover(servedAs(baseline, 'Pod'));
  const fault = {
    code: 'UNREACHABLE',
    cluster: north.name,
    kind: { group: '', kind: 'Pod' },
    message: 'm',
    retry: 'LATER',
    sinceMs: 0,
    status: { code: 503, reason: 'r', message: 'm', causes: [{}] },
  } as const;
  north
    .mirror({ group: '', kind: 'Pod' })
    .list(
      objectNamed(
        'a',
        { namespace: 'n', labels: { a: 'b' }, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] },
        { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] } },
      ),
    );
  north.mirror({ group: '', kind: 'Pod' }).fail(fault);
  const { errors, at } = await graph.ask(`{ pods { totalCount edges { cursor node { id } } pageInfo { startCursor endCursor } items {
    id yaml object apiVersion kind sync { kind { conflicts } ageSeconds asOf resourceVersion fault { since status { causes { field } } kind { kind } cluster { name } } }
    metadata { label(key: "a") finalizers ownerReferences { name } annotations } spec { containers { name resources { requests { cpuCores memoryBytes all } } } }
    cluster { id labels zones taints { key } ageSeconds kinds { count sync { phase } versions verbs kind { type } } faults { code } }
  } } kinds { group } }`);
  expect(errors).toBeUndefined();
  expect(at('pods.items.cluster.kinds.count')).toEqual([[1]]);
  expect(called).toBeGreaterThan(30);
  expect(promised).toEqual([]);
});

test('a fault still names its cluster after the cluster has left', async () => {
  const graph = graphOverMirrors({ model: baseline });
  const south = graph.mirrors.join('south');
  const answer = graph.ask('{ pods { faults { code cluster { name phase zones taints { key } } } } }');
  await turns();
  south.leave();
  expect((await answer).at('pods.faults')).toEqual([
    { code: 'GONE', cluster: { name: 'south', phase: 'UNREACHABLE', zones: [], taints: [] } },
  ]);
});
