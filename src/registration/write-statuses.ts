import type { Caller } from '../access/access.ts';
import type { Audit } from '../audit/audit.ts';
import { describeFault } from '../changes/describe-fault.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import { objectAt } from '../core/json-at.ts';
import { keyOfKind } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import { loggableError } from '../core/loggable-error.ts';
import { type ClusterName, parseClusterName } from '../core/names.ts';
import { whenAborted } from '../core/scheduling/until-aborted.ts';
import type { ClusterCandidate } from '../fleet/cluster-source.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { CandidateRole } from '../fleet/roster.ts';
import type { Term } from '../propagate/controller/lease/lease.ts';
import { createWorkQueue, type WorkQueue } from '../propagate/controller/state/work-queue.ts';
import type { Hub } from '../propagate/hub/hub.ts';
import { resourceMetadataOf } from '../propagate/hub/propagation-of.ts';
import { createResourceWrites } from '../propagate/hub/resource-writes.ts';
import type { MemberChange } from '../store/member-objects.ts';
import type { ClusterStatus, Mirrors } from '../watch/mirrors.ts';
import { clusterKind } from './cluster-resource.ts';
import { registrationStatus } from './registration-status.ts';

/** Minimum milliseconds between two writes of the status of one Cluster. */
const spacingMs = 1_000;

/**
 * Milliseconds for which the first status of a new member waits until the member is reached and its version and uid are known. Hundreds of Clusters that
 * are registered together then get one write each, and not one for each step.
 */
const settleMs = 5_000;

/** Milliseconds after which a failed write is repeated. */
const retryMs = 5_000;

/** Milliseconds after which a change of one cluster leads to a pass for each other one whose role has changed. A fleet that starts sends many changes. */
const othersMs = 500;

const writesAtOnce = 8;

export interface RegistrationPorts {
  readonly hub: Hub;
  readonly fleet: Pick<Fleet, 'roleOf'>;
  readonly mirrors: Pick<Mirrors, 'cluster'>;
  /** Returns the candidates made from the Clusters of the hub, by name. A Cluster that was not read yet has none. */
  readonly registered: () => ReadonlyMap<ClusterName, ClusterCandidate>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
}

/** The caller of work that the gateway does by itself, for example in audit lines. */
export const gatewayCaller: Caller = { key: 'gateway' };

/**
 * Writes the status of each Cluster of the hub when it changes, at most once per second, during one term. Records the first status of a Cluster in
 * the audit log as its registration, and its deletion during the term. Resolves when the term has ended and no write runs.
 */
export async function writeRegistrationStatuses(ports: RegistrationPorts, term: Term): Promise<void> {
  const { hub, clock, log } = ports;
  const { objects } = hub.members;
  const writes = createResourceWrites(hub, clusterKind, 'muster.dev/cluster');
  const seen = new Map<string, SeenCluster>();

  async function work(name: string): Promise<number | undefined> {
    const read = objects.read(hub.cluster, clusterKind, { namespace: '', name });
    if (read.result !== 'held') {
      const uid = seen.get(name)?.uid;
      if (read.result === 'absent' && uid !== undefined && seen.delete(name)) await recordRegistration(ports, 'unregister', { name, uid });
      return undefined;
    }
    const { uid = '', resourceVersion, generation } = read.object.metadata;
    const known = seeCluster(seen, { name, uid }, clock.monotonic());
    const candidate = candidateOf(ports, name);
    // The candidate is not known until the Secret of the Cluster was read.
    if (candidate === undefined) return spacingMs;
    const waitMs = known.writtenMs + spacingMs - clock.monotonic();
    if (waitMs > 0) return waitMs;
    // The mirror does not show the last write yet, and another write would be a conflict. The mirror triggers a pass as soon as it shows it.
    const retryAtMs = known.writtenMs + retryMs;
    if (resourceVersion !== undefined && known.madeFrom === resourceVersion && clock.monotonic() < retryAtMs) return undefined;
    const before = objectAt(read.object, 'status');
    const role = ports.fleet.roleOf(candidate);
    known.role = textOfRole(role);
    const member = ports.mirrors.cluster(candidate.name);
    const restMs = known.sinceMs + settleMs - clock.monotonic();
    if (Object.keys(before).length === 0 && isJoining(candidate, role, member) && restMs > 0) return restMs;
    const after = registrationStatus({
      // The candidate may be made from an older spec than the one in the object. The status is about the spec of the candidate.
      generation: candidate.generation ?? 0,
      ...{ candidate, role, member, before },
      now: new Date(clock.now()).toISOString(),
    });
    if (!term.isLeading()) return undefined;
    const answer = await writes.patchStatus(resourceMetadataOf(read.object), { before, after }, term.signal);
    // Ask again until the newest spec was read: for a Cluster that is no member, no change is reported when that happens.
    const outdatedMs = candidate.generation === generation ? undefined : spacingMs;
    if (answer === 'unchanged') return outdatedMs;
    known.writtenMs = clock.monotonic();
    // A write that changes nothing, because the definition is older, keeps the version.
    const isNew = answer.result === 'written' && answer.object.metadata.resourceVersion !== resourceVersion;
    if (isNew || answer.result === 'conflict') known.madeFrom = resourceVersion;
    if (answer.result === 'written' && Object.keys(before).length === 0) await recordRegistration(ports, 'register', { name, uid });
    // A conflict may come from a webhook too. Then the mirror shows no other version.
    if (answer.result === 'conflict') return retryMs;
    if (answer.result !== 'failed' || term.signal.aborted) return outdatedMs;
    log.warn({ cluster: name, problem: describeFault(answer.fault) }, 'the status of a Cluster could not be written');
    return retryMs;
  }

  const onBug = (name: string, error: unknown) => log.error({ cluster: name, error: loggableError(error) }, 'bug: a pass threw an error');
  const queue = createWorkQueue({ work, onBug, maxRunning: writesAtOnce, clock }, term.signal);
  const addAll = (isAdded = (_name: string) => true) => {
    for (const { metadata } of objects.all(hub.cluster, clusterKind) ?? []) if (isAdded(metadata.name)) queue.add(metadata.name);
  };
  const addOthers = () => addAll((name) => hasOtherRole(ports, name, seen));
  objects.onChange(addChanged({ ports, queue, addAll, addOthers }, term.signal), term.signal);
  objects.hold(hub.cluster, clusterKind, term.signal);
  addAll();
  await whenAborted(term.signal);
  await queue.idle();
}

/** A Cluster that this term has seen. Times are monotonic milliseconds. */
interface SeenCluster {
  readonly uid: string;
  readonly sinceMs: number;
  /** The time of the last write of its status. */
  writtenMs: number;
  /** The version from which the last status was made. */
  madeFrom: string | undefined;
  /** The role of the last pass, as `textOfRole` returns it. Undefined before the first pass. */
  role: string | undefined;
}

/** Returns the candidate of the Cluster. Undefined: it was not read yet, or the name is invalid. */
function candidateOf({ registered }: Pick<RegistrationPorts, 'registered'>, name: string): ClusterCandidate | undefined {
  const member = parseClusterName(name);
  return member === undefined ? undefined : registered().get(member);
}

/** True if the Cluster has another role than in its last pass. */
function hasOtherRole(
  ports: Pick<RegistrationPorts, 'registered' | 'fleet'>,
  name: string,
  seen: ReadonlyMap<string, SeenCluster>,
): boolean {
  const candidate = candidateOf(ports, name);
  return candidate !== undefined && textOfRole(ports.fleet.roleOf(candidate)) !== seen.get(name)?.role;
}

function textOfRole(role: CandidateRole): string {
  return role.role === 'duplicate' ? `${role.role} of ${role.same}` : role.role;
}

function seeCluster(
  seen: Map<string, SeenCluster>,
  { name, uid }: { readonly name: string; readonly uid: string },
  nowMs: number,
): SeenCluster {
  const before = seen.get(name);
  if (before?.uid === uid) return before;
  const added = { uid, sinceMs: nowMs, writtenMs: Number.NEGATIVE_INFINITY, madeFrom: undefined, role: undefined };
  seen.set(name, added);
  return added;
}

/** True if the Cluster is accepted, and its member has no fault yet but lacks its first answer, its version or its uid. */
function isJoining(candidate: ClusterCandidate, { role }: CandidateRole, member: ClusterStatus | undefined): boolean {
  if (role !== 'member' || candidate.result === 'broken' || (candidate.problems ?? []).length > 0) return false;
  if (member === undefined || member.phase === 'CONNECTING') return true;
  return member.phase === 'SYNCED' && (member.version === undefined || member.uid === undefined);
}

/** Returns the callback for changes of members: it queues the Clusters whose status may have changed. */
function addChanged(
  {
    ports: { hub, clock },
    queue,
    addAll,
    addOthers,
  }: {
    readonly ports: RegistrationPorts;
    readonly queue: Pick<WorkQueue, 'add'>;
    readonly addAll: () => void;
    readonly addOthers: () => void;
  },
  signal: AbortSignal,
): (changes: readonly MemberChange[]) => void {
  let isWaiting = false;
  const addOthersLater = async () => {
    if (isWaiting) return;
    isWaiting = true;
    await clock.sleep(othersMs, signal);
    isWaiting = false;
    addOthers();
  };
  return (changes) => {
    for (const change of changes) {
      if (change.type === 'cluster') {
        queue.add(change.cluster);
        // If a member leaves, the next candidate with its name or uid becomes the member.
        void addOthersLater();
      } else if (change.cluster !== hub.cluster || keyOfKind(change.kind) !== keyOfKind(clusterKind)) continue;
      else if (change.type === 'object') queue.add(change.objectName.name);
      else addAll();
    }
  };
}

/** Records in the audit log that a Cluster was registered or deleted. If the line cannot be written now, the audit log keeps it for later. */
async function recordRegistration(
  { hub, audit, log }: RegistrationPorts,
  verb: 'register' | 'unregister',
  { name, uid }: { readonly name: string; readonly uid: string },
): Promise<void> {
  const result = verb === 'register' ? 'CREATED' : 'DELETED';
  const { apiVersion, kind } = clusterKind;
  try {
    await audit.record({ caller: gatewayCaller, verb, objects: [{ cluster: hub.cluster, apiVersion, kind, name, uid, result }] });
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    log.warn({ cluster: name, problem: error.message }, 'the audit line of a registration could not be written yet');
  }
}
