import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOfKind } from '../../src/core/kinds.ts';
import { convertDefinition } from '../../src/model/convert-definition.ts';
import { type CreatedModel, createModel } from '../../src/model/create-model.ts';
import type { Model } from '../../src/model/model.ts';
import { companionSuffixes, reservedRootFields, reservedTypeNames, resourceFieldNames } from '../../src/model/reserved-names.ts';
import { parseSchemaLock, printSchemaLock, withoutForgotten } from '../../src/model/schema-lock.ts';
import type { KindSchema, Shape, ShapeField } from '../../src/model/shapes.ts';
import { arbitraryKindSchema } from '../support/arbitrary-shapes.ts';
import { committedModel, corpusDefinitions, fixtureDefinition } from '../support/graph/corpus.ts';

const baseline = committedModel();
const fixtures = ['widgets-north', 'widgets-south', 'names', 'free', 'machines', 'pods'].map((name) =>
  convertDefinition(fixtureDefinition(name)),
);

describe('kinds of two clusters', () => {
  const { model, problems } = create(fixtures);

  test('are added to the built-in kinds, joined and named by group', () => {
    expect(problems).toEqual([]);
    expect(namesIn(model)).toEqual({
      'Free.example.com': 'ExampleFree exampleFrees exampleFree',
      'Widget.example.com': 'ExampleWidget exampleWidgets exampleWidget',
      'Pod.example.net': 'ExampleNetPod exampleNetPods exampleNetPod',
      'Machine.infra.example.com': 'InfraExampleMachine infraExampleMachines infraExampleMachine',
      'Names.odd.example.org': 'OddExampleNames oddExampleNames oddExampleNamesByName',
    });
    expect(model.kinds.get('Widget.example.com')).toMatchObject({
      versions: ['v1', 'v1beta1'],
      conflicts: ['spec.round', 'spec.selector'],
    });
  });

  test('share a type for one structure within a group, called by the shortest path to it', () => {
    const typeOf = (type: string, field: string) => model.types.get(type)?.fields.find(({ name }) => name === field)?.type;
    expect(typeOf('ExampleWidgetSpec', 'parts')).toEqual({ list: { type: 'ExampleWidgetSpecParts' } });
    expect(typeOf('ExampleWidgetStatus', 'spare')).toEqual({ type: 'ExampleWidgetSpecParts' });
  });

  test('keep the keys of fields that GraphQL cannot name', () => {
    const keys = (type: string) => Object.fromEntries((model.types.get(type)?.fields ?? []).map(({ name, key }) => [name, key]));
    expect(keys('OddExampleNames')).toEqual({
      cluster_: 'cluster',
      events_: 'events',
      object_: 'object_',
      object__: 'object',
      spec: 'spec',
    });
    expect(keys('OddExampleNamesSpec')).toMatchObject({
      _proto__: '__proto__',
      constructor_: 'constructor',
      cluster: 'cluster',
      _typename: '__typename',
    });
    checkLaws(model);
  });
});

describe('names', () => {
  test('do not depend on the order of arrival within one call', () => {
    expect(namesIn(create(fixtures.toReversed()).model)).toEqual(namesIn(create(fixtures).model));
  });

  test('stay when a group with the same prefix comes later: the later one takes its whole group', () => {
    const first = create([custom({ group: 'example.net', kind: 'Pod' })]);
    expect(namesIn(first.model)).toEqual({ 'Pod.example.net': 'ExamplePod examplePods examplePod' });
    const then = create([custom({ group: 'example.com', kind: 'Widget' }), custom({ group: 'example.net', kind: 'Pod' })], first);
    expect(namesIn(then.model)).toEqual({
      'Pod.example.net': 'ExamplePod examplePods examplePod',
      'Widget.example.com': 'ExampleComWidget exampleComWidgets exampleComWidget',
    });
  });

  test('are kept for a kind that is deleted and defined again: no other kind gets them in between', () => {
    const [ours, theirs] = [custom({ group: 'a.example.b.com', kind: 'C' }), custom({ group: 'a.example.com', kind: 'BC' })];
    const before = create([ours]);
    expect(namesIn(before.model)).toEqual({ 'C.a.example.b.com': 'AExampleBC aExampleBCs aExampleBC' });
    const without = create([theirs], before);
    expect(namesIn(without.model)['BC.a.example.com']).toMatch(/^AExampleComBC /);
    expect(namesIn(create([ours, theirs], without).model)).toEqual({ ...namesIn(before.model), ...namesIn(without.model) });
  });

  test('may come from aliases', () => {
    const { model } = createModel({
      baseline,
      custom: [custom({ group: 'example.com', kind: 'Widget' })],
      prefixes: new Map([['example.com', 'Acme']]),
    });
    expect(namesIn(model)).toEqual({ 'Widget.example.com': 'AcmeWidget acmeWidgets acmeWidget' });
  });

  test('never collide: kinds with equal names get the name of their whole group', () => {
    const schemas = [
      custom({ group: 'example.com', kind: 'FooBar' }),
      custom({ group: 'example.foo.com', kind: 'Bar' }),
      // Names of types that come with every kind, of hand-written types and of built-in types are not free either.
      custom({ group: 'example.com', kind: 'Widget' }),
      custom({ group: 'example.com', kind: 'WidgetConnection' }),
      custom({ group: 'propagation.io', kind: 'Plan' }),
      custom({ group: 'pod.io', kind: 'Template' }),
      custom({ group: 'a-b.c.io', kind: 'X' }),
      custom({ group: 'a.b.c.io', kind: 'X' }),
      custom({ group: 'a.b-c.io', kind: 'X' }),
    ];
    const { model } = create(schemas);
    expect(namesIn(model)).toMatchObject({
      'FooBar.example.com': expect.stringContaining('ExampleFooBar '),
      'Bar.example.foo.com': expect.stringContaining('ExampleFooComBar '),
      'WidgetConnection.example.com': expect.stringContaining('ExampleComWidgetConnection '),
      'Plan.propagation.io': expect.stringContaining('PropagationIoPlan '),
      'Template.pod.io': expect.stringContaining('PodIoTemplate '),
    });
    checkLaws(model);
  });

  test('of a nested structure give way to kinds', () => {
    const spec: Shape = { fields: [{ key: 'a', shape: { scalar: 'String' } }] };
    const { model } = create([
      custom({ group: 'example.com', kind: 'WidgetSpec' }),
      custom({ group: 'example.com', kind: 'Widget', shape: { fields: [{ key: 'spec', shape: spec }] } }),
    ]);
    expect(model.kinds.get('WidgetSpec.example.com')?.type).toBe('ExampleWidgetSpec');
    expect(model.types.get('ExampleWidget')?.fields[0]?.type).toEqual({ type: 'ExampleWidgetSpec_2' });
    checkLaws(model);
  });
});

describe('names that were given once keep their meaning', () => {
  const fields = (...keys: readonly string[]): Shape & { fields: readonly ShapeField[] } => ({
    fields: keys.toSorted().map((key) => ({ key, shape: { scalar: 'String' } })),
  });
  const thing = (spec: Shape, kind = 'Thing') => custom({ group: 't.org', kind, shape: { fields: [{ key: 'spec', shape: spec }] } });
  const keysOf = ({ model }: CreatedModel, type: string) =>
    Object.fromEntries((model.types.get(type)?.fields ?? []).map(({ name, key }) => [name, key]));
  const typeOf = ({ model }: CreatedModel, type: string, field: string) =>
    model.types.get(type)?.fields.find(({ name }) => name === field)?.type;
  /** Creates a model as after a restart, from the text of the lock file. */
  const reread = (last: CreatedModel, schemas: readonly KindSchema[]): CreatedModel => {
    const kinds = new Map(schemas.map((schema) => [keyOfKind(schema), { schema, servedOn: '2026-01-01' }]));
    const lock = withoutForgotten(
      parseSchemaLock(JSON.parse(printSchemaLock({ kinds, prefixes: last.prefixes }))),
      Date.parse('2026-01-02'),
    );
    return { ...last, prefixes: lock.prefixes };
  };

  test.each([
    ['a legal key', ['my-dash'], ['my-dash', 'my_dash'], { my_dash: 'my-dash', my_dash_: 'my_dash' }],
    ['a key that is spelt otherwise', ['a-b'], ['a-b', 'a.b'], { a_b: 'a-b', a_b_: 'a.b' }],
    ['an illegal key', ['a_b'], ['a-b', 'a_b'], { a_b: 'a_b', a_b_: 'a-b' }],
    ['the name that a suffix made', ['a-b', 'a_b'], ['a-b', 'a_b', 'a_b_'], { a_b: 'a_b', a_b_: 'a-b', a_b__: 'a_b_' }],
  ])('the suffix is for the newcomer: %s', (_, before, after, names) => {
    const first = create([thing(fields(...before))]);
    const then = create([thing(fields(...after))], first);
    expect(keysOf(then, 'TThingSpec')).toEqual(names);
    expect(keysOf(create([thing(fields(...after))], reread(then, [thing(fields(...after))])), 'TThingSpec')).toEqual(names);
    const [last = ''] = after.filter((key) => !before.includes(key));
    const alone = create([thing(fields(last))], then);
    expect(keysOf(alone, 'TThingSpec')).toEqual(Object.fromEntries(Object.entries(names).filter(([, key]) => key === last)));
  });

  test.each([
    ['at once', [['my_dash']], { my_dash_: 'my_dash' }],
    ['later', [['other'], ['my_dash']], { my_dash_: 'my_dash' }],
    ['and comes back', [['my_dash'], ['my-dash', 'my_dash']], { my_dash: 'my-dash', my_dash_: 'my_dash' }],
  ] as const)('a key that takes the place of another one does not take its name: %s', (_, steps, names) => {
    let last = create([thing(fields('my-dash'))]);
    for (const keys of steps) last = create([thing(fields(...keys))], reread(last, [thing(fields(...keys))]));
    expect(keysOf(last, 'TThingSpec')).toEqual(names);
    checkLaws(last.model);
  });

  test('also in a structure that two kinds shared until one of them changed', () => {
    const first = create([thing(fields('my-dash')), thing(fields('my-dash'), 'Other')]);
    expect(typeOf(first, 'TThing', 'spec')).toEqual(typeOf(first, 'TOther', 'spec'));
    const then = create([thing(fields('my-dash')), thing(fields('my-dash', 'my_dash'), 'Other')], first);
    const names = [then.model.types.get('TThing'), then.model.types.get('TOther')].map((type) => {
      const spec = type?.fields.find(({ name }) => name === 'spec')?.type;
      return keysOf(then, spec !== undefined && 'type' in spec ? spec.type : '');
    });
    expect(names).toEqual([{ my_dash: 'my-dash' }, { my_dash: 'my-dash', my_dash_: 'my_dash' }]);
    checkLaws(then.model);
  });

  test('the type of a structure, when a kind comes that would be called so', () => {
    const first = create([thing(fields('a'))]);
    expect(typeOf(first, 'TThing', 'spec')).toEqual({ type: 'TThingSpec' });
    const all = [thing(fields('a')), custom({ group: 't.org', kind: 'ThingSpec' })];
    const then = create(all, first);
    expect(typeOf(then, 'TThing', 'spec')).toEqual({ type: 'TThingSpec' });
    expect(then.model.kinds.get('ThingSpec.t.org')?.type).toBe('TOrgThingSpec');
    expect(create(all, reread(then, all)).model).toEqual(then.model);
    checkLaws(then.model);
  });

  test('the type of a structure, when another structure comes that would be called so, or is equal and nearer', () => {
    const inner = (key: string, shape: Shape): Shape => ({ fields: [{ key, shape }] });
    const ab = custom({ group: 't.org', kind: 'AB', shape: { fields: [{ key: 'c', shape: fields('x') }] } });
    const deep = custom({ group: 't.org', kind: 'Deep', shape: { fields: [{ key: 'a', shape: inner('b', fields('z')) }] } });
    const first = create([ab, deep]);
    expect([typeOf(first, 'TAB', 'c'), typeOf(first, 'TDeepA', 'b')]).toEqual([{ type: 'TABC' }, { type: 'TDeepAB' }]);
    const a = custom({ group: 't.org', kind: 'A', shape: { fields: [{ key: 'bC', shape: fields('y') }] } });
    const near = custom({ group: 't.org', kind: 'Near', shape: { fields: [{ key: 'n', shape: fields('z') }] } });
    const all = [ab, deep, a, near];
    const then = create(all, first);
    expect([typeOf(then, 'TAB', 'c'), typeOf(then, 'TDeepA', 'b')]).toEqual([{ type: 'TABC' }, { type: 'TDeepAB' }]);
    expect(typeOf(then, 'TA', 'bC')).toEqual({ type: 'TABC_2' });
    expect(create(all, reread(then, all)).model).toEqual(then.model);
    checkLaws(then.model);
  });

  test('the list field of a kind whose plural becomes another one', () => {
    const gear = (plural: string): KindSchema => ({ ...custom({ group: 'odd.io', kind: 'Gear' }), plural });
    const first = create([gear('gears')]);
    expect(namesIn(first.model)).toEqual({ 'Gear.odd.io': 'OddGear oddGears oddGear' });
    const then = create([gear('gears'), gear('gearwheels')], first);
    expect(namesIn(then.model)).toEqual({ 'Gear.odd.io': 'OddGear oddGears oddGear' });
  });

  test('random definitions that come one after the other rename nothing, and make a lawful model', () => {
    const odd = fc.constantFrom('a-b', 'a_b', 'a.b', 'a_b_', 'aB', 'b', 'B', 'spec', 'toString', 'id');
    const { shape } = fc.letrec<{ shape: Shape; object: KindSchema['shape'] }>((tie) => ({
      shape: fc.oneof(
        { maxDepth: 3 },
        fc.constant<Shape>({ scalar: 'String' }),
        tie('object'),
        tie('object').map((list): Shape => ({ list })),
      ),
      object: fc
        .uniqueArray(fc.record({ key: odd, shape: tie('shape') }), { selector: ({ key }) => key, minLength: 1, maxLength: 5 })
        .map((all) => ({ fields: all.toSorted((a, b) => (a.key < b.key ? -1 : 1)) })),
    }));
    const kind = fc.record({ kind: fc.constantFrom('A', 'AB', 'AAB', 'ASpec', 'AA_b'), root: shape });
    fc.assert(
      fc.property(fc.array(kind, { minLength: 2, maxLength: 6 }), (arriving) => {
        const schemas: KindSchema[] = [];
        let last: CreatedModel | undefined;
        let names = new Map<string, string>();
        for (const { kind, root } of arriving) {
          schemas.push(custom({ group: 't.org', kind, shape: 'fields' in root ? root : { fields: [{ key: 'b', shape: root }] } }));
          last = create(schemas, last);
          checkLaws(last.model);
          const now = meanings(last.model);
          // A path that became JSON in a join no longer leads to a field.
          const keys = new Set(now.values());
          for (const [path, key] of names) expect(now.get(path), path).toBe(keys.has(key) ? key : undefined);
          names = now;
          expect(meanings(create(schemas, reread(last, schemas)).model)).toEqual(now);
        }
      }),
      { numRuns: 200 },
    );
  });
});

/** The JSON path of each path of names, from each kind. */
function meanings({ kinds, types }: Model): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (type: string, path: string, keys: string): void => {
    for (const field of types.get(type)?.fields ?? []) {
      let inner = field.type;
      while ('list' in inner) inner = inner.list;
      const [name, key] = [`${path} ${field.name}`, `${keys} ${field.key}`];
      found.set(name, key);
      if ('type' in inner) walk(inner.type, name, key);
    }
  };
  for (const { type, source } of kinds.values()) if (source !== 'BUILT_IN') walk(type, type, type);
  return found;
}

test('a custom kind of the group and name of a built-in one adds nothing', () => {
  const { model, prefixes } = create([custom({ group: 'apps', kind: 'Deployment' })]);
  expect([...model.kinds]).toEqual([...baseline.kinds]);
  expect([...prefixes]).toEqual([]);
});

test('a group that is too large is left out, with its name and the reason; the others stay', () => {
  const wide = (prefix: string): Shape => ({
    fields: Array.from({ length: 300 }, (_, index) => ({ key: `${prefix}${index}`, shape: { scalar: 'String' } })),
  });
  const shape = { fields: Array.from({ length: 300 }, (_, index) => ({ key: `r${index}`, shape: wide(`r${index}f`) })) };
  const { model, problems } = create([custom({ group: 'huge.com', kind: 'Huge', shape }), custom({ group: 'small.com', kind: 'Small' })]);
  expect(problems).toEqual([
    { group: 'huge.com', message: 'group huge.com is left out: expected at most 60000 fields in one group, got more' },
  ]);
  expect(Object.keys(namesIn(model))).toEqual(['Small.small.com']);
  checkLaws(model);
});

test('a kind that no cluster serves stays, deprecated', () => {
  const schemas = [custom({ group: 'example.com', kind: 'Widget' }), custom({ group: 'example.com', kind: 'Gadget' })];
  const { model } = createModel({ baseline, custom: schemas, prefixes: new Map(), unserved: new Set(['Widget.example.com']) });
  expect(model.kinds.get('Widget.example.com')?.deprecated).toBe('No connected cluster serves this kind.');
  expect(model.kinds.get('Gadget.example.com')?.deprecated).toBeUndefined();
});

test('random definitions of a kind by several clusters give one lawful model, in any order', () => {
  fc.assert(
    fc.property(fc.array(arbitraryKindSchema, { minLength: 1, maxLength: 5 }), (schemas) => {
      const { model, problems } = create(schemas);
      expect(problems).toEqual([]);
      checkLaws(model);
      expect(create(schemas.toReversed()).model).toEqual(model);
    }),
    { numRuns: 60 },
  );
});

describe.skipIf(corpusDefinitions === undefined)('the CRDs of real projects', () => {
  const schemas = (corpusDefinitions ?? []).map(convertDefinition);

  test('give a lawful model', () => {
    const { model, problems } = create(schemas);
    expect(problems).toEqual([]);
    expect(model.kinds.size).toBe(baseline.kinds.size + schemas.length);
    expect(namesIn(model)).toMatchObject({
      'Certificate.cert-manager.io': 'CertManagerCertificate certManagerCertificates certManagerCertificate',
      'Cluster.cluster.x-k8s.io': 'ClusterXCluster clusterXClusters clusterXCluster',
      'Cluster.postgresql.cnpg.io': 'PostgresqlCnpgCluster postgresqlCnpgClusters postgresqlCnpgCluster',
    });
    checkLaws(model);
  });

  test('keep their names when one cluster more is connected, whichever it is', () => {
    const all = create(schemas).model;
    fc.assert(
      fc.property(fc.shuffledSubarray(schemas, { minLength: 2 }), fc.nat(), (order, cut) => {
        const before = create(order.slice(0, cut % order.length));
        const after = create(order, before);
        expect(namesIn(after.model)).toMatchObject(namesIn(before.model));
        // No two groups of the corpus share a prefix, so the order does not show.
        expect(namesIn(all)).toMatchObject(namesIn(after.model));
      }),
      { numRuns: 15 },
    );
  });
});

function create(schemas: readonly KindSchema[], last?: CreatedModel): CreatedModel {
  return createModel({ baseline, custom: schemas, prefixes: last?.prefixes ?? new Map() });
}

function custom({ shape = { fields: [] }, ...names }: { group: string; kind: string; shape?: KindSchema['shape'] }): KindSchema {
  const lower = names.kind.toLowerCase();
  return {
    ...names,
    ...{ plural: `${lower}s`, singular: lower, shortNames: [], categories: [], versions: ['v1'] },
    ...{ namespaced: true, source: 'CUSTOM', shape, conflicts: [] },
  };
}

/** Type, list field and single field of each kind that is not built in. */
function namesIn({ kinds }: Model): Readonly<Record<string, string>> {
  const customs = [...kinds.values()].filter(({ source }) => source !== 'BUILT_IN');
  return Object.fromEntries(customs.map((kind) => [keyOfKind(kind), `${kind.type} ${kind.many} ${kind.one}`]));
}

/** Checks the rules of every model: names are legal and different, references lead to types, and keys can be recovered from names. */
function checkLaws({ types, kinds }: Model): void {
  const companions = [...kinds.values()].flatMap(({ type }) => companionSuffixes.map((suffix) => `${type}${suffix}`));
  const typeNames = [...types.keys(), ...companions.filter((name) => !reservedTypeNames.has(name))];
  expect(new Set(typeNames).size).toBe(typeNames.length);
  expect([...types.keys()].filter((name) => reservedTypeNames.has(name))).toEqual([]);
  const rootFields = [...[...kinds.values()].flatMap(({ many, one }) => [many, one]), ...reservedRootFields];
  expect(new Set(rootFields).size).toBe(rootFields.length);
  const kindTypes = new Set([...kinds.values()].map(({ type }) => type));
  expect(kindTypes.size).toBe(kinds.size);
  const illegal: string[] = [...typeNames, ...rootFields].filter((name) => !isLegal(name) && name !== '_service' && name !== '_entities');
  for (const { name, fields } of types.values()) {
    if (fields.length === 0 && !kindTypes.has(name)) illegal.push(`${name} is empty`);
    if (new Set(fields.map((field) => field.name)).size !== fields.length) illegal.push(`${name} has a name twice`);
    if (new Set(fields.map((field) => field.key)).size !== fields.length) illegal.push(`${name} has a key twice`);
    for (const field of fields) {
      let type = field.type;
      while ('list' in type) type = type.list;
      if ('type' in type && (type.type === 'ResourceList' ? false : !types.has(type.type) || kindTypes.has(type.type))) {
        illegal.push(`${name}.${field.name} leads to ${type.type}`);
      }
      if (!isLegal(field.name) || field.name in {}) illegal.push(`${name}.${field.name}`);
      if (kindTypes.has(name) && resourceFieldNames.has(field.name)) illegal.push(`${name}.${field.name} hides one of Resource`);
    }
  }
  expect(illegal).toEqual([]);
}

function isLegal(name: string): boolean {
  return /^(?!__)[A-Za-z_]\w*$/.test(name);
}
