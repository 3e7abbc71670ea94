import { hasTrueCondition } from '../../core/conditions.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ClusterLine, CompletionStatus } from '../model/propagation.ts';
import type { CompletionSpec } from '../model/spec.ts';
import type { PropagationStatus } from '../model/status-definition.ts';
import { isJob } from './copy-state.ts';
import type { ClusterFacts } from './facts.ts';

/**
 * How the Jobs of one cluster ended. `complete`: all are complete. `failed`: at least one failed. `open`: none failed, but some have not
 * ended.
 */
export type JobsEnd = 'complete' | 'failed' | 'open';

/** Returns how the Jobs of a cluster ended. Undefined without Jobs. A Job that is gone after its rollout succeeded counts as complete. */
export function jobsEndOf({ copies }: Pick<ClusterFacts, 'copies'>, line: Pick<ClusterLine, 'rollout'>): JobsEnd | undefined {
  const ends = copies
    .filter(({ entry }) => isJob(entry))
    .map(({ mirrored }): JobsEnd => {
      if (mirrored.result === 'absent') return line.rollout?.phase === 'Succeeded' ? 'complete' : 'open';
      if (mirrored.result === 'unread') return 'open';
      if (hasTrueCondition(mirrored.object, 'Complete')) return 'complete';
      return hasTrueCondition(mirrored.object, 'Failed') ? 'failed' : 'open';
    });
  if (ends.length === 0) return undefined;
  if (ends.includes('failed')) return 'failed';
  return ends.every((end) => end === 'complete') ? 'complete' : 'open';
}

/** The parts of a Propagation that its completion depends on. */
interface CompletionFacts {
  readonly spec?: { readonly completion?: CompletionSpec | undefined } | undefined;
  readonly clusters: readonly ClusterFacts[];
  readonly previous: Pick<PropagationStatus, 'completion'>;
}

/**
 * A completion, and in `excused` the clusters whose failed Jobs do not matter, because enough other clusters are complete. `excused` is
 * empty until enough clusters are complete.
 */
interface Completion {
  readonly status: CompletionStatus;
  readonly excused: ReadonlySet<ClusterName>;
}

/** Computes the completion over all planned clusters. Undefined if the spec has no completion. */
export function completionIn(
  { spec, clusters, previous }: CompletionFacts,
  lines: ReadonlyMap<ClusterName, Pick<ClusterLine, 'rollout'>>,
): Completion | undefined {
  if (spec?.completion === undefined) return undefined;
  const targets = clusters.filter(({ planned }) => planned !== undefined);
  const ends = targets.map((target) => ({ cluster: target.cluster, end: jobsEndOf(target, lines.get(target.cluster) ?? {}) ?? 'open' }));
  const status = completionOf(
    spec.completion,
    ends.map(({ end }) => end),
    previous.completion,
  );
  const failed = status.done ? ends.filter(({ end }) => end === 'failed').map(({ cluster }) => cluster) : [];
  return { status, excused: new Set(failed) };
}

/**
 * Decides whether enough clusters are complete (docs/internals/propagation.md 8). `targets` has one item for each planned cluster.
 *
 * Once `done` is true, it stays true as long as the same number of clusters is needed. The completion is impossible once `failed` exceeds
 * targets − needed.
 */
export function completionOf(spec: CompletionSpec, targets: readonly JobsEnd[], previous: CompletionStatus | undefined): CompletionStatus {
  const complete = targets.filter((end) => end === 'complete').length;
  const failed = targets.filter((end) => end === 'failed').length;
  const needed = neededOf(spec, targets.length);
  const wasDone = previous?.done === true && previous.mode === spec.mode && previous.needed === needed;
  return { mode: spec.mode, needed, complete, failed, done: wasDone || complete >= needed };
}

/** `All` needs at least one cluster, so that a Propagation without clusters is not complete. */
function neededOf({ mode, count = 1 }: CompletionSpec, targets: number): number {
  switch (mode) {
    case 'Any':
      return 1;
    case 'All':
      return Math.max(1, targets);
    case 'Count':
      return count;
    default:
      return mode satisfies never;
  }
}
