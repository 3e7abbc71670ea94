import type { AccessRequest, Caller, Visibility } from '../../../src/access/access.ts';
import { callerOf } from '../../../src/access/caller-of-user.ts';
import { RbacIndex, type RbacKind } from '../../../src/access/rbac/rbac-index.ts';
import { createReviewedAccess, type OwnedAccess } from '../../../src/access/reviewed/reviewed-access.ts';
import type { ClusterIdentity } from '../../../src/access/user-in-cluster.ts';
import type { LiveAnswer, LiveRequest } from '../../../src/cluster/cluster-api.ts';
import { fault } from '../../../src/core/faults.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { silentLog } from '../../../src/core/log.ts';
import { type ClusterName, clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createMemberObjects } from '../../../src/watch/clusters/member-objects.ts';
import { createFakeMirrors, type FakeCluster, type FakeMirrors } from '../../support/graph/fake-mirrors.ts';
import { loadBaseline, servedAs } from '../../support/kubernetes-objects.ts';
import { createManualClock, type ManualClock, turns } from '../../support/manual-clock.ts';

const model = loadBaseline();
const rbacKinds = ['ClusterRole', 'Role', 'ClusterRoleBinding', 'RoleBinding'] as const;

/** One SubjectAccessReview as the API server received it. */
interface ReceivedReview {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly resourceAttributes: {
    readonly verb: string;
    readonly group: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/** A cluster whose API server decides by RBAC objects of its own, which tests may let differ from the mirror. */
interface ReviewingCluster {
  readonly name: ClusterName;
  readonly mirrors: FakeCluster;
  /** All reviews, in order. */
  readonly reviews: ReceivedReview[];
  /** Puts objects into the cluster and into its mirror. */
  put(...objects: readonly KubernetesObject[]): void;
  remove(object: KubernetesObject): void;
  /** Puts objects into the mirror only. */
  mirror(...objects: readonly KubernetesObject[]): void;
  /** Lets an authorizer other than RBAC allow more. */
  alsoAllow: (review: ReceivedReview) => boolean;
  /** Milliseconds until an answer comes. */
  delayMs: number;
  /** True: reviews fail as in a cluster that does not answer. */
  isAway: boolean;
  readonly inFlight: { now: number; most: number };
  leave(): void;
}

export interface AccessWorld {
  readonly clock: ManualClock;
  readonly mirrors: FakeMirrors;
  readonly access: OwnedAccess;
  readonly end: AbortController;
  /** The clusters for which `Access.onChange` called back. */
  readonly changed: ClusterName[];
  join(name: string, options?: JoinOptions): ReviewingCluster;
  /** Returns the visibility, and moves the clock until it is known. */
  see(request: AccessRequest): Promise<Visibility>;
  /** Returns the names of the clusters that the caller may see. */
  clustersOf(caller: Caller): Promise<readonly string[]>;
}

interface JoinOptions {
  readonly identity?: ClusterIdentity;
  readonly authorization?: 'sar' | 'rbac';
  /** False: the gateway may not list RBAC objects. Default: true. */
  readonly mirrorsRbac?: boolean;
}

/** Creates an access over fake mirrors and API servers, with a clock that only the test moves. */
export function createAccessWorld(): AccessWorld {
  const clock = createManualClock();
  const mirrors = createFakeMirrors(clock);
  const end = new AbortController();
  const objects = createMemberObjects({ mirrors, clock, log: silentLog }, end.signal);
  const access = createReviewedAccess({ objects, clock, log: silentLog }, end.signal);
  const changed: ClusterName[] = [];
  access.onChange((cluster) => changed.push(cluster), end.signal);
  const joined: ReviewingCluster[] = [];
  return {
    clock,
    mirrors,
    access,
    end,
    changed,
    join(text, { identity, authorization, mirrorsRbac = true } = {}) {
      const left = new AbortController();
      const cluster = createReviewingCluster(clusterName(text), mirrors.join(text), { clock, left });
      for (const kind of rbacKinds) {
        const mirror = cluster.mirrors.mirror(servedAs(model, keyOf(kind)));
        if (mirrorsRbac) mirror.list();
        else mirror.refuse(fault('FORBIDDEN', 'the gateway may not', { cluster: cluster.name, retry: 'NEVER' }));
      }
      access.engage({ name: cluster.name, api: cluster.api, identity, authorization }, left.signal);
      joined.push(cluster);
      return cluster;
    },
    see: (request) => settled(clock, async () => access.visibilityOf(request, end.signal)),
    async clustersOf(caller) {
      await settled(clock, async () => access.prepare(caller, end.signal));
      return joined.filter(({ name }) => access.maySeeCluster(caller, name)).map(({ name }) => name);
    },
  };
}

/** Returns the key of a kind in the model. */
function keyOf(kind: string): string {
  return rbacKinds.some((one) => one === kind) ? `${kind}.rbac.authorization.k8s.io` : kind;
}

/** Moves the clock until the promise is settled. */
export async function settled<T>(clock: ManualClock, begin: () => Promise<T>): Promise<T> {
  let isSettled = false;
  const promise = begin().finally(() => {
    isSettled = true;
  });
  await turns();
  while (!isSettled) await clock.advance(1);
  return promise;
}

function createReviewingCluster(
  name: ClusterName,
  mirrors: FakeCluster,
  { clock, left }: { readonly clock: ManualClock; readonly left: AbortController },
): ReviewingCluster & {
  readonly api: { readonly cluster: ClusterName; send(request: LiveRequest, signal: AbortSignal): Promise<LiveAnswer> };
} {
  mirrors.discover(...['Pod', 'ConfigMap', 'Node', 'Namespace', ...rbacKinds].map((kind) => servedAs(model, keyOf(kind))));
  const index = new RbacIndex();
  const kindOf = (object: KubernetesObject) => object.kind as RbacKind;
  const mirror = (...objects: readonly KubernetesObject[]) => {
    for (const object of objects) mirrors.mirror(servedAs(model, keyOf(kindOf(object)))).put(object);
  };
  const allows = ({ user, groups, resourceAttributes }: ReceivedReview) =>
    index.allows([`u:${user}`, ...groups.map((group) => `g:${group}` as const)], resourceAttributes);
  const cluster = {
    name,
    mirrors,
    reviews: [] as ReceivedReview[],
    alsoAllow: (_review: ReceivedReview) => false,
    delayMs: 0,
    isAway: false,
    inFlight: { now: 0, most: 0 },
    mirror,
    put(...objects: readonly KubernetesObject[]) {
      for (const object of objects) index.put(kindOf(object), object);
      mirror(...objects);
    },
    remove(object: KubernetesObject) {
      index.remove(kindOf(object), object.metadata.namespace ?? '', object.metadata.name);
      mirrors.mirror(servedAs(model, keyOf(kindOf(object)))).remove(object);
    },
    leave() {
      mirrors.leave();
      left.abort();
    },
    api: {
      cluster: name,
      async send({ body }: LiveRequest, signal: AbortSignal): Promise<LiveAnswer> {
        const { spec } = body as unknown as { readonly spec: ReceivedReview };
        cluster.reviews.push(spec);
        cluster.inFlight.now += 1;
        cluster.inFlight.most = Math.max(cluster.inFlight.most, cluster.inFlight.now);
        if (cluster.delayMs > 0) await clock.sleep(cluster.delayMs, AbortSignal.any([left.signal, signal]));
        cluster.inFlight.now -= 1;
        if (cluster.isAway)
          return { type: 'failed', fault: fault('UNREACHABLE', 'connect ECONNREFUSED', { cluster: name, retry: 'LATER' }) };
        const review: JsonObject = {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          metadata: {},
          status: { allowed: allows(spec) || cluster.alsoAllow(spec) },
        };
        return { type: 'answered', status: 201, body: Buffer.from(JSON.stringify(review)) };
      },
    },
  };
  return cluster;
}

const rbacVersion = 'rbac.authorization.k8s.io/v1';

/** Makes a Role, or without a namespace a ClusterRole. */
export function roleOf(namespace: string | undefined, name: string, ...rules: readonly JsonObject[]): KubernetesObject {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  return { apiVersion: rbacVersion, kind: namespace === undefined ? 'ClusterRole' : 'Role', metadata, rules: [...rules] };
}

/** Makes a rule of a role. */
export function ruleOf(
  verbs: readonly string[],
  apiGroups: readonly string[],
  resources: readonly string[],
  resourceNames?: readonly string[],
): JsonObject {
  return {
    verbs: [...verbs],
    apiGroups: [...apiGroups],
    resources: [...resources],
    ...(resourceNames && { resourceNames: [...resourceNames] }),
  };
}

/** Makes a RoleBinding, or without a namespace a ClusterRoleBinding. `role` is `Role/NAME` or `ClusterRole/NAME`. A subject is `User/NAME`, `Group/NAME` or `ServiceAccount/NAMESPACE/NAME`. */
export function bindingOf(namespace: string | undefined, name: string, role: string, ...subjects: readonly string[]): KubernetesObject {
  const [kind = '', roleName = ''] = role.split('/');
  return {
    apiVersion: rbacVersion,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
    subjects: subjects.map(subjectOf),
  };
}

function subjectOf(text: string): JsonObject {
  const [kind = '', first = '', second] = text.split('/');
  return second === undefined ? { kind, name: first } : { kind, name: second, namespace: first };
}

/** Makes a caller with this name and these groups. */
export function userNamed(user: string, ...groups: readonly string[]): Caller {
  return callerOf({ user, groups, extra: {}, issuer: 'https://login.example.com' });
}

/** Reads pods: the rule that most tests grant. */
export const readsPods = ruleOf(['get', 'list', 'watch'], [''], ['pods', 'configmaps']);

export function requestOf(caller: Caller, cluster: ClusterName, more: Partial<AccessRequest> = {}): AccessRequest {
  return { caller, cluster, kind: { group: '', kind: 'Pod' }, verb: 'list', ...more };
}
