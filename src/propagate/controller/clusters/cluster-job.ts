import type { ObjectClient } from '../../../changes/object-client.ts';
import type { Fault } from '../../../core/faults.ts';
import { loggableError } from '../../../core/loggable-error.ts';
import type { ClusterName } from '../../../core/names.ts';
import { textOfKey } from '../../../manifests/object-key.ts';
import { hubFault } from '../../hub/hub.ts';
import { newShare } from '../../hub/share-document.ts';
import type { Propagation } from '../../model/propagation.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import { copyFault, copyReasonOf } from '../../plan/copies/copy-reason.ts';
import type { CopiesOutcome, CopyWork, RollbackTarget } from '../../plan/copies/copy-work.ts';
import { resumedAtMsOf } from '../../rollout/resumption.ts';
import { withOrderedSaves } from '../state/hub-writes.ts';
import type { Pass } from '../state/ports.ts';
import { clusterStateOf, forgetFailures } from '../state/propagation-state.ts';
import { isAbortOf, retryAfterMs } from '../state/work-queue.ts';
import { type ClusterTask, faultsIn } from './cluster-task.ts';

/** The work of one Propagation in one cluster. */
export interface ClusterJob {
  readonly cluster: ClusterName;
  readonly propagation: Propagation;
  readonly spec: Pick<PropagationSpec, 'conflict' | 'write' | 'deletion' | 'runAs' | 'requester'>;
  /** True if only objects that have not changed since the plan are written. */
  readonly isPinned: boolean;
  /** The revision that stores the old values of objects that are taken over. Absent for jobs that take no object over. */
  readonly revision?: number;
  /** The generation that is written to the copies. Default: the generation of the Propagation. */
  readonly generation?: number;
  /** Set if the generation goes back to an older revision. */
  readonly rollback?: RollbackTarget | undefined;
  /** The mirrored versions of copies that look changed and are read live, by `textOfKey`. Default: none. */
  readonly checkedVersions?: ReadonlyMap<string, string>;
  readonly task: ClusterTask;
  /** Called after the task has ended without a fault. */
  readonly onDone?: () => void;
}

/**
 * Starts a job, parallel to jobs in other clusters. When it has ended, the Propagation gets another pass. The outcome is saved in the state
 * and in the inventory. A cluster never has two jobs of one Propagation at a time (`isBusy`).
 *
 * Does not throw. A bug is logged; an abort by the end of the term or by `discardPlan` is not.
 */
export function startClusterJob(pass: Pass, job: ClusterJob): void {
  const { state, ports, term, again } = pass;
  const known = clusterStateOf(state, job.cluster);
  const signal = AbortSignal.any([state.work.signal, term.signal]);
  known.isBusy = true;
  known.isRetryRequested = false;
  void runClusterJob(pass, job, signal)
    .catch((error: unknown) => {
      if (isAbortOf(error, signal)) return;
      ports.log.error(
        { propagation: state.key, cluster: job.cluster, error: loggableError(error) },
        'bug: a job in a cluster threw an error',
      );
      scheduleRetry(pass, job.cluster, 'never');
    })
    .finally(() => {
      known.isBusy = false;
      again();
    });
}

async function runClusterJob(pass: Pass, job: ClusterJob, signal: AbortSignal): Promise<void> {
  const { state, ports, term } = pass;
  const { signal: planSignal } = state.work;
  const begunBefore = state.begun.get(job.cluster);
  const outcomes = await job.task(
    copyWorkOf(pass, job, () => term.isLeading() && !planSignal.aborted),
    signal,
  );
  // The job belonged to a discarded plan. The next pass reads the inventory from the hub again.
  if (planSignal.aborted) return;
  clusterStateOf(state, job.cluster).wroteAtMs = ports.clock.now();
  recordOutcomes(pass, job, outcomes);
  // The result belongs to the previous generation. The generation that was begun meanwhile has not failed.
  if (state.begun.get(job.cluster) !== begunBefore) forgetFailures(state, job.cluster);
}

function recordOutcomes(pass: Pass, { cluster, checkedVersions, onDone }: ClusterJob, outcomes: readonly CopiesOutcome[]): void {
  const { state } = pass;
  const known = clusterStateOf(state, cluster);
  const last = outcomes.at(-1);
  if (last === undefined) return;
  for (const copy of outcomes.flatMap(({ copies }) => copies)) {
    const text = textOfKey(copy.key);
    known.outcomes.set(text, copy);
    if (copy.version !== undefined) known.writtenVersions.set(text, copy.version);
    // The failed request may have written the copy. So the version of the last write is unknown now.
    else if (copy.fault !== undefined) known.writtenVersions.delete(text);
    const version = copy.action === 'Unchanged' ? checkedVersions?.get(text) : undefined;
    if (version !== undefined) known.checkedVersions.set(text, version);
  }
  if (last.share.version === undefined) state.shares?.delete(cluster);
  else state.shares?.set(cluster, last.share);
  known.fault = last.result === 'failed' ? last.fault : undefined;
  if (last.result === 'stopped') {
    forgetInventory(pass, cluster);
    return;
  }
  const faults = faultsIn(last);
  known.isUnreachable = faults.some((fault) => copyReasonOf(fault) === 'Unreachable');
  if (faults.length > 0) {
    scheduleRetry(pass, cluster, retryHintOf(last));
    return;
  }
  known.failures = 0;
  if (last.result === 'done') onDone?.();
}

/**
 * Forgets the inventory after a job stopped because the hub refused to save it, marks the plan as old, and schedules a retry. The next pass
 * reads the inventory again.
 *
 * Usually another process has saved the share: that process leads, or led at that time. Or the hub has a share of this name that cannot be
 * read. The fault then stays in the status.
 */
function forgetInventory(pass: Pass, cluster: ClusterName): void {
  const { state, ports } = pass;
  const known = clusterStateOf(state, cluster);
  state.shares = undefined;
  state.isPlanOld = true;
  known.fault = hubFault(ports.hub, 'EXPIRED', 'the inventory of this cluster on the hub has changed since it was read, or cannot be read');
  known.isUnreachable = false;
  scheduleRetry(pass, cluster, 'soon');
}

/**
 * When a failed job may succeed:
 *
 * - `soon`: retried with backoff.
 * - `never`: it would fail again in the same way. Retried with the longest backoff, because the cause may be removed without an event for
 *   the gateway.
 * - a number: retried with backoff, but at the latest after that many milliseconds.
 */
type RetryHint = 'soon' | 'never' | number;

/** Maximum delay of the retry after missing rights, because no mirror reports a right that was granted. */
const maxUnauthorizedMs = 30_000;
/** Maximum delay of the retry after a refused deletion, because the deletion of the Propagation waits for its copies. */
const maxRefusedMs = 60_000;

function retryHintOf(outcome: CopiesOutcome): RetryHint {
  const faults = faultsIn(outcome);
  if (faults.every(({ retry }) => retry !== 'NEVER')) return 'soon';
  if (faults.some(isUnauthorized)) return maxUnauthorizedMs;
  if (outcome.copies.some(({ state, reason }) => state === 'Deleting' && reason === 'Denied')) return maxRefusedMs;
  return faults.every(({ retry }) => retry === 'NEVER') ? 'never' : 'soon';
}

/** True for a refusal by RBAC, not by admission. */
function isUnauthorized({ code, status }: Fault): boolean {
  return code === 'FORBIDDEN' && / cannot \w+ resource /.test(status?.message ?? '');
}

function scheduleRetry({ state, ports }: Pass, cluster: ClusterName, hint: RetryHint): void {
  const known = clusterStateOf(state, cluster);
  known.failures += 1;
  const failures = known.isRetryRequested ? 1 : hint === 'never' ? Number.MAX_SAFE_INTEGER : known.failures;
  const afterMs = retryAfterMs(failures, ports.clock.random());
  known.retryAtMs = ports.clock.monotonic() + (typeof hint === 'number' ? Math.min(hint, afterMs) : afterMs);
}

function copyWorkOf({ state, ports, hubWrites }: Pass, job: ClusterJob, mayWrite: () => boolean): CopyWork {
  const { cluster, propagation, spec, revision = propagation.status.revision ?? 0 } = job;
  const { uid, namespace, name } = propagation.metadata;
  const { members } = ports.hub;
  const owner = { uid, namespace, name };
  return {
    client: ports.clientOf(cluster, spec) ?? absentClient(cluster),
    share: state.shares?.get(cluster) ?? newShare(owner, cluster),
    shares: withOrderedSaves(ports.stores.shares, hubWrites, mayWrite),
    owner,
    generation: job.generation ?? propagation.metadata.generation,
    resumedAtMs: resumedAtMsOf(propagation),
    revision,
    storeOldValues: (values, signal) => ports.stores.revisions.recordOldValues(propagation, { revision, values }, signal),
    rollback: job.rollback,
    spec,
    served: (kind) => members.objects.served(cluster, kind),
    sourceOf: (source) => {
      const member = members.get(source);
      return member === undefined ? undefined : ports.clientOf(member.name, spec);
    },
    sensitiveKinds: ports.sensitiveKinds,
    listRulesOf: ports.listRulesOf,
    pinned: job.isPinned,
    mayWrite,
    clock: ports.clock,
    log: ports.log,
  };
}

/** Returns a client for a cluster that is no member of the fleet. Every call fails with `GONE`. */
function absentClient(cluster: ClusterName): ObjectClient {
  const fault = copyFault(cluster, 'GONE', 'the cluster is not a member of the fleet');
  const failed = () => Promise.resolve({ result: 'failed', fault } as const);
  const unknown = () => Promise.resolve({ fault });
  return { cluster, get: failed, apply: failed, replace: failed, patch: failed, delete: failed, serves: unknown, may: unknown };
}
