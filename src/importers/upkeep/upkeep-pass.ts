import { describeFault } from '../../changes/describe-fault.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import type { Term } from '../../propagate/controller/lease/lease.ts';
import { retryAfterMs } from '../../propagate/controller/state/work-queue.ts';
import type { Hub, HubObjectName } from '../../propagate/hub/hub.ts';
import type { PropagationStore } from '../../propagate/hub/propagation-store.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import type { ClientOf } from '../../propagate/plan/snapshot/plan-request.ts';
import type { ResourceStore } from './resource-store.ts';
import type { ResourceTranslation } from './translate-resource.ts';

/** The parts of the gateway that the upkeep uses. */
export interface UpkeepPorts {
  readonly hub: Hub;
  readonly propagations: PropagationStore;
  /** Returns a client of a cluster that acts as the service account, or with the account of the gateway. */
  readonly clientOf: ClientOf;
  /** The service account in the namespace of each resource that writes its copies. Default: the account of the gateway. */
  readonly serviceAccount?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The state of one resource in one term. The state may be lost at any moment, because the hub has all facts that must survive. */
export interface ResourceState {
  /** Namespace and name of the resource and of its Propagation. */
  readonly name: HubObjectName;
  readonly key: string;
  /** The translations of one version of the resource, by the names of the clusters. At most two. */
  translations?: { readonly version: string; readonly byClusters: Map<string, ResourceTranslation> };
  /** The Propagation as this process last wrote or fetched it, and when. The mirror may be behind it for a moment. */
  latest?: { readonly propagation: Propagation; readonly atMs: number } | undefined;
  /** The hashes of the spec that was last written, and of the spec that the hub stored for it. */
  accepted?: { readonly wanted: string; readonly stored: string };
  /**
   * How often the Propagation was corrected after changes of other clients, and the monotonic time from which it may be corrected again.
   */
  corrections: { readonly count: number; readonly dueMs: number };
  /**
   * The last write of the status: the hash of the status that was sent, the hash of the status that the hub stored for it, the version of
   * the resource after the write, and the time of the write.
   */
  status?: { readonly wanted: string; readonly stored: string; readonly version: string; readonly atMs: number };
  /**
   * The uid of a resource that had the finalizer of `--cascade=orphan`. Kept here, because Kubernetes may remove the finalizer before the
   * record is on the hub.
   */
  keepsCopiesOf?: string | undefined;
  /** The number of failed requests in a row. */
  failures: number;
  /** The last problem that was logged. The same one is not logged again. */
  logged?: string | undefined;
}

/** One pass over one resource. */
export interface UpkeepPass {
  readonly ports: UpkeepPorts;
  readonly resources: ResourceStore;
  readonly term: Term;
  readonly state: ResourceState;
  /** The names of the clusters in the fleet. */
  readonly fleet: ReadonlySet<string>;
  /**
   * The monotonic time in milliseconds until which no status is written, because the kind has no status subresource. Shared by all
   * resources.
   */
  readonly withoutStatus: { untilMs: number };
}

/**
 * The result of a pass. `gone`: there is neither the resource nor a Propagation of its own, so its state can be dropped. `kept`: all other
 * results. `againMs`: the delay until the next pass; absent if only a change triggers it.
 */
export type UpkeepResult = { readonly result: 'gone' } | { readonly result: 'kept'; readonly againMs?: number | undefined };

export function newResourceState(name: HubObjectName): ResourceState {
  return { name, key: keyOfResource(name), corrections: { count: 0, dueMs: Number.NEGATIVE_INFINITY }, failures: 0 };
}

/** Returns the key of a resource, which is also that of its Propagation. */
export function keyOfResource({ namespace, name }: HubObjectName): string {
  return `${namespace}/${name}`;
}

/** Returns the namespace and name of a key of `keyOfResource`. A namespace has no slash, so the first slash separates the two. */
export function nameOfKey(key: string): HubObjectName {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Counts a failed request, logs it if it is another problem than before, and returns a delay that grows with each failure in a row. */
export function retryUpkeepLater({ ports, state, term }: UpkeepPass, fault: Fault): number {
  state.failures += 1;
  if (!term.signal.aborted) logOnce({ ports, state }, `${fault.code}: ${describeFault(fault)}`);
  return retryAfterMs(state.failures, ports.clock.random());
}

/** Logs a problem of the resource, unless it was the last one. */
export function logOnce({ ports, state }: Pick<UpkeepPass, 'ports' | 'state'>, problem: string): void {
  if (state.logged !== problem)
    ports.log.warn({ resource: state.key, reason: problem }, 'a MultiClusterResource could not be kept in sync');
  state.logged = problem;
}
