import { discover } from '../cluster/discovery.ts';
import type { Clock } from '../core/clock.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { createConcurrencyLimit } from '../core/scheduling/concurrency-limit.ts';
import { shortenedList } from '../core/text.ts';
import { abandonCopies, copiesIn, leftBehindNotes, nameOfCopies } from './cluster-copies.ts';
import { hasLeader, joinedUidOf, uidOfCluster } from './joined-clusters.ts';
import { memberAccount, memberNamespace, memberObjects } from './joined-objects.ts';
import { isBound, isBoundFor, ownSelector } from './member-credentials.ts';
import { isOwn, registrationKinds } from './registration-kinds.ts';
import { type RegistrationResult, runRegistration } from './registration-result.ts';
import { type ContextCluster, problemOf, RegistrationProblem, type RegistrationSteps } from './registration-steps.ts';

/** The request of `muster leave`. */
export interface LeaveRequest {
  /** The name of the Cluster on the hub. */
  readonly name: string;
  /** The system namespace of the hub. */
  readonly namespace: string;
  /** True: copies in the cluster stay, and their inventories are deleted. */
  readonly abandon: boolean;
  readonly dryRun: boolean;
}

/** The clusters that take part, and the clock. */
export interface LeavePorts {
  /** The cluster that leaves. Undefined: only the objects on the hub are deleted. */
  readonly member: ContextCluster | undefined;
  readonly hub: ContextCluster;
  readonly clock: Clock;
}

/**
 * Deletes the objects that `muster join` has made: first the Cluster and its Secret on the hub, then the account in the member. Objects without the
 * label of `muster join` stay.
 *
 * Deletes nothing if the hub or the member does not answer, or if the cluster has copies and `abandon` is false. If it fails halfway, the next call
 * deletes the remaining objects.
 */
export async function leaveCluster(request: LeaveRequest, ports: LeavePorts, signal: AbortSignal): Promise<RegistrationResult> {
  const { name, namespace, abandon, dryRun } = request;
  const { member, hub, clock } = ports;
  return runRegistration({ dryRun, clock, signal }, async (steps, workSignal) => {
    const [onHub, copies, inMember] = await Promise.all([
      objectsOnHub(steps, hub, request),
      copiesIn(steps, hub, name),
      member === undefined ? undefined : objectsInMember(steps, { member, hub }).catch(throwWithHint),
    ]);
    if (inMember !== undefined) demandSameCluster(request, { registered: onHub.cluster, others: onHub.others, memberUid: inMember.uid });
    if (copies.length > 0 && !abandon)
      throw new RegistrationProblem(
        `${name} has copies of ${shortenedList(copies.map(nameOfCopies), maxNamed)}: move or delete them first, or leave them as they are with --abandon`,
      );
    if (onHub.cluster !== undefined) await steps.remove(hub, registrationKinds.cluster, onHub.cluster);
    if (onHub.secret !== undefined) await steps.remove(hub, registrationKinds.secret, onHub.secret);
    if (copies.length > 0)
      await abandonCopies(name, copies, { steps, hub, clock, signal: workSignal, hasLeader: await hasLeader(steps, hub, namespace) });
    const notes = member === undefined || inMember === undefined ? [] : await leaveMember(steps, member, { inMember, signal: workSignal });
    if (steps.done().length === 0) throw new RegistrationProblem(`${name} has not joined: none of its objects were found`);
    return [...(dryRun ? [] : leftBehindNotes(name, copies)), ...notes];
  });
}

/**
 * Reads the Cluster of this name and its Secret, and all other Clusters. A Secret that `muster join` has not made counts as missing.
 *
 * @throws {RegistrationProblem} if `muster join` has not made the Cluster.
 */
async function objectsOnHub(steps: RegistrationSteps, hub: ContextCluster, { name, namespace }: LeaveRequest) {
  const [clusters, secret] = await Promise.all([
    steps.list(hub, registrationKinds.cluster, {}),
    steps.read(hub, { resource: registrationKinds.secret, namespace, name }),
  ]);
  const cluster = clusters.find(({ metadata }) => metadata.name === name);
  if (cluster !== undefined && !isOwn(cluster))
    throw new RegistrationProblem(`${hub.name}: cluster/${name} was not made by muster join: delete it with kubectl`);
  return { cluster, others: clusters.filter((one) => one !== cluster), secret: isOwn(secret) ? secret : undefined };
}

/** Throws the problem of a member that cannot be read, with the hint to use `--hub-only`. */
function throwWithHint(error: unknown): never {
  if (!(error instanceof RegistrationProblem)) throw error;
  throw new RegistrationProblem(`${error.message}. Nothing was changed: --hub-only deletes only the objects on the hub`);
}

/** The objects in the member that `muster join` has made for this hub. */
interface ObjectsInMember {
  readonly uid: string;
  /** The objects to delete and their resources, in the order of deletion. The namespace is not among them. */
  readonly objects: readonly { readonly resource: ServedResource; readonly object: KubernetesObject }[];
  /** The namespace `muster-system` of the member. Undefined: it must stay, because `muster join` has not made it or another hub uses it. */
  readonly namespace: KubernetesObject | undefined;
}

/**
 * Reads the objects in the member that `muster join` has made. If another hub uses the account too, returns only the Secrets with the tokens of this
 * hub.
 */
async function objectsInMember(
  steps: RegistrationSteps,
  { member, hub }: { readonly member: ContextCluster; readonly hub: ContextCluster },
): Promise<ObjectsInMember> {
  const { namespace, secret } = registrationKinds;
  const [uid, hubUid, secrets, existingNamespace, ...accounts] = await Promise.all([
    uidOfCluster(steps, member),
    uidOfCluster(steps, hub),
    steps.list(member, secret, { namespace: memberNamespace, labels: ownSelector }),
    steps.read(member, { resource: namespace, name: memberNamespace }),
    ...accountObjects.map(async ({ resource, objectName }) => ({
      resource,
      object: await steps.read(member, { resource, ...objectName }),
    })),
  ]);
  // A member may itself be a hub. Then it also has Secrets of `muster join` to which no token is bound: those of its own members.
  const bound = secrets.filter(isBound);
  const tokens = bound.filter((one) => isBoundFor(one, hubUid)).map((object) => ({ resource: secret, object }));
  if (tokens.length < bound.length) return { uid, objects: tokens, namespace: undefined };
  const own = accounts.flatMap(({ resource, object }) => (object !== undefined && isOwn(object) ? [{ resource, object }] : []));
  return { uid, objects: [...tokens, ...own], namespace: isOwn(existingNamespace) ? existingNamespace : undefined };
}

/** The account and its rights in a member, in the order of deletion: the reverse of their creation. */
const accountObjects = memberObjects([])
  .filter(({ resource }) => resource !== registrationKinds.namespace)
  .toReversed()
  .map(({ resource, manifest: { metadata } }) => ({
    resource,
    objectName: { name: memberAccount, ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }) },
  }));

/**
 * Checks that the context leads to the cluster that is registered under this name.
 *
 * @throws {RegistrationProblem} if the name belongs to another cluster, or the cluster of the context is registered under another name.
 */
function demandSameCluster(
  { name }: LeaveRequest,
  {
    registered,
    others,
    memberUid,
  }: { readonly registered: KubernetesObject | undefined; readonly others: readonly KubernetesObject[]; readonly memberUid: string },
): void {
  const other = others.find((one) => joinedUidOf(one) === memberUid)?.metadata.name;
  if (other !== undefined)
    throw new RegistrationProblem(`the cluster of this context is registered as ${other}: expected muster leave ${other}`);
  const uid = joinedUidOf(registered);
  if (uid === undefined || uid === memberUid) return;
  throw new RegistrationProblem(
    `${name} is registered as another cluster than the one of this context: expected its --context, or --hub-only`,
  );
}

async function leaveMember(
  steps: RegistrationSteps,
  member: ContextCluster,
  { inMember, signal }: { readonly inMember: ObjectsInMember; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  for (const { resource, object } of inMember.objects) await steps.remove(member, resource, object);
  const { namespace } = inMember;
  if (namespace === undefined) return [];
  const deleted = new Set(inMember.objects.map(({ object }) => object.metadata.uid));
  const remaining = await contentOf(steps, { member, deleted, signal });
  if (remaining !== undefined) return [`${member.name}: namespace/${memberNamespace} stays: it has other objects, such as ${remaining}`];
  await steps.remove(member, registrationKinds.namespace, namespace);
  return [];
}

/** Maximum number of lists at the same time. */
const maxLists = 8;

/**
 * Returns the kind and name of an object that keeps the namespace from being deleted. Objects in `deleted`, and those that every namespace has, do
 * not count. Undefined: no such object exists.
 */
async function contentOf(
  steps: RegistrationSteps,
  {
    member,
    deleted,
    signal,
  }: { readonly member: ContextCluster; readonly deleted: ReadonlySet<string | undefined>; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const found = await discover(member.api, {}, signal);
  if (found.type === 'failed') throw problemOf(member, 'discovery', found.fault);
  const kinds = found.type === 'discovered' ? found.resources.filter(({ namespaced, kind }) => namespaced && kind !== 'Event') : [];
  const limit = createConcurrencyLimit(maxLists);
  const lists = await Promise.all(
    kinds.map(async (resource) => {
      const objects = await limit.run(() => steps.list(member, resource, { namespace: memberNamespace }), signal);
      const others = (objects ?? []).filter(({ metadata: { name, uid } }) => {
        const isUsual = usualContent.some((one) => one.kind === resource.kind && one.name === name);
        return !isUsual && !deleted.has(uid);
      });
      return others.map(({ metadata }) => `${resource.resource}/${metadata.name}`);
    }),
  );
  return lists.flat()[0];
}

/** The objects that the controllers of Kubernetes create in every namespace. */
const usualContent = [
  { kind: 'ServiceAccount', name: 'default' },
  { kind: 'ConfigMap', name: 'kube-root-ca.crt' },
];

/** Maximum number of names in a message. */
const maxNamed = 20;
