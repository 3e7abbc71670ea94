import { textOfKey } from '../../manifests/object-key.ts';
import type { RolloutState } from '../../model/columns/rollout.ts';
import { isRemoval } from '../plan/held-prune.ts';
import { isJob, rolloutOfCopy, showsWrite } from './copy-state.ts';
import type { ClusterFacts, CopyFacts, PlannedFacts } from './facts.ts';

/** The rollout state of all copies of one cluster together. */
export interface ClusterRollout extends RolloutState {
  /** True if every copy was sent in its wanted form. */
  readonly isWritten: boolean;
  /**
   * The first copy, in write order, that the mirror does not show as it was sent. A Job that has ended and is gone does not count.
   * `isServed`: false if the cluster does not serve the kind of the copy.
   */
  readonly missing?: { readonly message: string; readonly isServed: boolean };
  /**
   * The first copy that exists as it was sent but is not rolled out. A copy that failed comes before copies that are progressing.
   * Absent if there is none.
   */
  readonly regression?: RolloutState;
}

/**
 * True for an object that the gateway has to create or change here. False for an object that is deleted, or left alone on purpose. A copy
 * that conflicts with an object of another owner counts too: its write is tried and fails, and the cluster is not rolled out as long as the
 * conflict lasts.
 */
export function isWanted({ action, held }: PlannedFacts['objects'][number]): boolean {
  return !isRemoval({ action }) && (action !== 'HOLD' || held === 'Conflict');
}

/**
 * Returns the rollout state of all wanted copies: that of the first copy that failed, else of the first that is progressing, in write
 * order. `done` if all copies are done.
 */
export function rolloutIn({ planned, copies, stage }: ClusterFacts): ClusterRollout {
  const byKey = new Map(copies.map((copy) => [textOfKey(copy.entry.key), copy] as const));
  const states = (planned?.objects ?? []).filter(isWanted).map(({ key, desiredHash }) => {
    const copy = byKey.get(textOfKey(key));
    const isWritten = copy !== undefined && (stage === 'restored' || isAsWanted(copy, desiredHash));
    const state: RolloutState =
      copy !== undefined && isWritten ? rolloutOfCopy(copy) : { phase: 'progressing', message: 'not written yet' };
    return { ...state, message: `${key.kind} ${key.name}: ${state.message}`, isWritten, copy };
  });
  const deciding = firstUndone(states);
  const lapse = firstUndone(states.filter(({ copy }) => copy?.mirrored.result === 'held'));
  const missing = states.find(({ copy }) => copy === undefined || isMissing(copy));
  return {
    phase: deciding?.phase ?? 'done',
    message: deciding?.message ?? '',
    isWritten: states.every((state) => state.isWritten),
    ...(missing === undefined ? {} : { missing: { message: missing.message, isServed: !isUnserved(missing.copy) } }),
    ...(lapse === undefined ? {} : { regression: { phase: lapse.phase, message: lapse.message } }),
  };
}

function firstUndone<State extends RolloutState>(states: readonly State[]): State | undefined {
  return states.find(({ phase }) => phase === 'failed') ?? states.find(({ phase }) => phase === 'progressing');
}

function isAsWanted({ entry }: CopyFacts, desiredHash: string): boolean {
  return entry.appliedHash === desiredHash && (entry.state === 'Owned' || entry.state === 'Shared') && entry.action !== 'Failed';
}

function isMissing({ entry, mirrored }: CopyFacts): boolean {
  if (mirrored.result === 'held') return !showsWrite(entry, mirrored.object);
  // A missing Job may have been removed after its end, so it does not count as missing. If it had not ended, Muster creates it again.
  return !(isJob(entry) && mirrored.result === 'absent');
}

function isUnserved(copy: CopyFacts | undefined): boolean {
  return copy?.mirrored.result === 'unread' && copy.mirrored.fault.code === 'NOT_SERVED';
}
