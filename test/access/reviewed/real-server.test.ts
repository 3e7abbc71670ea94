import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResourceAttributes } from '../../../src/access/rbac/policy-rules.ts';
import { RbacIndex, type RbacKind } from '../../../src/access/rbac/rbac-index.ts';
import { subjectKeysOf } from '../../../src/access/rbac/subjects.ts';
import { ClusterReviews } from '../../../src/access/reviews/cluster-reviews.ts';
import { groupsInReview } from '../../../src/access/user-in-cluster.ts';
import type { LiveAnswer } from '../../../src/cluster/cluster-api.ts';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig/kubeconfig.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type RealCluster, realPrograms, realServerTitle, startRealCluster } from '../../support/cluster/real-cluster.ts';
import { type Connected, connect, never } from '../../support/cluster/transport.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { bindingOf, roleOf, ruleOf } from './access-world.ts';

const random = seededRandom(1);
const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
const some = <T>(values: readonly T[], most: number) => Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(values));

const namespaces = ['ns-0', 'ns-1', 'ns-2', 'ns-3'];
const users = [...Array.from({ length: 8 }, (_, n) => `user-${n}`), 'system:serviceaccount:ns-0:robot', 'system:serviceaccount:ns-1:robot'];
const groups = ['g-0', 'g-1', 'g-2', 'system:authenticated', 'system:serviceaccounts:ns-0'];
const verbs = ['get', 'list', 'watch', 'create', '*'];
const apiGroups = ['', 'apps', '*'];
const resources = ['pods', 'pods/log', 'configmaps', 'deployments', '*', '*/log', 'pods/*', 'namespaces'];
const names = ['a', 'b'];

const randomRule = () => ruleOf(some(verbs, 2), some(apiGroups, 1), some(resources, 2), random() < 0.3 ? some(names, 1) : undefined);

function randomSubject(): string {
  const roll = random();
  if (roll < 0.5) return `User/${pick(users)}`;
  if (roll < 0.8) return `Group/${pick(groups.filter((group) => group !== 'system:authenticated' || random() < 0.1))}`;
  return `ServiceAccount/${pick(namespaces)}/robot`;
}

/** Few rights for each subject, so that most questions are denied and each right counts. */
function randomObjects(): readonly KubernetesObject[] {
  const objects: KubernetesObject[] = [];
  for (let n = 0; n < 12; n++) objects.push(roleOf(undefined, `role-${n}`, ...Array.from({ length: 1 + (n % 3) }, randomRule)));
  for (const namespace of namespaces) for (let n = 0; n < 6; n++) objects.push(roleOf(namespace, `role-${n}`, randomRule()));
  const role = (kinds: readonly string[]) => `${pick(kinds)}/role-${Math.floor(random() * 13)}`;
  for (let n = 0; n < 6; n++) objects.push(bindingOf(undefined, `b-${n}`, role(['ClusterRole']), randomSubject()));
  for (const namespace of namespaces)
    for (let n = 0; n < 12; n++)
      objects.push(bindingOf(namespace, `b-${n}`, role(['Role', 'ClusterRole']), randomSubject(), randomSubject()));
  return objects;
}

function randomAttributes(): ResourceAttributes {
  const resource = pick(['pods', 'configmaps', 'deployments', 'namespaces', '*']);
  return {
    verb: pick(['get', 'list', 'watch', 'create', '*']),
    group: resource === 'deployments' ? 'apps' : pick(['', '', 'apps', '*']),
    resource,
    ...(random() < 0.25 ? { subresource: pick(['log', 'status']) } : {}),
    ...(random() < 0.8 ? { namespace: pick([...namespaces, 'ns-9']) } : {}),
    ...(random() < 0.4 ? { name: pick([...names, 'c']) } : {}),
  };
}

function bodyOf<T>(answer: LiveAnswer): T {
  if (answer.type === 'failed') throw new Error(answer.fault.message);
  return JSON.parse(Buffer.from(answer.body).toString());
}

describe.skipIf(realPrograms === undefined)(`rights against ${realServerTitle}`, () => {
  let cluster: RealCluster;
  let connected: Connected;
  const index = new RbacIndex();

  const pathOf = ({ kind = '', metadata }: KubernetesObject) => [
    ...['apis', 'rbac.authorization.k8s.io', 'v1'],
    ...(metadata.namespace === undefined ? [] : ['namespaces', metadata.namespace]),
    `${kind.toLowerCase()}s`,
  ];
  const create = async (path: readonly string[], body: KubernetesObject) => {
    const answer = await connected.api.send({ method: 'POST', path, body }, never);
    if (answer.type === 'failed') throw new Error(`${answer.fault.message} for ${JSON.stringify(body)}`);
  };

  beforeAll(async () => {
    cluster = await startRealCluster();
    const kubeconfig = await loadKubeconfig({ file: cluster.kubeconfigPath, environment: {} });
    const [context] = kubeconfig?.contexts ?? [];
    if (context?.result !== 'usable') throw new Error('expected a usable context');
    connected = connect(context.endpoint);
    for (const name of namespaces) await create(['api', 'v1', 'namespaces'], { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const object of randomObjects()) await create(pathOf(object), object);
    for (const [kind, path] of Object.entries({
      Role: 'roles',
      ClusterRole: 'clusterroles',
      RoleBinding: 'rolebindings',
      ClusterRoleBinding: 'clusterrolebindings',
    })) {
      const answer = await connected.api.send({ method: 'GET', path: ['apis', 'rbac.authorization.k8s.io', 'v1', path] }, never);
      const { items = [] } = bodyOf<{ readonly items?: readonly KubernetesObject[] }>(answer);
      for (const object of items) index.put(kind as RbacKind, object);
    }
  }, 60_000);
  afterAll(async () => {
    connected?.[Symbol.dispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test('E1: the index of RBAC objects decides 10,000 random questions as the API server', async () => {
    const questions = Array.from({ length: 10_000 }, () => ({
      user: { user: pick(users), groups: some(groups.slice(0, 3), 1), extra: {} },
      attributes: randomAttributes(),
    }));
    const remaining = questions.values();
    const wrong: unknown[] = [];
    let allowed = 0;
    // The pace of `ClusterReviews` would take 50 s.
    const askNext = async () => {
      for (const { user, attributes } of remaining) {
        const spec = { user: user.user, groups: [...groupsInReview(user)], resourceAttributes: JSON.parse(JSON.stringify(attributes)) };
        const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
        const answer = await connected.api.send(
          { method: 'POST', path: ['apis', 'authorization.k8s.io', 'v1', 'subjectaccessreviews'], body },
          never,
        );
        const said = bodyOf<{ readonly status: { readonly allowed: boolean } }>(answer).status.allowed;
        if (said) allowed += 1;
        if (said !== index.allows(subjectKeysOf(user), attributes)) wrong.push({ user, attributes, said });
      }
    };
    await Promise.all(Array.from({ length: 40 }, askNext));
    expect(wrong).toEqual([]);
    // Otherwise the questions would prove little.
    expect(allowed).toBeGreaterThan(1_000);
    expect(allowed).toBeLessThan(9_000);
  }, 120_000);

  test('a review has the answer of the API server', async () => {
    const life = new AbortController();
    const reviews = new ClusterReviews({ api: connected.api, clock: systemClock }, life.signal);
    const attributes: ResourceAttributes = { verb: 'get', group: '', resource: 'pods', namespace: 'ns-0' };
    const masters = { user: 'root', groups: ['system:masters'], extra: { 'example.com/team': ['a'] }, uid: '7' };
    expect(await reviews.ask({ user: masters, userKey: 'root', attributes })).toEqual({ isAllowed: true });
    expect(
      await reviews.ask({
        user: { user: 'nobody', groups: [], extra: {} },
        userKey: 'nobody',
        attributes: { ...attributes, resource: 'secrets' },
      }),
    ).toEqual({ isAllowed: false });
    life.abort();
  });
});
