import { GraphQLObjectType, type GraphQLScalarType, parseConstValue } from 'graphql';
import { expect, test } from 'vitest';
import { parseJsonExactly } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { buildGraph } from '../../src/graph/graph.ts';
import { jsonOfLiteral } from '../../src/graph/scalars.ts';
import type { Model, ModelField, ModelKind } from '../../src/model/model.ts';
import { graphOverMirrors } from '../support/graph-over-mirrors.ts';
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

const schema = buildGraph(baseline);
const scalar = (name: string) => schema.getType(name) as GraphQLScalarType;

async function ask(model: Model, spec: string, query: string) {
  const graph = graphOverMirrors({ model });
  const things = servedAs(model, 'Thing.example.com');
  const north = graph.mirrors.join('north');
  north.discover(things);
  const text = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"1"},"spec":${spec}}`;
  const exact = parseJsonExactly(text) as KubernetesObject;
  const store = north.mirror(things).store;
  const stage = store.replace();
  stage.add(JSON.parse(text), () => exact);
  stage.commit(undefined);
  north.mirror(things).put(objectNamed('b', { namespace: 'shop' }));
  return graph.ask(query);
}

test('names that every object inherits answer what the object itself has', async () => {
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

test('an integer beyond 2^53 in a Float is the nearest double, never an error; object has every digit', async () => {
  const model = withThing(
    { name: 'size', key: 'size', type: { scalar: 'Float' } },
    { name: 'sizes', key: 'sizes', type: { list: { scalar: 'Float' } } },
  );
  const query = '{ exampleThings(search: "a") { items { spec { size sizes } object } } }';
  const { errors, json, at } = await ask(model, '{"size":9007199254740993,"sizes":[1.5,-9223372036854775808]}', query);
  expect(errors).toBeUndefined();
  expect(at('exampleThings.items.spec')).toEqual([{ size: 2 ** 53, sizes: [1.5, -(2 ** 63)] }]);
  expect(json).toContain('{"size":9007199254740993,"sizes":[1.5,-9223372036854775808]}');
});

test('a value that does not fit its schema is an error of its own field: no other item, field or list goes with it', async () => {
  const model = withThing(
    { name: 'text', key: 'text', type: { scalar: 'String' } },
    { name: 'count', key: 'count', type: { scalar: 'Int' } },
    { name: 'flag', key: 'flag', type: { scalar: 'Boolean' } },
    { name: 'ratio', key: 'ratio', type: { scalar: 'Float' } },
    { name: 'counts', key: 'counts', type: { list: { scalar: 'Int' } } },
    { name: 'part', key: 'part', type: { type: 'ExampleThingSpec' } },
    { name: 'parts', key: 'parts', type: { list: { type: 'ExampleThingSpec' } } },
    { name: 'amounts', key: 'amounts', type: { type: 'ResourceList' } },
    { name: 'kept', key: 'kept', type: { scalar: 'String' } },
  );
  const fields = 'text count flag ratio counts part { text part { text } } parts { text } amounts { cpu cpuCores all } kept';
  const query = `{ exampleThings { totalCount items { metadata { name } spec { ${fields} } object } } }`;
  const wrong = ['null', '0', '9007199254740993', '""', '"text"', 'true', '[]', '[null]', '[1,"x",{}]', '{}', '{"text":{"a":1},"cpu":[]}'];
  for (const value of wrong) {
    const names = ['text', 'count', 'flag', 'ratio', 'counts', 'part', 'parts', 'amounts'];
    const spec = `{${names.map((name) => `"${name}":${value}`).join(',')},"kept":"yes"}`;
    const { data, errors, at } = await ask(model, spec, query);
    expect(at('exampleThings.items.metadata.name'), value).toEqual(['a', 'b']);
    expect(
      (data as { exampleThings: { items: readonly { spec: { kept: string } | null }[] } }).exampleThings.items[0]?.spec?.kept,
      value,
    ).toBe('yes');
    for (const { path = [] } of errors ?? []) expect(path.slice(0, 4), value).toEqual(['exampleThings', 'items', 0, 'spec']);
    for (const { path = [] } of errors ?? []) expect(path.length, value).toBeGreaterThan(4);
  }
  for (const spec of ['"text"', '[]', '[{}]', '0', 'true']) {
    const { at } = await ask(model, spec, query);
    expect(at('exampleThings.items.metadata.name'), spec).toEqual(['a', 'b']);
  }
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

test('maps answer their own keys alone; quantities come as text and as numbers', async () => {
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

test('below the root nothing is asynchronous', async () => {
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

test('a fault outlives its cluster: it still names it', async () => {
  const graph = graphOverMirrors({ model: baseline });
  const south = graph.mirrors.join('south');
  const answer = graph.ask('{ pods { faults { code cluster { name phase zones taints { key } } } } }');
  await turns();
  south.leave();
  expect((await answer).at('pods.faults')).toEqual([
    { code: 'GONE', cluster: { name: 'south', phase: 'UNREACHABLE', zones: [], taints: [] } },
  ]);
});
