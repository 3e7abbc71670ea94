import type { Propagation } from '../model/propagation.ts';

/**
 * True if what was asked for last could not be done: it was refused, is taken back after a breach, or failed in a cluster. Whoever asks for it once more, or
 * goes on, means that it be tried again. False of a generation that nobody looked at yet, and where clusters merely do not answer.
 */
export function hasFailed({ metadata, status }: Propagation): boolean {
  if (status.observedGeneration !== metadata.generation) return false;
  if (status.phase === 'Failed' || status.phase === 'RollingBack') return true;
  return (
    status.clusters?.some(
      ({ phase, fault }) => phase === 'Failed' || phase === 'Denied' || (fault !== undefined && phase !== 'Unknown'),
    ) === true
  );
}
