import type { Members } from '../../../changes/members.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, namespacedNameOf, textOfKey } from '../../../manifests/object-key.ts';
import type { MirroredObject } from '../../../store/member-objects.ts';
import { compareVersions } from '../../../store/versions.ts';
import { mustGiveBack } from '../../apply/plan-take-over.ts';
import { type ClusterShare, type InventoryEntry, isBeingRemoved, type RecordedFault } from '../../model/inventory.ts';
import type { RenderedCluster, RenderedObject } from '../../model/plan.ts';
import type { ClusterLine, CopyReason, Propagation } from '../../model/propagation.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import { copyReasonOf } from '../../plan/copies/copy-reason.ts';
import { isRemoval, movingClusters } from '../../plan/held-prune.ts';
import { isRestarted } from '../../rollout/resumption.ts';
import { wantedHashOf } from '../../rollout/wanted-hash.ts';
import { copyFactsOf } from '../../status/copy-facts.ts';
import type { ClusterFacts, PlannedFacts } from '../../status/facts.ts';
import type { DriftWatch } from '../state/drift-watch.ts';
import type { ClusterState, CurrentPlan, PropagationState } from '../state/propagation-state.ts';
import { type ClusterNeeds, type NeedsInput, needsNoWrite, needsOf, noNeeds } from './cluster-needs.ts';

/** One cluster in one pass: what the plan wants there, the known facts, and the resulting work. */
export interface ClusterAssessment {
  readonly cluster: ClusterName;
  /** The cluster in the plan. Absent if the plan no longer wants copies here. */
  readonly rendered?: RenderedCluster;
  readonly share?: ClusterShare;
  readonly facts: ClusterFacts;
  readonly needs: ClusterNeeds;
}

/** The input of an assessment. */
export interface AssessmentInput {
  readonly members: Members;
  readonly state: PropagationState;
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
  readonly plan: CurrentPlan;
  readonly drift: DriftWatch;
  /** True if drift of the copies is corrected. False: drift is only reported. */
  readonly correctsDrift: boolean;
  readonly nowMs: number;
}

/** A mirror shows a write of this process if the mirror was up to date more than this many milliseconds after the write. */
export const mirrorDelayMs = 1_000;

/**
 * Assesses every cluster that the plan wants copies in, or that has copies, sorted by name. If the plan is stale or refused: only clusters
 * with copies.
 */
export function assessClusters(input: AssessmentInput): readonly ClusterAssessment[] {
  const { state, plan } = input;
  if (plan.verdict.result === 'stale' || plan.verdict.result === 'refused') return assessUnplanned(input);
  const wanted = new Map(plan.rendered.clusters.map((rendered) => [rendered.chosen.cluster, rendered]));
  const away = new Set(plan.rendered.away);
  const going = new Map(plan.rendered.leaving.map(({ cluster, objects }) => [cluster, objects]));
  const names = [...new Set([...wanted.keys(), ...nonEmptyShares(state).map(({ cluster }) => cluster)])].sort();
  const unplanned = new Map(away.size === 0 ? [] : assessUnplanned(input).map((assessment) => [assessment.cluster, assessment]));
  return names.map((cluster) => {
    const rendered = wanted.get(cluster);
    const waiting = away.has(cluster) ? unplanned.get(cluster) : undefined;
    if (waiting !== undefined) return waiting;
    return assessCluster(input, { cluster, rendered, objects: rendered?.objects ?? going.get(cluster) ?? [] });
  });
}

/** Assesses the clusters with copies while no valid plan exists. Nothing is written there. Sorted by name. */
export function assessUnplanned(input: Pick<AssessmentInput, 'state' | 'propagation' | 'members'>): readonly ClusterAssessment[] {
  const { state, propagation, members } = input;
  const lines = new Map(propagation.status.clusters?.map((line) => [line.cluster, line]));
  return nonEmptyShares(state).map((share) => {
    const line = lines.get(share.cluster);
    const { wave = 0, late: isLate = false, replicas, divided } = line ?? {};
    // The placed replicas stay in the line, because the next plan starts from them.
    const counts = { ...(replicas === undefined ? {} : { replicas }), ...(divided === undefined ? {} : { divided }) };
    const planned: PlannedFacts = { wave, isLate, ...counts, objects: writtenObjects(share) };
    const facts: ClusterFacts = {
      ...{
        cluster: share.cluster,
        member: members.get(share.cluster),
        planned,
        stage: 'kept',
        copies: copyFactsOf(members.objects, share),
      },
      ...(line === undefined ? {} : { previous: line }),
    };
    return { cluster: share.cluster, share, facts, needs: noNeeds };
  });
}

/** Returns the copies as they were last written, without those that are being deleted. */
function writtenObjects({ entries }: ClusterShare): PlannedFacts['objects'] {
  return entries.flatMap((entry) => {
    const { key, uid, appliedHash: desiredHash } = entry;
    return uid === undefined || desiredHash === undefined || isBeingRemoved(entry)
      ? []
      : [{ key, action: 'UNCHANGED', desiredHash } as const];
  });
}

/** Returns the shares with at least one entry, sorted by cluster. */
export function nonEmptyShares({ shares }: Pick<PropagationState, 'shares'>): readonly ClusterShare[] {
  const held = [...(shares?.values() ?? [])].filter(({ entries }) => entries.length > 0);
  return held.sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

interface WantedInCluster {
  readonly cluster: ClusterName;
  readonly rendered: RenderedCluster | undefined;
  readonly objects: readonly RenderedObject[];
}

/** The input of all parts of one assessment. */
interface AssessmentContext extends WantedInCluster {
  readonly input: AssessmentInput;
  readonly share: ClusterShare | undefined;
  readonly line: ClusterLine | undefined;
  readonly clusterState: ClusterState | undefined;
  readonly isSuspended: boolean;
}

function assessCluster(input: AssessmentInput, wanted: WantedInCluster): ClusterAssessment {
  const { state, members, spec } = input;
  const { cluster, rendered } = wanted;
  const share = state.shares?.get(cluster);
  const isSuspended = spec.suspend.all || spec.suspend.clusters.includes(cluster);
  const context: AssessmentContext = {
    ...wanted,
    input,
    share,
    line: lineIn(input, wanted),
    clusterState: state.clusters.get(cluster),
    isSuspended,
  };
  const needs = needsIn(context);
  const facts: ClusterFacts = {
    cluster,
    member: members.get(cluster),
    ...(rendered === undefined ? {} : { planned: plannedOf(rendered, input.plan) }),
    stage: rendered === undefined ? 'leaving' : isBegun(context, needs) ? 'begun' : 'waiting',
    copies: [...copyFactsOf(members.objects, share), ...sourcesIn(context)],
    ...problemOf(context),
    ...differenceIn(context, needs),
    ...(context.line === undefined ? {} : { previous: context.line }),
  };
  return { cluster, ...(rendered === undefined ? {} : { rendered }), ...(share === undefined ? {} : { share }), facts, needs };
}

/** Returns the sources of the template in this cluster, as if they were copies in their wanted state. Leaves out those in the inventory. */
function sourcesIn({ input: { members }, cluster, rendered, share }: AssessmentContext): ClusterFacts['copies'] {
  const held = new Set(share?.entries.map(({ key }) => textOfKey(key)));
  return (rendered?.objects ?? []).flatMap(({ key, held: why, desiredHash, liveUid }) => {
    if (why !== 'Source' || held.has(textOfKey(key))) return [];
    const entry: InventoryEntry = { key, state: 'Shared', health: 'Unknown', appliedHash: desiredHash };
    return [{ entry: liveUid === undefined ? entry : { ...entry, uid: liveUid }, mirrored: mirroredOf(members, cluster, key) }];
  });
}

function differenceIn({ clusterState }: AssessmentContext, needs: ClusterNeeds): Pick<ClusterFacts, 'differs' | 'failures'> {
  const differs = needs.watched.length > 0 ? 'watched' : needsNoWrite(needs) ? undefined : 'toWrite';
  return {
    ...(differs === undefined ? {} : { differs }),
    ...(clusterState === undefined || clusterState.failures === 0 ? {} : { failures: clusterState.failures }),
  };
}

/**
 * Returns the line of the cluster in the status, or undefined if there is none. Leaves out its rollout mark and generation if the wanted
 * objects have changed since the mark was set, or if a generation that was rolled back has been resumed. The cluster then goes through the
 * waves again.
 */
function lineIn({ propagation, spec }: AssessmentInput, { cluster, rendered }: WantedInCluster): ClusterLine | undefined {
  const line = propagation.status.clusters?.find((one) => one.cluster === cluster);
  const wanted = line?.rollout?.wanted;
  if (line === undefined || wanted === undefined || rendered === undefined) return line;
  const isSame = rendered.fault !== undefined || wanted === wantedHashOf(rendered.objects);
  if (isSame && !isRestarted(propagation, spec)) return line;
  const { rollout: _rollout, generation: _generation, ...rest } = line;
  return rest;
}

/** Returns what the cluster needs. In a suspended cluster, changed copies are only watched, and no copy is deleted. */
function needsIn({ input, cluster, objects, share, clusterState, isSuspended }: AssessmentContext): ClusterNeeds {
  const { plan, spec, correctsDrift } = input;
  const isFree = plan.verdict.result === 'do' || movingClusters(plan.rendered.leaving).has(cluster);
  return needsOf({
    objects,
    share,
    ...mirrorFacts(input, cluster, clusterState),
    correctsDrift: correctsDrift && !isSuspended,
    mayPrune: isSuspended ? 'nothing' : isFree ? 'all' : 'begun',
    isToReturn: (entry) => mustGiveBack(entry, { ...plan, spec }),
    isConfirmed: plan.verdict.result === 'do' && plan.verdict.prune !== undefined,
  });
}

function mirrorFacts(
  { members, drift }: Pick<AssessmentInput, 'members' | 'drift'>,
  cluster: ClusterName,
  clusterState: ClusterState | undefined,
): Pick<NeedsInput, 'mirrored' | 'hasSeenWrite' | 'isDrifted'> {
  return {
    mirrored: (key) => mirroredOf(members, cluster, key),
    hasSeenWrite: (seen, key) => hasSeenWrite(clusterState, seen, key),
    isDrifted: (object, entry, seen) =>
      seen.result === 'held' &&
      !isKnownUnchanged(clusterState, entry, seen) &&
      drift.isDrifted(cluster, object, { entry, live: seen.object }),
  };
}

/**
 * True if the mirror shows the last write of the copy. The proof is one of two: the mirror was up to date more than 1 s after the write, or
 * it has the version of the write or a later version.
 */
function hasSeenWrite(clusterState: ClusterState | undefined, seen: MirroredObject, key: ObjectKey): boolean {
  if (seen.result === 'unread') return false;
  if (seen.asOfMs > (clusterState?.wroteAtMs ?? 0) + mirrorDelayMs) return true;
  const written = clusterState?.writtenVersions.get(textOfKey(key));
  const mirrored = seen.version ?? (seen.result === 'held' ? seen.object.metadata.resourceVersion : undefined);
  if (written === undefined || mirrored === undefined) return false;
  return (compareVersions(mirrored, written) ?? -1) >= 0;
}

/** Returns the copies of an earlier generation that were deleted or changed since they were written. */
export function lostCopiesOf(
  { state, ...input }: Pick<AssessmentInput, 'state' | 'members' | 'drift'>,
  share: ClusterShare,
  objects: readonly RenderedObject[],
): readonly RenderedObject[] {
  const facts = mirrorFacts(input, share.cluster, state.clusters.get(share.cluster));
  return needsOf({ objects, share, ...facts, correctsDrift: true, mayPrune: 'nothing', isConfirmed: false }).correct;
}

/** True if a live read has shown that this version of the object is unchanged. */
function isKnownUnchanged(
  clusterState: ClusterState | undefined,
  { key }: InventoryEntry,
  { object }: Extract<MirroredObject, { result: 'held' }>,
): boolean {
  const version = clusterState?.checkedVersions.get(textOfKey(key));
  return version !== undefined && version === object.metadata.resourceVersion;
}

/** True if this generation was started in the cluster. A cluster without any need to write counts as started. */
function isBegun({ input, cluster, line, rendered, isSuspended }: AssessmentContext, needs: ClusterNeeds): boolean {
  if (rendered !== undefined && input.state.begun.get(cluster) === wantedHashOf(rendered.objects)) return true;
  if (line?.generation === input.plan.generation && line.rollout !== undefined) return true;
  return needsNoWrite(needs) && !(isSuspended && needs.watched.length > 0) && rendered?.fault === undefined;
}

function plannedOf(
  { chosen, wave, share, objects, fault }: RenderedCluster,
  { lateClusters: late, writingClusters }: CurrentPlan,
): PlannedFacts {
  return {
    wave,
    ...(late.has(chosen.cluster) ? { isLate: true } : {}),
    ...(share === undefined ? {} : { replicas: share.to }),
    ...(share?.divided === undefined ? {} : { divided: share.divided }),
    objects,
    ...(fault === undefined && !writingClusters.has(chosen.cluster) ? {} : { isUnknown: true }),
  };
}

function mirroredOf(members: Members, cluster: ClusterName, key: ObjectKey): MirroredObject {
  return members.objects.read(cluster, groupKindOfKey(key), namespacedNameOf(key));
}

type ProblemFact = Pick<ClusterFacts, 'problem'>;

/**
 * Returns the first problem that applies: the cluster is suspended, has a fault, has a copy with a problem, or waits for the confirmation
 * of a prune.
 */
function problemOf(context: AssessmentContext): ProblemFact {
  const { input, rendered, clusterState, isSuspended, line, objects } = context;
  const { verdict } = input.plan;
  const fault = rendered?.fault ?? clusterState?.fault;
  if (isSuspended) return { problem: { reason: 'Suspended', message: 'spec.suspend suspends this cluster or all clusters' } };
  if (fault !== undefined) {
    const { code, message } = fault;
    const since = line?.fault?.code === code ? line.fault.since : new Date(input.nowMs).toISOString();
    return { problem: { reason: copyReasonOf(fault), message, fault: { code, message, since } } };
  }
  const ofCopies = problemOfCopies({ ...context, generation: input.plan.generation });
  if (ofCopies !== undefined) return ofCopies;
  const isMoving = movingClusters(input.plan.rendered.leaving).has(context.cluster);
  return verdict.result === 'holdPrune' && !isMoving && objects.some(isRemoval)
    ? { problem: { reason: 'PruneHeld', message: verdict.why } }
    : {};
}

/** The input of the search for a problem of copies. */
export interface CopyProblemInput extends Pick<AssessmentContext, 'objects' | 'share' | 'line' | 'clusterState'> {
  /** Only problems of this generation count. Default: all problems count. */
  readonly generation?: number;
}

/**
 * Returns the problem of the first copy that has one, in write order. Undefined if no copy has a problem. If this process tried to write
 * the copy, the outcome of that write decides. Without an outcome, the fault in the inventory decides, because another process recorded it.
 * The fault counts only if, by the line in the status, this generation was started in the cluster.
 */
export function problemOfCopies({ objects, share, line, clusterState, generation }: CopyProblemInput): ProblemFact | undefined {
  const isOfNow = generation === undefined || line?.generation === generation;
  const entries = new Map(share?.entries.map((entry) => [textOfKey(entry.key), entry]));
  const texts = new Set([...objects.map(({ key }) => textOfKey(key)), ...entries.keys()]);
  for (const text of texts) {
    const outcome = clusterState?.outcomes.get(text);
    const fault = entries.get(text)?.fault;
    const reason = outcome?.reason ?? reasonKept(line, fault);
    if (outcome === undefined ? fault === undefined || !isOfNow : fault === undefined && outcome.reason === undefined) continue;
    const message = outcome?.message ?? fault?.message ?? '';
    return { problem: { message, ...(reason === undefined ? {} : { reason }), ...(fault === undefined ? {} : { fault }) } };
  }
  return undefined;
}

function reasonKept(line: ClusterLine | undefined, fault: RecordedFault | undefined): CopyReason | undefined {
  return fault !== undefined && line?.fault?.code === fault.code ? line.reason : undefined;
}
