import type { Propagation } from '../model/propagation.ts';

/**
 * True if the current generation has failed: it was refused, is being rolled back after a breach, or failed in a cluster. Then a repeated
 * request or a resume starts it again. False if the controller has not seen the generation yet, or if the only problem is that clusters do
 * not answer.
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
