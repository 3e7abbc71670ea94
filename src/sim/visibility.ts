import type { ClusterState } from './cluster-state.ts';

/** How long an API server waits for a version it has not seen yet. */
const patienceMs = 3_000;

/** Resolves true as soon as watches see the revision, false after 3 s, or when the signal aborts. */
export async function whenVisible(state: ClusterState, revision: number, signal: AbortSignal): Promise<boolean> {
  if (state.visibleRevision >= revision) return true;
  const enough = new AbortController();
  using _listening = state.onChange(() => {
    if (state.visibleRevision >= revision) enough.abort();
  });
  await state.clock.sleep(patienceMs, AbortSignal.any([enough.signal, signal]));
  return state.visibleRevision >= revision;
}
