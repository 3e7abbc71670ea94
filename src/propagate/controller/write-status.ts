import type { Propagation } from '../model/propagation.ts';
import type { PropagationStatus } from '../model/status-definition.ts';
import { isSameStatus } from '../status/summarize.ts';
import type { Pass } from './state/ports.ts';

/**
 * Minimum time between two writes of a status. Decisions that must be saved before work starts, and the end of a rollout, are written at
 * once.
 */
const spacingMs = 1_000;

/**
 * - `blocking`: copies are written only after it. It is written at once, and before other statuses on the hub.
 * - `urgent`: it is written at once.
 * - `usual`: it is written a second after the last write at the earliest.
 */
export type StatusUrgency = 'blocking' | 'urgent' | 'usual';

/**
 * The result of a write.
 *
 * - `saved`: the hub has the status.
 * - `later`: the last write was less than a second ago. The status may be written after `ms`.
 * - `outdated`: another client wrote or deleted the Propagation. The new content is in `state.latest`, undefined if deleted.
 * - `failed`: the hub did not answer or refused the write.
 * - `stopped`: this process does not lead any more, so no request was sent.
 */
export type StatusWrite =
  | { readonly result: 'saved'; readonly propagation: Propagation }
  | { readonly result: 'later'; readonly ms: number }
  | { readonly result: 'outdated' | 'failed' | 'stopped' };

/**
 * Writes the status to the hub if it differs from the status of `propagation`, and puts the written Propagation into `state.latest`. The
 * end of a rollout is written at once even if it is `usual`, because users wait for it. A write waits for its turn among the other writes
 * to the hub (`HubWrites`).
 */
export async function writeStatus(
  { state, ports, term, hubWrites }: Pass,
  {
    propagation,
    status,
    urgency,
  }: { readonly propagation: Propagation; readonly status: PropagationStatus; readonly urgency: StatusUrgency },
): Promise<StatusWrite> {
  if (isSameStatus(propagation.status, status)) return { result: 'saved', propagation };
  const { clock } = ports;
  const waitMs = state.statusAtMs + spacingMs - clock.monotonic();
  const isWaitedFor = urgency !== 'usual' || isEnd(propagation.status, status);
  if (!isWaitedFor && waitMs > 0) return { result: 'later', ms: waitMs };
  const { propagations } = ports.stores;
  let sentAtMs = state.statusAtMs;
  const send = async () => {
    if (!term.isLeading()) return undefined;
    sentAtMs = clock.monotonic();
    return await propagations.patchStatus(propagation, status, term.signal);
  };
  const written = await hubWrites.send(urgency === 'blocking' ? 'first' : 'last', send, term.signal);
  if (written === undefined) return { result: 'stopped' };
  switch (written.result) {
    case 'written':
      state.statusAtMs = sentAtMs;
      state.latest = written.propagation;
      return { result: 'saved', propagation: written.propagation };
    case 'absent':
    case 'conflict':
      return (await readAgain({ state, ports, term })) ? { result: 'outdated' } : { result: 'failed' };
    case 'failed': {
      const { code, message: reason } = written.fault;
      if (!term.signal.aborted) ports.log.warn({ propagation: state.key, code, reason }, 'the status could not be written');
      return { result: 'failed' };
    }
    default:
      return written satisfies never;
  }
}

/** True if the rollout has just settled. Happens at most once for each rollout. */
function isEnd(before: PropagationStatus, after: PropagationStatus): boolean {
  return before.phase === 'Rolling' && after.phase === 'Settled';
}

/** Reads the Propagation live from the hub into `state.latest`, because the mirror may be behind. False if the hub does not answer. */
export async function readAgain({ state, ports, term }: Pick<Pass, 'state' | 'ports' | 'term'>): Promise<boolean> {
  const live = await ports.stores.propagations.fetch(state.name, term.signal);
  if (live !== 'absent' && 'fault' in live) return false;
  state.latest = live === 'absent' ? undefined : live;
  return true;
}
