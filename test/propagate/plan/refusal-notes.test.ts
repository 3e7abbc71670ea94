import { describe, expect, test } from 'vitest';
import type { FaultCode } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { textOfKey } from '../../../src/manifests/object-key.ts';
import type { PropagationSpec } from '../../../src/propagate/model/spec.ts';
import { copyFault } from '../../../src/propagate/plan/copies/copy-reason.ts';
import type { DryRun } from '../../../src/propagate/plan/dry-run.ts';
import { refusalNotes } from '../../../src/propagate/plan/refusal-notes.ts';
import type { DryRuns } from '../../../src/propagate/plan/show-plan.ts';
import type { PlanSnapshot } from '../../../src/propagate/plan/snapshot/snapshot.ts';

const manifest: Manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'shop' } };
const text = textOfKey({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'web' });

const [east, south] = [clusterName('east'), clusterName('south')];
const failed = (code: FaultCode, cluster = east, said?: string): DryRun => {
  const fault = copyFault(cluster, code, 'words');
  const status = { code: 403, reason: 'Forbidden', message: said ?? '', causes: [] };
  return { result: 'failed', fault: said === undefined ? fault : { ...fault, status } };
};
const accepted: DryRun = { result: 'accepted', object: manifest as never, conflicts: [] };

function notesOn(answers: Readonly<Record<string, DryRun>>, onFailure: 'Pause' | 'Rollback' = 'Pause') {
  const spec = { rollout: { onFailure } } as PropagationSpec;
  const templates = [{ manifest, path: 'template[0]' }] as unknown as PlanSnapshot['templates'];
  const asked: DryRuns = new Map(Object.entries(answers).map(([cluster, answer]) => [cluster, new Map([[text, answer]])]));
  return refusalNotes({ spec, templates }, asked);
}

describe('a refusal by every cluster that answers is an error', () => {
  test.each<readonly [string, DryRun]>([
    ['the kind is not served', { result: 'unserved' }],
    ['words', failed('NOT_SERVED')],
    ['words', failed('NOT_FOUND')],
    ['words', failed('INVALID')],
    ['words', failed('FORBIDDEN')],
    ['words: exceeded quota: few', failed('FORBIDDEN', east, 'it is forbidden: exceeded quota: few, requested: pods=1')],
  ])('%s: %o', (words, answer) => {
    const message = `every cluster refuses ConfigMap shop/web: ${words}`;
    const note = { severity: 'ERROR', code: 'REFUSED_EVERYWHERE', message, path: 'template[0]' };
    expect(notesOn({ east: answer })).toEqual([note]);
    // A cluster without an answer neither accepts nor refuses the object.
    expect(notesOn({ east: answer, south: failed('UNREACHABLE', south) })).toEqual([note]);
  });
});

test('a refusal by some clusters is a warning with their names, and an error if a breach is rolled back', () => {
  const answers = { east: failed('NOT_SERVED'), south: accepted };
  const message = '1 of 2 clusters (east) refuse ConfigMap shop/web: words';
  expect(notesOn(answers)).toEqual([{ severity: 'WARNING', code: 'REFUSED_SOMEWHERE', message, path: 'template[0]' }]);
  expect(notesOn(answers, 'Rollback')).toMatchObject([{ severity: 'ERROR', code: 'REFUSED_SOMEWHERE' }]);
});

test.each<readonly [string, DryRun]>([
  ['accepted', accepted],
  ['silent', failed('TIMED_OUT')],
  ['behind', { result: 'stale', live: { result: 'absent', asOfMs: 0 } }],
  ['a conflict over fields', { result: 'conflict', fault: copyFault(east, 'CONFLICT', 'words'), conflicts: [] }],
])('no refusal: %s', (_, answer) => {
  expect(notesOn({ east: answer })).toEqual([]);
});
