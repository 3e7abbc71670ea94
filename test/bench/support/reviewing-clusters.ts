import type { Caller } from '../../../src/access/access.ts';
import { callerOf } from '../../../src/access/caller-of-user.ts';
import { createReviewedAccess, type OwnedAccess } from '../../../src/access/reviewed/reviewed-access.ts';
import type { LiveAnswer, LiveRequest } from '../../../src/cluster/cluster-api.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createMemberObjects } from '../../../src/watch/clusters/member-objects.ts';
import type { FakeCluster, FakeMirrors } from '../../support/graph/fake-mirrors.ts';
import { loadBaseline, servedAs } from '../../support/kubernetes-objects.ts';

const rbac = 'rbac.authorization.k8s.io';
const rbacKinds = ['ClusterRole', 'Role', 'ClusterRoleBinding', 'RoleBinding'] as const;
const model = loadBaseline();

/** Namespaces in which one team of this many is bound. */
export interface TeamRights {
  readonly teams: number;
  readonly namespacesEach: number;
}

/** The reviews that a cluster has received. */
export interface ReceivedReviews {
  count: number;
  inFlight: number;
  mostInFlight: number;
}

/** Returns the namespaces of a team. */
export function namespacesOfTeam(team: number, { namespacesEach }: TeamRights): readonly string[] {
  return Array.from({ length: namespacesEach }, (_, index) => `namespace-${team * namespacesEach + index}`);
}

/** Makes a caller of a team, or of the group that may see all namespaces. */
export function benchCaller(name: string, team: number | 'all'): Caller {
  return callerOf({ user: name, groups: [`team-${team}`], extra: {}, issuer: 'bench' });
}

/** Creates the access of callers, over mirrors of the bench. */
export function createBenchAccess(mirrors: FakeMirrors, clock: Clock, signal: AbortSignal): OwnedAccess {
  const objects = createMemberObjects({ mirrors, clock, log: silentLog }, signal);
  return createReviewedAccess({ objects, clock, log: silentLog }, signal);
}

/** Fills the RBAC mirrors of a cluster, and engages it with an API server that answers reviews after `answerMs`. */
export function engageReviewing(
  access: OwnedAccess,
  cluster: FakeCluster,
  { rights, signal, answerMs = 0 }: { readonly rights: TeamRights; readonly signal: AbortSignal; readonly answerMs?: number },
): ReceivedReviews {
  cluster.discover(servedAs(model, 'Pod'), ...rbacKinds.map((kind) => servedAs(model, `${kind}.${rbac}`)));
  for (const kind of rbacKinds) cluster.mirror({ group: rbac, kind }).list(...objectsOf(kind, rights));
  const reviews: ReceivedReviews = { count: 0, inFlight: 0, mostInFlight: 0 };
  const allowed = new Map(Array.from({ length: rights.teams }, (_, team) => [`team-${team}`, new Set(namespacesOfTeam(team, rights))]));
  const send = async ({ body }: LiveRequest): Promise<LiveAnswer> => {
    const { groups, resourceAttributes } = (body as unknown as { readonly spec: ReviewSpec }).spec;
    reviews.count += 1;
    reviews.inFlight += 1;
    reviews.mostInFlight = Math.max(reviews.mostInFlight, reviews.inFlight);
    if (answerMs > 0) await new Promise((resolve) => setTimeout(resolve, answerMs));
    reviews.inFlight -= 1;
    const { namespace } = resourceAttributes;
    const isAllowed =
      groups.includes('team-all') || groups.some((group) => namespace !== undefined && allowed.get(group)?.has(namespace) === true);
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, status: { allowed: isAllowed } };
    return { type: 'answered', status: 201, body: Buffer.from(JSON.stringify(review)) };
  };
  access.engage({ name: cluster.name, api: { cluster: cluster.name, send } }, signal);
  return reviews;
}

interface ReviewSpec {
  readonly groups: readonly string[];
  readonly resourceAttributes: { readonly namespace?: string };
}

function objectsOf(kind: (typeof rbacKinds)[number], rights: TeamRights): readonly KubernetesObject[] {
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'view' };
  const bound = (name: string, team: string, namespace?: string) => ({
    apiVersion: `${rbac}/v1`,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef,
    subjects: [{ kind: 'Group', name: team }],
  });
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }];
  switch (kind) {
    case 'ClusterRole':
      return [{ apiVersion: `${rbac}/v1`, kind, metadata: { name: 'view' }, rules }];
    case 'ClusterRoleBinding':
      return [bound('all', 'team-all')];
    case 'RoleBinding':
      return Array.from({ length: rights.teams }, (_, team) =>
        namespacesOfTeam(team, rights).map((namespace) => bound('team', `team-${team}`, namespace)),
      ).flat();
    default:
      return [];
  }
}
