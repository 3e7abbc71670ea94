import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { faultCodes } from '../../src/core/faults.ts';
import { buildGraph } from '../../src/graph/graph.ts';
import { jobPhases } from '../../src/model/columns/job-phase.ts';
import { companionSuffixes, reservedRootFields, reservedTypeNames } from '../../src/model/reserved-names.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

const model = loadBaseline();
const schema = buildGraph(model);

test('the schema of the built-in kinds is the one that was reviewed', async () => {
  // After an intended change: npx vitest run test/graph/sdl.test.ts -u
  await expect(`${printSchema(lexicographicSortSchema(schema))}\n`).toMatchFileSnapshot('../../schema/muster.graphql');
});

test('every type, field, argument and value that is written by hand is described', () => {
  const silent = Object.values(schema.getTypeMap())
    .filter((type) => !model.types.has(type.name) && !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .flatMap(silentParts);
  expect(silent).toEqual([]);
  expect(
    silentParts(
      buildGraph({
        types: new Map([['A', { name: 'A', fields: [{ name: 'b', key: 'b', type: { scalar: 'Int' } }] }]]),
        kinds: new Map(),
      }).getType('A'),
    ),
  ).toEqual(['A', 'A.b']);
});

test('schema/scalars.json has the TypeScript type of each scalar that code generators do not know', () => {
  const known = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../schema/scalars.json'), 'utf8')) as object;
  const custom = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));
  expect(Object.keys(known)).toEqual(custom.map(({ name }) => name).toSorted());
});

test('FaultCode has every code of a fault', () => {
  const codes = (schema.getType('FaultCode') as GraphQLEnumType).getValues().map(({ name, value }) => [name, value]);
  expect(codes).toEqual(faultCodes.map((code) => [code, code]));
});

test('ChangeType, JobPhase and LogBatchType have every value of load', () => {
  const namesOf = (type: string) => (schema.getType(type) as GraphQLEnumType).getValues().map(({ name }) => name);
  expect(namesOf('ChangeType')).toEqual(['INITIAL', 'SYNCED', 'LIVE', 'RESET', 'BOOKMARK', 'FAILED']);
  expect(namesOf('JobPhase')).toEqual(jobPhases);
  expect(namesOf('LogBatchType')).toEqual(['LINES', 'ENDED', 'FAILED']);
});

test('the mutations change objects, Propagations and Migrations', () => {
  const fieldsOf = (name: string) => Object.keys((schema.getType(name) as GraphQLObjectType).getFields());
  const mutations = ['apply', 'patch', 'delete', 'scale', 'restart'];
  const propagating = ['propagate', 'pausePropagation', 'resumePropagation', 'rollbackPropagation', 'deletePropagation'];
  expect(fieldsOf('Mutation')).toEqual([...mutations, ...propagating, 'migrate', 'undoMigration']);
});

test('aggregates are fields of connections and of groups', () => {
  const fieldsOf = (name: string) =>
    Object.entries((schema.getType(name) as GraphQLObjectType).getFields()).map(([key, { type }]) => `${key}: ${type}`);
  const computed = ['sum: Sum', 'min: JSON', 'max: JSON'];
  for (const name of ['Connection', 'PodConnection', 'ResourceConnection']) {
    expect(fieldsOf(name)).toEqual(expect.arrayContaining([...computed, 'groups: [Group!]!']));
  }
  expect(fieldsOf('Group')).toEqual(['keys: [JSON]!', 'count: Int!', ...computed]);
  expect(fieldsOf('Sum')).toEqual(['text: Quantity!', 'value: Float!']);
});

test('every kind has its type, its connection, its two fields and its stream', () => {
  const query = schema.getQueryType()?.getFields() ?? {};
  const subscription = schema.getSubscriptionType()?.getFields() ?? {};
  for (const kind of model.kinds.values()) {
    expect(String(query[kind.many]?.type)).toBe(`${kind.type}Connection!`);
    expect(String(query[kind.one]?.type)).toBe(kind.type);
    expect(query[kind.one]?.args.map(({ name }) => name)).toEqual(
      kind.namespaced ? ['cluster', 'namespace', 'name', 'live'] : ['cluster', 'name', 'live'],
    );
    const stream = subscription[kind.many];
    expect(String(stream?.type)).toBe(`${kind.type}Changes!`);
    expect(stream?.args.map(({ name, type }) => `${name}: ${type}`)).toEqual([
      'clusters: [String!]',
      'namespaces: [String!]',
      'labels: String',
      'where: Where',
      'search: String',
      'after: String',
    ]);
    expect(schema.getImplementations(schema.getType('Resource') as never).objects.map(({ name }) => name)).toContain(kind.type);
  }
});

test('no kind can take the name of a hand-written type', () => {
  const companions = [...model.kinds.values()].flatMap(({ type }) => companionSuffixes.map((suffix) => `${type}${suffix}`));
  const generated = new Set([...model.types.keys(), ...companions]);
  const own = Object.values(schema.getTypeMap()).filter((type) => !generated.has(type.name) && !isIntrospectionType(type));
  expect(own.map(({ name }) => name).filter((name) => !reservedTypeNames.has(name))).toEqual([]);
  const ofKinds = new Set([...model.kinds.values()].flatMap(({ many, one }) => [many, one]));
  const roots = [schema.getQueryType(), schema.getSubscriptionType()].flatMap((type) => Object.keys(type?.getFields() ?? {}));
  expect(roots.filter((name) => !ofKinds.has(name) && !reservedRootFields.has(name))).toEqual([]);
});

test('building and printing a schema load neither client-node nor sockets', () => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve(specifier, context, next) { const found = next(specifier, context); loaded.push(found.url); return found; } });
    await import('./src/graph/graph.ts');
    await import('./src/graph/live-schema.ts');
    await import('./src/load/create-reads.ts');
    await import('./src/load/catalog/catalog.ts');
    console.log(JSON.stringify(loaded));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(stderr.replaceAll(/^.*ExperimentalWarning.*$|^\(Use .*$/gm, '').trim()).toBe('');
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded.some((url) => url.includes('@pothos/core'))).toBe(true);
  expect(loaded.filter((url) => /client-node|undici|\/src\/cluster\/|node:(net|tls|https?|http2)$/.test(url))).toEqual([]);
});

function silentParts(type: GraphQLNamedType | undefined): readonly string[] {
  if (type === undefined) return ['no type'];
  const own = type.description ? [] : [type.name];
  if (isEnumType(type)) return [...own, ...type.getValues().flatMap((value) => (value.description ? [] : [`${type.name}.${value.name}`]))];
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return own;
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const args: readonly GraphQLArgument[] = 'args' in field ? field.args : [];
    const silent = args.filter(({ description }) => !description).map(({ name }) => `${type.name}.${field.name}(${name})`);
    return [...(field.description ? [] : [`${type.name}.${field.name}`]), ...silent];
  });
  return [...own, ...fields];
}
