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
import type { ExistingPropagation, PlanRequest } from '../plan/snapshot/plan-request.ts';
import { type PropagationsPorts, requesterOf } from './api-ports.ts';
import { hubUnavailable, maxHubWaitMs } from './ready-hub.ts';
import { readPropagationInput } from './requested-propagation.ts';

/**
 * What the input would do. Of what is there already the mirror is asked; a hub that does not answer is a fault of the plan, which is then made as if
 * there were nothing.
 */
export async function planInput(
  ports: PropagationsPorts,
  { caller, signal }: WriteContext,
  input: PropagationInput,
): Promise<PropagationPlan> {
  const asked = readPropagationInput(input, requesterOf(ports, caller));
  if (asked.result === 'invalid') return refusedPlan(ports, input, asked.notes);
  const { place, spec } = asked;
  const found: MirroredPropagation = ports.hub === undefined ? { propagation: undefined } : await readMirror(ports.hub, place, signal);
  const existing =
    ports.hub === undefined || found.propagation === undefined
      ? undefined
      : await existingPropagationOf(ports.hub, found.propagation, signal);
  const plan = await ports.planner.plan(planRequestOf({ place, spec, before: found.propagation, existing, signal }));
  return found.fault === undefined ? plan : { ...plan, faults: [...plan.faults, found.fault] };
}

/** What is to be decided about a spec at that place. */
export function planRequestOf(asked: {
  readonly place: PropagationName;
  readonly spec: PropagationSpec;
  readonly before: Propagation | undefined;
  readonly existing: ExistingPropagation | undefined;
  readonly signal: AbortSignal;
}): PlanRequest {
  const { place, spec, before, existing, signal } = asked;
  const replaced = before === undefined ? {} : { replaced: { uid: before.metadata.uid, generation: before.metadata.generation } };
  return { ...place, spec, purpose: 'decide', ...(existing === undefined ? {} : { existing }), ...replaced, signal };
}

/**
 * What of a Propagation that is there a new plan begins with.
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
  /** Why it is not known. */
  readonly fault?: Fault;
}

async function readMirror({ hub, propagations }: HubStores, place: PropagationName, signal: AbortSignal): Promise<MirroredPropagation> {
  const { cluster, members } = hub;
  if (propagations.read(place).result === 'unread') {
    await members.objects.whenRead([{ cluster, kind: hubKinds.propagation }], maxHubWaitMs, signal);
  }
  const read = propagations.read(place);
  if (read.result === 'unread') return { propagation: undefined, fault: read.fault };
  return { propagation: read.result === 'held' ? read.propagation : undefined };
}

/** A plan of what cannot be planned: its notes say why. */
function refusedPlan({ clock }: PropagationsPorts, input: PropagationInput, notes: readonly Note[]): PropagationPlan {
  const digest = sha256Of(documentOf(input).document);
  return { digest, ok: false, asOfMs: clock.now(), unplaced: 0, waves: [], clusters: [], notes, faults: [] };
}

/**
 * The spec that the status was decided for, from its revision on the hub: the resource itself has only the newest. Undefined before the first decision,
 * or if that revision is gone.
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
