import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { clusterObject, hubSecret, memberObjects, nextBoundSecretName } from '../../src/registration/joined-objects.ts';
import { printRegisteredKubeconfig, tokenOfKubeconfig, withTokenInKubeconfig } from '../../src/registration/registered-kubeconfig.ts';

const own = { 'app.kubernetes.io/managed-by': 'muster' };

test('the namespace and the account come first, and every object has our label', () => {
  const planned = memberObjects([]).map(({ manifest }) => manifest);
  expect(planned.map(({ kind }) => kind)).toEqual([
    'Namespace',
    'ServiceAccount',
    'ClusterRole',
    'ClusterRoleBinding',
    'Role',
    'RoleBinding',
  ]);
  for (const { metadata } of planned) expect(metadata.labels).toEqual(own);
});

test('the account may create tokens of itself only', () => {
  const role = memberObjects([]).find(({ manifest }) => manifest.kind === 'Role');
  expect(role?.manifest.rules).toEqual([
    { apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: ['muster-member'], verbs: ['create'] },
  ]);
});

const existing: KubernetesObject = {
  metadata: { name: 'south', labels: { ...own, tier: 'prod' } },
  spec: { secretRef: { name: 'south' }, region: 'eu-2' },
};

test.each([
  ['a first join', {}, undefined, {}, undefined],
  ['a second join without labels keeps them', {}, existing, { tier: 'prod' }, 'eu-2'],
  ['a second join with labels replaces all of them', { labels: { team: 'x' } }, existing, { team: 'x' }, 'eu-2'],
  ['another region replaces the existing one', { region: 'eu-3' }, existing, { tier: 'prod' }, 'eu-3'],
])('%s', (_title, given, before, labels, region) => {
  const { manifest } = clusterObject({ name: 'south', uid: 'u', ...given }, before);
  expect(manifest.metadata.labels).toEqual({ ...labels, ...own });
  expect(manifest.metadata.annotations).toEqual({ 'muster.dev/cluster-uid': 'u' });
  expect(manifest.spec).toEqual({ secretRef: { name: 'south' }, ...(region === undefined ? {} : { region }) });
});

test('the Secret on the hub belongs to the Cluster, and has the life of its token', () => {
  const owner = { metadata: { name: 'south', uid: 'c' } };
  const credentials = { kubeconfig: '{}', boundTo: 'muster-member-1', issued: 'a', expires: 'b', isMarkedUnused: false };
  const { metadata, data } = hubSecret({ namespace: 'muster-system', owner }, credentials).manifest;
  expect(metadata).toMatchObject({ ownerReferences: [{ kind: 'Cluster', name: 'south', uid: 'c' }], labels: own });
  expect(metadata.annotations).toEqual({
    'muster.dev/token-bound-to': 'muster-member-1',
    'muster.dev/token-issued': 'a',
    'muster.dev/token-expires': 'b',
  });
  expect(data).toEqual({ kubeconfig: 'e30=' });
});

test.each([
  [[], 'muster-member-1'],
  [['muster-member-1', 'muster-member-9'], 'muster-member-10'],
  [['muster-member'], 'muster-member-1'],
])('the bound Secret after %j is %s', (names, next) => {
  expect(nextBoundSecretName(names)).toBe(next);
});

test('a kubeconfig gets another token, and nothing else changes', () => {
  const access = { server: 'https://south.example.com', authority: Buffer.from('PEM'), tlsServerName: 'south', token: 'old' };
  const before = Buffer.from(printRegisteredKubeconfig(access));
  expect(tokenOfKubeconfig(before)).toBe('old');
  expect(withTokenInKubeconfig(before, 'new')).toBe(printRegisteredKubeconfig({ ...access, token: 'new' }));
  expect(withTokenInKubeconfig(Buffer.from('clusters: []'), 'new')).toBeUndefined();
});
