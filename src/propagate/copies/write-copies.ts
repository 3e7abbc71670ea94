import { randomUUID } from 'node:crypto';
import type { InventoryEntry } from '../inventory.ts';
import { kindOfKey } from '../object-key.ts';
import type { RenderedObject } from '../plan.ts';
import { writeRankOf } from '../write-order.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from './copies.ts';
import { openDoor } from './copy-door.ts';
import { isBehind, isLetGo } from './copy-marks.ts';
import { copyFault } from './copy-reason.ts';
import {
  type CopyScene,
  type CopyTask,
  newEntry,
  type Settled,
  settledAsIs,
  settledGone,
  settledSkipped,
  settledWith,
} from './copy-task.ts';
import { contendedUntilMs, settleContended } from './corrections.ts';
import { isTakenByAnother } from './judge-object.ts';
import { addressOf } from './object-address.ts';
import { mayOwnLeft } from './owned-fields.ts';
import { asWanted } from './pending.ts';
import { sentManifest } from './secret-data.ts';
import { openLedger } from './share-ledger.ts';
import { isToReturn, type Taking, takingOf } from './taking.ts';
import { writeCopy } from './write-copy.ts';

/** One piece of work: what is put down as it comes. */
interface Round extends CopyScene {
  readonly objects: readonly RenderedObject[];
  readonly purpose: CopyTask['purpose'];
  readonly outcomes: Map<RenderedObject, CopyOutcome>;
}

/**
 * Brings copies to what they are to be, rank by rank: first all that is new, or taken over, is announced in the inventory, in one save, and what it held is
 * kept; then each is written, those of one rank at the same time; then what came of it is saved, in one. One that fails stops no other. Nothing is asked and nothing saved if nothing changed.
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

/** What is known of an object that is being prepared, and what makes a task of it. */
interface Preparing {
  readonly entry: InventoryEntry;
  readonly task: (seen: CopyTask['seen'], entry?: InventoryEntry) => Prepared;
}

type Prepared = Settled | { readonly result: 'task'; readonly task: CopyTask };

const circleWords = 'the source is made from this object, by other Propagations: a write would go round in a circle';

/** What becomes of an object, as far as it takes no write to know. */
async function prepare(round: Round, object: RenderedObject): Promise<Prepared> {
  const { work, ledger, purpose } = round;
  const entry = asWanted(ledger.get(object.key) ?? newEntry(object.key));
  const isReturned = isToReturn(entry, work);
  const address = addressOf(object.key, work, round.objects);
  if (object.held === 'Source') return settledGone(entry, 'Skipped', 'it is the source: it counts as placed, and is never written');
  if (object.held === 'Circle')
    return settledWith(entry, copyFault(work.share.cluster, 'CONFLICT', circleWords), { now: work.clock.now() });
  if (object.held === 'Suspended') return settledSkipped(entry, { reason: 'Suspended', message: 'the cluster is suspended' });
  if (object.held === 'SourceMissing') return settledSkipped(entry, { message: 'its source is gone: it stays as it is' });
  if (!isReturned && work.spec.conflict === 'CreateOnly' && (entry.uid !== undefined || object.live !== undefined))
    return settledSkipped(entry, { message: 'it is there, and is only created' });
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
  // A mirror does not hold all fields, which a replacement needs, nor the owners of fields. So these copies are read before anything is announced.
  const isToRead =
    work.spec.write === 'Replace' || mayOwnLeft(object, entry) || isLetGo(entry, object.live, work) || isTakenByAnother(object.live, work);
  return task(isToRead ? 'unknown' : object.live);
}

/** Another object stands there, or one that a crash left unknown. It is read at once where it may be taken over: that is announced with all else. */
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

/** Records the writes that are about to be made, and returns those that may be made. An object whose old values could not be recorded is not written. */
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

/** That it is about to be made, with a token that it will carry: after a crash this tells our own object from a stranger's. */
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
  const ranks = Map.groupBy(tasks, ({ object }) => writeRankOf(kindOfKey(object.key)));
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
 * Writes what is wanted in one cluster, in the order of kinds: creates, updates, adopts, as `spec.conflict` says. What goes (`DELETE`, `RELEASE`) is passed
 * over. One that fails stops no other; at most one call for a copy that is new, none for one that is as it was written. Drift is not looked for.
 *
 * A copy whose inventory entry has its uid and that is gone is made again, but for a Job that was seen finished.
 */
export function applyCopies(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  const wanted = objects.filter(({ action }) => action !== 'DELETE' && action !== 'RELEASE');
  return writeCopies(work, { objects: wanted, purpose: 'apply' }, signal);
}

/**
 * Takes back what was ours in copies that drifted (`observedHashOf` is not the entry's): by force, whoever changed it. One that was corrected 5 times in 10 minutes is left
 * until the first of these is past that, as `Contended`, with the manager named. A copy that turns out to be as it was written is left and not counted.
 */
export function correctDrift(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  return writeCopies(work, { objects, purpose: 'correct' }, signal);
}
