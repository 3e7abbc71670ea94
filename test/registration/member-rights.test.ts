import { expect, test } from 'vitest';
import type { ServedResource } from '../../src/core/kinds.ts';
import { mayWriteBy, memberRules } from '../../src/registration/member-rights.ts';

const served = (group: string, resource: string, verbs = ['get', 'list', 'watch', 'create', 'delete']): ServedResource => ({
  ...{ group, resource, verbs, version: 'v1', versions: ['v1'], kind: resource, singular: '' },
  ...{ namespaced: true, shortNames: [], categories: [] },
});
const all = [served('', 'pods'), served('', 'secrets'), served('apps', 'deployments'), served('example.com', 'widgets')];

test('the account reads every served kind by its name, but no Secrets', () => {
  expect(memberRules(all, { write: false })).toEqual([
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ]);
});

test('a custom kind named secrets is readable, and a kind that cannot be watched gets no right to watch', () => {
  const rules = memberRules([served('example.com', 'secrets'), served('metrics.k8s.io', 'pods', ['get', 'list'])], { write: false });
  expect(rules.slice(0, 2)).toEqual([
    { apiGroups: ['example.com'], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['metrics.k8s.io'], resources: ['pods'], verbs: ['get', 'list'] },
  ]);
});

test('equal kinds give equal rules in any order', () => {
  expect(memberRules(all.toReversed(), { write: true })).toEqual(memberRules(all, { write: true }));
});

test.each([true, false])('no rule has a wildcard, a right to Secrets, RBAC or exec, with write %s', (write) => {
  const rules = memberRules(all, { write });
  const words = rules.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs]);
  for (const word of ['*', 'secrets', 'pods/exec', 'serviceaccounts/token', 'rbac.authorization.k8s.io', 'escalate', 'bind', 'impersonate'])
    expect(words).not.toContain(word);
  expect(mayWriteBy(rules)).toBe(write);
});

test('with rights to write, workloads can be scaled', () => {
  const scaling = memberRules(all, { write: true }).filter(({ resources }) => resources.includes('deployments/scale'));
  expect(scaling.map(({ verbs }) => verbs)).toEqual([['update', 'patch']]);
});
