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
import { hashOfSources } from '../plan/snapshot/frozen-sources.ts';
import type { PlanRequest } from '../plan/snapshot/plan-request.ts';
import { type HubPorts, requesterOf } from './api-ports.ts';
import { hasFailed } from './has-failed.ts';
import { existingPropagationOf, planRequestOf, takenNameNotes } from './plan-input.ts';
import { propagationViewOf } from './propagation-view.ts';
import { readInputInSlices } from './read-input-in-slices.ts';
import { type InputResult, inputNoteOf } from './read-propagation-input.ts';
import { fetchPropagation, hubUnavailable, retryConflicts, type WriteAttempt, waitUntilMirrored } from './ready-hub.ts';

/**
 * The arguments of `propagate`. With a digest, only the plan with that digest is carried out: any other plan gives `PLAN_STALE`. Default:
 * any plan.
 */
interface PropagateRequest {
  readonly input: PropagationInput;
  readonly digest?: string | null | undefined;
}

type ValidInput = Extract<InputResult, { readonly result: 'valid' }>;

/**
 * The input of one attempt to write: the request, and the Propagation as the hub has it now. `before` is undefined if there is none. A
 * `digest` of null accepts any plan.
 */
interface Decision {
  readonly requested: ValidInput;
  readonly digest: string | null;
  readonly before: Propagation | undefined;
}

/**
 * Plans an input, and writes its spec to the hub if the plan has no errors. Repeats both if another client writes the Propagation in
 * between.
 *
 * @throws {MusterError} `UNAVAILABLE` if the hub does not answer.
 */
export async function propagateInput(
  ports: HubPorts,
  context: WriteContext,
  { input, digest = null }: PropagateRequest,
): Promise<PropagationOutcome> {
  const requested = await readInputInSlices(context, input, requesterOf(ports, context.caller));
  if (requested.result === 'invalid') return { result: 'REFUSED', notes: requested.notes, faults: [] };
  return await retryConflicts(async () => {
    const before = await fetchPropagation(ports.stores, requested.name, context.signal);
    return await attemptPropagate(ports, { requested, digest, before }, context.signal);
  });
}

async function attemptPropagate(ports: HubPorts, decision: Decision, signal: AbortSignal): Promise<WriteAttempt> {
  const { requested, digest, before } = decision;
  if (before?.metadata.deletionTimestamp !== undefined) {
    return refusedOutcome([inputNoteOf({ path: 'name', message: 'is being deleted: wait until it is gone, or choose another name' })]);
  }
  const taken = takenNameNotes(before, requested.spec);
  if (taken.length > 0) return refusedOutcome(taken);
  if (before !== undefined && isUnchanged(decision, before)) {
    return { result: 'UNCHANGED', propagation: propagationViewOf(ports.stores, before, []), notes: [], faults: [] };
  }
  const existing = before === undefined ? undefined : await existingPropagationOf(ports.stores, before, signal);
  const planned = await planOf(ports, planRequestOf({ name: requested.name, spec: requested.spec, before, existing, signal }), digest);
  const { notes } = planned.plan;
  if (digest !== null && planned.plan.digest !== digest) return { result: 'PLAN_STALE', ...planned.shown, notes, faults: [] };
  // A prune that needs confirmation is not an error of the input. The controller holds it until a user confirms it.
  if (!planned.plan.ok) return { ...refusedOutcome(notes), ...planned.shown };
  const written = await write(ports, { ...decision, requested: withAcceptedSources(requested, planned.plan) }, signal);
  return typeof written === 'object' && written.result === 'ACCEPTED' ? { ...written, notes } : written;
}

/**
 * Returns the request with a hash of the references and dependencies in its plan. The controller may decide the generation much later, for
 * example while no gateway leads, and it then refuses other content.
 */
function withAcceptedSources(requested: ValidInput, { contents }: PlannedInput['plan']): ValidInput {
  const { spec } = requested;
  if (spec.requester === undefined || contents === undefined || (contents.length === 0 && !spec.dependencies)) return requested;
  return { ...requested, spec: { ...spec, requester: { ...spec.requester, sources: hashOfSources(contents) } } };
}

/** A plan. `shown` is added to the answer: it contains the plan if dry runs were made, and is empty otherwise. */
interface PlannedInput {
  readonly plan: RenderedPlan | PropagationPlan;
  readonly shown: { readonly plan?: PropagationPlan };
}

/**
 * Plans the request. With a digest or `onFailure: Rollback`, this includes dry runs: the digest must match the plan that was shown, and a
 * rollout that would fail should be refused before it starts. In all other cases the mirrors are enough.
 */
async function planOf({ planner }: HubPorts, request: PlanRequest, digest: string | null): Promise<PlannedInput> {
  if (digest === null && request.spec.rollout.onFailure !== 'Rollback') return { plan: await planner.render(request), shown: {} };
  const plan = await planner.plan(request);
  return { plan, shown: { plan } };
}

/**
 * True if the input equals the existing spec and labels, and the current generation has not failed. If true, the hub is not written.
 *
 * While the controller has not seen the generation, or while the Propagation is `Held`, the digest must also equal the last requested one.
 * Otherwise the digest is not compared.
 */
function isUnchanged({ requested: { spec, labels }, digest }: Decision, before: Propagation): boolean {
  const { metadata, status } = before;
  if (sameSpec(before, spec) === undefined) return false;
  if (labels !== undefined && canonicalJson(labels) !== canonicalJson(metadata.labels)) return false;
  if (hasFailed(before)) return false;
  const isDone = status.observedGeneration === metadata.generation && status.phase !== 'Held';
  return isDone || (metadata.annotations[marks.planDigest] ?? null) === digest;
}

/** Returns the existing spec if it equals the new one, else undefined. The requester and the time of the request are not compared. */
function sameSpec({ spec: before }: Propagation, spec: PropagationSpec): PropagationSpec | undefined {
  if ('problems' in before) return undefined;
  const [existing, requested] = [before, spec].map(({ requester: _, ...rest }) => canonicalJson(printSpec(rest)));
  return existing === requested ? before : undefined;
}

async function write(ports: HubPorts, { requested, digest, before }: Decision, signal: AbortSignal): Promise<WriteAttempt> {
  const { name, labels, spec } = requested;
  // An equal spec keeps the requester of the first request, so that it makes no new generation. After a failure, the spec gets the new
  // requester. This makes a new generation, which starts the work again.
  const same = before === undefined || hasFailed(before) ? undefined : sameSpec(before, spec);
  const annotations = { [marks.planDigest]: digest, ...clearRollback };
  const change = { document: printSpec(same ?? spec), annotations, ...(labels === undefined ? {} : { labels }) };
  return await saveSpec(ports, { name, before, change }, signal);
}

/** A spec to write. Without `before`, the Propagation is created; else its spec is replaced. */
interface SpecToSave {
  readonly name: PropagationName;
  readonly before: Propagation | undefined;
  readonly change: SpecChange;
}

/**
 * Writes the spec to the hub, and waits until the mirror has it. Returns `again` if another client wrote the Propagation in between.
 *
 * No code calls the controller from here. The controller of the leader watches the hub, sees the written Propagation, and carries it out:
 * `runTerm` in `controller/run-term.ts`.
 *
 * @throws {MusterError} `UNAVAILABLE` if the hub does not answer.
 */
export async function saveSpec(ports: HubPorts, { name, before, change }: SpecToSave, signal: AbortSignal): Promise<WriteAttempt> {
  const { stores } = ports;
  const written = await (before === undefined
    ? stores.propagations.create(name, change, signal)
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

/** Returns the reasons why the hub refused a write as notes, with the messages of its API server. */
function notesOfHubFault({ code, message, status }: Fault): readonly Note[] {
  if (code === 'NOT_FOUND') return [inputNoteOf({ path: 'namespace', message: status?.message ?? message })];
  const causes = (status?.causes ?? []).map((cause) =>
    inputNoteOf({ path: (cause.field ?? '').replace(/^spec\./, ''), message: cause.message ?? message }),
  );
  return causes.length > 0 ? causes : [inputNoteOf({ path: '', message: status?.message ?? message })];
}

/** Returns the outcome `REFUSED` with the reasons. */
export function refusedOutcome(notes: PropagationOutcome['notes']): PropagationOutcome {
  return { result: 'REFUSED', notes, faults: [] };
}
