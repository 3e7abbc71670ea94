import { afterEach, describe, expect, test } from 'vitest';
import { type Json, parseJsonExactly } from '../../../src/core/json.ts';
import type { ServedResource } from '../../../src/core/kinds.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type Catalog, createCatalog } from '../../../src/load/catalog/catalog.ts';
import { definitionKind } from '../../../src/load/catalog/definitions.ts';
import { createGroupFilter, type GroupRules } from '../../../src/load/catalog/group-filter.ts';
import { noSchemaLock, type SchemaLockFile } from '../../../src/load/catalog/schema-lock-file.ts';
import { kindByAnyName } from '../../../src/model/any-name.ts';
import { convertDefinition } from '../../../src/model/convert-definition.ts';
import { joinKindSchemas } from '../../../src/model/join-kinds.ts';
import type { Model } from '../../../src/model/model.ts';
import type { SchemaLock } from '../../../src/model/schema-lock.ts';
import type { KindSchema } from '../../../src/model/shapes.ts';
import { createFakeMirrors, type FakeCluster } from '../../support/graph/fake-mirrors.ts';
import { definitionsServed, loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';

const baseline = loadBaseline();
const widgets: ServedResource = {
  ...definitionsServed,
  group: 'example.com',
  kind: 'Widget',
  resource: 'widgets',
  singular: 'widget',
  namespaced: true,
};

type Properties = Readonly<Record<string, Json>>;

function definition(group: string, kind: string, properties: Properties): KubernetesObject {
  const plural = `${kind.toLowerCase()}s`;
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  const names = { kind, plural, singular: kind.toLowerCase(), shortNames: [] };
  return objectNamed(`${plural}.${group}`, {}, { spec: { group, scope: 'Namespaced', names, versions } });
}

/** A definition that cannot be converted to a kind. */
const unbuildable = objectNamed('gadgets.example.com', {}, { spec: { group: 'example.com', names: 7 } });

const integer = { type: 'integer' } as const;
const text = { type: 'string' } as const;

const ending: AbortController[] = [];
afterEach(() => {
  for (const controller of ending.splice(0)) controller.abort();
});

function start(documents: Readonly<Record<string, string>> = {}, groups: GroupRules = {}, lock: SchemaLockFile = noSchemaLock) {
  const clock = createManualClock();
  const mirrors = createFakeMirrors(clock);
  const controller = new AbortController();
  ending.push(controller);
  const fetched: string[] = [];
  const fetchDocument = async (cluster: string, path: readonly string[]) => {
    fetched.push(`${cluster}:${path.join('/')}`);
    const document = documents[path.join('/')];
    return document === undefined ? undefined : parseJsonExactly(document);
  };
  const logged: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void logged.push(message) };
  const catalog = createCatalog({ mirrors, baseline, groups, fetchDocument, lock, clock, log }, controller.signal);
  const models: Model[] = [];
  catalog.onModel((model) => models.push(model), controller.signal);
  const joined = (name: string, ...crds: readonly KubernetesObject[]): FakeCluster => {
    const cluster = mirrors.join(name);
    cluster.discover(definitionsServed, servedAs(baseline, 'Pod'));
    cluster.mirror(definitionKind).list(...crds);
    return cluster;
  };
  return { clock, mirrors, catalog, models, joined, fetched, controller, logged };
}

function fieldsOf(catalog: Catalog, type: string): readonly string[] | undefined {
  return catalog
    .model()
    .types.get(type)
    ?.fields.map((field) => `${field.name}: ${'scalar' in field.type ? field.type.scalar : '?'}`)
    .sort();
}

test('serves the built-in kinds at once, and custom ones a moment after they are defined', async () => {
  const { clock, catalog, models, joined } = start();
  expect(catalog.model() === baseline).toBe(true);
  const north = joined('north');
  await clock.advance(2_000);
  expect(models).toHaveLength(0);

  north.mirror(definitionKind).put(definition('example.com', 'Widget', { size: integer }));
  await clock.advance(299);
  expect(models).toHaveLength(0);
  await clock.advance(1);
  expect(models).toHaveLength(1);
  expect(models[0] === catalog.model()).toBe(true);
  expect(catalog.model().kinds.get('Widget.example.com')).toMatchObject({
    type: 'ExampleWidget',
    many: 'exampleWidgets',
    one: 'exampleWidget',
    source: 'CUSTOM',
  });
  expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['size: Int64']);
  expect(catalog.problem()).toBeUndefined();
});

test('settle applies all pending definitions without waiting for quiet', async () => {
  const { clock, catalog, models, joined } = start();
  joined('north', definition('example.com', 'Widget', { size: integer }));
  catalog.settle();
  expect(models).toHaveLength(0);
  await turns();
  catalog.settle();
  expect(catalog.model().kinds.has('Widget.example.com')).toBe(true);
  await clock.advance(2_000);
  expect(models).toHaveLength(1);
});

test('waits for quiet, but never longer than a second', async () => {
  const { clock, models, joined } = start();
  const north = joined('north');
  await clock.advance(2_000);
  for (let index = 0; index < 5; index++) {
    north.mirror(definitionKind).put(definition('example.com', `Kind${String.fromCharCode(65 + index)}`, { size: integer }));
    await clock.advance(250);
  }
  // At 1,000 ms, although it was never quiet for 300.
  expect(models).toHaveLength(1);
  await clock.advance(1_000);
  expect(models).toHaveLength(2);
});

test('joins two clusters that define a kind differently, in any order', async () => {
  const ofNorth = definition('example.com', 'Widget', { size: integer, color: text });
  const ofSouth = definition('example.com', 'Widget', { size: text, weight: { type: 'number' } });
  const seen = [];
  for (const [first, second] of [
    [ofNorth, ofSouth],
    [ofSouth, ofNorth],
  ] as const) {
    const { clock, catalog, joined } = start();
    joined('a', first);
    await clock.advance(1_000);
    joined('b', second);
    await clock.advance(1_000);
    seen.push(fieldsOf(catalog, 'ExampleWidgetSpec'));
  }
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]).toEqual(['color: String', 'size: IntOrString', 'weight: Float']);
});

test('removes a field that is no longer defined, deprecates a kind that no cluster serves, and restores it', async () => {
  const { clock, catalog, models, joined } = start();
  const widget = definition('example.com', 'Widget', { size: integer });
  const north = joined('north', widget);
  north.discover(definitionsServed, widgets);
  await clock.advance(1_000);

  north
    .mirror(definitionKind)
    .put({ ...definition('example.com', 'Widget', { color: text }), metadata: { ...widget.metadata, resourceVersion: '99' } });
  await clock.advance(1_000);
  expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['color: String']);
  expect(catalog.model().kinds.get('Widget.example.com')?.deprecated).toBeUndefined();

  north.mirror(definitionKind).list();
  north.discover(definitionsServed);
  await clock.advance(1_000);
  expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['color: String']);
  expect(catalog.model().kinds.get('Widget.example.com')?.deprecated).toBe('No connected cluster serves this kind.');
  // No cluster here has ever served the kind, so it is not deprecated.
  expect(catalog.model().kinds.get('Node')?.deprecated).toBeUndefined();

  north.discover(definitionsServed, widgets);
  await clock.advance(1_000);
  expect(catalog.model().kinds.get('Widget.example.com')?.deprecated).toBeUndefined();
  const count = models.length;
  north.discover(definitionsServed, widgets);
  north.mirror(definitionKind).list();
  await clock.advance(5_000);
  expect(models).toHaveLength(count);
});

test('a cluster that leaves takes no type with it', async () => {
  const { clock, catalog, joined } = start();
  const north = joined('north', definition('example.com', 'Widget', { size: integer }));
  await clock.advance(1_000);
  north.leave();
  await clock.advance(1_000);
  expect(catalog.model().kinds.get('Widget.example.com')).toMatchObject({ deprecated: expect.any(String) });
  expect(north.leases).toBe(0);
  expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['size: Int64']);
  joined('north', definition('example.com', 'Widget', { weight: integer }));
  await clock.advance(1_000);
  expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['weight: Int64']);
});

test('a type follows a definition that is changed back, or deleted and created again, within a second', async () => {
  const { clock, catalog, joined, logged } = start();
  const north = joined('north', definition('example.com', 'Widget', { size: integer }));
  const revised = async (properties: Properties, version: string) => {
    const made = definition('example.com', 'Widget', properties);
    north.mirror(definitionKind).put({ ...made, metadata: { ...made.metadata, resourceVersion: version } });
    await clock.advance(1_000);
    return fieldsOf(catalog, 'ExampleWidgetSpec');
  };
  expect(await revised({ size: { type: 'boolean' } }, '2')).toEqual(['size: Boolean']);
  expect(await revised({ size: integer }, '3')).toEqual(['size: Int64']);
  north.mirror(definitionKind).list();
  await clock.advance(1_000);
  expect(await revised({ size: { type: 'number' } }, '4')).toEqual(['size: Float']);
  expect(catalog.model().kinds.get('Widget.example.com')?.conflicts).toEqual([]);
  expect(logged.filter((message) => message.includes('differently'))).toEqual([]);
});

test('the last definition of an unreachable cluster stays in the type', async () => {
  const { clock, catalog, joined } = start();
  joined('north', definition('example.com', 'Widget', { size: integer }));
  const south = joined('south', definition('example.com', 'Widget', { color: text }));
  await clock.advance(1_000);
  south.fail({ code: 'UNREACHABLE', cluster: south.name, message: 'gone dark', retry: 'LATER' });
  await clock.advance(60_000);
  expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['color: String', 'size: Int64']);
});

describe('a definition that is not established changes nothing', () => {
  const condition = (type: string, status: string) => ({ type, status });
  const gear = (plural: string, properties: Properties, status: Json): KubernetesObject => {
    const made = definition('odd.io', 'Gear', properties);
    const spec = made.spec as { readonly names: object };
    const names = { ...spec.names, plural };
    return { ...made, metadata: { ...made.metadata, name: `${plural}.odd.io` }, spec: { ...spec, names }, status } as KubernetesObject;
  };
  const refused = {
    conditions: [condition('NamesAccepted', 'False'), condition('Established', 'False')],
    acceptedNames: { kind: '', plural: '' },
  };
  const established = { conditions: [condition('NamesAccepted', 'True'), condition('Established', 'True')] };

  test('next to an established one in another cluster', async () => {
    const { clock, catalog, joined } = start();
    joined('north', gear('gears', { size: integer }, established));
    await clock.advance(1_000);
    joined(
      'south',
      gear('gearwheels', { color: text }, refused),
      gear('cogs', { color: text }, { conditions: [condition('NamesAccepted', 'False')] }),
    );
    await clock.advance(1_000);
    expect(fieldsOf(catalog, 'OddGearSpec')).toEqual(['size: Int64']);
    expect(catalog.model().kinds.get('Gear.odd.io')).toMatchObject({ plural: 'gears', many: 'oddGears', shortNames: [] });
  });

  test('alone, so the kind does not exist', async () => {
    const { clock, catalog, joined } = start();
    joined('south', gear('gearwheels', { color: text }, refused));
    await clock.advance(1_000);
    expect(catalog.model().kinds.has('Gear.odd.io')).toBe(false);
    expect(catalog.problem()).toBeUndefined();
  });

  test('with names that were refused after others were accepted, the accepted ones count', async () => {
    const { clock, catalog, joined } = start();
    const accepted = { kind: 'Gear', plural: 'gears', singular: 'gear', listKind: 'GearList' };
    const conditions = [condition('NamesAccepted', 'False'), condition('Established', 'True')];
    joined('north', gear('gearwheels', { size: integer }, { conditions, acceptedNames: accepted }));
    await clock.advance(1_000);
    expect(catalog.model().kinds.get('Gear.odd.io')).toMatchObject({ plural: 'gears', many: 'oddGears' });
  });

  test('where established plurals differ, the older list field stays and the names of both find the kind', async () => {
    const { clock, catalog, joined } = start();
    joined('north', gear('gears', { size: integer }, established));
    await clock.advance(1_000);
    joined('south', gear('gearwheels', { size: integer }, established));
    await clock.advance(1_000);
    const model = catalog.model();
    expect(model.kinds.get('Gear.odd.io')?.many).toBe('oddGears');
    for (const name of ['gears', 'gearwheels', 'gear', 'gears.odd.io', 'gearwheels.odd.io']) {
      expect(kindByAnyName(model, name).type, name).toBe('OddGear');
    }
  });
});

test('an invalid definition leaves out its group, and no other', async () => {
  const { clock, catalog, joined } = start();
  const north = joined(
    'north',
    definition('example.com', 'Widget', { size: integer }),
    unbuildable,
    definition('other.org', 'Thing', { size: integer }),
  );
  await clock.advance(1_000);
  expect(catalog.model().kinds.get('Widget.example.com')).toBeUndefined();
  expect(catalog.model().kinds.get('Thing.other.org')).toBeDefined();
  expect(catalog.problem()).toMatch(/gadgets\.example\.com/);

  north.mirror(definitionKind).remove(unbuildable);
  await clock.advance(1_000);
  expect(catalog.model().kinds.get('Widget.example.com')).toBeDefined();
  expect(catalog.problem()).toBeUndefined();
});

test('a group keeps its last state when a definition becomes invalid', async () => {
  const { clock, catalog, joined } = start();
  const north = joined('north', definition('example.com', 'Widget', { size: integer }));
  await clock.advance(1_000);
  north.mirror(definitionKind).put(unbuildable);
  await clock.advance(1_000);
  expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['size: Int64']);
  expect(catalog.problem()).toMatch(/gadgets\.example\.com/);
});

const podMetrics: ServedResource = {
  ...widgets,
  group: 'metrics.k8s.io',
  kind: 'PodMetrics',
  version: 'v1beta1',
  versions: ['v1beta1'],
  resource: 'pods',
};
const document = JSON.stringify({
  openapi: '3.0.0',
  paths: {},
  components: {
    schemas: {
      PodMetrics: {
        type: 'object',
        properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, window: text },
        'x-kubernetes-group-version-kind': [{ group: 'metrics.k8s.io', kind: 'PodMetrics', version: 'v1beta1' }],
      },
    },
  },
});

test('requests the schemas of unknown kinds from a cluster once', async () => {
  const { clock, catalog, joined, fetched, mirrors } = start({ 'apis/metrics.k8s.io/v1beta1': document });
  const late = mirrors.join('late');
  late.discover(definitionsServed, podMetrics);
  await clock.advance(5_000);
  // The definitions of the cluster are not known yet, and may include the kind.
  expect(fetched).toEqual([]);
  late.mirror(definitionKind).list();
  await clock.advance(5_000);
  expect(fetched).toEqual(['late:apis/metrics.k8s.io/v1beta1']);
  expect(catalog.model().kinds.get('PodMetrics.metrics.k8s.io')).toMatchObject({ source: 'AGGREGATED', many: expect.any(String) });
  expect(fieldsOf(catalog, catalog.model().kinds.get('PodMetrics.metrics.k8s.io')?.type ?? '')).toEqual(['window: String']);

  joined('north', definition('example.com', 'Widget', {})).discover(definitionsServed, widgets, servedAs(baseline, 'Pod'));
  await clock.advance(5_000);
  expect(fetched).toHaveLength(1);
});

test('repeats a request without an answer after a change', async () => {
  const { clock, joined, fetched } = start();
  const north = joined('north');
  north.discover(definitionsServed, podMetrics);
  await clock.advance(5_000);
  expect(fetched).toHaveLength(1);
  north.discover(definitionsServed, podMetrics, widgets);
  await clock.advance(5_000);
  expect(fetched.length).toBeGreaterThan(1);
});

describe('with the kinds of earlier runs', () => {
  const schemaOf = (group: string, kind: string) => convertDefinition(definition(group, kind, { size: integer }));
  const lockFile = (kept: SchemaLock, written: SchemaLock[] = []): SchemaLockFile => ({
    ...noSchemaLock,
    earlier: kept,
    keep: (compose) => () => written.push(compose()),
  });
  const earlier: SchemaLock = {
    kinds: new Map(
      ['example.com', 'other.org', 'apps'].map((group) => [
        `Widget.${group}`,
        { schema: schemaOf(group, 'Widget'), servedOn: '2025-12-30' },
      ]),
    ),
    prefixes: new Map([
      ['example.com', 'Ours'],
      ['Widget/example.com', 'OursWidget'],
    ]),
  };

  test('the kinds have their names at once, without groups that are left out', () => {
    const { catalog } = start({}, { deny: ['other.org'] }, lockFile(earlier));
    const custom = [...catalog.model().kinds.values()].filter(({ source }) => source === 'CUSTOM').map(({ type }) => type);
    expect(custom.sort()).toEqual(['AppsWidget', 'OursWidget']);
    expect(fieldsOf(catalog, 'OursWidgetSpec')).toEqual(['size: Int64']);
  });

  test('they are joined with current definitions, and deprecated once every cluster has reported its kinds', async () => {
    const { clock, catalog, joined, mirrors } = start({}, {}, lockFile(earlier));
    const late = mirrors.join('late');
    joined('north', definition('example.com', 'Widget', { color: text }));
    await clock.advance(2_000);
    expect(fieldsOf(catalog, 'OursWidgetSpec')).toEqual(['color: String', 'size: Int64']);
    expect(catalog.model().kinds.get('Widget.other.org')?.deprecated).toBeUndefined();
    late.discover(definitionsServed);
    await clock.advance(2_000);
    expect(fieldsOf(catalog, 'OursWidgetSpec')).toEqual(['color: String']);
    expect(catalog.model().kinds.get('Widget.other.org')?.deprecated).toBe('No connected cluster serves this kind.');
    expect(catalog.model().kinds.get('Widget.example.com')?.deprecated).toBeUndefined();
  });

  const definedBy = (by: Readonly<Record<string, Properties>>): SchemaLock => {
    const definitions = Object.entries(by).map(([cluster, properties]): [string, KindSchema] => [
      cluster,
      convertDefinition(definition('example.com', 'Widget', properties)),
    ]);
    const schema = definitions.map(([, one]) => one).reduce(joinKindSchemas);
    const servedOn = '2025-12-30';
    return {
      kinds: new Map([
        [
          'Widget.example.com',
          { schema, servedOn, by: new Map(definitions.map(([cluster, one]) => [cluster, { schema: one, servedOn }])) },
        ],
      ]),
      prefixes: new Map(),
    };
  };

  test('the lock replaces only the definitions of clusters that are away', async () => {
    const written: SchemaLock[] = [];
    const kept = definedBy({ north: { size: text }, south: { color: text }, left: { weight: text } });
    const { clock, catalog, joined, mirrors, logged } = start({}, {}, lockFile(kept, written));
    expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['color: String', 'size: String', 'weight: String']);
    const south = mirrors.join('south');
    joined('north', definition('example.com', 'Widget', { size: { type: 'boolean' } }));
    await clock.advance(2_000);
    expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['color: String', 'size: Boolean']);
    const days = () =>
      [...(written.at(-1)?.kinds.get('Widget.example.com')?.by ?? [])].map(([cluster, { servedOn }]) => `${cluster} ${servedOn}`).sort();
    expect(days()).toEqual(['north 2026-01-01', 'south 2025-12-30']);
    expect([...(written.at(-1)?.clusters ?? [])]).toEqual(['north', 'south']);

    south.discover(definitionsServed, widgets);
    await clock.advance(2_000);
    expect(fieldsOf(catalog, 'ExampleWidgetSpec'), 'it serves the kind, and its definition is not read yet').toEqual([
      'color: String',
      'size: Boolean',
    ]);
    south.mirror(definitionKind).list(definition('example.com', 'Widget', { size: { type: 'boolean' } }));
    await clock.advance(2_000);
    expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['size: Boolean']);
    expect(days()).toEqual(['north 2026-01-01', 'south 2026-01-01']);
    expect(logged.filter((message) => message.includes('differently'))).toEqual([]);
  });

  test('each kind is remembered with the last day on which it was served', async () => {
    const written: SchemaLock[] = [];
    const { clock, joined } = start({}, {}, lockFile(earlier, written));
    const north = joined('north', definition('example.com', 'Widget', { size: integer }), definition('new.org', 'Thing', {}));
    await clock.advance(2_000);
    const days = () => Object.fromEntries([...(written.at(-1)?.kinds ?? [])].map(([key, { servedOn }]) => [key, servedOn]));
    const unseen = { 'Widget.other.org': '2025-12-30', 'Widget.apps': '2025-12-30' };
    expect(days()).toEqual({ 'Widget.example.com': '2026-01-01', 'Thing.new.org': '2026-01-01', ...unseen });
    expect(written.at(-1)?.prefixes.get('Thing/new.org')).toBe('NewThing');
    clock.jump(86_400_000);
    north.mirror(definitionKind).list(definition('example.com', 'Widget', { size: integer }));
    await clock.advance(2_000);
    clock.jump(86_400_000);
    north.mirror(definitionKind).put(definition('example.com', 'Widget', { size: integer }));
    await clock.advance(2_000);
    expect(days()).toEqual({ 'Widget.example.com': '2026-01-03', 'Thing.new.org': '2026-01-02', ...unseen });
  });

  test('a problem with the file is reported next to other problems', async () => {
    const { catalog, clock, joined } = start({}, {}, { ...noSchemaLock, problem: () => 'the file is broken' });
    expect(catalog.problem()).toBe('the file is broken');
    joined('north', unbuildable);
    await clock.advance(1_000);
    expect(catalog.problem()).toMatch(/gadgets\.example\.com.*; the file is broken$/);
  });
});

test('seconds after the start, built-in kinds have the descriptions of a cluster, and custom kinds do not change', async () => {
  const index = { paths: { 'api/v1': { serverRelativeURL: '/openapi/v3/api/v1?hash=1' } } };
  const gvk = [{ group: '', version: 'v1', kind: 'Pod' }];
  const pod = {
    description: 'What runs. And more.',
    properties: { spec: { description: 'What is wanted.' } },
    'x-kubernetes-group-version-kind': gvk,
  };
  const { clock, catalog, models, joined } = start({
    '': JSON.stringify(index),
    'api/v1': JSON.stringify({ components: { schemas: { 'io.k8s.api.core.v1.Pod': pod } } }),
  });
  joined('north', definition('example.com', 'Widget', { size: integer }));
  await clock.advance(60_000);
  const before = models.length;
  expect(catalog.model().types.get('Pod')?.description).toBeUndefined();
  catalog.settle();
  await clock.advance(3_000);
  expect(models).toHaveLength(before + 1);
  const type = catalog.model().types.get('Pod');
  expect([type?.description, type?.fields.find(({ key }) => key === 'spec')?.description]).toEqual(['What runs.', 'What is wanted.']);
  expect(fieldsOf(catalog, 'ExampleWidgetSpec')).toEqual(['size: Int64']);
});

test('ends with its signal: no lease, no timer, no further model', async () => {
  const { clock, controller, joined, models } = start();
  const north = joined('north', definition('example.com', 'Widget', { size: integer }));
  controller.abort();
  await clock.advance(5_000);
  expect(models).toHaveLength(0);
  expect(north.leases).toBe(0);
  expect(clock.sleepers).toBe(0);
});

test('groups that are left out are neither converted nor requested and are no problem, and built-in groups stay', async () => {
  const { clock, catalog, joined, fetched } = start({}, { allow: ['example.com', '*.shown.io'], deny: ['hidden.shown.io'] });
  const north = joined(
    'north',
    definition('example.com', 'Widget', { size: integer }),
    definition('a.shown.io', 'Shown', { size: integer }),
    definition('hidden.shown.io', 'Hidden', { size: integer }),
    objectNamed('gadgets.elsewhere.io', {}, { spec: { group: 'elsewhere.io', names: 7 } }),
  );
  const served = (group: string, kind: string) => ({ ...widgets, group, kind, resource: `${kind.toLowerCase()}s` });
  north.discover(
    definitionsServed,
    widgets,
    served('hidden.shown.io', 'Hidden'),
    served('metrics.k8s.io', 'PodMetrics'),
    served('apps', 'Newer'),
  );
  await clock.advance(2_000);
  await turns();
  const custom = [...catalog.model().kinds.keys()].filter((key) => !baseline.kinds.has(key));
  expect(custom.sort()).toEqual(['Shown.a.shown.io', 'Widget.example.com']);
  expect(catalog.problem()).toBeUndefined();
  expect(fetched).toEqual(['north:apis/apps/v1']);
});

test.each<[GroupRules, string, boolean]>([
  [{}, 'example.com', true],
  [{ allow: [] }, 'example.com', false],
  [{ allow: ['*.crossplane.io'] }, 's3.aws.crossplane.io', true],
  [{ allow: ['*.crossplane.io'] }, 'crossplane.io', false],
  [{ allow: ['*.crossplane.io'] }, 'notcrossplane.io', false],
  [{ allow: ['*'], deny: ['example.com'] }, 'example.com', false],
  [{ deny: ['*'] }, 'example.com', false],
  [{ deny: ['example.com'] }, 'a.example.com', true],
])('rules %j about %s: %s', (rules, group, belongs) => {
  expect(createGroupFilter(rules)(group)).toBe(belongs);
});
