import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { holdsSecret } from '../../../src/importers/documents/holds-secret.ts';

const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { p: 'aHVudGVyMg==' } };

test.each<[string, Json, boolean]>([
  ['a Secret', secret, true],
  ['a Secret without a version', { kind: 'Secret', stringData: { p: 'x' } }, true],
  ['a list with a Secret', { apiVersion: 'v1', kind: 'List', items: [{ kind: 'ConfigMap' }, secret] }, true],
  ['a list of Secrets without kinds', { apiVersion: 'v1', kind: 'SecretList', items: [{ metadata: { name: 'a' } }] }, true],
  ['an object with a Secret in its template', { kind: 'Other', spec: { template: { spec: { template: secret } } } }, true],
  ['a FederatedSecret', { kind: 'FederatedSecret', spec: { template: { data: {} } } }, true],
  ['a ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { kind: 'Secret' } }, false],
  ['a reference to a Secret', { spec: { valuesFrom: [{ kind: 'Secret', name: 'a' }] } }, false],
  ['the name of the kind', { spec: { federatedType: { kind: 'FederatedSecret' } } }, false],
  ['a Secret of another API group', { apiVersion: 'vault.example.com/v1', kind: 'Secret', metadata: { name: 'a' } }, false],
])('%s', (_, value, expected) => {
  expect(holdsSecret(value)).toBe(expected);
});
