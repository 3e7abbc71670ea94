import { randomUUID } from 'node:crypto';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { writeRankOf } from '../../manifests/write-order.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import { isBehind, isLetGo } from '../plan/copies/copy-marks.ts';
import { copyFault } from '../plan/copies/copy-reason.ts';
import { type CopyTask, newEntry, type Settled, settledAsIs, settledGone, settledSkipped, settledWith } from '../plan/copies/copy-task.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from '../plan/copies/copy-work.ts';
import { isTakenByAnother } from '../plan/copies/judge-object.ts';
import { addressOf } from '../plan/copies/object-address.ts';
import { mayOwnLeft } from '../plan/copies/owned-fields.ts';
import { sentManifest } from '../plan/copies/secret-data.ts';
import { openDoor } from './copy-door.ts';
import type { CopyScene } from './copy-to-write.ts';
import { contendedUntilMs, settleContended } from './corrections.ts';
import { asWanted } from './pending.ts';
import { openLedger } from './share-ledger.ts';
import { isToReturn, type Taking, takingOf } from './taking.ts';
import { writeCopy } from './write-copy.ts';

/** The state of one piece of work. `outcomes` grows as objects are finished. */
interface Round extends CopyScene {
  readonly objects: readonly RenderedObject[];
  readonly purpose: CopyTask['purpose'];
  readonly outcomes: Map<RenderedObject, CopyOutcome>;
}

/**
 * Writes the copies of one cluster in three steps.
 *
 * 1. It announces all new and taken-over copies in the inventory with one save, and stores the old values of the latter.
 * 2. It writes the copies rank by rank. Copies of one rank are written at the same time. A failure of one copy stops no other.
 * 3. It saves the results with one save.
 *
 * It makes no call and no save if nothing has changed.
 */
export async function writeCopies(
  work: CopyWork,
  { objects, purpose }: { readonly objects: readonly RenderedObject[]; readonly purpose: CopyTask['purpose'] },
  signal: AbortSignal,
): Promise<CopiesOutcome> {
  const door = openDoor(work, signal);
  const round: Round = { work, door, ledger: openLedger(work), objects, purpose, outcomes: new Map(), signal };
  const prepared = await Promise.all(objects.map((object) => prepare(round, object)));
  for (const [index, object] of objects.entries()) {
    const one = prepared[index];
    if (one !== undefined && one.result !== 'task') put(round, object, one);
  }
  const tasks = await announceAll(
    round,
    prepared.flatMap((one) => (one.result === 'task' ? [one.task] : [])),
  );
  const announced = await round.ledger.save(signal);
  if (announced.result === 'failed') return { result: 'failed', fault: announced.fault, ...gathered(round) };
  if (announced.result === 'stopped' || door.isStopped) return { result: 'stopped', ...gathered(round) };
  for (const rank of byRank(tasks)) await Promise.all(rank.map((task) => writeTask(round, task)));
  const saved = await round.ledger.save(signal);
  if (saved.result === 'failed') return { result: 'failed', fault: saved.fault, ...gathered(round) };
  return { result: saved.result === 'stopped' || door.isStopped ? 'stopped' : 'done', ...gathered(round) };
}

/** The inventory entry of an object during preparation, and the function that makes a task from it. */
interface Preparing {
  readonly entry: InventoryEntry;
  readonly task: (seen: CopyTask['seen'], entry?: InventoryEntry) => Prepared;
}

type Prepared = Settled | { readonly result: 'task'; readonly task: CopyTask };

const circleMessage = 'other Propagations make the source from this object: writing it would create a loop';

/** Returns the result of an object that needs no write, or a task for the write. */
async function prepare(round: Round, object: RenderedObject): Promise<Prepared> {
  const { work, ledger, purpose } = round;
  const entry = asWanted(ledger.get(object.key) ?? newEntry(object.key));
  const isReturned = isToReturn(entry, work);
  const address = addressOf(object.key, work, round.objects);
  if (object.held === 'Source')
    return settledGone(entry, 'Skipped', 'it is the source of the template: it counts as placed and is never written');
  if (object.held === 'Circle')
    return settledWith(entry, copyFault(work.share.cluster, 'CONFLICT', circleMessage), { now: work.clock.now() });
  if (object.held === 'Suspended') return settledSkipped(entry, { reason: 'Suspended', message: 'the cluster is suspended' });
  if (object.held === 'SourceMissing') return settledSkipped(entry, { message: 'its source is gone: it stays unchanged' });
  if (!isReturned && work.spec.conflict === 'CreateOnly' && (entry.uid !== undefined || object.live !== undefined))
    return settledSkipped(entry, { message: 'it exists already, and conflict mode CreateOnly never changes an existing object' });
  if (purpose === 'correct' && contendedUntilMs(entry, work.clock.now()) !== undefined && address !== undefined)
    return await settleContended(round, entry, address);
  if (address === undefined) {
    const fault = copyFault(work.share.cluster, 'NOT_SERVED', `the cluster does not serve ${object.key.kind} in ${object.key.apiVersion}`);
    return settledWith(entry, fault, { now: work.clock.now() });
  }
  const task = (seen: CopyTask['seen'], known = entry): Prepared => ({
    result: 'task',
    task: { object, address, entry: known, seen, purpose },
  });
  if (entry.uid === undefined && object.live === undefined) return task('absent');
  if (object.live === undefined) return await prepareGone(round, { entry, task }, { address, object });
  if (object.live.metadata.uid !== entry.uid) return await prepareMet(round, { entry, task }, address);
  if (isReturned) return task('unknown');
  if (purpose === 'apply' && entry.appliedHash === object.desiredHash && !isBehind(entry, object.live)) return settledAsIs(entry);
  // A mirror does not hold all fields, which a replacement needs, nor the owners of fields. So these copies are read before anything is
  // announced.
  const isToRead =
    work.spec.write === 'Replace' || mayOwnLeft(object, entry) || isLetGo(entry, object.live, work) || isTakenByAnother(object.live, work);
  return task(isToRead ? 'unknown' : object.live);
}

/**
 * Prepares a copy whose name belongs to an object that the entry does not know: an object of another owner, or our own copy after a crash.
 * It is read at once if it may be taken over, so that it is announced together with the others.
 */
async function prepareMet({ work, door }: Round, { entry, task }: Preparing, address: CopyTask['address']): Promise<Prepared> {
  if (work.spec.conflict === 'Abort') return task('unknown');
  const answer = await door.get(address);
  switch (answer.result) {
    case 'answered':
      return task(answer.object);
    case 'absent':
      return task('unknown');
    case 'failed':
      return settledWith(entry, answer.fault, { now: work.clock.now() });
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/** The inventory has it, the mirror has not: it went, or the mirror has not heard of it yet. So it is read. */
async function prepareGone(
  { work, door, purpose }: Round,
  { entry, task }: Preparing,
  { address, object }: Pick<CopyTask, 'address' | 'object'>,
): Promise<Prepared> {
  const answer = await door.get(address);
  switch (answer.result) {
    case 'answered': {
      const isSame = answer.object.metadata.uid === entry.uid && entry.appliedHash === object.desiredHash;
      return isSame && purpose === 'apply' && !isBehind(entry, answer.object) ? settledAsIs(entry) : task(answer.object);
    }
    case 'absent': {
      if (entry.finished === true) return settledAsIs(entry);
      const { intent: _intent, takenOver: _takenOver, ...anew } = entry;
      return task('absent', { ...anew, state: 'Intended' });
    }
    case 'failed':
      return settledWith(entry, answer.fault, { now: work.clock.now() });
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Announces the writes in the inventory and returns the tasks that may be written. An object whose old values could not be stored is not
 * written.
 */
async function announceAll(round: Round, tasks: readonly CopyTask[]): Promise<readonly CopyTask[]> {
  const { work, signal } = round;
  const planned = tasks.map((task) => ({ task, taking: typeof task.seen === 'string' ? undefined : takingOf({ work, task }, task.seen) }));
  const old = planned.flatMap(({ taking }) => taking?.old ?? []);
  const kept = old.length === 0 || !work.mayWrite() ? undefined : await work.keepOld(old, signal);
  return planned.flatMap(({ task, taking }) => {
    if (taking?.old === undefined || kept?.result !== 'failed') return [announce(round, task, taking)];
    put(round, task.object, settledWith(task.entry, kept.fault, { now: work.clock.now() }));
    return [];
  });
}

/**
 * Announces a new copy with a random token, which its first write carries. After a crash, the token distinguishes our copy from an object
 * of another owner.
 */
function announce({ ledger }: Round, task: CopyTask, taking: Taking | undefined): CopyTask {
  if (taking !== undefined) {
    ledger.put(taking.entry.key, taking.entry);
    return { ...task, entry: taking.entry };
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

async function writeTask(round: Round, task: CopyTask): Promise<void> {
  const { work, door, ledger, signal } = round;
  const sent = await sentManifest(task.object, work, signal);
  const settled =
    sent.result === 'failed'
      ? settledWith(task.entry, sent.fault, { now: work.clock.now() })
      : await writeCopy({ work, door, ledger, signal, task, desired: sent.manifest });
  put(round, task.object, settled);
}

function put({ ledger, outcomes }: Round, object: RenderedObject, settled: Settled): void {
  if (settled.result === 'stopped') return;
  ledger.put(object.key, settled.entry);
  outcomes.set(object, settled.outcome);
}

function gathered({ ledger, objects, outcomes }: Round): Pick<CopiesOutcome, 'share' | 'copies'> {
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
 * Undoes drift: writes the fields that Muster sent again, by force, whichever manager changed them. A copy has drifted if its
 * `observedHashOf` differs from its entry.
 *
 * A copy that was corrected 5 times in 10 minutes is `Contended`: its fault names the other manager, and the copy is not corrected until
 * the first correction is older than that. A copy without drift is not counted.
 */
export function correctDrift(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  return writeCopies(work, { objects, purpose: 'correct' }, signal);
}
