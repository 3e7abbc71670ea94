import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { ClusterName } from '../../core/names.ts';
import { rollbackOf } from '../hub/rollback-mark.ts';
import type { Note } from '../model/notes.ts';
import type { RenderedPlan } from '../model/plan.ts';
import { type Eviction, isDecided, marks, type Propagation, type PropagationRevision, type RequestedPlan } from '../model/propagation.ts';
import { documentWithoutRequester, type PropagationSpec, parseSpec } from '../model/spec.ts';
import type { RollbackTarget } from '../plan/copies/copy-work.ts';
import { countCopies, movingClusters } from '../plan/held-prune.ts';
import { possibleDigestsOf } from '../plan/plan-digest.ts';
import { isForOneGeneration, unacceptedSourceNotes } from '../plan/snapshot/frozen-sources.ts';
import type { ExistingPropagation, PlanRequest } from '../plan/snapshot/plan-request.ts';
import { heldPruneOf, isConfirmed, maxObjectsOf, openPrune } from './open-prune.ts';
import type { ControllerPorts } from './state/ports.ts';
import { busyClusters, type CurrentPlan, type PlanVerdict, type PropagationState } from './state/propagation-state.ts';

/** The input of a plan: a Propagation with a valid spec. */
export interface PlanContext {
  readonly state: PropagationState;
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
}

/**
 * Plans the current generation of a Propagation, from the mirrors as they are now. Returns a fault if the revisions cannot be read from the
 * hub.
 *
 * The first plan of a generation that is saved to the status decides it. Later plans keep this decision and only adapt it to changes of the
 * fleet. If a later plan has errors, the existing copies stay.
 */
export async function planGeneration(
  ports: ControllerPorts,
  planning: PlanContext,
  signal: AbortSignal,
): Promise<CurrentPlan | { readonly fault: Fault }> {
  const { state, propagation, spec } = planning;
  const { namespace, name, uid } = propagation.metadata;
  const past = await priorDecisionOf(ports, planning, signal);
  if ('fault' in past) return past;
  const { decided, ...kept } = past;
  const writingClusters = busyClusters(state);
  const { isReturn = false, evictions = propagation.status.evictions ?? [] } = state.evictions ?? {};
  const status = { ...propagation.status, evictions };
  const existing: ExistingPropagation = { uid, status, ...(decided === undefined ? {} : { decided }) };
  const shares = [...(state.shares?.values() ?? [])];
  const purpose = isDecided(propagation) ? 'keep' : 'decide';
  const isFrozen = purpose === 'keep' && isForOneGeneration(ports.accounts, spec);
  const frozen = isFrozen ? (status.sources ?? []) : undefined;
  const request: PlanRequest = { namespace, name, spec, purpose, existing, frozen, shares, isReturn, signal };
  const rendered = await renderChecked(ports, request);
  const changed = purpose === 'decide' ? unacceptedSourceNotes(spec, rendered) : [];
  const ok = rendered.ok && changed.length === 0;
  return decisionOf(ports, planning, { ...kept, writingClusters, rendered: { ...rendered, ok, notes: [...rendered.notes, ...changed] } });
}

/** The facts that earlier generations leave for the next plan. */
interface PriorDecision {
  /** The spec whose plan is in the status. Absent before the first decision. */
  readonly decided?: PropagationSpec;
  /** The revision number of the current generation. */
  readonly revision: number;
  /** Set if the current generation goes back to an older revision. */
  readonly rollback?: RollbackTarget | undefined;
}

/**
 * Reads the prior decision. For a generation that was decided already, the status and the current spec are enough. The kept revisions are
 * read from the hub for a new decision and for a rollback.
 */
async function priorDecisionOf(
  ports: ControllerPorts,
  { propagation, spec }: PlanContext,
  signal: AbortSignal,
): Promise<PriorDecision | { readonly fault: Fault }> {
  const { revisions } = ports.stores;
  const { status } = propagation;
  const wasDecided = isDecided(propagation);
  const target = rollbackOf(propagation);
  if (wasDecided && target === undefined) return { decided: spec, revision: status.revision ?? 1 };
  const kept = await revisions.list(propagation, signal);
  if ('fault' in kept) return kept;
  const revision = wasDecided ? (status.revision ?? 1) : nextRevision(propagation, kept, spec);
  const to = target !== undefined && hasSpec(kept, target, spec) ? target : undefined;
  const rollback = to === undefined ? undefined : await takenOverSince(ports, propagation, { kept, to, revision }, signal);
  if (rollback !== undefined && 'fault' in rollback) return rollback;
  const last = kept.find((one) => one.revision === status.revision);
  const parsed = last === undefined ? undefined : parseSpec(last.document);
  const decided = wasDecided ? spec : parsed === undefined || 'problems' in parsed ? undefined : parsed;
  return { revision, rollback, ...(decided === undefined ? {} : { decided }) };
}

/**
 * True if the target revision is kept and has this spec. If a user changed the spec after a rollback, the mark of the rollback is still
 * there but has no effect.
 */
function hasSpec(kept: readonly PropagationRevision[], target: number, spec: PropagationSpec): boolean {
  const found = kept.find(({ revision }) => revision === target);
  return found !== undefined && canonicalJson(found.document) === canonicalJson(documentWithoutRequester(spec));
}

/**
 * Returns the target of a rollback, with the old values of all objects that were taken over by revisions after `to` and before `revision`.
 */
async function takenOverSince(
  { stores: { revisions } }: ControllerPorts,
  propagation: Propagation,
  { kept, to, revision }: { readonly kept: readonly PropagationRevision[]; readonly to: number; readonly revision: number },
  signal: AbortSignal,
): Promise<RollbackTarget | { readonly fault: Fault }> {
  const since = kept.filter((one) => one.revision > to && one.revision < revision);
  const old = await Promise.all(since.map((one) => revisions.oldValues(propagation, one.revision, signal)));
  const missing = old.find((values) => 'fault' in values);
  if (missing !== undefined && 'fault' in missing) return missing;
  return { targetRevision: to, oldValues: old.flatMap((values) => ('fault' in values ? [] : values)) };
}

/**
 * Returns the number of a kept revision with the same spec, if it is not older than the revision in the status. Else returns the next free
 * number. So a revision that was recorded before a crash, or by another process, is used again although the status does not name it.
 */
function nextRevision({ status }: Propagation, kept: readonly PropagationRevision[], spec: PropagationSpec): number {
  const known = status.revision ?? 0;
  const text = canonicalJson(documentWithoutRequester(spec));
  const same = kept.find(({ revision, document }) => revision >= known && canonicalJson(document) === text);
  return same?.revision ?? Math.max(known, kept[0]?.revision ?? 0) + 1;
}

/**
 * Renders the plan. For a new decision with `onFailure: Rollback`, also checks rights and makes dry runs, so that no breach comes from an
 * error that could be known before (docs/internals/propagation.md 5.5).
 */
async function renderChecked({ planner }: ControllerPorts, request: PlanRequest): Promise<RenderedPlan> {
  const rendered = await planner.render(request);
  if (!rendered.ok || request.purpose === 'keep' || request.spec.rollout.onFailure !== 'Rollback') return rendered;
  const { ok, notes } = await planner.preflight(request);
  return ok ? rendered : { ...rendered, ok, notes };
}

function decisionOf(
  ports: ControllerPorts,
  planning: PlanContext,
  { rendered, revision, rollback, writingClusters }: Pick<CurrentPlan, 'rendered' | 'revision' | 'rollback' | 'writingClusters'>,
): CurrentPlan {
  const { propagation } = planning;
  const { metadata, status } = propagation;
  const { uid, generation } = metadata;
  const wasDecided = isDecided(propagation);
  const requested = requestedPlanOf(propagation);
  const [usual, ...others] = possibleDigestsOf(rendered.content, metadata);
  const digest = (wasDecided ? status.digest : undefined) ?? others.find((one) => one === requested?.digest) ?? usual ?? rendered.digest;
  const verdict = verdictOf(ports, planning, rendered);
  return {
    uid,
    generation,
    revision,
    scheduledAt: (rendered.fromZero ? undefined : status.scheduledAt) ?? new Date(ports.clock.now()).toISOString(),
    digest,
    rendered,
    verdict,
    sources: wasDecided ? (status.sources ?? []) : (rendered.contents ?? []),
    ...evictionsAfter(ports, planning, rendered),
    mostObjects: maxObjectsOf(propagation, { ...copiesIn(planning, rendered), wasDecided, verdict }),
    requested,
    isPinned: requested?.generation === generation && requested.digest === digest,
    lateClusters: lateClustersOf(rendered, propagation),
    rollback,
    writingClusters,
  };
}

/**
 * Returns the evictions as the plan changes them. Each existing eviction gets the clusters to which the plan moves its copies, and ends if
 * the plan chooses the cluster again. If copies return to a cluster that is back, each cluster that loses them gets an eviction with the
 * cause `Return`.
 *
 * Also returns the labels that copies keep when they move.
 */
function evictionsAfter(
  { clock }: ControllerPorts,
  { state, propagation: { status } }: PlanContext,
  { clusters, moves, leaving, preserved }: RenderedPlan,
): Pick<CurrentPlan, 'evictions' | 'preserved'> {
  const { isReturn = false, evictions: before = status.evictions ?? [] } = state.evictions ?? {};
  const known = new Set(before.map(({ cluster }) => cluster));
  const since = new Date(clock.now()).toISOString();
  const returned = leaving.filter(({ cluster }) => isReturn && !known.has(cluster));
  const chosen = new Set<string>(clusters.map((one) => one.chosen.cluster));
  const lasting = before.filter(({ cluster, to }) => to === undefined || !chosen.has(cluster));
  const evictions = lasting.map((eviction): Eviction => {
    const move = moves.find(({ cluster }) => cluster === eviction.cluster);
    return move === undefined ? eviction : { ...eviction, to: [...move.to] };
  });
  return { preserved, evictions: [...evictions, ...returned.map(({ cluster }): Eviction => ({ cluster, cause: 'Return', since }))] };
}

/** Counts the copies in the inventory that do not move, and those that begin to move with this plan. */
function copiesIn(
  { state, propagation: { status } }: PlanContext,
  { leaving }: RenderedPlan,
): { readonly existing: number; readonly moved: number } {
  const moving = movingClusters(leaving);
  const before = new Set(status.evictions?.filter(({ cause, to }) => to !== undefined || cause === 'Return').map(({ cluster }) => cluster));
  const shares = [...(state.shares?.values() ?? [])];
  const beginning = shares.filter(({ cluster }) => moving.has(cluster) && !before.has(cluster));
  return { existing: countCopies(shares.filter(({ cluster }) => !moving.has(cluster))), moved: countCopies(beginning) };
}

/**
 * Returns the digest in the annotation `muster.dev/plan-digest`, with the generation in which it was first seen. Undefined without the
 * annotation. The annotation stays if the spec is later changed without a digest.
 */
function requestedPlanOf({ metadata, status }: Propagation): RequestedPlan | undefined {
  const digest = metadata.annotations[marks.planDigest];
  if (digest === undefined) return undefined;
  return status.asked?.digest === digest ? status.asked : { digest, generation: metadata.generation };
}

/** Decides whether the plan may be carried out. A digest that a user requested counts only until the generation is decided. */
function verdictOf(ports: ControllerPorts, { state, propagation }: PlanContext, rendered: RenderedPlan): PlanVerdict {
  const { metadata, status } = propagation;
  const requested = requestedPlanOf(propagation);
  const isOpen = !isDecided(propagation) && requested?.generation === metadata.generation;
  if (isOpen && !possibleDigestsOf(rendered.content, metadata).includes(requested.digest))
    return { result: 'stale', requested: requested.digest };
  if (rendered.notes.some(isFatal)) return { result: 'refused' };
  if (rendered.pruneHeld === undefined) return rendered.ok ? { result: 'do' } : { result: 'refused' };
  const open = openPrune(rendered, state.shares ?? new Map(), (cluster) => ports.hub.members.get(cluster) !== undefined);
  // Every deletion of this plan has already started.
  if (open.objects === 0) return { result: 'do' };
  const { prune } = status;
  if (prune !== undefined && isConfirmed(open, prune, metadata.annotations[marks.confirmPrune])) return { result: 'do', prune };
  return { result: 'holdPrune', why: rendered.pruneHeld, prune: heldPruneOf(open, prune, ports.clock.now()) };
}

/**
 * True for an error that refuses the plan at once. `PRUNE_HELD` does not, because a user can confirm the prune. Neither does
 * `NOTHING_CHOSEN`: if copies exist, a plan without clusters is a prune that has to be confirmed.
 */
function isFatal({ severity, code }: Note): boolean {
  return severity === 'ERROR' && code !== 'NOTHING_CHOSEN' && code !== 'PRUNE_HELD';
}

/** Returns the clusters of the plan that joined after the generation was decided. Empty before the decision. */
function lateClustersOf(rendered: RenderedPlan, propagation: Propagation): ReadonlySet<ClusterName> {
  if (!isDecided(propagation)) return new Set();
  const lines = propagation.status.clusters ?? [];
  const planned = new Set(lines.flatMap(({ cluster, wave, late }) => (wave === undefined || late === true ? [] : [cluster])));
  return new Set(rendered.clusters.map(({ chosen }) => chosen.cluster).filter((cluster) => !planned.has(cluster)));
}
