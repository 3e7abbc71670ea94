import { conditionOf, holdsCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { numberAt, textAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { countOf, healthOf, updatesByDeletion } from '../status/health.ts';

/** How far an object has come to be what its spec says. */
export interface RolloutState {
  /** `failed`: it will not come by itself. */
  readonly phase: 'progressing' | 'done' | 'failed';
  /** One line with the figures that decide. No values of a manifest but counts and revisions. */
  readonly message: string;
}

/**
 * True for the kinds that `kubectl rollout status` knows: Deployment, StatefulSet and DaemonSet of `apps`. Of these `rolloutOf` says the same as it;
 * of others it is the gate of waves only.
 */
export function hasRolloutStatus(kind: GroupKind): boolean {
  return kind.group === 'apps' && ['Deployment', 'StatefulSet', 'DaemonSet'].includes(kind.kind);
}

/**
 * How far the rollout of this object is, by its own status: the gate of waves, and the field `rollout`.
 *
 * Deployment, StatefulSet and DaemonSet as `kubectl rollout status` decides: all replicas updated, none of the old left, all available; of a
 * StatefulSet with a partition those above it. Where that refuses (`OnDelete`), done means observed and all pods ready, whatever they were made from.
 * A Job is done when Complete, failed when Failed. Other kinds are done once healthy, and never failed.
 */
export function rolloutOf(kind: GroupKind, object: JsonObject): RolloutState {
  switch (keyOfKind(kind)) {
    case 'Deployment.apps':
      return unobserved(object) ?? rolloutOfDeployment(object);
    case 'StatefulSet.apps':
      return unobserved(object) ?? rolloutOfStatefulSet(object);
    case 'DaemonSet.apps':
      return unobserved(object) ?? rolloutOfDaemonSet(object);
    case 'Job.batch':
      return rolloutOfJob(object);
    default:
      return healthOf(kind, object) === 'Healthy' ? done('healthy') : progressing('not healthy yet');
  }
}

/** Set while the controller has not looked at the newest spec: until then its figures are about an older one. */
function unobserved(object: JsonObject): RolloutState | undefined {
  const generation = numberAt(object, 'metadata', 'generation') ?? 0;
  const observed = countOf(object, 'observedGeneration');
  return observed > 0 && observed >= generation
    ? undefined
    : progressing(`generation ${generation} is not observed yet: its controller is at ${observed}`);
}

function rolloutOfDeployment(object: JsonObject): RolloutState {
  const wanted = numberAt(object, 'spec', 'replicas') ?? 0;
  const updated = countOf(object, 'updatedReplicas');
  const old = countOf(object, 'replicas') - updated;
  const available = countOf(object, 'availableReplicas');
  if (textAt(conditionOf(object, 'Progressing'), 'reason') === 'ProgressDeadlineExceeded') {
    return failed(`progress deadline exceeded: ${updated} of ${wanted} replicas updated, ${available} available`);
  }
  if (updated < wanted) return progressing(`${updated} of ${wanted} replicas updated`);
  if (old > 0) return progressing(`${old} old ${old === 1 ? 'replica has' : 'replicas have'} yet to go`);
  if (available < updated) return progressing(`${available} of ${updated} updated replicas available`);
  return done(`rolled out: ${updated} replicas updated and available`);
}

function rolloutOfStatefulSet(object: JsonObject): RolloutState {
  const wanted = numberAt(object, 'spec', 'replicas') ?? 0;
  const ready = countOf(object, 'readyReplicas');
  const updated = countOf(object, 'updatedReplicas');
  if (ready < wanted) return progressing(`${ready} of ${wanted} replicas ready`);
  if (updatesByDeletion(object)) return done(`${ready} replicas ready; updated as they are deleted (OnDelete)`);
  const partition = numberAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition');
  if (partition !== undefined) {
    const due = Math.max(0, wanted - partition);
    const from = partition === 0 ? '' : ` from ordinal ${partition}`;
    return updated < due
      ? progressing(`${updated} of ${due} replicas${from} updated`)
      : done(`rolled out${from}: ${updated} replicas updated`);
  }
  const target = textAt(object, 'status', 'updateRevision') ?? '';
  if (target !== (textAt(object, 'status', 'currentRevision') ?? ''))
    return progressing(`${updated} replicas updated to revision ${target}`);
  return done(`rolled out: ${countOf(object, 'currentReplicas')} replicas at revision ${target}`);
}

function rolloutOfDaemonSet(object: JsonObject): RolloutState {
  const desired = countOf(object, 'desiredNumberScheduled');
  const updated = countOf(object, 'updatedNumberScheduled');
  const available = countOf(object, 'numberAvailable');
  const byDeletion = updatesByDeletion(object);
  if (!byDeletion && updated < desired) return progressing(`${updated} of ${desired} pods updated`);
  if (available < desired) return progressing(`${available} of ${desired} ${byDeletion ? '' : 'updated '}pods available`);
  return byDeletion
    ? done(`${available} pods available; updated as they are deleted (OnDelete)`)
    : done(`rolled out: ${updated} pods updated and available`);
}

function rolloutOfJob(object: JsonObject): RolloutState {
  if (holdsCondition(object, 'Complete')) return done(`complete: ${countOf(object, 'succeeded')} succeeded`);
  const reason = textAt(conditionOf(object, 'Failed'), 'reason') ?? 'no reason given';
  if (holdsCondition(object, 'Failed')) return failed(`failed: ${reason}`);
  if (holdsCondition(object, 'Suspended')) return progressing('suspended');
  return progressing(`${countOf(object, 'active')} active, ${countOf(object, 'succeeded')} succeeded`);
}

function progressing(message: string): RolloutState {
  return { phase: 'progressing', message };
}

function done(message: string): RolloutState {
  return { phase: 'done', message };
}

function failed(message: string): RolloutState {
  return { phase: 'failed', message };
}
