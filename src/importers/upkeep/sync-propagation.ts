import { describeFault } from '../../changes/describe-fault.ts';
import type { Fault } from '../../core/faults.ts';
import { sha256Of } from '../../core/json/canonical-json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { retryAfterMs } from '../../propagate/controller/state/work-queue.ts';
import type { PropagationWrite } from '../../propagate/hub/propagation-store.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import { currentPropagation, fetchCurrentPropagation, rememberPropagation } from './current-propagation.ts';
import { ownershipOf, ownersWith, type ResourceOwnership } from './ownership.ts';
import { hubRecheckMs, recordPropagation } from './propagation-record.ts';
import type { UpkeepOutcome } from './resource-status.ts';
import { translationOf } from './resource-translations.ts';
import type { ResourceTranslation, TranslatedResource } from './translate-resource.ts';
import { retryUpkeepLater, type UpkeepPass } from './upkeep-pass.ts';

/** Maximum number of attempts in one pass to write a Propagation that other clients change at the same time. */
const maxAttempts = 3;
/**
 * After this time without a change by another client, in milliseconds, the count of such changes starts again. The first change is undone
 * at once, and later ones only after a growing delay.
 */
const calmMs = 600_000;

/** The outcome of a pass, and the delay until the next one. */
export interface SyncedPropagation {
  /** The outcome for the status of the resource. Absent if nothing new is known, so the status stays. */
  readonly outcome?: UpkeepOutcome;
  /** The delay until the next pass, in milliseconds. Default: only a change triggers it. */
  readonly againMs?: number;
}

/** A resource and the Propagation of its name, if there is one. */
interface ResourcePair {
  readonly resource: KubernetesObject;
  readonly propagation: Propagation | undefined;
}

/**
 * Creates the Propagation of a resource, or corrects it if it differs from the resource. A foreign Propagation is not changed. An invalid
 * resource keeps the Propagation that it had. Every write is guarded by the version that was read.
 */
export async function syncPropagation(pass: UpkeepPass, resource: KubernetesObject): Promise<SyncedPropagation> {
  const translation = translationOf(pass, resource);
  let found = currentPropagation(pass);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    // The mirror triggers a pass once it has its first list.
    if (found === 'unread') return {};
    const pair = { resource, propagation: found === 'absent' ? undefined : found };
    const settled = settledWithoutWrite(pass, pair, translation);
    if (settled !== undefined) return settled;
    if (translation.result === 'broken' || !pass.term.isLeading()) return {};
    const stale = ownershipIn(pass, pair) === 'own' ? undefined : await staleResource(pass, resource);
    if (stale !== undefined) return stale;
    const unrecorded = await recordPropagation(pass, resource, pair.propagation === undefined ? 'intended' : 'decided');
    if (unrecorded?.fault !== undefined) return failedWrite(pass, pair, { fault: unrecorded.fault, notes: translation.notes });
    if (unrecorded !== undefined) return { againMs: hubRecheckMs };
    const written = await writePropagation(pass, pair, translation);
    if (written.result === 'written') return { outcome: { propagation: written.propagation, notes: translation.notes } };
    if (written.result === 'failed') return failedWrite(pass, pair, { fault: written.fault, notes: translation.notes });
    // Another client was faster.
    const fetched = await fetchCurrentPropagation(pass);
    if (fetched !== 'absent' && 'fault' in fetched) return { againMs: retryUpkeepLater(pass, fetched.fault) };
    found = fetched;
  }
  return { againMs: retryAfterMs(1, pass.ports.clock.random()) };
}

/** Returns the relation of the Propagation to the resource. Undefined if there is no Propagation. */
function ownershipIn({ ports }: UpkeepPass, { resource, propagation }: ResourcePair): ResourceOwnership | undefined {
  return propagation === undefined ? undefined : ownershipOf(propagation, resource, ports.hub.cluster);
}

/**
 * Asks the hub whether the resource still exists and is not being deleted. Undefined if so. Returns the delay until the next pass if not,
 * or if the hub does not answer. A Propagation that gets a deleted resource as its owner would be deleted with all copies.
 *
 * Must be called after the Propagation was read: `kubectl delete --cascade=orphan` first marks the resource as being deleted, and then
 * removes it from the owners of the Propagation. The mirror of the resource may be behind that of the Propagation.
 */
async function staleResource(
  pass: UpkeepPass,
  { metadata: { uid } }: KubernetesObject,
): Promise<Pick<SyncedPropagation, 'againMs'> | undefined> {
  const live = await pass.resources.fetch(pass.state.name, pass.term.signal);
  if (live.result === 'failed') return { againMs: retryUpkeepLater(pass, live.fault) };
  if (live.result !== 'written') return { againMs: hubRecheckMs };
  const { metadata } = live.object;
  return metadata.uid === uid && metadata.deletionTimestamp === undefined ? undefined : { againMs: hubRecheckMs };
}

/** Returns the outcome if nothing is to be written now. Undefined if the Propagation must be created or corrected. */
function settledWithoutWrite(pass: UpkeepPass, pair: ResourcePair, translation: ResourceTranslation): SyncedPropagation | undefined {
  const { resource, propagation } = pair;
  const { notes } = translation;
  const ownership = ownershipIn(pass, pair);
  if (ownership === 'foreign') return { outcome: nameTaken(pass, notes) };
  if (translation.result === 'broken') return { outcome: { propagation, problem: translation.message, notes } };
  if (propagation === undefined) return delayedCorrection(pass, { notes }, translation.hash);
  const outcome = { propagation, notes };
  // A Propagation that is being deleted is created again once it is gone.
  if (propagation.metadata.deletionTimestamp !== undefined) return { outcome };
  if (ownership === 'own' && hasWantedSpec(pass, { resource, propagation }, translation.hash)) return { outcome };
  return delayedCorrection(pass, outcome, translation.hash);
}

function nameTaken({ state }: UpkeepPass, notes: UpkeepOutcome['notes']): UpkeepOutcome {
  const message = `the Propagation ${state.name.name} exists and does not belong to this resource: delete or rename one of them`;
  return { problem: `NAME_TAKEN: ${message}`, notes: [{ severity: 'ERROR', code: 'NAME_TAKEN', message }, ...notes] };
}

/**
 * True if the spec of the Propagation does what the resource says.
 *
 * A cluster that left the fleet stays in the placement as long as nothing else changes. Otherwise its copies would be deleted when it comes
 * back, and then be created again.
 */
function hasWantedSpec(
  pass: UpkeepPass,
  { resource, propagation }: { readonly resource: KubernetesObject; readonly propagation: Propagation },
  wanted: string,
): boolean {
  const { spec } = propagation;
  const hash = sha256Of(propagation.document);
  const { accepted } = pass.state;
  if (hash === wanted || (accepted?.wanted === wanted && accepted.stored === hash)) return true;
  const placed = 'problems' in spec ? [] : (spec.placement.clusters ?? []);
  const left = placed.filter((cluster) => !pass.fleet.has(cluster));
  const withLeft = left.length === 0 ? undefined : translationOf(pass, resource, left);
  return withLeft?.result === 'translated' && withLeft.hash === hash;
}

/** Returns the outcome with a delay if other clients keep changing the Propagation. Undefined if it may be corrected now. */
function delayedCorrection({ ports, state }: UpkeepPass, outcome: UpkeepOutcome, wanted: string): SyncedPropagation | undefined {
  // A correction is delayed only after this process has written this spec. Before that, no other client can have changed it back.
  if (state.accepted?.wanted !== wanted) return undefined;
  const waitMs = state.corrections.dueMs - ports.clock.monotonic();
  return waitMs > 0 ? { ...(outcome.propagation === undefined ? {} : { outcome }), againMs: waitMs } : undefined;
}

async function writePropagation(
  pass: UpkeepPass,
  { resource, propagation }: ResourcePair,
  { hash, document }: TranslatedResource,
): Promise<PropagationWrite> {
  const { ports, state, term } = pass;
  const change = { document: document(), owners: ownersWith(resource, propagation?.metadata.owners ?? []) };
  const written = await (propagation === undefined
    ? ports.propagations.create(state.name, change, term.signal)
    : ports.propagations.update(propagation, change, term.signal));
  if (written.result !== 'written') return written;
  if (state.accepted?.wanted === hash) countCorrection(pass);
  rememberPropagation(pass, written.propagation);
  state.accepted = { wanted: hash, stored: sha256Of(written.propagation.document) };
  return written;
}

function countCorrection({ ports, state }: UpkeepPass): void {
  const nowMs = ports.clock.monotonic();
  const { count, dueMs } = state.corrections;
  const next = nowMs - dueMs > calmMs ? 1 : count + 1;
  state.corrections = { count: next, dueMs: nowMs + retryAfterMs(next, ports.clock.random()) };
}

interface FailedWrite {
  readonly fault: Fault;
  readonly notes: UpkeepOutcome['notes'];
}

function failedWrite(pass: UpkeepPass, { propagation }: ResourcePair, { fault, notes }: FailedWrite): SyncedPropagation {
  const againMs = retryUpkeepLater(pass, fault);
  // The status cannot be written either if the hub does not answer.
  return fault.status === undefined ? { againMs } : { outcome: { propagation, problem: describeFault(fault), notes }, againMs };
}
