import type { V1DaemonSet, V1Deployment, V1StatefulSet } from '@kubernetes/client-node';
import { conditionOf } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { numberOrZero, type Stored } from '../../core/stored.ts';

type Workload = V1Deployment | V1StatefulSet | V1DaemonSet;

/** The progress of an object towards its spec. */
export interface RolloutState {
  /**
   * `progressing`: the rollout is under way. `done`: the rollout is complete. `failed`: the object will not reach its spec without a
   * change.
   */
  readonly phase: 'progressing' | 'done' | 'failed';
  /** One line with the numbers that decide. It contains no values of a manifest except counts and revisions. */
  readonly message: string;
}

/** The progress of a rollout, with the text of `kubectl rollout status`. */
export interface WorkloadRollout extends RolloutState {
  /** The text that `kubectl rollout status` prints, on one line. Equal to `message` where kubectl refuses to answer (`OnDelete`). */
  readonly kubectlText: string;
}

/**
 * Returns the progress of the rollout of a Deployment, StatefulSet or DaemonSet, as `kubectl rollout status` decides. It is done when all
 * replicas are updated and available, and no old ones are left. In a StatefulSet, all replicas must be ready. If it has a partition, only
 * the replicas whose ordinal is at least the partition must be updated.
 *
 * kubectl refuses `OnDelete`. Here such a rollout is done when the spec is observed and all Pods are ready (StatefulSet) or available
 * (DaemonSet), whatever their revision. Undefined for other kinds.
 */
export function workloadRolloutOf(kind: GroupKind, object: JsonObject): WorkloadRollout | undefined {
  switch (keyOfKind(kind)) {
    case 'Deployment.apps':
      return unobserved(object, 'deployment') ?? rolloutOfDeployment(object);
    case 'StatefulSet.apps':
      return unobserved(object, 'statefulset') ?? rolloutOfStatefulSet(object);
    case 'DaemonSet.apps':
      return unobserved(object, 'daemon set') ?? rolloutOfDaemonSet(object);
    default:
      return undefined;
  }
}

/**
 * Returns the state `progressing` while the controller has not observed the newest spec: the numbers of the status are then about an older
 * spec. Otherwise undefined.
 */
function unobserved({ metadata, status }: Stored<Workload>, noun: string): WorkloadRollout | undefined {
  const generation = numberOrZero(metadata?.generation);
  const observed = numberOrZero(status?.observedGeneration);
  if (observed > 0 && observed >= generation) return undefined;
  return progressing(
    `generation ${generation} is not observed yet: its controller is at ${observed}`,
    `Waiting for ${noun} spec update to be observed...`,
  );
}

function rolloutOfDeployment(deployment: Stored<V1Deployment>): WorkloadRollout {
  const { spec, status } = deployment;
  const wanted = numberOrZero(spec?.replicas);
  const updated = numberOrZero(status?.updatedReplicas);
  const old = numberOrZero(status?.replicas) - updated;
  const available = numberOrZero(status?.availableReplicas);
  const name = quotedName(deployment);
  const waiting = `Waiting for deployment ${name} rollout to finish:`;
  if (conditionOf(deployment, 'Progressing')?.reason === 'ProgressDeadlineExceeded') {
    const message = `progress deadline exceeded: ${updated} of ${wanted} replicas updated, ${available} available`;
    return { phase: 'failed', message, kubectlText: `deployment ${name} exceeded its progress deadline` };
  }
  if (updated < wanted) {
    const kubectlText = `${waiting} ${updated} out of ${wanted} new replicas have been updated...`;
    return progressing(`${updated} of ${wanted} replicas updated`, kubectlText);
  }
  if (old > 0) {
    const kubectlText = `${waiting} ${old} old replicas are pending termination...`;
    return progressing(`${old} old ${old === 1 ? 'replica has' : 'replicas have'} yet to go`, kubectlText);
  }
  if (available < updated) {
    const kubectlText = `${waiting} ${available} of ${updated} updated replicas are available...`;
    return progressing(`${available} of ${updated} updated replicas available`, kubectlText);
  }
  return done(`rolled out: ${updated} replicas updated and available`, `deployment ${name} successfully rolled out`);
}

function rolloutOfStatefulSet({ spec, status }: Stored<V1StatefulSet>): WorkloadRollout {
  const wanted = numberOrZero(spec?.replicas);
  const ready = numberOrZero(status?.readyReplicas);
  const updated = numberOrZero(status?.updatedReplicas);
  if (ready < wanted) return progressing(`${ready} of ${wanted} replicas ready`, `Waiting for ${wanted - ready} pods to be ready...`);
  if (spec?.updateStrategy?.type === 'OnDelete') return done(`${ready} replicas ready; updated as they are deleted (OnDelete)`);
  const partition = spec?.updateStrategy?.rollingUpdate?.partition;
  if (typeof partition === 'number') return rolloutAbove(partition, { wanted, updated });
  const target = status?.updateRevision ?? '';
  if (target !== (status?.currentRevision ?? '')) {
    const kubectlText = `waiting for statefulset rolling update to complete ${updated} pods at revision ${target}...`;
    return progressing(`${updated} replicas updated to revision ${target}`, kubectlText);
  }
  const current = numberOrZero(status?.currentReplicas);
  const kubectlText = `statefulset rolling update complete ${current} pods at revision ${target}...`;
  return done(`rolled out: ${current} replicas at revision ${target}`, kubectlText);
}

function rolloutAbove(partition: number, { wanted, updated }: { readonly wanted: number; readonly updated: number }): WorkloadRollout {
  const due = Math.max(0, wanted - partition);
  const from = partition === 0 ? '' : ` from ordinal ${partition}`;
  if (updated < due) {
    const kubectlText = `Waiting for partitioned roll out to finish: ${updated} out of ${due} new pods have been updated...`;
    return progressing(`${updated} of ${due} replicas${from} updated`, kubectlText);
  }
  return done(`rolled out${from}: ${updated} replicas updated`, `partitioned roll out complete: ${updated} new pods have been updated...`);
}

function rolloutOfDaemonSet(daemonSet: Stored<V1DaemonSet>): WorkloadRollout {
  const { spec, status } = daemonSet;
  const desired = numberOrZero(status?.desiredNumberScheduled);
  const updated = numberOrZero(status?.updatedNumberScheduled);
  const available = numberOrZero(status?.numberAvailable);
  const name = quotedName(daemonSet);
  const waiting = `Waiting for daemon set ${name} rollout to finish:`;
  if (spec?.updateStrategy?.type === 'OnDelete') {
    return available < desired
      ? progressing(`${available} of ${desired} pods available`)
      : done(`${available} pods available; updated as they are deleted (OnDelete)`);
  }
  if (updated < desired) {
    const kubectlText = `${waiting} ${updated} out of ${desired} new pods have been updated...`;
    return progressing(`${updated} of ${desired} pods updated`, kubectlText);
  }
  if (available < desired) {
    const kubectlText = `${waiting} ${available} of ${desired} updated pods are available...`;
    return progressing(`${available} of ${desired} updated pods available`, kubectlText);
  }
  return done(`rolled out: ${updated} pods updated and available`, `daemon set ${name} successfully rolled out`);
}

function quotedName({ metadata }: Stored<Workload>): string {
  return JSON.stringify(metadata?.name ?? '');
}

function progressing(message: string, kubectlText: string = message): WorkloadRollout {
  return { phase: 'progressing', message, kubectlText: kubectlText };
}

function done(message: string, kubectlText: string = message): WorkloadRollout {
  return { phase: 'done', message, kubectlText: kubectlText };
}
