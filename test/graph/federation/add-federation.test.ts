import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import { idOfCluster, idOfObject, idOfPropagation } from '../../../src/core/object-ids.ts';
import { buildGraph } from '../../../src/graph/graph.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { sampleView, scriptedPropagations } from '../../support/graph/propagation-samples.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { createRestrictingAccess } from '../../support/restricting-access.ts';

const model = loadBaseline();
const schema = buildGraph(model, { federation: true });
const web = { cluster: 'north', group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' };
const view = sampleView();
const idOfView = idOfPropagation(view.propagation.metadata);

/** Two clusters with the Deployment `web` and the Secret `key`. Only north has the Propagation of the samples. */
function graphOfShop(access = createLocalAccess()) {
  const writing = scriptedPropagations({
    get: async (_read, { namespace, name }) =>
      namespace === view.propagation.metadata.namespace && name === view.propagation.metadata.name ? view : undefined,
  });
  const graph = graphOverMirrors({ model, schema, writing, access });
  const kinds = ['Deployment.apps', 'Secret', 'Pod'].map((kind) => servedAs(model, kind));
  for (const name of ['north', 'south']) {
    const cluster = graph.mirrors.join(name);
    cluster.discover(...kinds);
    cluster.mirror({ group: 'apps', kind: 'Deployment' }).list(objectNamed('web', { namespace: 'shop' }));
    cluster.mirror({ group: '', kind: 'Secret' }).list(objectNamed('key', { namespace: 'shop' }));
    cluster.mirror({ group: '', kind: 'Pod' }).list();
  }
  return graph;
}

const entities = `query ($r: [_Any!]!) { _entities(representations: $r) {
  __typename ... on Resource { cluster { name } metadata { name } } ... on Cluster { name } ... on Propagation { namespace } } }`;

/** Returns the entities of these representations. */
async function entitiesOf(...given: readonly unknown[]) {
  const { data, errors } = await graphOfShop().ask(entities, { r: given });
  return errors === undefined ? (data as { readonly _entities: readonly unknown[] })._entities : errors.map(({ message }) => message);
}

test('Apollo composes the subgraph with one that extends its kinds', async () => {
  const { data } = await graphOfShop().ask('{ _service { sdl } }');
  const { sdl } = (data as { readonly _service: { readonly sdl: string } })._service;
  expect(sdl).not.toMatch(/@oneOf|_Any|_entities|_service/);
  const teams = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
    type Deployment @key(fields: "id") { id: ID! team: String }
    type Cluster @key(fields: "id") { id: ID! owner: String }
    type Propagation @key(fields: "id") { id: ID! ticket: String }
    type PageInfo @shareable { hasNextPage: Boolean! }
    type Query { favourites: [Deployment] }`;
  const { errors, supergraphSdl } = composeServices([
    { name: 'muster', typeDefs: parse(sdl), url: 'http://muster' },
    { name: 'teams', typeDefs: parse(teams), url: 'http://teams' },
  ]);
  expect(errors).toBeUndefined();
  expect(supergraphSdl).toContain('team: String @join__field(graph: TEAMS)');
}, 60_000);

test('a gateway that is no subgraph has none of its fields', () => {
  expect(Object.keys(buildGraph(model).getTypeMap()).filter((name) => /^_[A-Z]/.test(name))).toEqual([]);
});

describe('_entities', () => {
  test('returns each entity in the order of its representations', async () => {
    const found = await entitiesOf(
      { __typename: 'Propagation', id: idOfView },
      { __typename: 'Deployment', id: idOfObject({ ...web, cluster: 'south' }) },
      { __typename: 'Cluster', id: idOfCluster('north') },
      { __typename: 'Deployment', id: idOfObject(web) },
    );
    expect(found).toEqual([
      { __typename: 'Propagation', namespace: view.propagation.metadata.namespace },
      { __typename: 'Deployment', cluster: { name: 'south' }, metadata: { name: 'web' } },
      { __typename: 'Cluster', name: 'north' },
      { __typename: 'Deployment', cluster: { name: 'north' }, metadata: { name: 'web' } },
    ]);
  });

  test.each([
    ['an object that does not exist', { __typename: 'Deployment', id: idOfObject({ ...web, name: 'api' }) }],
    ['an object of a cluster that does not exist', { __typename: 'Deployment', id: idOfObject({ ...web, cluster: 'west' }) }],
    ['the id of another kind', { __typename: 'Pod', id: idOfObject(web) }],
    ['the id of a cluster for a kind', { __typename: 'Pod', id: idOfCluster('north') }],
    ['the id of an object for a cluster', { __typename: 'Cluster', id: idOfObject(web) }],
    ['a cluster that does not exist', { __typename: 'Cluster', id: idOfCluster('west') }],
    ['a Propagation with another uid', { __typename: 'Propagation', id: idOfPropagation({ ...view.propagation.metadata, uid: 'other' }) }],
    ['the id of a cluster for a Propagation', { __typename: 'Propagation', id: idOfCluster('north') }],
    ['a forged id', { __typename: 'Deployment', id: 'forged' }],
    ['a type that the schema does not have', { __typename: 'Widget', id: idOfObject(web) }],
  ])('returns null for %s', async (_what, representation) => {
    expect(await entitiesOf(representation)).toEqual([null]);
  });

  test('F7: returns null for objects that the caller may not see', async () => {
    const graph = graphOfShop(createRestrictingAccess({ me: { north: ['other'] } }));
    const r = ['north', 'south'].flatMap((cluster) => [
      { __typename: 'Deployment', id: idOfObject({ ...web, cluster }) },
      { __typename: 'Cluster', id: idOfCluster(cluster) },
    ]);
    const { data } = await graph.ask(entities, { r });
    expect(data).toEqual({ _entities: [null, { __typename: 'Cluster', name: 'north' }, null, null] });
  });

  test('F7: returns a Secret without its values', async () => {
    const id = idOfObject({ cluster: 'north', group: '', kind: 'Secret', namespace: 'shop', name: 'key' });
    expect(await entitiesOf({ __typename: 'Secret', id })).toEqual([
      { __typename: 'Secret', cluster: { name: 'north' }, metadata: { name: 'key' } },
    ]);
  });

  test.each([
    [[{ __typename: 'Deployment' }], 'representations[0]: expected an object with the texts __typename and id'],
    [[{ id: 'x' }], 'representations[0]: expected an object with the texts __typename and id'],
    [['x'], 'representations[0]: expected an object with the texts __typename and id'],
    [Array.from({ length: 501 }, () => ({ __typename: 'Pod', id: 'x' })), 'representations: expected at most 500, got 501'],
  ])('refuses other values: %#', async (given, message) => {
    expect(await entitiesOf(...given)).toEqual([message]);
  });
});
