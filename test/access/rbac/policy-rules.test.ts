import { describe, expect, test } from 'vitest';
import { isAllowedByRule, type PolicyRule, policyRulesOf, type ResourceAttributes } from '../../../src/access/rbac/policy-rules.ts';
import { RbacIndex } from '../../../src/access/rbac/rbac-index.ts';
import { subjectKeysOf } from '../../../src/access/rbac/subjects.ts';
import { bindingOf, roleOf, ruleOf } from '../reviewed/access-world.ts';

const rule = (more: Partial<PolicyRule> = {}): PolicyRule => ({
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods'],
  resourceNames: [],
  ...more,
});
const getPod: ResourceAttributes = { verb: 'get', group: '', resource: 'pods', namespace: 'shop' };
const getLog: ResourceAttributes = { ...getPod, subresource: 'log' };

describe('a rule decides as the RBAC authorizer of Kubernetes', () => {
  test.each<readonly [string, Partial<PolicyRule>, ResourceAttributes, boolean]>([
    ['the same verb, group and resource', {}, getPod, true],
    ['another verb', {}, { ...getPod, verb: 'list' }, false],
    ['another group', {}, { ...getPod, group: 'apps' }, false],
    ['another resource', {}, { ...getPod, resource: 'nodes' }, false],
    ['* for verbs', { verbs: ['*'] }, getPod, true],
    ['* for groups', { apiGroups: ['*'] }, { ...getPod, group: 'apps' }, true],
    ['* for resources', { resources: ['*'] }, getPod, true],
    ['* for resources allows subresources', { resources: ['*'] }, getLog, true],
    ['a resource does not allow its subresources', {}, getLog, false],
    ['a subresource', { resources: ['pods/log'] }, getLog, true],
    ['a subresource does not allow its resource', { resources: ['pods/log'] }, getPod, false],
    ['a subresource of all resources', { resources: ['*/log'] }, getLog, true],
    ['a subresource of all resources is no other one', { resources: ['*/status'] }, getLog, false],
    ['pods/* allows nothing', { resources: ['pods/*'] }, getLog, false],
    ['names: the same name', { resourceNames: ['web'] }, { ...getPod, name: 'web' }, true],
    ['names: another name', { resourceNames: ['web'] }, { ...getPod, name: 'db' }, false],
    ['names: no name, as a list has none', { resourceNames: ['web'], verbs: ['list'] }, { ...getPod, verb: 'list' }, false],
    ['names: a list of exactly this name', { resourceNames: ['web'], verbs: ['list'] }, { ...getPod, verb: 'list', name: 'web' }, true],
    ['an empty list of names is about all objects', { resourceNames: [] }, { ...getPod, name: 'web' }, true],
  ])('%s', (_, more, attributes, isAllowed) => {
    expect(isAllowedByRule(rule(more), attributes)).toBe(isAllowed);
  });

  test('rules for URLs and broken rules are left out', () => {
    const role = roleOf(
      undefined,
      'odd',
      { verbs: ['get'], nonResourceURLs: ['/healthz'] },
      { verbs: null, apiGroups: [''], resources: ['pods'] },
    );
    expect(policyRulesOf(role)).toEqual([rule({ verbs: [] })]);
    expect(policyRulesOf(roleOf(undefined, 'none'))).toEqual([]);
  });
});

describe('an index of bindings', () => {
  const shopReader = [
    roleOf('shop', 'reader', ruleOf(['get'], [''], ['pods'])),
    roleOf(undefined, 'reader', ruleOf(['get'], [''], ['pods'])),
  ];
  const decide = (binding: ReturnType<typeof bindingOf>, user: string, groups: readonly string[] = [], attributes = getPod) => {
    const index = new RbacIndex();
    for (const role of shopReader) index.put(role.kind === 'Role' ? 'Role' : 'ClusterRole', role);
    index.put(binding.kind === 'RoleBinding' ? 'RoleBinding' : 'ClusterRoleBinding', binding);
    return index.allows(subjectKeysOf({ user, groups, extra: {} }), attributes);
  };
  const account = 'system:serviceaccount:shop:builder';

  test.each<readonly [string, boolean, boolean]>([
    ['a RoleBinding to a Role counts in its namespace', decide(bindingOf('shop', 'b', 'Role/reader', 'User/ann'), 'ann'), true],
    [
      'a RoleBinding to a Role of another namespace counts for nothing',
      decide(bindingOf('bank', 'b', 'Role/reader', 'User/ann'), 'ann'),
      false,
    ],
    ['a RoleBinding may name a ClusterRole', decide(bindingOf('shop', 'b', 'ClusterRole/reader', 'User/ann'), 'ann'), true],
    ['and counts in its namespace only', decide(bindingOf('bank', 'b', 'ClusterRole/reader', 'User/ann'), 'ann'), false],
    ['a ClusterRoleBinding counts everywhere', decide(bindingOf(undefined, 'b', 'ClusterRole/reader', 'User/ann'), 'ann'), true],
    [
      'a RoleBinding does not count for all namespaces',
      decide(bindingOf('shop', 'b', 'ClusterRole/reader', 'User/ann'), 'ann', [], { ...getPod, namespace: undefined }),
      false,
    ],
    ['a role that does not exist allows nothing', decide(bindingOf('shop', 'b', 'Role/none', 'User/ann'), 'ann'), false],
    ['a group', decide(bindingOf('shop', 'b', 'Role/reader', 'Group/dev'), 'ann', ['dev']), true],
    ['the group of all authenticated users', decide(bindingOf('shop', 'b', 'Role/reader', 'Group/system:authenticated'), 'ann'), true],
    ['a user is no group', decide(bindingOf('shop', 'b', 'Role/reader', 'Group/ann'), 'ann'), false],
    ['an account', decide(bindingOf('shop', 'b', 'Role/reader', 'ServiceAccount/shop/builder'), account), true],
    ['an account as a user name', decide(bindingOf('shop', 'b', 'Role/reader', `User/${account}`), account), true],
    ['an account of another namespace', decide(bindingOf('shop', 'b', 'Role/reader', 'ServiceAccount/bank/builder'), account), false],
    [
      'an account without a namespace is that of the binding',
      decide(bindingOf('shop', 'b', 'Role/reader', 'ServiceAccount/builder'), account),
      true,
    ],
    [
      'an account without a namespace in a ClusterRoleBinding is nobody',
      decide(bindingOf(undefined, 'b', 'ClusterRole/reader', 'ServiceAccount/builder'), account),
      false,
    ],
    ['the groups of accounts', decide(bindingOf('shop', 'b', 'Role/reader', 'Group/system:serviceaccounts:shop'), account), true],
    ['system:masters needs no binding', decide(bindingOf('bank', 'b', 'Role/reader', 'User/bob'), 'ann', ['system:masters']), true],
  ])('%s', (_, isAllowed, expected) => {
    expect(isAllowed).toBe(expected);
  });

  test('reports the subjects whose rights a change touches, and nobody for a change of metadata', () => {
    const index = new RbacIndex();
    const [role] = shopReader;
    const binding = bindingOf('shop', 'b', 'Role/reader', 'User/ann', 'Group/dev');
    expect(index.put('RoleBinding', binding)).toEqual(['u:ann', 'g:dev']);
    expect(index.put('RoleBinding', { ...binding, metadata: { ...binding.metadata, labels: { a: 'b' } } })).toEqual([]);
    expect(role && index.put('Role', role)).toEqual(['u:ann', 'g:dev']);
    expect(role && index.put('Role', role)).toEqual([]);
    expect(index.put('RoleBinding', bindingOf('shop', 'b', 'Role/reader', 'User/bob'))).toEqual(['u:ann', 'g:dev', 'u:bob']);
    expect(index.remove('Role', 'shop', 'reader')).toEqual(['u:bob']);
    expect(index.remove('RoleBinding', 'shop', 'b')).toEqual(['u:bob']);
    expect([...index.namespacesAllowing(['u:bob'], getPod)]).toEqual([]);
  });
});
