import type { WriteContext } from '../../changes/write-context.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import { listAt } from '../../core/json-at.ts';
import { type AbandonedShare, abandonedOf, printAbandoned } from '../hub/abandoned.ts';
import type { AnnotationChange } from '../hub/resource-writes.ts';
import { printRollback } from '../hub/rollback-mark.ts';
import { readDeletion } from '../model/input-spec.ts';
import { type ClusterShare, isBeingRemoved } from '../model/inventory.ts';
import type { Note } from '../model/notes.ts';
import { marks, type Propagation, type PropagationRevision } from '../model/propagation.ts';
import type { PropagationName, PropagationOutcome } from '../model/propagations.ts';
import { type DeletionSpec, parseSpec, printSpec, type SpecDocument } from '../model/spec.ts';
import { type HubPorts, requesterOf, timestampOf } from './api-ports.ts';
import { hasFailed } from './has-failed.ts';
import { refusedOutcome, saveSpec } from './propagate-input.ts';
import { propagationViewOf } from './propagation-view.ts';
import { inputNoteOf } from './read-propagation-input.ts';
import { fetchPropagation, hubUnavailable, retryConflicts, type WriteAttempt, waitUntilMirrored } from './ready-hub.ts';

/** Options of `resumePropagation`: whether the held prune is confirmed, and the clusters whose copies are abandoned. */
interface ResumeOptions {
  readonly confirmPrune: boolean;
  readonly abandon: readonly string[];
}

const notFound: PropagationOutcome = { result: 'NOT_FOUND', notes: [], faults: [] };

/** Pauses a rollout. Work goes on in clusters that have started, and no further cluster starts. */
export function pausePropagation(ports: HubPorts, { context, name }: PropagationRequest): Promise<PropagationOutcome> {
  return changePropagation(ports, { context, name }, async (before) => {
    if (before.metadata.annotations[marks.paused] !== undefined) return unchangedOutcome(ports, before);
    return await annotate(ports, { before, annotations: { [marks.paused]: timestampOf(ports.clock) } }, context.signal);
  });
}

/**
 * Resumes a Propagation: writes annotations to it, which the controller carries out. Returns `UNCHANGED` if there is nothing to resume.
 *
 * - Ends a pause and a breach. A later breach stops the rollout again.
 * - Retries failed clusters at once.
 * - With `confirmPrune`, confirms the held prune. Later prunes need a new confirmation.
 * - With `abandon`, gives up the pending deletions in these clusters. They must have left the fleet, or not answer.
 */
export function resumePropagation(
  ports: HubPorts,
  { context, name }: PropagationRequest,
  { confirmPrune, abandon }: ResumeOptions,
): Promise<PropagationOutcome> {
  return changePropagation(ports, { context, name }, async (before) => {
    const { metadata, status } = before;
    const given = await sharesToAbandon(ports, { before, abandon }, context.signal);
    if ('notes' in given) return refusedOutcome(given.notes);
    const isPaused = metadata.annotations[marks.paused] !== undefined || status.paused === true || status.phase === 'Paused';
    const isConfirmed = confirmPrune && status.prune !== undefined && metadata.annotations[marks.confirmPrune] !== status.prune.digest;
    const isResumed = isPaused || hasFailed(before);
    if (!isResumed && !isConfirmed && given.abandoned.length === 0) return unchangedOutcome(ports, before);
    const annotations = {
      ...(isResumed ? { [marks.paused]: null, [marks.resumedAt]: timestampOf(ports.clock) } : {}),
      ...(isConfirmed ? { [marks.confirmPrune]: status.prune?.digest ?? null } : {}),
      ...(given.abandoned.length > 0 ? { [marks.abandon]: printAbandoned([...abandonedOf(before), ...given.abandoned]) } : {}),
    };
    return await annotate(ports, { before, annotations }, context.signal);
  });
}

/**
 * Loads the shares of the clusters to abandon from the hub. Returns error notes instead if one of these clusters has no copies or cannot be
 * abandoned (`canAbandon`).
 */
async function sharesToAbandon(
  { stores }: HubPorts,
  { before, abandon }: { readonly before: Propagation; readonly abandon: readonly string[] },
  signal: AbortSignal,
): Promise<{ readonly abandoned: readonly AbandonedShare[] } | { readonly notes: readonly Note[] }> {
  if (abandon.length === 0) return { abandoned: [] };
  const shares = await stores.shares.load(before.metadata, signal);
  if ('fault' in shares) throw hubUnavailable(shares.fault);
  const notes = abandon.flatMap((cluster) => {
    const share = shares.find((one) => one.cluster === cluster);
    if (share === undefined) return [abandonNote('UNKNOWN_CLUSTER', `expected clusters with copies, got ${JSON.stringify(cluster)}`)];
    return canAbandon(stores, share) ? [] : [abandonNote('INVALID', `${cluster}: ${notAbandonable}`)];
  });
  if (notes.length > 0) return { notes };
  return {
    abandoned: shares.flatMap(({ cluster, uid }) => (uid !== undefined && abandon.includes(cluster) ? [{ cluster, share: uid }] : [])),
  };
}

const notAbandonable =
  'expected copies that are to be deleted, in a cluster that does not answer or has left the fleet: these copies are wanted, or can be deleted';

/**
 * True if the cluster has left the fleet or does not answer, and every copy in it is being removed. Shared objects may remain, because they
 * are never deleted.
 */
function canAbandon({ hub }: HubPorts['stores'], { cluster, entries }: ClusterShare): boolean {
  const member = hub.members.get(cluster);
  const isAway = member === undefined || member.phase === 'UNREACHABLE';
  return isAway && entries.every((entry) => isBeingRemoved(entry) || entry.state === 'Shared');
}

/**
 * Rolls a Propagation back: writes the spec of `revision` to the hub, which makes a new generation. The controller carries it out. Returns
 * `UNCHANGED` if that spec is the current one.
 *
 * Default of `revision`: the newest one that has another spec than now and was not rolled back.
 */
export function rollBackPropagation(
  ports: HubPorts,
  { context, name }: PropagationRequest,
  revision: number | undefined,
): Promise<PropagationOutcome> {
  return changePropagation(ports, { context, name }, async (before) => {
    if (before.metadata.deletionTimestamp !== undefined)
      return refusedOutcome([inputNoteOf({ path: 'name', message: 'is being deleted' })]);
    const kept = await ports.stores.revisions.list(before, context.signal);
    if ('fault' in kept) throw hubUnavailable(kept.fault);
    const target = kept.find((one) =>
      revision === undefined ? !one.isRolledBack && !hasSameSpec(before, one) : one.revision === revision,
    );
    if (target === undefined) return refusedOutcome([missingRevision(kept, revision)]);
    if (hasSameSpec(before, target)) return unchangedOutcome(ports, before);
    const spec = parseSpec(target.document);
    if ('problems' in spec) return refusedOutcome(spec.problems.map(inputNoteOf));
    const document = printSpec({ ...spec, requester: requesterOf(ports, context.caller) });
    const annotations = { [marks.planDigest]: null, ...printRollback(target.revision, before) };
    return await saveSpec(ports, { name, before, change: { document, annotations } }, context.signal);
  });
}

function hasSameSpec({ document }: Propagation, revision: PropagationRevision): boolean {
  const [now, then] = [document, revision.document].map(({ requester: _, ...spec }) => {
    const read = parseSpec(spec);
    return canonicalJson('problems' in read ? spec : printSpec(read));
  });
  return now === then;
}

function missingRevision(kept: readonly PropagationRevision[], revision: number | undefined) {
  const numbers = kept.map((one) => one.revision).join(', ');
  const have = numbers === '' ? 'there is none yet' : `there are ${numbers}`;
  const wanted =
    revision === undefined
      ? 'expected a revision that has another spec and was not rolled back'
      : `expected an existing revision, got ${revision}`;
  return inputNoteOf({ path: 'revision', message: `${wanted}: ${have}` });
}

/**
 * Deletes a Propagation on the hub. The controller then removes its copies as `spec.deletion` says. If `deletion` is set, it is first
 * written to `spec.deletion`. Default: `spec.deletion` stays.
 */
export function deletePropagation(
  ports: HubPorts,
  { context, name }: PropagationRequest,
  deletion: JsonObject | undefined,
): Promise<PropagationOutcome> {
  return changePropagation(ports, { context, name }, async (before) => {
    const parsed = deletion === undefined ? { deletion: undefined } : readDeletion(deletion);
    if ('problems' in parsed) return refusedOutcome(parsed.problems.map(inputNoteOf));
    const isGoing = before.metadata.deletionTimestamp !== undefined;
    const document = parsed.deletion === undefined ? undefined : withDeletion(before, parsed.deletion);
    if (document === undefined) return isGoing ? unchangedOutcome(ports, before) : await deleteOnHub(ports, before, context.signal);
    const requester = { ...requesterOf(ports, context.caller) };
    const written = await ports.stores.propagations.update(before, { document: { ...document, requester } }, context.signal);
    if (written.result === 'failed') throw hubUnavailable(written.fault);
    if (written.result !== 'written') return 'again';
    return isGoing
      ? acceptedOutcome(ports, written.propagation, context.signal)
      : await deleteOnHub(ports, written.propagation, context.signal);
  });
}

/**
 * Returns the spec document with this `deletion`. Undefined if it has an equal one already. Invalid fields elsewhere in the document are
 * accepted, because a Propagation with an invalid spec can be deleted too.
 */
function withDeletion({ document, spec }: Propagation, deletion: DeletionSpec): SpecDocument | undefined {
  if (!('problems' in spec) && canonicalJson({ ...spec.deletion }) === canonicalJson({ ...deletion })) return undefined;
  return { ...document, template: listAt(document, 'template'), deletion: { ...deletion } };
}

async function deleteOnHub(ports: HubPorts, before: Propagation, signal: AbortSignal): Promise<WriteAttempt> {
  const gone = await ports.stores.propagations.delete(before, signal);
  if (gone.result === 'failed') throw hubUnavailable(gone.fault);
  if (gone.result === 'conflict') return 'again';
  const after = gone.result === 'absent' ? before : gone.propagation;
  const deletionTimestamp = after.metadata.deletionTimestamp ?? timestampOf(ports.clock);
  return await acceptedOutcome(ports, { ...after, metadata: { ...after.metadata, deletionTimestamp } }, signal);
}

interface PropagationRequest {
  readonly context: WriteContext;
  readonly name: PropagationName;
}

/**
 * Fetches the Propagation from the hub and calls `attempt` with it. Repeats both if another client writes the Propagation in between.
 * Returns `NOT_FOUND` if there is no such Propagation.
 */
function changePropagation(
  ports: HubPorts,
  { context, name }: PropagationRequest,
  attempt: (before: Propagation) => Promise<WriteAttempt>,
): Promise<PropagationOutcome> {
  return retryConflicts(async () => {
    const before = await fetchPropagation(ports.stores, name, context.signal);
    return before === undefined ? notFound : await attempt(before);
  });
}

function unchangedOutcome({ stores }: HubPorts, propagation: Propagation): PropagationOutcome {
  return { result: 'UNCHANGED', propagation: propagationViewOf(stores, propagation, []), notes: [], faults: [] };
}

async function acceptedOutcome(ports: HubPorts, propagation: Propagation, signal: AbortSignal): Promise<PropagationOutcome> {
  await waitUntilMirrored(ports, propagation, signal);
  return { result: 'ACCEPTED', propagation: propagationViewOf(ports.stores, propagation, []), notes: [], faults: [] };
}

async function annotate(
  ports: HubPorts,
  { before, annotations }: { readonly before: Propagation; readonly annotations: AnnotationChange },
  signal: AbortSignal,
): Promise<WriteAttempt> {
  const written = await ports.stores.propagations.annotate(before, annotations, signal);
  switch (written.result) {
    case 'written':
      return await acceptedOutcome(ports, written.propagation, signal);
    case 'conflict':
      return 'again';
    case 'absent':
      return notFound;
    case 'failed':
      throw hubUnavailable(written.fault);
    default:
      return written satisfies never;
  }
}

function abandonNote(code: Note['code'], message: string): Note {
  return { severity: 'ERROR', code, message, path: 'abandon' };
}
