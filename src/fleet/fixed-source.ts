import type { Candidate, ClusterSource } from './cluster-source.ts';

/** A source that says one set and never another. */
export function fixedSource(candidates: readonly Candidate[]): ClusterSource {
  return {
    async *watch(signal) {
      yield candidates;
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
  };
}
