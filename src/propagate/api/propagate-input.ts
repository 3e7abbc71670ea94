import type { WriteContext } from '../../changes/write-context.ts';
import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { SpecChange } from '../hub/propagation-store.ts';
import { clearRollback } from '../hub/rollback-mark.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationPlan, RenderedPlan } from '../model/plan.ts';
import { marks, type Propagation } from '../model/propagation.ts';
import type { PropagationInput, PropagationName, PropagationOutcome } from '../model/propagations.ts';
import { type PropagationSpec, printSpec } from '../model/spec.ts';
import type { PlanRequest } from '../plan/snapshot/plan-request.ts';
import { type HubPorts, requesterOf } from './api-ports.ts';
import { hasFailed } from './has-failed.ts';
import { existingPropagationOf, planRequestOf } from './plan-input.ts';
import { propagationViewOf } from './propagation-view.ts';
import { fetchPropagation, hubUnavailable, retryConflicts, type WriteAttempt, waitUntilMirrored } from './ready-hub.ts';
import { type InputResult, inputNoteOf, readPropagationInput } from './requested-propagation.ts';

/** What is to be propagated: with a digest, exactly that plan. */
interface PropagateRequest {
  readonly input: PropagationInput;
  readonly digest?: string | null | undefined;
}

type ValidInput = Extract<InputResult, { readonly result: 'valid' }>;

/** What was decided by: the input, and the resource as the hub has it now. */
interface Decision {
  readonly asked: ValidInput;
  readonly digest: string | null;
  readonly before: Propagation | undefined;
}

/**
 * Plans, and writes the spec if nothing stands against it. All is decided again if somebody else wrote in between.
 *
 * @throws {MusterError} `UNAVAILABLE` if the hub does not answer.
 */
export async function propagateInput(
  ports: HubPorts,
  context: WriteContext,
  { input, digest = null }: PropagateRequest,
): Promise<PropagationOutcome> {
  const asked = readPropagationInput(input, requesterOf(ports, context.caller));
  if (asked.result === 'invalid') return { result: 'REFUSED', notes: asked.notes, faults: [] };
  return await retryConflicts(async () => {
    const before = await fetchPropagation(ports.stores, asked.place, context.signal);
    return await attemptPropagate(ports, { asked, digest, before }, context.signal);
  });
}

async function attemptPropagate(ports: HubPorts, decision: Decision, signal: AbortSignal): Promise<WriteAttempt> {
  const { asked, digest, before } = decision;
  if (before?.metadata.deletionTimestamp !== undefined) {
    return refusedOutcome([inputNoteOf({ path: 'name', message: 'is being deleted: wait until it is gone, or take another name' })]);
  }
  if (before !== undefined && isUnchanged(decision, before)) {
    return { result: 'UNCHANGED', propagation: propagationViewOf(ports.stores, before, []), notes: [], faults: [] };
  }
  const existing = before === undefined ? undefined : await existingPropagationOf(ports.stores, before, signal);
  const planned = await planOf(ports, planRequestOf({ place: asked.place, spec: asked.spec, before, existing, signal }), digest);
  const { notes } = planned.plan;
  if (digest !== null && planned.plan.digest !== digest) return { result: 'PLAN_STALE', ...planned.shown, notes, faults: [] };
  // A prune that is to be confirmed is no mistake of the input: the controller holds it until somebody does.
  if (!planned.plan.ok) return { ...refusedOutcome(notes), ...planned.shown };
  const written = await write(ports, decision, signal);
  return typeof written === 'object' && written.result === 'ACCEPTED' ? { ...written, notes } : written;
}

/** The plan, and what of it can be shown. */
interface Planned {
  readonly plan: RenderedPlan | PropagationPlan;
  readonly shown: { readonly plan?: PropagationPlan };
}

/** Without a digest from the mirrors alone; with one it must be the plan that was seen, and a breach that rolls back is asked for before. */
async function planOf({ planner }: HubPorts, request: PlanRequest, digest: string | null): Promise<Planned> {
  if (digest === null && request.spec.rollout.onFailure !== 'Rollback') return { plan: await planner.render(request), shown: {} };
  const plan = await planner.plan(request);
  return { plan, shown: { plan } };
}

/** The same is asked for again. A digest beside it counts where the one before it keeps the generation from being done. */
function isUnchanged({ asked: { spec, labels }, digest }: Decision, before: Propagation): boolean {
  const { metadata, status } = before;
  if (sameSpec(before, spec) === undefined) return false;
  if (labels !== undefined && canonicalJson(labels) !== canonicalJson(metadata.labels)) return false;
  if (hasFailed(before)) return false;
  const isDone = status.observedGeneration === metadata.generation && status.phase !== 'Held';
  return isDone || (metadata.annotations[marks.planDigest] ?? null) === digest;
}

/** The spec that stands there, if it says the same: all but who asked, and when. */
function sameSpec({ spec: before }: Propagation, spec: PropagationSpec): PropagationSpec | undefined {
  if ('problems' in before) return undefined;
  const [there, asked] = [before, spec].map(({ requester: _, ...rest }) => canonicalJson(printSpec(rest)));
  return there === asked ? before : undefined;
}

async function write(ports: HubPorts, { asked, digest, before }: Decision, signal: AbortSignal): Promise<WriteAttempt> {
  const { place, labels, spec } = asked;
  // Who asks a second time for the same makes no generation; but where it failed, the new request is what begins it anew.
  const same = before === undefined || hasFailed(before) ? undefined : sameSpec(before, spec);
  const annotations = { [marks.planDigest]: digest, ...clearRollback };
  const change = { document: printSpec(same ?? spec), annotations, ...(labels === undefined ? {} : { labels }) };
  return await saveSpec(ports, { place, before, change }, signal);
}

/** A spec to be written: created where there was nothing, else in the place of what was read. */
interface SpecToSave {
  readonly place: PropagationName;
  readonly before: Propagation | undefined;
  readonly change: SpecChange;
}

/**
 * Writes it, and waits until it can be read back. `again` if somebody else wrote in between.
 *
 * @throws {MusterError} `UNAVAILABLE` if the hub does not answer.
 */
export async function saveSpec(ports: HubPorts, { place, before, change }: SpecToSave, signal: AbortSignal): Promise<WriteAttempt> {
  const { stores } = ports;
  const written = await (before === undefined
    ? stores.propagations.create(place, change, signal)
    : stores.propagations.update(before, change, signal));
  switch (written.result) {
    case 'written':
      await waitUntilMirrored(ports, written.propagation, signal);
      return { result: 'ACCEPTED', propagation: propagationViewOf(stores, written.propagation, []), notes: [], faults: [] };
    case 'conflict':
    case 'absent':
      return 'again';
    case 'failed':
      if (written.fault.retry !== 'NEVER' && written.fault.code !== 'NOT_FOUND') throw hubUnavailable(written.fault);
      return { ...refusedOutcome(notesOfHubFault(written.fault)), faults: [written.fault] };
    default:
      return written satisfies never;
  }
}

/** Why the hub would not take it, in its own words. */
function notesOfHubFault({ code, message, status }: Fault): readonly Note[] {
  if (code === 'NOT_FOUND') return [inputNoteOf({ path: 'namespace', message: status?.message ?? message })];
  const causes = (status?.causes ?? []).map((cause) =>
    inputNoteOf({ path: (cause.field ?? '').replace(/^spec\./, ''), message: cause.message ?? message }),
  );
  return causes.length > 0 ? causes : [inputNoteOf({ path: '', message: status?.message ?? message })];
}

/** Nothing was written, and why. */
export function refusedOutcome(notes: PropagationOutcome['notes']): PropagationOutcome {
  return { result: 'REFUSED', notes, faults: [] };
}
