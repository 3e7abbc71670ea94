import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { ResourceVersion } from '../../../src/core/names.ts';
import type { Propagation } from '../../../src/propagate/model/propagation.ts';
import { takenNameProblem } from '../../../src/propagate/model/taken-name.ts';

const template = { apiVersion: 'types.kubefed.io/v1beta1', kind: 'FederatedDeployment', namespace: 'shop', name: 'web', role: 'Template' };
const source = {
  system: 'Kubefed',
  cluster: 'one',
  objects: [{ ...template, kind: 'Preference', role: 'Scheduling' }, template],
  notes: [],
};
const metadata = { namespace: 'shop', name: 'web', uid: 'u', version: '1' as ResourceVersion, generation: 1 };
const existing = (document: JsonObject): Propagation => ({
  metadata: { ...metadata, labels: {}, annotations: {}, finalizers: [], owners: [] },
  document,
  spec: { problems: [] },
  status: {} as Propagation['status'],
});

test.each<readonly [string, JsonObject, boolean]>([
  ['of the same source', { source: { ...source, notes: [{ code: 'A' }] } }, false],
  [
    'of the same resource in a newer version',
    { source: { ...source, objects: [{ ...template, apiVersion: 'types.kubefed.io/v1' }] } },
    false,
  ],
  ['of another cluster', { source: { ...source, cluster: 'two' } }, true],
  ['of a text', { source: { system: 'Kubefed', objects: [template] } }, true],
  ['of another system', { source: { ...source, system: 'Karmada' } }, true],
  ['of another resource', { source: { ...source, objects: [{ ...template, name: 'api' }] } }, true],
  ['of another kind', { source: { ...source, objects: [{ ...template, kind: 'FederatedJob' }] } }, true],
  ['that a user wrote', { template: [] }, true],
])('an existing Propagation %s', (_, document, isTaken) => {
  expect(takenNameProblem(existing(document), source) !== undefined).toBe(isTaken);
  expect(takenNameProblem(existing(document), undefined)).toBeUndefined();
});
