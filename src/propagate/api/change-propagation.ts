import type { WriteContext } from '../../changes/write-context.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import { listAt } from '../../core/json-at.ts';
import { type AbandonedShare, abandonedOf, printAbandoned } from '../hub/abandoned.ts';
import type { AnnotationChange } from '../hub/propagation-store.ts';
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
import { fetchPropagation, hubUnavailable, retryConflicts, type WriteAttempt, waitUntilMirrored } from './ready-hub.ts';
import { inputNoteOf } from './requested-propagation.ts';

/** What is confirmed or given up when a Propagation goes on. */
interface ResumeOptions {
  readonly confirmPrune: boolean;
  readonly abandon: readonly string[];
}

const notFound: PropagationOutcome = { result: 'NOT_FOUND', notes: [], faults: [] };

/** Copies that run finish; no other begins. */
export function pausePropagation(ports: HubPorts, { context, name }: PropagationRequest): Promise<PropagationOutcome> {
  return changePropagation(ports, { context, name }, async (before) => {
    if (before.metadata.annotations[marks.paused] !== undefined) return unchanged(ports, before);
    return await annotate(ports, { before, annotations: { [marks.paused]: timestampOf(ports.clock) } }, context.signal);
  });
}

/**
 * Ends a pause, or a breach begun before now; has what failed tried at once; confirms the prune that is held, and no other; gives up what is pending in
 * lost clusters.
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
    const isGoingOn = isPaused || hasFailed(before);
    if (!isGoingOn && !isConfirmed && given.abandoned.length === 0) return unchanged(ports, before);
    const annotations = {
      ...(isGoingOn ? { [marks.paused]: null, [marks.resumedAt]: timestampOf(ports.clock) } : {}),
      ...(isConfirmed ? { [marks.confirmPrune]: status.prune?.digest ?? null } : {}),
      ...(given.abandoned.length > 0 ? { [marks.abandon]: printAbandoned([...abandonedOf(before), ...given.abandoned]) } : {}),
    };
    return await annotate(ports, { before, annotations }, context.signal);
  });
}

/** The shares that are given up, as the hub has them now; or why not all of these clusters' can be. */
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
  'expected copies that are to go, in a cluster that does not answer or is no member: these are wanted, or can be deleted';

/** All of it is to go, and nobody answers who could take it away. */
function canAbandon({ hub }: HubPorts['stores'], { cluster, entries }: ClusterShare): boolean {
  const member = hub.members.get(cluster);
  const isAway = member === undefined || member.phase === 'UNREACHABLE';
  return isAway && entries.every((entry) => isBeingRemoved(entry) || entry.state === 'Shared');
}

/** The spec of a revision as a new generation; by default of the newest that says something else and was not gone back from itself. */
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
    if (target === undefined) return refusedOutcome([missing(kept, revision)]);
    if (hasSameSpec(before, target)) return unchanged(ports, before);
    const spec = parseSpec(target.document);
    if ('problems' in spec) return refusedOutcome(spec.problems.map(inputNoteOf));
    const document = printSpec({ ...spec, requester: requesterOf(ports, context.caller) });
    const annotations = { [marks.planDigest]: null, ...printRollback(target.revision, before) };
    return await saveSpec(ports, { place: name, before, change: { document, annotations } }, context.signal);
  });
}

function hasSameSpec({ document }: Propagation, revision: PropagationRevision): boolean {
  const [now, then] = [document, revision.document].map(({ requester: _, ...spec }) => {
    const read = parseSpec(spec);
    return canonicalJson('problems' in read ? spec : printSpec(read));
  });
  return now === then;
}

function missing(kept: readonly PropagationRevision[], revision: number | undefined) {
  const numbers = kept.map((one) => one.revision).join(', ');
  const have = numbers === '' ? 'there is none yet' : `there are ${numbers}`;
  const wanted =
    revision === undefined
      ? 'expected a revision that says something else and was not gone back from'
      : `expected a revision that is kept, got ${revision}`;
  return inputNoteOf({ path: 'revision', message: `${wanted}: ${have}` });
}

/** Deletes it; its copies go as the spec says, or as is said now. */
export function deletePropagation(
  ports: HubPorts,
  { context, name }: PropagationRequest,
  deletion: JsonObject | undefined,
): Promise<PropagationOutcome> {
  return changePropagation(ports, { context, name }, async (before) => {
    const asked = deletion === undefined ? { deletion: undefined } : readDeletion(deletion);
    if ('problems' in asked) return refusedOutcome(asked.problems.map(inputNoteOf));
    const isGoing = before.metadata.deletionTimestamp !== undefined;
    const document = asked.deletion === undefined ? undefined : withDeletion(before, asked.deletion);
    if (document === undefined) return isGoing ? unchanged(ports, before) : await deleteOnHub(ports, before, context.signal);
    const requester = { ...requesterOf(ports, context.caller) };
    const written = await ports.stores.propagations.update(before, { document: { ...document, requester } }, context.signal);
    if (written.result === 'failed') throw hubUnavailable(written.fault);
    if (written.result !== 'written') return 'again';
    return isGoing ? accepted(ports, written.propagation, context.signal) : await deleteOnHub(ports, written.propagation, context.signal);
  });
}

/** The document with another `deletion`; undefined if it says that already. What is wrong with the rest of it stays wrong: it goes all the same. */
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
  return await accepted(ports, { ...after, metadata: { ...after.metadata, deletionTimestamp } }, signal);
}

interface PropagationRequest {
  readonly context: WriteContext;
  readonly name: PropagationName;
}

/** Does it to the Propagation as the hub has it now, again if somebody else writes in between. */
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

function unchanged({ stores }: HubPorts, propagation: Propagation): PropagationOutcome {
  return { result: 'UNCHANGED', propagation: propagationViewOf(stores, propagation, []), notes: [], faults: [] };
}

async function accepted(ports: HubPorts, propagation: Propagation, signal: AbortSignal): Promise<PropagationOutcome> {
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
      return await accepted(ports, written.propagation, signal);
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
