import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { ResourceVersion } from '../../../src/core/names.ts';
import { withTakenNames } from '../../../src/importers/translation/taken-names.ts';
import type { Propagation } from '../../../src/propagate/model/propagation.ts';

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

test.each([
  ['of the same source', { source: { ...source, notes: [{ code: 'A' }] } }, []],
  ['of the same resource in a newer version', { source: { ...source, objects: [{ ...template, apiVersion: 'types.kubefed.io/v1' }] } }, []],
  ['of another cluster', { source: { ...source, cluster: 'two' } }, ['NAME_TAKEN']],
  ['of a text', { source: { ...source, cluster: undefined } }, ['NAME_TAKEN']],
  ['of another system', { source: { ...source, system: 'Karmada' } }, ['NAME_TAKEN']],
  ['of another resource', { source: { ...source, objects: [{ ...template, name: 'api' }] } }, ['NAME_TAKEN']],
  ['of another kind', { source: { ...source, objects: [{ ...template, kind: 'FederatedJob' }] } }, ['NAME_TAKEN']],
  ['that a user wrote', { template: [] }, ['NAME_TAKEN']],
])('an existing Propagation %s', (_, document, codes) => {
  const imported = { system: 'Kubefed', input: { namespace: 'shop', name: 'web', source }, documents: [], notes: [] } as const;
  const free = { ...imported, input: { ...imported.input, name: 'api' } };
  const result = withTakenNames({ propagations: [imported, free], unread: [], notes: [], faults: [] }, ({ name }) =>
    name === 'web' ? existing(document as JsonObject) : undefined,
  );
  expect(result.propagations.map(({ notes }) => notes.map(({ code }) => code))).toEqual([codes, []]);
});
