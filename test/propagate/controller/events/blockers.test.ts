import { expect, test } from 'vitest';
import { clusterFailure, faultOfFailure } from '../../../../src/cluster/cluster-failure.ts';
import { clusterName } from '../../../../src/core/names.ts';
import { textOfKey } from '../../../../src/manifests/object-key.ts';
import { blockersOf, isUnblocked } from '../../../../src/propagate/controller/events/blockers.ts';
import {
  type ClusterState,
  clusterStateOf,
  newPropagationState,
  retrySoon,
} from '../../../../src/propagate/controller/state/propagation-state.ts';
import type { CopyReason } from '../../../../src/propagate/model/propagation.ts';
import type { CopyOutcome } from '../../../../src/propagate/plan/copies/copy-work.ts';

const south = clusterName('south');
const key = { apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'team', name: 'web' };
const failed = (reason: CopyReason, message = 'no'): CopyOutcome => ({
  ...{ key, action: 'Failed', reason, message },
  fault: faultOfFailure(clusterFailure('FORBIDDEN', message, 'NEVER'), { cluster: south }),
});

function runWith(outcome: CopyOutcome, failures = 1) {
  const run = newPropagationState({ namespace: 'default', name: 'web' });
  const known: ClusterState = clusterStateOf(run, south);
  known.failures = failures;
  known.outcomes.set(textOfKey(outcome.key), outcome);
  return { run, known };
}

test.each<readonly [string, CopyOutcome, readonly string[]]>([
  ['a refusal: the existing object', failed('Invalid'), ['Widget team/web']],
  ['a Namespace that is missing', failed('NamespaceMissing'), ['Widget team/web', 'Namespace /team']],
  ['a Namespace that is being deleted', failed('Terminating'), ['Widget team/web', 'Namespace /team']],
  ['a quota, by its name', failed('Quota', 'refused: exceeded quota: cpu, more'), ['Widget team/web', 'ResourceQuota team/cpu']],
  ['a quota without a name', failed('Quota'), ['Widget team/web']],
  ['a contended copy: none, because its changes trigger no retry', failed('Contended'), []],
  ['a written copy: none', { key, action: 'Created' }, []],
])('returns the objects that block a copy with %s', (_, outcome, expected) => {
  const shown = blockersOf(south, runWith(outcome).known).map(
    ({ kind, objectName }) => `${kind.kind} ${objectName.namespace}/${objectName.name}`,
  );
  expect(shown).toEqual(expected);
  expect(blockersOf(south, runWith(outcome, 0).known)).toEqual([]);
});

test.each<readonly [CopyReason, 'absent' | 'served', boolean]>([
  ['ApiMissing', 'served', true],
  ['ApiMissing', 'absent', false],
  ['Denied', 'served', false],
])('a copy of an unserved kind may be written once the kind is served: %s, %s: %s', (reason, served, expected) => {
  const resource = {
    ...{ group: 'example.com', kind: 'Widget', version: 'v1', versions: ['v1'], resource: 'widgets', singular: 'widget' },
  };
  const more = { namespaced: true, verbs: [], shortNames: [], categories: [] };
  const objects = {
    read: () => ({ result: 'absent', asOfMs: 0 }) as const,
    served: () => (served === 'absent' ? served : { ...resource, ...more }),
  };
  expect(isUnblocked(runWith(failed(reason)).run, { type: 'cluster', cluster: south }, objects)).toBe(expected);
});

test('moves a retry only to an earlier time, at most once in ten seconds, also while a job runs', () => {
  const { known } = runWith(failed('Quota'));
  known.retryAtMs = 300_000;
  retrySoon(known, 1_000);
  expect(known.retryAtMs).toBe(1_000);
  known.retryAtMs = 300_000;
  retrySoon(known, 2_000);
  expect(known.retryAtMs).toBe(11_000);
  known.retryAtMs = 10_500;
  retrySoon(known, 3_000);
  expect(known.retryAtMs).toBe(10_500);
  known.isBusy = true;
  retrySoon(known, 12_000);
  expect(known.isRetryRequested).toBe(false);
  retrySoon(known, 21_000);
  expect(known.isRetryRequested).toBe(true);
});
