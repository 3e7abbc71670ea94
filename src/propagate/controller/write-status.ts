import type { Propagation } from '../model/propagation.ts';
import type { PropagationStatus } from '../model/status-definition.ts';
import { isSameStatus } from '../status/summarize.ts';
import type { Pass } from './state/ports.ts';

/** No status is written more often than this, but where a decision must stand on the hub before it is acted on, and at the end of a rollout. */
const spacingMs = 1_000;

/**
 * What came of it. `saved`: the hub has it, or had it. `later`: it was written less than a second ago, and may be again after `ms`. `outdated`: somebody wrote
 * the resource since it was read; what stands there now is in the state.
 */
export type StatusWrite =
  | { readonly result: 'saved'; readonly propagation: Propagation }
  | { readonly result: 'later'; readonly ms: number }
  | { readonly result: 'outdated' | 'failed' | 'stopped' };

/** Writes the status where it differs. `urgent` does not wait its turn, nor does the word that a rollout has settled: somebody waits for it. */
export async function writeStatus(
  { state, ports, term }: Pass,
  {
    propagation,
    status,
    urgency,
  }: { readonly propagation: Propagation; readonly status: PropagationStatus; readonly urgency: 'urgent' | 'usual' },
): Promise<StatusWrite> {
  if (isSameStatus(propagation.status, status)) return { result: 'saved', propagation };
  const nowMs = ports.clock.monotonic();
  const waitMs = state.statusAtMs + spacingMs - nowMs;
  const isWaitedFor = urgency === 'urgent' || isEnd(propagation.status, status);
  if (!isWaitedFor && waitMs > 0) return { result: 'later', ms: waitMs };
  if (!term.isLeading()) return { result: 'stopped' };
  const { propagations } = ports.stores;
  const written = await propagations.patchStatus(propagation, status, term.signal);
  switch (written.result) {
    case 'written':
      state.statusAtMs = nowMs;
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

/** At most once for each rollout. */
function isEnd(before: PropagationStatus, after: PropagationStatus): boolean {
  return before.phase === 'Rolling' && after.phase === 'Settled';
}

/** The mirror may be behind, and is waited for by nobody: what stands there is read. False if the hub does not say. */
export async function readAgain({ state, ports, term }: Pick<Pass, 'state' | 'ports' | 'term'>): Promise<boolean> {
  const live = await ports.stores.propagations.fetch(state.name, term.signal);
  if (live !== 'absent' && 'fault' in live) return false;
  state.latest = live === 'absent' ? undefined : live;
  return true;
}
