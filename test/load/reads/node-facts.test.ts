import { expect, test } from 'vitest';
import { nodeFactsOf } from '../../../src/load/reads/node-facts.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';

const node = (name: string, region: string, zone: string, providerID: string) =>
  objectNamed(name, { labels: { 'topology.kubernetes.io/region': region, 'topology.kubernetes.io/zone': zone } }, { spec: { providerID } });

test('region and provider are those of most nodes, zones are all of them in order', () => {
  const nodes = [
    node('a', 'eu', 'eu-b', 'aws:///eu-b/i-1'),
    node('b', 'eu', 'eu-a', 'aws:///eu-a/i-2'),
    node('c', 'af', 'af-a', 'GCE://x'),
  ];
  expect(nodeFactsOf(nodes)).toEqual({ provider: 'aws', region: 'eu', zones: ['af-a', 'eu-a', 'eu-b'] });
  expect(nodeFactsOf(nodes.slice(1))).toMatchObject({ provider: 'aws', region: 'af' });
});

test('old labels count, and absent, empty or invalid ones are ignored', () => {
  const old = objectNamed('a', { labels: { 'failure-domain.beta.kubernetes.io/region': 'eu' } }, { spec: { providerID: 'no scheme' } });
  expect(
    nodeFactsOf([old, objectNamed('b'), objectNamed('c', { labels: { 'topology.kubernetes.io/zone': '' } }, { spec: { providerID: 7 } })]),
  ).toEqual({
    region: 'eu',
  });
  expect(nodeFactsOf([])).toEqual({});
});

test('the region of a cluster comes from its config, or else from its current Nodes', async () => {
  const model = loadBaseline();
  const nodes = servedAs(model, 'Node');
  const settings = {
    labels: { team: 'a', constructor: 'x' },
    region: 'configured',
    namespaces: [],
    secrets: 'live',
    authorization: 'sar',
  } as const;
  const graph = graphOverMirrors({
    model,
    member: (name) => (name === 'north' ? { settings, api: { cluster: name } as never } : undefined),
  });
  const [, south] = ['north', 'south'].map((name) => {
    const cluster = graph.mirrors.join(name);
    cluster.discover(nodes);
    cluster.mirror(nodes).list(node('a', 'eu', 'eu-a', 'kind://docker/a'));
    return cluster;
  });
  const query =
    '{ clusters { name region zones provider labels label(key: "team") inherited: label(key: "toString") own: label(key: "constructor") version phase } }';
  const common = { zones: ['eu-a'], provider: 'kind', version: 'v1.36.3', phase: 'SYNCED', inherited: null };
  expect((await graph.ask(query)).data).toEqual({
    clusters: [
      { name: 'north', region: 'configured', labels: settings.labels, label: 'a', own: 'x', ...common },
      { name: 'south', region: 'eu', labels: {}, label: null, own: null, ...common },
    ],
  });
  south?.mirror(nodes).put(node('b', 'af', 'af-a', 'gce://b'));
  expect((await graph.ask('{ cluster(name: "south") { region zones } }')).data).toEqual({
    cluster: { region: 'af', zones: ['af-a', 'eu-a'] },
  });
  expect((await graph.ask('{ clusters(labels: "team=a") { name } }')).at('clusters.name')).toEqual(['north']);
  expect((await graph.ask('{ clusters(names: ["south", "south"]) { name } cluster(name: "none") { name } }')).data).toEqual({
    clusters: [{ name: 'south' }],
    cluster: null,
  });
});
