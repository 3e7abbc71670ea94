import { type GraphQLSchema, getNamedType, isEnumType, isLeafType, isObjectType, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { resourceSpelling, schemaSpelling } from '../../src/core/json/enum-spelling.ts';
import { idOfPropagation } from '../../src/core/object-ids.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { isPersonal } from '../../src/graph/context/personal.ts';
import { buildGraph } from '../../src/graph/graph.ts';
import type { Propagations } from '../../src/propagate/model/propagations.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { samplePlan, sampleRevision, sampleView, scriptedPropagations } from '../support/graph/propagation-samples.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';

// Propagations in the graph, over a scripted port: the fields of answers, and the calls of the port.

const model = loadBaseline();
const schema = buildGraph(model);
const input = { namespace: 'shop', name: 'web', template: [{ json: {} }], placement: {} };

function graphOf(script: Partial<Propagations>): GraphOverMirrors & { show(...deployments: readonly KubernetesObject[]): void } {
  const graph = graphOverMirrors({ model, writing: scriptedPropagations(script) });
  const kinds = [servedAs(model, 'Deployment.apps'), servedAs(model, 'Job.batch')];
  const [north] = ['north', 'south'].map((name) => {
    const cluster = graph.mirrors.join(name);
    cluster.discover(...kinds);
    for (const kind of kinds) cluster.mirror(kind).list();
    return cluster;
  });
  return { ...graph, show: (...deployments) => north?.mirror(servedAs(model, 'Deployment.apps')).list(...deployments) };
}

/** Returns every field of the type and of the objects in it. For the types in `elsewhere`, one field is enough. */
const elsewhere: Readonly<Record<string, string>> = {
  Cluster: '{ name }',
  Resource: '{ id }',
  Fault: '{ code message cluster { name } }',
  JobConnection: '{ totalCount }',
  Sync: '{ cluster { name } kind { kind } phase asOf }',
  Condition: '{ type status reason message lastTransitionTime }',
};

function everythingOf(name: string, from: GraphQLSchema = schema): string {
  const type = from.getType(name);
  if (!isObjectType(type)) throw new Error(`expected an object type, got ${name}`);
  const fields = Object.values(type.getFields()).map((field) => {
    const of = getNamedType(field.type);
    return isLeafType(of) ? field.name : `${field.name} ${elsewhere[of.name] ?? everythingOf(of.name, from)}`;
  });
  return `{ ${fields.join(' ')} }`;
}

const at = '2026-01-01T00:00:00.000Z';
const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };

test('every field of a propagation has its value', async () => {
  const graph = graphOf({
    get: async () => sampleView(),
    revisions: async () => [sampleRevision],
    inputOf: ({ metadata, document }) => ({ name: metadata.name, ...document }),
  });
  const { data, errors } = await graph.ask(`{ propagation(namespace: "shop", name: "web") ${everythingOf('Propagation')} }`);
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    propagation: {
      ...{ id: idOfPropagation({ namespace: 'shop', name: 'web', uid: 'u-1' }), namespace: 'shop', name: 'web', labels: { team: 'a' } },
      ...{ generation: 3, observedGeneration: 3, revision: 2, digest: 'sha256:abc', scheduledAt: at, affinityGroup: 'first' },
      ...{ spec: { name: 'web', ...sampleRevision.document }, phase: 'ROLLING', paused: true, requester: 'alice' },
      progress: { wave: 1, waves: 2, clusters: 3, done: 1, failed: 1, since: at, nextCheckAt: at },
      clusters: [
        {
          ...{
            cluster: { name: 'north' },
            phase: 'ROLLING_BACK',
            reason: 'FOREIGN_FINALIZER',
            message: 'm',
            wave: 1,
            replicas: 2,
            ready: 1,
          },
          ...{ health: 'UNHEALTHY', since: at, asOf: at, fault: { code: 'CONFLICT', message: 'c', cluster: { name: 'north' } } },
          objects: [
            {
              ...{ key, state: 'PENDING_DELETION', uid: 'c-1', action: 'CONFIGURED', health: 'HEALTHY', resource: null },
              fault: { code: 'FORBIDDEN', message: 'f', cluster: { name: 'north' } },
            },
          ],
        },
        {
          ...{ cluster: { name: 'gone' }, phase: 'UNKNOWN', reason: null, message: null, wave: null, replicas: null, ready: null },
          ...{ health: 'UNKNOWN', since: at, asOf: null, fault: null, objects: [] },
        },
      ],
      unknown: [{ name: 'south' }],
      ...{ desired: 6, placed: 5, unplaced: 1, ready: 4 },
      aggregate: [
        {
          ...{ key, status: { readyReplicas: 4 }, observed: true, health: 'HEALTHY' },
          conditions: [{ cluster: { name: 'north' }, condition: { type: 'Available', status: 'True' } }],
        },
      ],
      conditions: [{ type: 'Applied', status: 'False', reason: 'Applying', message: 'north', lastTransitionTime: at }],
      completion: { mode: 'COUNT', needed: 2, complete: 1, failed: 1, done: false },
      jobs: { totalCount: 0 },
      revisions: [
        { revision: 2, createdAt: at, requester: 'alice', digest: 'sha256:abc', spec: { name: 'web', ...sampleRevision.document } },
      ],
      notes: [{ severity: 'WARNING', code: 'UNPLACED', message: 'one', path: 'replicas' }],
      faults: [{ code: 'UNREACHABLE', message: 'u', cluster: { name: 'south' } }],
    },
  });
});

test('every field of a plan has its value', async () => {
  const graph = graphOf({ plan: async () => samplePlan() });
  const query = `query ($input: PropagationInput!) { planPropagation(input: $input) ${everythingOf('PropagationPlan')} }`;
  const { data, errors, at: find } = await graph.ask(query, { input });
  expect(errors).toBeUndefined();
  expect(find('planPropagation.clusters.objects.yaml')).toEqual([[expect.stringContaining('replicas: 2')], []]);
  const timedOut = { code: 'TIMED_OUT', message: 't', cluster: { name: 'south' } };
  expect(data).toEqual({
    planPropagation: {
      ...{ digest: '', ok: false, asOf: at, desired: 6, placed: 5, unplaced: 1, waves: ['canary', 'rest'] },
      clusters: [
        {
          ...{
            cluster: { name: 'north' },
            chosen: true,
            reason: null,
            detail: null,
            group: 'first',
            tier: 1,
            wave: 1,
            score: 100,
            available: 10,
          },
          share: { from: 1, to: 2, divided: null, strategy: 'WEIGHTED', weight: 1.5, min: 1, max: 4, capacity: 9, kept: 1, completions: 3 },
          ...{ overrides: ['canary'], unmatched: ['overrides[1]'], fault: null },
          objects: [
            {
              ...{
                key,
                action: 'UPDATE',
                manifest: samplePlan().clusters[0]?.objects[0]?.manifest,
                yaml: expect.any(String),
                diff: '-a\n+b',
              },
              ...{ predicted: true, conflicts: [{ manager: 'argo', path: '.spec.replicas' }] },
              fault: { code: 'INVALID', message: 'i', cluster: { name: 'north' } },
            },
          ],
        },
        {
          ...{ cluster: { name: 'south' }, chosen: false, reason: 'TAINT', detail: 'dedicated', group: null, tier: null, wave: null },
          ...{ score: null, available: null, share: null, overrides: [], unmatched: [], objects: [], fault: timedOut },
        },
      ],
      notes: [{ severity: 'ERROR', code: 'UNPLACED', message: 'one', path: 'replicas' }],
      sync: [{ cluster: { name: 'north' }, kind: { kind: 'Deployment' }, phase: 'SYNCED', asOf: at }],
      faults: [timedOut],
    },
  });
});

test('a propagation without status has values in all non-null fields', async () => {
  const { propagation } = sampleView();
  const bare = { propagation: { ...propagation, status: {} }, phase: 'Planning', isPaused: false, objects: [], faults: [] } as const;
  const graph = graphOf({ get: async () => bare, revisions: async () => [], inputOf: () => ({}) });
  const { at: find, errors } = await graph.ask(`{ propagation(namespace: "shop", name: "web") ${everythingOf('Propagation')} }`);
  expect(errors).toBeUndefined();
  expect(
    ['phase', 'observedGeneration', 'revision', 'digest', 'paused', 'clusters', 'unplaced', 'desired', 'completion'].map((name) =>
      find(`propagation.${name}`),
    ),
  ).toEqual(['PLANNING', 0, 0, null, false, [], 0, null, null]);
  expect(find('propagation.progress')).toEqual({ wave: 0, waves: 0, clusters: 0, done: 0, failed: 0, since: null, nextCheckAt: null });
});

test('a propagation that does not exist is null and no error', async () => {
  const { data, errors } = await graphOf({ get: async () => undefined }).ask('{ propagation(namespace: "a", name: "b") { name } }');
  expect([data, errors]).toEqual([{ propagation: null }, undefined]);
});

describe('enums', () => {
  const names = Object.values(schema.getTypeMap())
    .filter(isEnumType)
    .map(({ name }) => name)
    .filter((name) =>
      /^(Propagation|Copy|Inventory|Health|Conflict|Write|Deletion|Completion|Replica|Spread|OnFailure|TolerationOp|Taint|Cascade|Action)/.test(
        name,
      ),
    );

  test.each(names)('%s: each value of the enum has one value of the resource, and no two share one', (name) => {
    const type = schema.getType(name);
    const values = isEnumType(type) ? type.getValues().map((value) => value.name) : [];
    expect(values.map((value) => schemaSpelling(resourceSpelling(value)))).toEqual(values);
    expect(new Set(values.map(resourceSpelling)).size).toBe(values.length);
  });

  test.each(['Planning', 'Rolling', 'Paused', 'Held', 'RollingBack', 'Settled', 'Degraded', 'Failed', 'Suspended', 'Deleting'] as const)(
    'the phase %s is shown, and can be filtered by',
    async (phase) => {
      const filters: unknown[] = [];
      const page = { items: [{ ...sampleView(), phase }], totalCount: 1, hasNextPage: false, hasPreviousPage: false };
      const graph = graphOf({
        list: async (_context, filter) => {
          filters.push(filter);
          return page;
        },
      });
      const { at: find } = await graph.ask(
        'query ($phases: [PropagationPhase!]) { propagations(phases: $phases, namespaces: ["shop"], labels: "a=b", first: 7, after: "c") { totalCount items { phase } pageInfo { hasNextPage endCursor } } }',
        { phases: [schemaSpelling(phase)] },
      );
      expect(find('propagations')).toEqual({
        totalCount: 1,
        items: [{ phase: schemaSpelling(phase) }],
        pageInfo: { hasNextPage: false, endCursor: null },
      });
      expect(filters).toEqual([{ namespaces: ['shop'], labels: 'a=b', first: 7, after: 'c', phases: [phase] }]);
    },
  );
});

describe('the calls of the port', () => {
  const outcome = { result: 'ACCEPTED', propagation: sampleView(), notes: [], faults: [] } as const;
  test.each<[string, string, readonly unknown[]]>([
    ['pause', 'pausePropagation(namespace: "shop", name: "web")', [{ namespace: 'shop', name: 'web' }]],
    [
      'resume',
      'resumePropagation(namespace: "shop", name: "web")',
      [
        { namespace: 'shop', name: 'web' },
        { confirmPrune: false, abandon: [] },
      ],
    ],
    [
      'resume',
      'resumePropagation(namespace: "shop", name: "web", confirmPrune: true, abandon: ["north"])',
      [
        { namespace: 'shop', name: 'web' },
        { confirmPrune: true, abandon: ['north'] },
      ],
    ],
    ['rollback', 'rollbackPropagation(namespace: "shop", name: "web")', [{ namespace: 'shop', name: 'web' }, undefined]],
    ['rollback', 'rollbackPropagation(namespace: "shop", name: "web", revision: 4)', [{ namespace: 'shop', name: 'web' }, 4]],
    ['delete', 'deletePropagation(namespace: "shop", name: "web")', [{ namespace: 'shop', name: 'web' }, undefined]],
    [
      'delete',
      'deletePropagation(namespace: "shop", name: "web", deletion: { policy: ORPHAN })',
      [
        { namespace: 'shop', name: 'web' },
        { policy: 'ORPHAN', cascade: 'BACKGROUND' },
      ],
    ],
  ])('%s by %s', async (method, field, expected) => {
    const asked: unknown[] = [];
    const graph = graphOf({
      [method]: async (_context: unknown, ...args: readonly unknown[]) => {
        asked.push(args);
        return outcome;
      },
    });
    const { at: find, errors } = await graph.ask(`mutation { done: ${field} { result propagation { name } } }`);
    expect(errors).toBeUndefined();
    expect(find('done')).toEqual({ result: 'ACCEPTED', propagation: { name: 'web' } });
    expect(asked).toEqual([expected]);
  });

  test('propagate, with its defaults and the enum values of the schema', async () => {
    const asked: unknown[] = [];
    const stale = { result: 'PLAN_STALE', plan: samplePlan(), notes: samplePlan().notes, faults: samplePlan().faults } as const;
    const graph = graphOf({
      propagate: async (_context, given) => {
        asked.push(given);
        return stale;
      },
    });
    const query = `mutation ($input: PropagationInput!) { propagate(input: $input, digest: "${'d'.repeat(64)}") { result plan { digest } propagation { name } notes { code } faults { code } } }`;
    const { at: find } = await graph.ask(query, { input: { ...input, conflict: 'SERVER_SIDE_APPLY', rollout: { onFailure: 'ROLLBACK' } } });
    expect(find('propagate')).toEqual({
      result: 'PLAN_STALE',
      plan: { digest: '' },
      propagation: null,
      notes: [{ code: 'UNPLACED' }],
      faults: [{ code: 'TIMED_OUT' }],
    });
    expect(asked).toMatchObject([
      {
        digest: 'd'.repeat(64),
        input: { ...input, conflict: 'SERVER_SIDE_APPLY', write: 'APPLY', rollout: { onFailure: 'ROLLBACK', soak: '0s' } },
      },
    ]);
  });
});

describe('an input with exactly one member', () => {
  const propagate = 'mutation ($input: PropagationInput!) { propagate(input: $input) { result } }';
  const ref = { cluster: 'north', apiVersion: 'v1', kind: 'ConfigMap', name: 'a' };
  test.each<[string, string, object]>([
    ['a template of two', propagate, { input: { ...input, template: [{ json: {}, yaml: 'a: 1' }] } }],
    ['a template of none', propagate, { input: { ...input, template: [{}] } }],
    ['a template of null', propagate, { input: { ...input, template: [{ json: null }] } }],
    ['a runAs of two', propagate, { input: { ...input, runAs: { requester: true, serviceAccount: { namespace: 'a', name: 'b' } } } }],
    ['a manifest of two', 'mutation ($m: [Manifest!]!) { apply(manifests: $m, clusters: []) { ok } }', { m: [{ yaml: '', json: {} }] }],
    ['a target of two', 'mutation ($t: [Target!]!) { restart(targets: $t) { ok } }', { t: [{ id: 'x', ref }] }],
    ['a target of none', 'mutation ($t: [Target!]!) { restart(targets: $t) { ok } }', { t: [{}] }],
  ])('%s is refused before anybody is asked', async (_what, query, variables) => {
    const { errors } = await graphOf({}).ask(query, variables as Record<string, unknown>);
    expect(errors?.[0]?.message).toMatch(/exactly one|non-null|OneOf/i);
  });
});

test('lists of a propagation are charged, and too large ones are refused', async () => {
  const lines = Array.from(
    { length: 400 },
    (_, index) => ({ cluster: `c${index}`, phase: 'Settled', health: 'Healthy', since: at }) as const,
  );
  const items = Array.from({ length: 30 }, () => sampleView({ clusters: lines }));
  const graph = graphOf({ list: async () => ({ items, totalCount: 30, hasNextPage: false, hasPreviousPage: false }) });
  const { errors } = await graph.ask('{ propagations { items { clusters { phase } } } }');
  expect((errors?.[0]?.originalError as { code?: string } | undefined)?.code).toBe('TOO_COSTLY');
  expect((await graph.ask('{ propagations { items { phase } } }')).errors).toBeUndefined();
});

test('the copy itself is returned as long as its uid is the same', async () => {
  const graph = graphOf({ get: async () => sampleView() });
  graph.show(objectNamed('web', { namespace: 'shop', uid: 'c-1' }));
  const query = '{ propagation(namespace: "shop", name: "web") { clusters { objects { resource { metadata { uid } } } } } }';
  expect((await graph.ask(query)).at('propagation.clusters.objects.resource.metadata.uid')).toEqual([['c-1'], []]);
  graph.show(objectNamed('web', { namespace: 'shop', uid: 'other' }));
  expect((await graph.ask(query)).at('propagation.clusters.objects.resource')).toEqual([[null], []]);
});

test.each([
  [
    'its state',
    'subscription { propagation(namespace: "a", name: "b") { phase clusters { phase objects { uid } } aggregate { status } } }',
    false,
  ],
  ['the copies themselves', 'subscription { propagation(namespace: "a", name: "b") { clusters { objects { resource { id } } } } }', true],
  ['its Jobs', 'subscription { propagation(namespace: "a", name: "b") { jobs { totalCount } } }', true],
  ['its revisions', 'subscription { propagation(namespace: "a", name: "b") { revisions { revision } } }', true],
] as const)('a stream of %s is personal, or not', (_what, text, verdict) => {
  expect(isPersonal(schema, parse(text))).toBe(verdict);
});
