import type { KubernetesObject } from '../../core/objects.ts';
import { isEntryOutdated, isWrittenByLaterGeneration, withMarks } from '../plan/copies/copy-marks.ts';
import { copyFault } from '../plan/copies/copy-reason.ts';
import {
  type CopyResult,
  type ExistingObject,
  failedCopy,
  isRaceFault,
  newInventoryEntry,
  raceFault,
  unchangedResult,
  writtenResult,
} from '../plan/copies/copy-task.ts';
import { judgeObject } from '../plan/copies/judge-object.ts';
import { manifestForWrite } from '../plan/copies/manifest-for-write.ts';
import { observedHashOf } from '../plan/copies/observed-hash.ts';
import { type CopyToWrite, type CopyWriteAttempt, entryAfterWrite } from './copy-to-write.ts';
import { clearDeletionMark } from './deletion-state.ts';
import { mustGiveBack } from './plan-take-over.ts';
import { removeExisting } from './remove-copy.ts';
import { takeOver } from './take-over.ts';
import { updateCopy } from './update-copy.ts';

/** Maximum number of attempts before the copy is left for a later pass. */
const maxAttempts = 4;

/**
 * Writes one copy: creates it, or updates the existing object under its uid and version, or returns why it cannot. If the object changes
 * between read and write, the function reads it and decides again, with at most four attempts.
 */
export async function writeCopy(copy: CopyToWrite): Promise<CopyResult> {
  let current = copy;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const step = await attemptWrite(current, current.task.existing);
    if (step.result !== 'retry') return step;
    current = nextAttempt(copy);
  }
  return failedCopy(current, raceFault(copy, 'it changed each time before it could be written'));
}

/** Prepares the next attempt: the object must be read, and the entry is the latest of the ledger. */
function nextAttempt(copy: CopyToWrite): CopyToWrite {
  const { task, ledger } = copy;
  const known = ledger.get(task.entry.key);
  return { ...copy, task: { ...task, existing: 'unknown', entry: known === undefined ? task.entry : clearDeletionMark(known) } };
}

async function attemptWrite(copy: CopyToWrite, existing: ExistingObject): Promise<CopyWriteAttempt> {
  if (existing === 'absent') return await createCopy(copy);
  if (existing !== 'unknown') return await writeExisting(copy, existing);
  const answer = await copy.guardedClient.get(copy.task.address);
  switch (answer.result) {
    case 'answered':
      return await writeExisting(copy, answer.object);
    case 'absent':
      return await createCopy(copy);
    case 'failed':
      return failedCopy(copy, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Creates the copy. Never changes an existing object: with resourceVersion "1", the API server creates the object or answers 409
 * (docs/internals/propagation.md 5.1).
 */
async function createCopy(copy: CopyToWrite): Promise<CopyWriteAttempt> {
  const { guardedClient, task, work, desired } = copy;
  const { address, entry } = task;
  // Only an announced copy may be created. Otherwise a crash now would leave a copy that the inventory does not have.
  if (entry.state !== 'Intended' || entry.intent === undefined) return failedCopy(copy, raceFault(copy, 'it was deleted in the meantime'));
  const { write, exact } = work.spec;
  const owned = manifestForWrite({ write, exact, desired: withMarks(desired, { ...work, intent: entry.intent }) });
  if (owned.result === 'failed') return failedCopy(copy, copyFault(work.share.cluster, 'INVALID', `${owned.path}: ${owned.message}`));
  const { manifest } = owned;
  const answer = await guardedClient.write((client, signal) =>
    client.apply({ ...address, manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'real' }, signal),
  );
  switch (answer.result) {
    case 'answered':
      return writtenResult(entryAfterWrite(copy, answer.object, 'Owned'), {
        action: 'Created',
        warnings: answer.warnings,
        written: answer.object,
      });
    case 'absent':
      return failedCopy(copy, raceFault(copy, 'the API server answered 404 to its creation'));
    case 'failed':
      // For an existing object, the server reports conflicts of fields before it checks the version.
      return answer.fault.code === 'CONFLICT' || isRaceFault(answer.fault) ? { result: 'retry' } : failedCopy(copy, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/** Updates our copy if it has changed, takes over an object of another owner, or returns why it is not written. */
async function writeExisting(copy: CopyToWrite, object: KubernetesObject): Promise<CopyWriteAttempt> {
  if (mustGiveBack(copy.task.entry, copy.work)) return await giveBackFirst(copy, object);
  if (copy.task.existing !== 'unknown' && object.metadata.managedFields === undefined && isWrittenByLaterGeneration(object, copy.work))
    return { result: 'retry' };
  const judged = judgeObject(copy, object);
  switch (judged.result) {
    case 'ours': {
      const { state } = judged;
      if (isUnchangedSinceWrite(copy, object)) return unchangedResult({ ...copy.task.entry, state });
      return await updateCopy(copy, { object, force: copy.task.purpose === 'correct', state });
    }
    case 'foreign':
      return await takeOver(copy, object, judged.as);
    case 'finished':
    case 'stopped':
      return judged;
    default:
      return judged satisfies never;
  }
}

/**
 * Gives the object back to its owner (`mustGiveBack`), and then returns `retry`. The next attempt treats it like any object of another
 * owner, and announces it before a write.
 */
async function giveBackFirst(copy: CopyToWrite, object: KubernetesObject): Promise<CopyWriteAttempt> {
  const { task, work, ledger } = copy;
  const { entry, address } = task;
  const how = { type: 'giveBack', targetRevision: 0, oldValues: [], ...work.rollback } as const;
  const returned = await removeExisting({ ...copy, removal: { key: entry.key, how }, entry, address }, object);
  if (returned.result !== 'finished' || returned.entry !== undefined) return returned;
  ledger.put(entry.key, newInventoryEntry(entry.key));
  return { result: 'retry' };
}

/**
 * True if the wanted manifest was written already and is unchanged. For `apply`, the manifest hash in the inventory decides. For `correct`,
 * the fields of the object must also be as after the last write.
 */
function isUnchangedSinceWrite({ task, work }: CopyToWrite, object: KubernetesObject): boolean {
  const { entry, object: rendered, purpose } = task;
  if (entry.uid !== object.metadata.uid || entry.appliedHash !== rendered.desiredHash || isEntryOutdated(entry, object)) return false;
  return purpose === 'apply' || entry.observedHash === observedHashOf(rendered, object, work);
}
