import { randomUUID } from 'node:crypto';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { writeRankOf } from '../../manifests/write-order.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import { isEntryOutdated, isReleased } from '../plan/copies/copy-marks.ts';
import { copyFault } from '../plan/copies/copy-reason.ts';
import {
  type CopyResult,
  type CopyTask,
  failedResult,
  newInventoryEntry,
  removedResult,
  skippedResult,
  unchangedResult,
} from '../plan/copies/copy-task.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from '../plan/copies/copy-work.ts';
import { isTakenOverByAnother } from '../plan/copies/judge-object.ts';
import { manifestToSend } from '../plan/copies/manifest-to-send.ts';
import { copyAddressOf } from '../plan/copies/object-address.ts';
import { mayOwnLeftFields } from '../plan/copies/owned-fields.ts';
import type { CopyContext } from './copy-to-write.ts';
import { contendedResult, contendedUntilMs } from './corrections.ts';
import { clearDeletionMark } from './deletion-state.ts';
import { createGuardedClient } from './guarded-client.ts';
import { mustGiveBack, type PlannedTakeOver, planTakeOver } from './plan-take-over.ts';
import { createShareLedger } from './share-ledger.ts';
import { writeCopy } from './write-copy.ts';

/** The state of one call of `writeCopies`. `outcomes` gets an entry for each finished object. */
interface CopyBatch extends CopyContext {
  readonly objects: readonly RenderedObject[];
  readonly purpose: CopyTask['purpose'];
  readonly outcomes: Map<RenderedObject, CopyOutcome>;
}

/**
 * Writes the copies of one cluster in three steps.
 *
 * 1. It announces all new and taken-over copies in the inventory with one save. It stores the old values of taken-over objects first.
 * 2. It writes the copies in the write order of their kinds (`writeRankOf`): Namespaces first. Copies of one rank are written at the same
 *    time. A failure of one copy stops no other.
 * 3. It saves the results with one save.
 *
 * It makes no call and no save if nothing has changed.
 */
export async function writeCopies(
  work: CopyWork,
  { objects, purpose }: { readonly objects: readonly RenderedObject[]; readonly purpose: CopyTask['purpose'] },
  signal: AbortSignal,
): Promise<CopiesOutcome> {
  const guardedClient = createGuardedClient(work, signal);
  const batch: CopyBatch = { work, guardedClient, ledger: createShareLedger(work), objects, purpose, outcomes: new Map(), signal };
  const prepared = await Promise.all(objects.map((object) => prepare(batch, object)));
  for (const [index, object] of objects.entries()) {
    const one = prepared[index];
    if (one !== undefined && one.result !== 'task') recordResult(batch, object, one);
  }
  const tasks = await announceAll(
    batch,
    prepared.flatMap((one) => (one.result === 'task' ? [one.task] : [])),
  );
  const announced = await batch.ledger.save(signal);
  if (announced.result === 'failed') return { result: 'failed', fault: announced.fault, ...outcomesOf(batch) };
  if (announced.result === 'stopped' || guardedClient.isStopped) return { result: 'stopped', ...outcomesOf(batch) };
  for (const rank of byRank(tasks)) await Promise.all(rank.map((task) => writeTask(batch, task)));
  const saved = await batch.ledger.save(signal);
  if (saved.result === 'failed') return { result: 'failed', fault: saved.fault, ...outcomesOf(batch) };
  return { result: saved.result === 'stopped' || guardedClient.isStopped ? 'stopped' : 'done', ...outcomesOf(batch) };
}

/** The inventory entry of an object during preparation, and the function that makes a task from it. */
interface PreparationInput {
  readonly entry: InventoryEntry;
  readonly task: (existing: CopyTask['existing'], entry?: InventoryEntry) => PreparedCopy;
}

type PreparedCopy = CopyResult | { readonly result: 'task'; readonly task: CopyTask };

const circleMessage = 'other Propagations make the source from this object: writing it would create a loop';

/** Returns the result of an object that needs no write, or a task for the write. */
async function prepare(batch: CopyBatch, object: RenderedObject): Promise<PreparedCopy> {
  const { work, ledger, purpose } = batch;
  const entry = clearDeletionMark(ledger.get(object.key) ?? newInventoryEntry(object.key));
  const isReturned = mustGiveBack(entry, work);
  const address = copyAddressOf(object.key, work, batch.objects);
  if (object.held === 'Source')
    return removedResult(entry, 'Skipped', 'it is the source of the template: it counts as placed and is never written');
  if (object.held === 'Circle')
    return failedResult(entry, copyFault(work.share.cluster, 'CONFLICT', circleMessage), { now: work.clock.now() });
  if (object.held === 'Suspended') return skippedResult(entry, { reason: 'Suspended', message: 'the cluster is suspended' });
  if (object.held === 'SourceMissing') return skippedResult(entry, { message: 'its source is gone: it stays unchanged' });
  if (!isReturned && work.spec.conflict === 'CreateOnly' && (entry.uid !== undefined || object.live !== undefined))
    return skippedResult(entry, { message: 'it exists already, and conflict mode CreateOnly never changes an existing object' });
  const untilMs = contendedUntilMs(entry, { nowMs: work.clock.now(), resumedAtMs: work.resumedAtMs });
  if (purpose === 'correct' && untilMs !== undefined && address !== undefined) return await contendedResult(batch, entry, address);
  if (address === undefined) {
    const fault = copyFault(work.share.cluster, 'NOT_SERVED', `the cluster does not serve ${object.key.kind} in ${object.key.apiVersion}`);
    return failedResult(entry, fault, { now: work.clock.now() });
  }
  const task = (existing: CopyTask['existing'], known = entry): PreparedCopy => ({
    result: 'task',
    task: { object, address, entry: known, existing, purpose },
  });
  if (entry.uid === undefined && object.live === undefined) return task('absent');
  if (object.live === undefined) return await prepareMissing(batch, { entry, task }, { address, object });
  if (object.live.metadata.uid !== entry.uid) return await prepareForeign(batch, { entry, task }, address);
  if (isReturned) return task('unknown');
  if (purpose === 'apply' && entry.appliedHash === object.desiredHash && !isEntryOutdated(entry, object.live))
    return unchangedResult(entry);
  // A replacement needs all fields, and the other cases need the owners of fields. A mirror has neither. So the existing object is
  // `unknown` here, and the write reads it live first.
  const isToRead =
    work.spec.write === 'Replace' ||
    mayOwnLeftFields(object, entry) ||
    isReleased(entry, object.live, work) ||
    isTakenOverByAnother(object.live, work);
  return task(isToRead ? 'unknown' : object.live);
}

/**
 * Prepares a copy whose name belongs to an object with another uid than the entry has: an object of another owner, or our own copy after a
 * crash. The object is read at once if it may be taken over, so that it is announced together with the other copies.
 */
async function prepareForeign(
  { work, guardedClient }: CopyBatch,
  { entry, task }: PreparationInput,
  address: CopyTask['address'],
): Promise<PreparedCopy> {
  if (work.spec.conflict === 'Abort') return task('unknown');
  const answer = await guardedClient.get(address);
  switch (answer.result) {
    case 'answered':
      return task(answer.object);
    case 'absent':
      return task('unknown');
    case 'failed':
      return failedResult(entry, answer.fault, { now: work.clock.now() });
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Prepares a copy that the inventory has and the mirror does not. Its object is read live, because it may be deleted, or the mirror may not
 * show it yet. A deleted copy is created again, unless it is a Job that had finished.
 */
async function prepareMissing(
  { work, guardedClient, purpose }: CopyBatch,
  { entry, task }: PreparationInput,
  { address, object }: Pick<CopyTask, 'address' | 'object'>,
): Promise<PreparedCopy> {
  const answer = await guardedClient.get(address);
  switch (answer.result) {
    case 'answered': {
      const isSame = answer.object.metadata.uid === entry.uid && entry.appliedHash === object.desiredHash;
      return isSame && purpose === 'apply' && !isEntryOutdated(entry, answer.object) ? unchangedResult(entry) : task(answer.object);
    }
    case 'absent': {
      if (entry.finished === true) return unchangedResult(entry);
      const { intent: _intent, takenOver: _takenOver, ...anew } = entry;
      return task('absent', { ...anew, state: 'Intended' });
    }
    case 'failed':
      return failedResult(entry, answer.fault, { now: work.clock.now() });
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Stores the old values of objects that are taken over, and then announces all writes in the ledger. The caller saves the ledger. Returns
 * the tasks that may be written: an object whose old values could not be stored is not one of them.
 */
async function announceAll(batch: CopyBatch, tasks: readonly CopyTask[]): Promise<readonly CopyTask[]> {
  const { work, signal } = batch;
  const planned = tasks.map((task) => ({
    task,
    takeOver: typeof task.existing === 'string' ? undefined : planTakeOver({ work, task }, task.existing),
  }));
  const oldValues = planned.flatMap(({ takeOver }) => takeOver?.oldValues ?? []);
  const kept = oldValues.length === 0 || !work.mayWrite() ? undefined : await work.storeOldValues(oldValues, signal);
  return planned.flatMap(({ task, takeOver }) => {
    if (takeOver?.oldValues === undefined || kept?.result !== 'failed') return [announce(batch, task, takeOver)];
    recordResult(batch, task.object, failedResult(task.entry, kept.fault, { now: work.clock.now() }));
    return [];
  });
}

/**
 * Announces one write in the ledger, and returns the task with the new entry. A new copy gets a random token, which its first write
 * carries. After a crash, the token distinguishes our copy from an object of another owner. A copy that was announced before needs no
 * change.
 */
function announce({ ledger }: CopyBatch, task: CopyTask, takeOver: PlannedTakeOver | undefined): CopyTask {
  if (takeOver !== undefined) {
    ledger.put(takeOver.entry.key, takeOver.entry);
    return { ...task, entry: takeOver.entry };
  }
  const { entry } = task;
  if (entry.state !== 'Intended' || entry.intent !== undefined) return task;
  const announced = { ...entry, intent: randomUUID() };
  ledger.put(entry.key, announced);
  return { ...task, entry: announced };
}

function byRank(tasks: readonly CopyTask[]): readonly (readonly CopyTask[])[] {
  const ranks = Map.groupBy(tasks, ({ object }) => writeRankOf(groupKindOfKey(object.key)));
  return [...ranks].toSorted(([a], [b]) => a - b).map(([, rank]) => rank);
}

async function writeTask(batch: CopyBatch, task: CopyTask): Promise<void> {
  const { work, guardedClient, ledger, signal } = batch;
  const sent = await manifestToSend(task.object, work, signal);
  const result =
    sent.result === 'failed'
      ? failedResult(task.entry, sent.fault, { now: work.clock.now() })
      : await writeCopy({ work, guardedClient, ledger, signal, task, desired: sent.manifest });
  recordResult(batch, task.object, result);
}

function recordResult({ ledger, outcomes }: CopyBatch, object: RenderedObject, result: CopyResult): void {
  if (result.result === 'stopped') return;
  ledger.put(object.key, result.entry);
  outcomes.set(object, result.outcome);
}

function outcomesOf({ ledger, objects, outcomes }: CopyBatch): Pick<CopiesOutcome, 'share' | 'copies'> {
  const copies = objects.map((object) => outcomes.get(object)).filter((outcome) => outcome !== undefined);
  return { share: ledger.saved, copies };
}

/**
 * Writes the wanted copies of one cluster, in the write order of kinds: creates, updates or adopts them, as `spec.conflict` allows. Objects
 * with the actions `DELETE` and `RELEASE` are ignored.
 *
 * A failure of one copy stops no other. A new copy costs at most one call, an unchanged copy none. This function does not look for drift.
 *
 * A copy whose object is gone, although the inventory has its uid, is created again. The exception is a Job that had finished.
 */
export function applyCopies(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  const wanted = objects.filter(({ action }) => action !== 'DELETE' && action !== 'RELEASE');
  return writeCopies(work, { objects: wanted, purpose: 'apply' }, signal);
}

/**
 * Undoes drift: writes all fields of Muster once more, by force, whichever manager changed them. A copy has drifted if its `observedHashOf`
 * differs from its entry.
 *
 * A copy that was corrected 5 times in 10 minutes is `Contended`: its fault names the other manager, and the copy is not corrected until
 * the first of these corrections is more than 10 minutes old, or until a user resumes the Propagation. Corrections before the resume do not
 * count. A copy without drift is not counted.
 */
export function correctDrift(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  return writeCopies(work, { objects, purpose: 'correct' }, signal);
}
