import { expect } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import {
  configMapAt,
  configMapOf,
  dataIn,
  intentOf,
  linesOf,
  objectAt,
  othersApply,
  othersDelete,
  type PropagationSeen,
  phaseOf,
  planned,
  propagated,
  stateWhere,
} from '../../support/propagate/propagating.ts';
import type { WritingFleet } from '../../support/propagate/writing-fleet.ts';
import type { DeclarePromise } from './declare-promise.ts';

/** A failing cluster does not stop the others, and is retried alone: D5, D15. */
export function failingClusterPromises(declare: DeclarePromise): void {
  declare('D15: a namespace that terminates is waited for, and the other clusters go on', async (fleet) => {
    const { namespace } = fleet;
    const own = `${namespace}-going`;
    const path = `/api/v1/namespaces/${own}`;
    const copyPath = `${path}/configmaps/late`;
    for (const cluster of fleet.names)
      await fleet.send(cluster, 'POST', '/api/v1/namespaces', {
        body: { metadata: { name: own, finalizers: cluster === 'south' ? ['example.com/held'] : [] } },
      });
    await othersDelete(fleet, 'south', path);
    const copy = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late', namespace: own }, data: { a: '1' } };
    await propagated(fleet, intentOf(fleet, 'late', [copy]));
    await stateWhere(
      fleet,
      'late',
      (now) => lineIn(now, 'south') === 'TERMINATING' && lineIn(now, 'north') === 'SETTLED' && lineIn(now, 'east') === 'SETTLED',
    );
    expect(await objectAt(fleet, 'south', copyPath)).toBeUndefined();

    await letNamespaceGo(fleet, 'south', own);
    await stateWhere(fleet, 'late', (now) => lineIn(now, 'south') === 'NAMESPACE_MISSING');
    await fleet.send('south', 'POST', '/api/v1/namespaces', { body: { metadata: { name: own } } });
    await fleet.until(async () => (await objectAt(fleet, 'south', copyPath))?.data?.a === '1', 60_000);
    await stateWhere(fleet, 'late', isSettledEverywhere);
  });

  declare('D15: a definition is written before the objects of its kind, in any order of the template', async (fleet) => {
    const { namespace } = fleet;
    const group = `${namespace}.example.com`;
    const widget = {
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name: 'first', namespace: `${namespace}-new` },
      spec: { size: 3 },
    };
    const template = [widget, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-new` } }, widgetDefinition(group)];
    const input = intentOf(fleet, 'kinds', template, { placement: { clusters: ['south', 'east'] } });
    const plan = await planned(fleet, input);
    expect(plan.ok).toBe(true);
    expect(plan.clusters.find(({ cluster }) => cluster.name === 'south')?.objects.map(({ key }) => key.kind)).toEqual([
      'Namespace',
      'CustomResourceDefinition',
      'Widget',
    ]);
    await propagated(fleet, input);
    const path = `/apis/${group}/v1/namespaces/${namespace}-new/widgets/first`;
    for (const cluster of ['south', 'east']) await fleet.until(async () => (await fleet.send(cluster, 'GET', path)).status === 200, 60_000);
    await phaseOf(fleet, 'kinds', 'SETTLED', 60_000);
  });

  declare('D15: a cluster that does not serve the kind is not chosen, and says so', async (fleet) => {
    const group = `some.${fleet.namespace}.example.com`;
    const definition = widgetDefinition(group);
    const at = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`;
    for (const cluster of ['north', 'south']) await othersApply(fleet, cluster, { path: at, body: definition });
    const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'some', namespace: fleet.namespace }, spec: { size: 1 } };
    const input = intentOf(fleet, 'some', [widget]);
    await fleet.until(async () => (await planned(fleet, input)).clusters.filter(({ chosen }) => chosen).length === 2);
    expect((await planned(fleet, input)).clusters.map(({ cluster, chosen, reason }) => [cluster.name, chosen, reason])).toEqual([
      ['east', false, 'API_MISSING'],
      ['north', true, null],
      ['south', true, null],
    ]);
    await propagated(fleet, input);
    expect(linesOf(await phaseOf(fleet, 'some', 'SETTLED')).map(([cluster]) => cluster)).toEqual(['north', 'south']);
  });

  for (const [how, reason] of [
    ['quota', 'QUOTA'],
    // A policy answers 422, as for an invalid object. The message tells the two apart.
    ['policy', 'DENIED'],
    ['webhook', 'DENIED'],
  ] as const)
    declare(
      `D5: refused by ${how} in one cluster, an intent is carried out in the others, and only that cluster has a problem`,
      async (fleet) => {
        await using refusal = await fleet.refuse('south', how);
        const input = intentOf(fleet, 'some', [configMapOf(fleet, 'some', { a: '1' })]);
        await propagated(fleet, input);
        const now = await stateWhere(
          fleet,
          'some',
          ({ phase, clusters }) =>
            phase !== 'PLANNING' && clusters[2]?.reason !== null && clusters[1]?.phase === 'SETTLED' && clusters[0]?.phase === 'SETTLED',
        );
        expect(linesOf(now)).toEqual([
          ['east', 'SETTLED', ''],
          ['north', 'SETTLED', ''],
          ['south', expect.stringMatching(/^(FAILED|DENIED)$/), reason],
        ]);
        expect(now.conditions.filter(({ message }) => message === 'south').map(({ type }) => type)).toContain('Applied');
        expect(await dataIn(fleet, 'some')).toEqual([{ a: '1' }, undefined, { a: '1' }]);
        const before = await versionsOf(fleet);

        await refusal.end();
        // A refused write is retried after minutes, an unanswered one soon.
        if (how !== 'webhook') await propagated(fleet, { ...input, rollout: { soak: '1s' } });
        await fleet.until(async () => (await dataIn(fleet, 'some'))[1]?.a === '1', 60_000);
        await stateWhere(fleet, 'some', isSettledEverywhere);
        const after = await versionsOf(fleet);
        if (how === 'webhook') expect([after[0], after[2]]).toEqual([before[0], before[2]]);
      },
    );
}

/** Returns the reason for the phase of a cluster, else the phase. */
const lineIn = ({ clusters }: PropagationSeen, name: string) => {
  const line = clusters.find(({ cluster }) => cluster.name === name);
  return line?.reason ?? line?.phase;
};

const isSettledEverywhere = ({ clusters }: PropagationSeen) => clusters.every(({ phase }) => phase === 'SETTLED');

const versionsOf = (fleet: WritingFleet) =>
  Promise.all(fleet.names.map(async (cluster) => (await objectAt(fleet, cluster, configMapAt(fleet, 'some')))?.metadata.resourceVersion));

function widgetDefinition(group: string): JsonObject {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

/** Removes a namespace as the namespace controller does. A bare API server has no such controller. */
async function letNamespaceGo(fleet: WritingFleet, cluster: string, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  const headers = { 'content-type': 'application/merge-patch+json' };
  await fleet.send(cluster, 'PATCH', path, { body: { metadata: { finalizers: null } }, headers });
  const left = await objectAt(fleet, cluster, path);
  if (left !== undefined) await fleet.send(cluster, 'PUT', `${path}/finalize`, { body: { ...left, spec: { finalizers: [] } } });
}
