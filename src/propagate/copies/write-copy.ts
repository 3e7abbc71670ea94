import type { KubernetesObject } from '../../core/objects.ts';
import { liveHashOf } from '../planner/live-hash.ts';
import { own } from '../rendering/own.ts';
import { deletionOf, isAnnounced, isOfLater, marksOf, withMarks } from './copy-marks.ts';
import { copyFault } from './copy-reason.ts';
import { type Seen, type Settled, settledAs, settledAsIs, settledSkipped, settledWith } from './copy-task.ts';
import { type CopyStep, type CopyToWrite, failedCopy, isRaced, racedFault, writtenEntry } from './copy-to-write.ts';
import { isHidden, observedHashOf } from './observed.ts';
import { takeOver } from './take-over.ts';
import { updateCopy } from './update-copy.ts';

/** What stands there is read again at most so often before it is left for later. */
const mostTurns = 4;

/**
 * Brings one copy to what its manifest says: creates it, or writes what is there under its uid and version, or tells why not. What changes meanwhile is
 * read and decided anew, at most four times.
 */
export async function writeCopy(copy: CopyToWrite): Promise<Settled> {
  let seen = copy.task.seen;
  for (let turn = 0; turn < mostTurns; turn += 1) {
    const step = await stepOf(copy, seen);
    if (step.result !== 'again') return step;
    seen = 'unknown';
  }
  return failedCopy(copy, racedFault(copy, 'it was changed by others each time it was to be written'));
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

/** Never touches what is there: version "1" creates, or is answered by 409 (observed.md). */
async function create(copy: CopyToWrite): Promise<CopyStep> {
  const { door, task, work, desired } = copy;
  const { address, entry } = task;
  // Only what the inventory announced may appear: else a crash now would leave a copy that nobody knows to be ours.
  if (entry.state !== 'Intended' || entry.intent === undefined) return failedCopy(copy, racedFault(copy, 'it went meanwhile'));
  const owned = own({ write: work.spec.write, desired: withMarks(desired, { ...work, intent: entry.intent }) });
  if (owned.result === 'failed') return failedCopy(copy, copyFault(work.share.cluster, 'INVALID', `${owned.path}: ${owned.message}`));
  const { manifest } = owned;
  const answer = await door.write((client, signal) =>
    client.apply({ ...address, manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'real' }, signal),
  );
  switch (answer.result) {
    case 'answered':
      return settledAs(writtenEntry(copy, answer.object, 'Owned'), { action: 'Created', warnings: answer.warnings });
    case 'absent':
      return failedCopy(copy, racedFault(copy, 'the API server took it for one that is absent'));
    case 'failed':
      return isRaced(answer.fault) ? { result: 'again' } : failedCopy(copy, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/** Something stands there. */
async function meet(copy: CopyToWrite, object: KubernetesObject): Promise<CopyStep> {
  const { task, work } = copy;
  const deletion = deletionOf(object);
  if (deletion !== undefined) {
    const fault = racedFault(copy, `it is being deleted since ${deletion.since}`);
    return settledWith(task.entry, fault, { now: work.clock.now(), reason: 'Terminating' });
  }
  if (isOfLater(object, work)) return settledSkipped(task.entry, { reason: 'Stale', message: 'a later generation wrote it' });
  if (isChangedSincePlanned(copy, object)) return failedCopy(copy, racedFault(copy, 'it was changed since it was planned'));
  if (!isOurs(copy, object)) return await takeOver(copy, object);
  const state = task.entry.state === 'Shared' ? 'Shared' : 'Owned';
  if (isAsSent(copy, object)) return settledAsIs({ ...task.entry, state });
  return await updateCopy(copy, { object, force: task.purpose === 'correct', state });
}

/** The uid is the proof; until it was saved, the intent is, which was saved first and which only our own write carries. */
function isOurs({ task, work }: CopyToWrite, object: KubernetesObject): boolean {
  const { uid } = task.entry;
  return (uid !== undefined && uid === object.metadata.uid) || isAnnounced(task.entry, object, work);
}

/** What would be sent was sent, and stands there. Of what is only applied the inventory is believed; of drift the fields are looked at. */
function isAsSent({ task, work }: CopyToWrite, object: KubernetesObject): boolean {
  const { entry, object: rendered, purpose } = task;
  if (entry.uid !== object.metadata.uid || entry.appliedHash !== rendered.desiredHash) return false;
  return purpose === 'apply' || entry.observedHash === observedHashOf(rendered, object, work);
}

/** A plan with a digest covers what it saw. What this generation wrote itself is as it was planned. */
function isChangedSincePlanned({ task, work }: CopyToWrite, object: KubernetesObject): boolean {
  const { liveHash, key } = task.object;
  if (work.pinned !== true || liveHash === undefined || isHidden(key, work)) return false;
  return marksOf(object).generation !== work.generation && liveHashOf(object) !== liveHash;
}
