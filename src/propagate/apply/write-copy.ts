import type { KubernetesObject } from '../../core/objects.ts';
import { isBehind, isOfLater, withMarks } from '../plan/copies/copy-marks.ts';
import { copyFault } from '../plan/copies/copy-reason.ts';
import { failedCopy, isRaced, newEntry, racedFault, type Seen, type Settled, settledAs, settledAsIs } from '../plan/copies/copy-task.ts';
import { judgeObject } from '../plan/copies/judge-object.ts';
import { observedHashOf } from '../plan/copies/observed.ts';
import { own } from '../plan/copies/own.ts';
import { type CopyStep, type CopyToWrite, writtenEntry } from './copy-to-write.ts';
import { asWanted } from './pending.ts';
import { takeSeen } from './take-back.ts';
import { takeOver } from './take-over.ts';
import { isToReturn } from './taking.ts';
import { updateCopy } from './update-copy.ts';

/** Maximum number of attempts before the copy is left for a later pass. */
const mostTurns = 4;

/**
 * Writes one copy: creates it, or updates the existing object under its uid and version, or returns why it cannot. If the object changes
 * between read and write, it is read and judged again, at most four times.
 */
export async function writeCopy(copy: CopyToWrite): Promise<Settled> {
  let current = copy;
  for (let turn = 0; turn < mostTurns; turn += 1) {
    const step = await stepOf(current, current.task.seen);
    if (step.result !== 'again') return step;
    current = asKnownNow(copy);
  }
  return failedCopy(current, racedFault(copy, 'it changed each time before it could be written'));
}

/** Prepares the next attempt: the object must be read, and the entry is the latest of the ledger. */
function asKnownNow(copy: CopyToWrite): CopyToWrite {
  const { task, ledger } = copy;
  const known = ledger.get(task.entry.key);
  return { ...copy, task: { ...task, seen: 'unknown', entry: known === undefined ? task.entry : asWanted(known) } };
}

async function stepOf(copy: CopyToWrite, seen: Seen): Promise<CopyStep> {
  if (seen === 'absent') return await create(copy);
  if (seen !== 'unknown') return await meet(copy, seen);
  const answer = await copy.door.get(copy.task.address);
  switch (answer.result) {
    case 'answered':
      return await meet(copy, answer.object);
    case 'absent':
      return await create(copy);
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
async function create(copy: CopyToWrite): Promise<CopyStep> {
  const { door, task, work, desired } = copy;
  const { address, entry } = task;
  // Only an announced copy may be created. Otherwise a crash now would leave a copy that the inventory does not have.
  if (entry.state !== 'Intended' || entry.intent === undefined) return failedCopy(copy, racedFault(copy, 'it was deleted in the meantime'));
  const owned = own({ write: work.spec.write, desired: withMarks(desired, { ...work, intent: entry.intent }) });
  if (owned.result === 'failed') return failedCopy(copy, copyFault(work.share.cluster, 'INVALID', `${owned.path}: ${owned.message}`));
  const { manifest } = owned;
  const answer = await door.write((client, signal) =>
    client.apply({ ...address, manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'real' }, signal),
  );
  switch (answer.result) {
    case 'answered':
      return settledAs(writtenEntry(copy, answer.object, 'Owned'), {
        action: 'Created',
        warnings: answer.warnings,
        written: answer.object,
      });
    case 'absent':
      return failedCopy(copy, racedFault(copy, 'the API server answered 404 to its creation'));
    case 'failed':
      // For an existing object, the server reports conflicts of fields before it checks the version.
      return answer.fault.code === 'CONFLICT' || isRaced(answer.fault) ? { result: 'again' } : failedCopy(copy, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/** Handles an existing object. */
async function meet(copy: CopyToWrite, object: KubernetesObject): Promise<CopyStep> {
  if (isToReturn(copy.task.entry, copy.work)) return await returnCopy(copy, object);
  if (copy.task.seen !== 'unknown' && object.metadata.managedFields === undefined && isOfLater(object, copy.work))
    return { result: 'again' };
  const judged = judgeObject(copy, object);
  switch (judged.result) {
    case 'ours': {
      const { state } = judged;
      if (isAsSent(copy, object)) return settledAsIs({ ...copy.task.entry, state });
      return await updateCopy(copy, { object, force: copy.task.purpose === 'correct', state });
    }
    case 'theirs':
      return await takeOver(copy, object, judged.as);
    case 'settled':
    case 'stopped':
      return judged;
    default:
      return judged satisfies never;
  }
}

/**
 * Gives the object back to its owner first. Then the object is judged again, like any object of another owner, and announced before the
 * next write to it.
 */
async function returnCopy(copy: CopyToWrite, object: KubernetesObject): Promise<CopyStep> {
  const { task, work, ledger } = copy;
  const { entry, address } = task;
  const how = { type: 'giveBack', to: 0, old: [], ...work.goingBack } as const;
  const returned = await takeSeen({ ...copy, removal: { key: entry.key, how }, entry, address }, object);
  if (returned.result !== 'settled' || returned.entry !== undefined) return returned;
  ledger.put(entry.key, newEntry(entry.key));
  return { result: 'again' };
}

/**
 * True if the wanted manifest was written already and is unchanged. For `apply` the hash in the inventory decides; for `correct` the fields
 * are compared as well.
 */
function isAsSent({ task, work }: CopyToWrite, object: KubernetesObject): boolean {
  const { entry, object: rendered, purpose } = task;
  if (entry.uid !== object.metadata.uid || entry.appliedHash !== rendered.desiredHash || isBehind(entry, object)) return false;
  return purpose === 'apply' || entry.observedHash === observedHashOf(rendered, object, work);
}
