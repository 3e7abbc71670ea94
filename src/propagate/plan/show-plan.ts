import { redactedFault } from '../../changes/describe-fault.ts';
import type { Fault } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { redact } from '../../core/redaction.ts';
import { compareText } from '../../core/text.ts';
import { diffOf } from '../../manifests/diff.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import type { Note } from '../model/notes.ts';
import type { PlannedCluster, PlannedObject, PropagationPlan, RenderedObject, RenderedPlan } from '../model/plan.ts';
import { isMarkedFor } from './copies/copy-marks.ts';
import { copyFault } from './copies/copy-reason.ts';
import { lostEntryMessage } from './copies/judge-object.ts';
import { withoutRecords } from './copies/managed-keys.ts';
import { hasHiddenValues } from './copies/observed-hash.ts';
import type { DryRun } from './dry-run.ts';
import { isRemoval } from './held-prune.ts';
import type { PlannerPorts } from './snapshot/plan-request.ts';
import type { PlanSnapshot } from './snapshot/snapshot.ts';

/** The results of dry runs, by cluster and `textOfKey`. */
export type DryRuns = ReadonlyMap<string, ReadonlyMap<string, DryRun>>;

interface ShownPlan {
  readonly snapshot: PlanSnapshot;
  readonly rendered: RenderedPlan;
  readonly answers: DryRuns;
  /** All notes of the plan. They decide `ok`. */
  readonly notes: readonly Note[];
  /** The uid of the Propagation. Absent if it does not exist yet. */
  readonly uid?: string | undefined;
}

/** Returns the plan as users see it: all clusters, sorted by name, with the results of the dry runs and without sensitive values. */
export function showPlan(
  { snapshot, rendered, answers, notes, uid }: ShownPlan,
  { sensitiveKinds }: Pick<PlannerPorts, 'sensitiveKinds'>,
): PropagationPlan {
  const { digest, desired, placed, unplaced, waves, pruneHeld } = rendered;
  const ok = notes.every(({ severity }) => severity !== 'ERROR');
  // A plan with an error changes no object. So its removals are not shown, even if it chooses no cluster.
  const owner = { namespace: snapshot.namespace, name: snapshot.name, ...(uid === undefined ? {} : { uid }) };
  const shown = (cluster: ClusterName, objects: readonly RenderedObject[]) =>
    objects
      .filter((object) => ok || !isRemoval(object))
      .map((object) => {
        const dryRun = answers.get(cluster)?.get(textOfKey(object.key));
        return showObject({ cluster, object, dryRun, isHeld: pruneHeld !== undefined, owner }, sensitiveKinds);
      });
  const chosen = rendered.clusters.map((one): PlannedCluster => {
    const { cluster } = one.chosen;
    const fault = one.fault ?? unansweredFault(answers.get(cluster));
    return { cluster, rendered: one, objects: shown(cluster, one.objects), ...(fault === undefined ? {} : { fault }) };
  });
  const leaving = new Map(rendered.leaving.map(({ cluster, objects }) => [cluster, shown(cluster, objects)]));
  const rejected = rendered.rejected.map((one): PlannedCluster => {
    const fault = one.reason === 'SYNCING' ? { fault: copyFault(one.cluster, 'SYNCING', one.detail) } : {};
    return { ...one, objects: leaving.get(one.cluster) ?? [], ...fault };
  });
  const outsideFleet = snapshot.sharesOutsideFleet.map(({ cluster }): PlannedCluster => {
    return { cluster, objects: leaving.get(cluster) ?? [], fault: copyFault(cluster, 'GONE', 'the cluster is not a member of the fleet') };
  });
  const clusters = [...chosen, ...rejected, ...outsideFleet].toSorted((a, b) => compareText(a.cluster, b.cluster));
  return {
    digest,
    ok,
    asOfMs: snapshot.asOfMs,
    ...(desired === undefined ? {} : { desired }),
    ...(placed === undefined ? {} : { placed }),
    unplaced,
    waves,
    clusters,
    contents: rendered.contents,
    notes,
    faults: [...snapshot.faults, ...clusters.flatMap(({ fault }) => (fault === undefined ? [] : [fault]))],
  };
}

interface ShownObject {
  readonly cluster: ClusterName;
  readonly object: RenderedObject;
  readonly dryRun: DryRun | undefined;
  /** True if removals wait for a confirmation. */
  readonly isHeld: boolean;
  readonly owner: Parameters<typeof isMarkedFor>[1];
}

function showObject(
  { cluster, object, dryRun, isHeld, owner }: ShownObject,
  sensitiveKinds: PlannerPorts['sensitiveKinds'],
): PlannedObject {
  const { key, action, desired, predicted, held, live } = object;
  const sensitive = hasHiddenValues(key, { sensitiveKinds });
  const isLost = live !== undefined && isMarkedFor(live, owner);
  const fault = faultOf({ held, cluster, isLost, isSensitive: sensitive }, dryRun);
  const diff =
    dryRun?.result === 'accepted'
      ? diffOf({ before: existingWithKind(object, dryRun.before), after: withoutRecords(dryRun.object), isSensitive: sensitive })
      : undefined;
  return {
    key,
    action: isHeld && isRemoval(object) ? 'HOLD' : action,
    manifest: redact(desired, { sensitive, live: false }),
    ...(diff === undefined ? {} : { diff }),
    predicted,
    conflicts: dryRun?.result === 'accepted' || dryRun?.result === 'conflict' ? dryRun.conflicts : [],
    ...(fault === undefined ? {} : { fault }),
  };
}

/**
 * Returns the existing object with its kind and apiVersion, which items of lists lack, and without the annotations in which the managed labels and
 * annotations are recorded. For kinds with hidden values, mirrors hold no fields, so the object that was read live (`read`) is used. Undefined if
 * there is no object.
 */
function existingWithKind(
  { live, key: { apiVersion, kind } }: RenderedObject,
  read: KubernetesObject | undefined,
): KubernetesObject | undefined {
  const object = read ?? live;
  return object === undefined ? undefined : withoutRecords({ ...object, apiVersion, kind });
}

interface FaultContext {
  readonly held: RenderedObject['held'];
  readonly cluster: ClusterName;
  /**
   * True if the existing object carries marks of this Propagation. Used only for a conflict, to report that the inventory entry is missing.
   */
  readonly isLost: boolean;
  readonly isSensitive: boolean;
}

/** Returns why the object would not be written as wanted, without values of the manifest. Undefined if it would be. */
function faultOf({ held, cluster, isLost, isSensitive }: FaultContext, dryRun: DryRun | undefined): Fault | undefined {
  if (held === 'Conflict')
    return copyFault(
      cluster,
      'CONFLICT',
      isLost ? lostEntryMessage : 'it exists and does not belong to this Propagation: conflict Adopt or Overwrite takes it over',
    );
  switch (dryRun?.result) {
    case 'failed':
    case 'conflict':
      return redactedFault(dryRun.fault, isSensitive);
    case 'stale':
      return { ...copyFault(cluster, 'CONFLICT', 'it keeps changing while it is planned'), retry: 'LATER' };
    case 'unserved':
      return copyFault(cluster, 'NOT_SERVED', 'the cluster does not serve its kind');
    case 'accepted':
    case undefined:
      return undefined;
    default:
      return dryRun satisfies never;
  }
}

/**
 * Returns the fault of a cluster that did not answer its dry runs. Such a fault is about the cluster, not about a single object. Undefined
 * if the cluster answered.
 */
function unansweredFault(answers: ReadonlyMap<string, DryRun> | undefined): Fault | undefined {
  const faults = [...(answers?.values() ?? [])].flatMap((answer) => (answer.result === 'failed' ? [answer.fault] : []));
  return faults.find(({ code, status }) => code === 'UNREACHABLE' || (code === 'TIMED_OUT' && status === undefined));
}
