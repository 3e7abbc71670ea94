import { expect, test } from 'vitest';
import type { ServedResource } from '../../../src/core/kinds.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { definitionKind } from '../../../src/load/catalog/definitions.ts';
import { convertDefinition } from '../../../src/model/convert-definition.ts';
import { createModel } from '../../../src/model/create-model.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { definitionsServed, loadBaseline, objectNamed } from '../../support/kubernetes-objects.ts';
import { turns } from '../../support/manual-clock.ts';

const widgets: ServedResource = {
  ...definitionsServed,
  group: 'example.com',
  kind: 'Widget',
  resource: 'widgets',
  singular: 'widget',
  namespaced: true,
};

const widget = definitionWith({});
const { model } = createModel({ baseline: loadBaseline(), custom: [convertDefinition(widget)], prefixes: new Map() });
const asked = '{ exampleWidgets(waitSeconds: 10) { items { metadata { name } } sync { phase } faults { code } } }';

function definitionWith({ metadata = {}, status = {} }: { metadata?: object; status?: object }): KubernetesObject {
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
  };
  const names = { kind: 'Widget', plural: 'widgets', singular: 'widget' };
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
  return objectNamed('widgets.example.com', { ...metadata }, { spec, status: { ...status } });
}

function start(definition: KubernetesObject) {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(definitionsServed);
  north.mirror(definitionKind).list(definition);
  return { graph, north };
}

test('waits for a kind that is defined but not yet discovered, and answers with its rows', async () => {
  const { graph, north } = start(widget);
  const answer = graph.ask(asked);
  await turns();
  north.discover(definitionsServed, widgets);
  north.mirror(widgets).list(objectNamed('first', { namespace: 'shop' }));

  const { at } = await answer;
  expect(at('exampleWidgets.items.metadata.name')).toEqual(['first']);
  expect(at('exampleWidgets.faults')).toEqual([]);
});

test('returns SYNCING if a defined kind is not discovered during the wait', async () => {
  const { graph } = start(widget);
  const answer = graph.ask(asked);
  await graph.clock.advance(10_000);

  const { at } = await answer;
  expect(at('exampleWidgets.sync.phase')).toEqual(['SYNCING']);
  expect(at('exampleWidgets.faults.code')).toEqual(['SYNCING']);
});

test('stops waiting when the definition is deleted, and when the cluster leaves', async () => {
  const removed = start(widget);
  const first = removed.graph.ask(asked);
  await turns();
  removed.north.mirror(definitionKind).remove(widget);
  removed.north.discover(definitionsServed);
  expect((await first).at('exampleWidgets.faults')).toEqual([]);

  const left = start(widget);
  const second = left.graph.ask(asked);
  await turns();
  left.north.leave();
  expect((await second).at('exampleWidgets.items')).toEqual([]);
});

test.each([
  ['is being deleted', definitionWith({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
  ['may not have its names', definitionWith({ status: { conditions: [{ type: 'NamesAccepted', status: 'False' }] } })],
])('does not wait for a definition that %s', async (_, definition) => {
  const { graph } = start(definition);
  const { at } = await graph.ask(asked);
  expect(at('exampleWidgets.sync')).toEqual([]);
  expect(at('exampleWidgets.faults')).toEqual([]);
});
