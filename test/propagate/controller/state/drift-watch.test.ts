import { expect, test } from 'vitest';
import type { Json } from '../../../../src/core/json.ts';
import type { ServedResource } from '../../../../src/core/kinds.ts';
import { clusterName } from '../../../../src/core/names.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { listRulesIn } from '../../../../src/manifests/list-rules.ts';
import { createDriftWatch } from '../../../../src/propagate/controller/state/drift-watch.ts';
import type { InventoryEntry } from '../../../../src/propagate/model/inventory.ts';
import type { RenderedObject } from '../../../../src/propagate/model/plan.ts';
import { observedHashOf } from '../../../../src/propagate/plan/copies/observed-hash.ts';
import { loadBaseline } from '../../../support/kubernetes-objects.ts';

const model = loadBaseline();
const south = clusterName('south');
const key = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'web' };

interface Row {
  readonly name: string;
  readonly kind?: 'ConfigMap' | 'Secret';
  readonly isSensitive?: boolean;
  /** The preferred version of the server. The copy was written in v1. */
  readonly preferred?: 'v1' | 'v2';
  readonly served?: 'absent';
  /** The current content and its version. The copy was written as `{ a: '1' }` at version 1. */
  readonly now: readonly [data: Readonly<Record<string, Json>>, version: string];
  readonly drifted: boolean;
}

const rows: readonly Row[] = [
  { name: 'an unchanged copy has not drifted, whatever its version', now: [{ a: '1', b: 'theirs' }, '2'], drifted: false },
  { name: 'a changed field of ours', now: [{ a: '2' }, '2'], drifted: true },
  { name: 'a Secret, by its resourceVersion', kind: 'Secret', now: [{}, '2'], drifted: true },
  { name: 'a Secret at the version of our write', kind: 'Secret', now: [{}, '1'], drifted: false },
  { name: 'a copy of a sensitive kind, by its resourceVersion', isSensitive: true, now: [{}, '2'], drifted: true },
  { name: 'a copy of a sensitive kind at the version of our write', isSensitive: true, now: [{}, '1'], drifted: false },
  { name: 'a copy in a version that mirrors do not hold, whatever its content', preferred: 'v2', now: [{ a: '1' }, '2'], drifted: true },
  {
    name: 'a copy of a sensitive kind in such a version, by its resourceVersion',
    isSensitive: true,
    preferred: 'v2',
    now: [{}, '1'],
    drifted: false,
  },
  { name: 'nothing of a kind that the cluster does not serve', served: 'absent', now: [{ a: '2' }, '2'], drifted: false },
];

test.each(rows)('$name', ({ kind = 'ConfigMap', isSensitive = false, preferred = 'v1', served, now, drifted }) => {
  const visibility = { sensitiveKinds: { has: () => isSensitive }, listRulesOf: listRulesIn(() => model) };
  const resource: ServedResource = {
    ...{ group: '', kind, version: 'v1', versions: preferred === 'v1' ? ['v1'] : ['v2', 'v1'], resource: 'things', singular: 'thing' },
    ...{ namespaced: true, verbs: [], shortNames: [], categories: [] },
  };
  const metadata = { name: 'web', namespace: 'default' };
  const object: RenderedObject = {
    key: { ...key, kind },
    action: 'UNCHANGED',
    desired: { apiVersion: 'v1', kind, metadata, data: { a: '1' } },
    desiredHash: 'h',
    predicted: false,
  };
  const standing = (data: Json, resourceVersion: string): KubernetesObject => ({ metadata: { ...metadata, resourceVersion }, data });
  const observedHash = observedHashOf(object, standing({ a: '1' }, '1'), visibility);
  const entry: InventoryEntry = { key: object.key, state: 'Owned', uid: 'u1', appliedHash: 'h', observedHash, health: 'Healthy' };
  const watch = createDriftWatch(visibility, { served: () => served ?? resource });
  expect(watch.isDrifted(south, object, { entry, live: standing(now[0], now[1]) })).toBe(drifted);
});
