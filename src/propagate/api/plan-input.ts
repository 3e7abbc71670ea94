import type { WriteContext } from '../../changes/write-context.ts';
import type { Fault } from '../../core/faults.ts';
import { sha256Of } from '../../core/json/canonical-json.ts';
import { hubKinds } from '../hub/hub.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { RevisionStore } from '../hub/revision-store.ts';
import { documentOf } from '../model/input-spec.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationPlan } from '../model/plan.ts';
import { isDecided, type Propagation } from '../model/propagation.ts';
import type { PropagationInput, PropagationName } from '../model/propagations.ts';
import { type PropagationSpec, parseSpec } from '../model/spec.ts';
import { takenNameProblem } from '../model/taken-name.ts';
import type { ExistingPropagation, PlanRequest } from '../plan/snapshot/plan-request.ts';
import { type PropagationsPorts, requesterOf } from './api-ports.ts';
import { readInputInSlices } from './read-input-in-slices.ts';
import { hubUnavailable, maxHubWaitMs } from './ready-hub.ts';

/**
 * Plans an input without writing anything. An existing Propagation of that name is read from the mirror. If the hub cannot be
 * read, the plan assumes that no such Propagation exists, and contains the fault of the hub.
 */
export async function planInput(ports: PropagationsPorts, context: WriteContext, input: PropagationInput): Promise<PropagationPlan> {
  const { signal } = context;
  const requested = await readInputInSlices(context, input, requesterOf(ports, context.caller));
  if (requested.result === 'invalid') return refusedPlan(ports, input, requested.notes);
  const { name, spec } = requested;
  // A Propagation that the caller may not get is absent for the plan.
  const hub = ports.rights === undefined || (await ports.rights.mayGet(context, name)) ? ports.hub : undefined;
  const found: MirroredPropagation = hub === undefined ? { propagation: undefined } : await readMirror(hub, name, signal);
  const existing =
    hub === undefined || found.propagation === undefined ? undefined : await existingPropagationOf(hub, found.propagation, signal);
  const plan = await ports.planner.plan(planRequestOf({ name, spec, before: found.propagation, existing, signal }));
  const taken = takenNameNotes(found.propagation, spec);
  return {
    ...plan,
    ok: plan.ok && taken.length === 0,
    notes: [...taken, ...plan.notes],
    faults: found.fault === undefined ? plan.faults : [...plan.faults, found.fault],
  };
}

/** Returns an error note if the spec was imported and would replace a Propagation of another origin. */
export function takenNameNotes(before: Propagation | undefined, { source }: PropagationSpec): readonly Note[] {
  const message = before && takenNameProblem(before, source);
  return message === undefined ? [] : [{ severity: 'ERROR', code: 'NAME_TAKEN', message, path: 'source' }];
}

/** Returns the request to plan a spec. `before` is the existing Propagation of this name. */
export function planRequestOf(requested: {
  readonly name: PropagationName;
  readonly spec: PropagationSpec;
  readonly before: Propagation | undefined;
  readonly existing: ExistingPropagation | undefined;
  readonly signal: AbortSignal;
}): PlanRequest {
  const { name, spec, before, existing, signal } = requested;
  const replaced = before === undefined ? {} : { replaced: { uid: before.metadata.uid, generation: before.metadata.generation } };
  return { ...name, spec, purpose: 'decide', ...(existing === undefined ? {} : { existing }), ...replaced, signal };
}

/**
 * Returns the facts from which the next plan of an existing Propagation starts: its uid, its status, and the spec that was decided last.
 *
 * @throws {MusterError} `UNAVAILABLE` if its revisions are needed and cannot be read.
 */
export async function existingPropagationOf(
  { revisions }: HubStores,
  propagation: Propagation,
  signal: AbortSignal,
): Promise<ExistingPropagation> {
  const { metadata, status, spec } = propagation;
  const now = isDecided(propagation) && !('problems' in spec) ? { spec } : await lastSpec(revisions, propagation, signal);
  if ('fault' in now) throw hubUnavailable(now.fault);
  return { uid: metadata.uid, status, ...(now.spec === undefined ? {} : { decided: now.spec }) };
}

interface MirroredPropagation {
  readonly propagation: Propagation | undefined;
  /** Set if the mirror of the hub cannot be read: it is then unknown whether the Propagation exists. */
  readonly fault?: Fault;
}

async function readMirror({ hub, propagations }: HubStores, name: PropagationName, signal: AbortSignal): Promise<MirroredPropagation> {
  const { cluster, members } = hub;
  if (propagations.read(name).result === 'unread') {
    await members.objects.whenRead([{ cluster, kind: hubKinds.propagation }], maxHubWaitMs, signal);
  }
  const read = propagations.read(name);
  if (read.result === 'unread') return { propagation: undefined, fault: read.fault };
  return { propagation: read.result === 'held' ? read.propagation : undefined };
}

/** Returns the plan of an invalid input. It has no clusters, and its notes are the problems of the input. */
function refusedPlan({ clock }: PropagationsPorts, input: PropagationInput, notes: readonly Note[]): PropagationPlan {
  const digest = sha256Of(documentOf(input).document);
  return { digest, ok: false, asOfMs: clock.now(), unplaced: 0, waves: [], clusters: [], notes, faults: [] };
}

/**
 * Reads the spec that was decided last from its revision on the hub, because the Propagation itself has only the newest spec. Undefined
 * before the first decision, or if that revision no longer exists or is invalid.
 */
async function lastSpec(
  revisions: RevisionStore,
  propagation: Propagation,
  signal: AbortSignal,
): Promise<{ readonly spec: PropagationSpec | undefined } | { readonly fault: Fault }> {
  const { revision } = propagation.status;
  if (revision === undefined) return { spec: undefined };
  const kept = await revisions.list(propagation, signal);
  if ('fault' in kept) return kept;
  const last = kept.find((one) => one.revision === revision);
  const spec = last === undefined ? undefined : parseSpec(last.document);
  return { spec: spec === undefined || 'problems' in spec ? undefined : spec };
}
