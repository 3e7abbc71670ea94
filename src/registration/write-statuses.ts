import { describeFault } from '../changes/describe-fault.ts';
import type { Clock } from '../core/clock.ts';
import { objectAt } from '../core/json-at.ts';
import { keyOfKind } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import { loggableError } from '../core/loggable-error.ts';
import { type ClusterName, parseClusterName } from '../core/names.ts';
import { whenAborted } from '../core/scheduling/until-aborted.ts';
import type { ClusterCandidate } from '../fleet/cluster-source.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Term } from '../propagate/controller/lease/lease.ts';
import { createWorkQueue } from '../propagate/controller/state/work-queue.ts';
import type { Hub } from '../propagate/hub/hub.ts';
import { resourceMetadataOf } from '../propagate/hub/propagation-of.ts';
import { createResourceWrites } from '../propagate/hub/resource-writes.ts';
import type { Mirrors } from '../watch/mirrors.ts';
import { clusterKind } from './cluster-resource.ts';
import { registrationStatus } from './registration-status.ts';

/** Milliseconds between two writes of one status. */
const spacingMs = 1_000;

/** Milliseconds after which a failed write is repeated. */
const retryMs = 5_000;

const writesAtOnce = 8;

export interface RegistrationPorts {
  readonly hub: Hub;
  readonly fleet: Pick<Fleet, 'roleOf'>;
  readonly mirrors: Pick<Mirrors, 'cluster'>;
  /** Returns the candidate of each registered cluster that was read, by name. */
  readonly registered: () => ReadonlyMap<ClusterName, ClusterCandidate>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Writes the status of each Cluster of the hub, for one term: when it changes, and at most once per second. Resolves when the term has ended
 * and no write runs.
 */
export async function writeRegistrationStatuses(ports: RegistrationPorts, term: Term): Promise<void> {
  const { hub, clock, log } = ports;
  const { objects } = hub.members;
  const writes = createResourceWrites(hub, clusterKind, 'muster.dev/cluster');
  const writtenMs = new Map<string, number>();

  async function work(name: string): Promise<number | undefined> {
    const read = objects.read(hub.cluster, clusterKind, { namespace: '', name });
    if (read.result !== 'held') {
      writtenMs.delete(name);
      return undefined;
    }
    const member = parseClusterName(name);
    const candidate = member === undefined ? undefined : ports.registered().get(member);
    // The object was seen before its Secret was read.
    if (member === undefined || candidate === undefined) return spacingMs;
    const waitMs = (writtenMs.get(name) ?? Number.NEGATIVE_INFINITY) + spacingMs - clock.monotonic();
    if (waitMs > 0) return waitMs;
    const before = objectAt(read.object, 'status');
    const after = registrationStatus({
      generation: read.object.metadata.generation ?? 0,
      candidate,
      role: ports.fleet.roleOf(candidate),
      member: ports.mirrors.cluster(member),
      before,
      now: new Date(clock.now()).toISOString(),
    });
    if (!term.isLeading()) return undefined;
    const answer = await writes.patchStatus(resourceMetadataOf(read.object), { before, after }, term.signal);
    if (answer === 'unchanged') return undefined;
    writtenMs.set(name, clock.monotonic());
    if (answer.result !== 'failed' || term.signal.aborted) return answer.result === 'conflict' ? spacingMs : undefined;
    log.warn({ cluster: name, problem: describeFault(answer.fault) }, 'the status of a Cluster could not be written');
    return retryMs;
  }

  const onBug = (name: string, error: unknown) => log.error({ cluster: name, error: loggableError(error) }, 'bug: a pass threw an error');
  const queue = createWorkQueue({ work, onBug, most: writesAtOnce, clock }, term.signal);
  const addAll = () => {
    for (const { metadata } of objects.all(hub.cluster, clusterKind) ?? []) queue.add(metadata.name);
  };
  objects.onChange((changes) => {
    for (const change of changes) {
      // A change of one member may decide about another: the next one takes the place of a cluster that left.
      if (change.type === 'cluster') addAll();
      else if (change.cluster !== hub.cluster || keyOfKind(change.kind) !== keyOfKind(clusterKind)) continue;
      else if (change.type === 'object') queue.add(change.place.name);
      else addAll();
    }
  }, term.signal);
  objects.hold(hub.cluster, clusterKind, term.signal);
  addAll();
  await whenAborted(term.signal);
  await queue.idle();
}
