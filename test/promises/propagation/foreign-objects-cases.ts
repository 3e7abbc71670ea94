import { expect } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import {
  configMapAt,
  configMapOf,
  dataIn,
  intentOf,
  linesOf,
  objectAt,
  othersApply,
  othersDelete,
  othersMerge,
  phaseOf,
  planned,
  propagate,
  propagated,
  stateOf,
  stateWhere,
  told,
} from '../../support/propagate/propagating.ts';
import type { WritingFleet } from '../../support/propagate/writing-fleet.ts';
import type { DeclarePromise } from './declare-promise.ts';

const deploymentAt = ({ namespace }: WritingFleet, name: string) => `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;

function deploymentOf({ namespace }: WritingFleet, name: string, replicas: number): JsonObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'registry.example.com/web:1.0' }] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

/** Objects of others are neither overwritten nor deleted: D6 to D10, D13. */
export function foreignObjectPromises(declare: DeclarePromise): void {
  declare('D6: a field that another manager owns before our first write is a CONFLICT, with manager and path', async (fleet) => {
    const path = deploymentAt(fleet, 'web');
    const body = deploymentOf(fleet, 'web', 7);
    await othersApply(fleet, 'south', { path, body, manager: 'argocd-controller' });
    const input = intentOf(fleet, 'web', [deploymentOf(fleet, 'web', 2)], { placement: { clusters: ['south'] }, conflict: 'ADOPT' });

    const plan = await planned(fleet, input);
    expect(plan.clusters.find(({ cluster }) => cluster.name === 'south')?.objects[0]?.conflicts).toEqual([
      { manager: 'argocd-controller', path: '.spec.replicas' },
    ]);
    await propagated(fleet, input);
    const now = await stateWhere(fleet, 'web', ({ clusters }) => clusters[0]?.phase === 'FAILED');
    expect(linesOf(now)).toEqual([['south', 'FAILED', 'CONFLICT']]);
    expect(now.clusters[0]?.objects[0]?.fault?.message).toBe('owned by another manager: .spec.replicas (argocd-controller)');
    expect((await objectAt(fleet, 'south', path))?.spec?.replicas).toBe(7);

    // Fields are overwritten by force only on request, and the log reports it.
    expect(fleet.logged().some(({ message }) => message === 'overwrote fields of other managers by force')).toBe(false);
    await propagated(fleet, { ...input, conflict: 'OVERWRITE' });
    await fleet.until(async () => (await objectAt(fleet, 'south', path))?.spec?.replicas === 2);
    const forced = fleet.logged().find(({ message }) => message === 'overwrote fields of other managers by force');
    expect(forced).toMatchObject({
      cluster: 'south',
      kind: 'Deployment',
      name: 'web',
      conflicts: [{ manager: 'argocd-controller', path: '.spec.replicas' }],
    });
  });

  declare('D6: fields that other managers own stay theirs next to our fields', async (fleet) => {
    const path = deploymentAt(fleet, 'scaled');
    const { spec, ...rest } = deploymentOf(fleet, 'scaled', 5);
    await othersApply(fleet, 'south', { path, body: { ...rest, spec: spec ?? {} }, manager: 'kube-controller-manager' });
    // An autoscaler owns the replica count, so the count is not sent. No other field is in conflict, because the values are equal.
    const input = intentOf(fleet, 'scaled', [deploymentOf(fleet, 'scaled', 2)], {
      placement: { clusters: ['south'] },
      conflict: 'ADOPT',
      replicas: { mode: 'EXTERNAL' },
    });
    await propagated(fleet, input);
    await fleet.until(async () => (await objectAt(fleet, 'south', path))?.metadata.labels?.[marks.propagation] !== undefined);
    expect((await objectAt(fleet, 'south', path))?.spec?.replicas).toBe(5);
  });

  declare('D7: an existing object of another owner is not changed, unless conflict is Adopt or Overwrite', async (fleet) => {
    for (const name of ['adopted', 'overwritten'])
      await othersApply(fleet, 'east', { path: configMapAt(fleet, name), body: configMapOf(fleet, name, { theirs: '1' }) });
    for (const [name, conflict] of [
      ['adopted', 'ADOPT'],
      ['overwritten', 'OVERWRITE'],
    ] as const) {
      const before = await objectAt(fleet, 'east', configMapAt(fleet, name));
      const input = intentOf(fleet, name, [configMapOf(fleet, name, { ours: '1' })]);
      await propagated(fleet, input);
      expect(linesOf(await phaseOf(fleet, name, 'DEGRADED'))).toEqual([
        ['east', 'FAILED', 'CONFLICT'],
        ['north', 'SETTLED', ''],
        ['south', 'SETTLED', ''],
      ]);
      // The object is unchanged, even its version.
      expect(await objectAt(fleet, 'east', configMapAt(fleet, name))).toEqual(before);
      await propagated(fleet, { ...input, conflict });
      await phaseOf(fleet, name, 'SETTLED');
      expect(await dataIn(fleet, name)).toEqual([{ ours: '1' }, { ours: '1' }, { theirs: '1', ours: '1' }]);
    }
  });

  declare('D8: a copy that leaves the set is deleted by its uid, and no other object is', async (fleet) => {
    const both = [configMapOf(fleet, 'keep', { a: '1' }), configMapOf(fleet, 'drop', { a: '1' })];
    await othersApply(fleet, 'south', { path: configMapAt(fleet, 'stranger'), body: configMapOf(fleet, 'stranger', { b: '1' }) });
    await propagated(fleet, intentOf(fleet, 'set', both));
    await phaseOf(fleet, 'set', 'SETTLED');
    await propagated(fleet, intentOf(fleet, 'set', both.slice(0, 1)));
    await fleet.until(async () => (await dataIn(fleet, 'drop')).every((data) => data === undefined));
    const now = await phaseOf(fleet, 'set', 'SETTLED');
    expect(now.clusters.map(({ objects }) => objects.map(({ key }) => key.name))).toEqual([['keep'], ['keep'], ['keep']]);
    expect(await dataIn(fleet, 'keep')).toEqual([{ a: '1' }, { a: '1' }, { a: '1' }]);
    expect((await objectAt(fleet, 'south', configMapAt(fleet, 'stranger')))?.data).toEqual({ b: '1' });
  });

  declare('D9: our marks on a stranger’s object are a hint; it is never deleted', async (fleet) => {
    const input = intentOf(fleet, 'marked', [configMapOf(fleet, 'copy', { a: '1' })], { placement: { clusters: ['south', 'east'] } });
    await propagated(fleet, input);
    await phaseOf(fleet, 'marked', 'SETTLED');
    const ours = await objectAt(fleet, 'south', configMapAt(fleet, 'copy'));
    const { labels = {}, annotations = {} } = ours?.metadata ?? {};
    expect(labels[marks.propagation]).toBeTruthy();
    const copied = {
      ...configMapOf(fleet, 'twin', { theirs: '1' }),
      metadata: { name: 'twin', namespace: fleet.namespace, labels, annotations },
    };
    await othersApply(fleet, 'south', { path: configMapAt(fleet, 'twin'), body: copied });
    await told(fleet, 'delete', 'marked');
    await fleet.until(async () => (await stateOf(fleet, 'marked')) === null);
    expect(await objectAt(fleet, 'south', configMapAt(fleet, 'copy'))).toBeUndefined();
    expect((await objectAt(fleet, 'south', configMapAt(fleet, 'twin')))?.data).toEqual({ theirs: '1' });
  });

  declare('D10: an object that others created in the place of a copy is not changed, whatever marks it has', async (fleet) => {
    const input = intentOf(fleet, 'anew', [configMapOf(fleet, 'anew', { a: '1' })], { placement: { clusters: ['south'] } });
    await propagated(fleet, input);
    await phaseOf(fleet, 'anew', 'SETTLED');
    const { labels = {}, annotations = {} } = (await objectAt(fleet, 'south', configMapAt(fleet, 'anew')))?.metadata ?? {};
    // The controller is suspended, because it would recreate the copy.
    await propagated(fleet, { ...input, suspend: { all: true } });
    await phaseOf(fleet, 'anew', 'SUSPENDED');
    await othersDelete(fleet, 'south', configMapAt(fleet, 'anew'));
    const body = {
      ...configMapOf(fleet, 'anew', { theirs: '1' }),
      metadata: { name: 'anew', namespace: fleet.namespace, labels, annotations },
    };
    const made = await othersApply(fleet, 'south', { path: configMapAt(fleet, 'anew'), body });
    await told(fleet, 'delete', 'anew');
    await fleet.until(async () => (await stateOf(fleet, 'anew')) === null);
    expect(await objectAt(fleet, 'south', configMapAt(fleet, 'anew'))).toEqual(made);
  });

  declare(
    'D13: a foreign finalizer keeps a copy, which is reported with its age; we remove no finalizer, and do not repeat the deletion',
    async (fleet) => {
      const path = configMapAt(fleet, 'held');
      await propagated(
        fleet,
        intentOf(fleet, 'held', [configMapOf(fleet, 'held', { a: '1' })], { placement: { clusters: ['south', 'east'] } }),
      );
      await phaseOf(fleet, 'held', 'SETTLED');
      await othersMerge(fleet, 'south', path, { metadata: { finalizers: ['example.com/backup'] } });
      await told(fleet, 'delete', 'held');
      const now = await stateWhere(
        fleet,
        'held',
        ({ phase, clusters }) => phase === 'DELETING' && clusters[0]?.reason === 'FOREIGN_FINALIZER',
      );
      expect(linesOf(now)).toEqual([['south', 'DELETING', 'FOREIGN_FINALIZER']]);
      const { metadata } = (await objectAt(fleet, 'south', path)) ?? {};
      expect(now.clusters[0]?.message).toContain(`began at ${metadata?.deletionTimestamp} and waits for example.com/backup`);
      expect(now.clusters[0]?.objects[0]).toMatchObject({ state: 'DELETING', uid: metadata?.uid });
      expect(await objectAt(fleet, 'east', path)).toBeUndefined();

      const before = metadata?.resourceVersion;
      await fleet.pass(3_000);
      expect((await objectAt(fleet, 'south', path))?.metadata.resourceVersion).toBe(before);
      // Another Propagation cannot take the name meanwhile.
      expect((await propagate(fleet, intentOf(fleet, 'held', [configMapOf(fleet, 'held', { a: '2' })]))).result).toBe('REFUSED');
      await othersMerge(fleet, 'south', path, { metadata: { finalizers: null } });
      await fleet.until(async () => (await stateOf(fleet, 'held')) === null);
      expect(await objectAt(fleet, 'south', path)).toBeUndefined();
    },
  );
}
