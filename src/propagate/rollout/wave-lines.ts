import type { ClusterName } from '../../core/names.ts';
import type { ClusterLine, CopyPhase, RolloutMark } from '../model/propagation.ts';
import type { WaveLine } from './next-waves.ts';

const phases: Readonly<Record<RolloutMark['phase'], WaveLine['phase']>> = {
  Progressing: 'progressing',
  Succeeded: 'succeeded',
  Failed: 'failed',
  TimedOut: 'timedOut',
};

/** `WaveLine.regression` by the phase of a cluster in the status. A phase that is not listed, such as `Unknown`, is no regression. */
const regressions: ReadonlyMap<CopyPhase, WaveLine['regression']> = new Map([
  ['Failed', 'failed'],
  ['Denied', 'failed'],
  ['Progressing', 'open'],
  ['Applying', 'open'],
  ['Waiting', 'open'],
]);

/**
 * The current generation, and in `held` the clusters whose decreases wait for increases (`decideSurge`). Waves skip these clusters until
 * they are started.
 */
interface WaveContext {
  readonly generation: number;
  readonly held: ReadonlySet<ClusterName>;
}

/**
 * Returns how far each cluster is with the current generation, from its line in the status. The result is the input of `nextWaves`.
 * Clusters that are leaving have no wave and are left out. Clusters that were not started and are suspended or in `held` get the phase
 * `skip`.
 */
export function waveLinesOf(lines: ReadonlyMap<ClusterName, ClusterLine>, context: WaveContext): ReadonlyMap<ClusterName, WaveLine> {
  const planned = [...lines].filter(([, { wave }]) => wave !== undefined);
  return new Map(planned.map(([cluster, line]) => [cluster, waveLineOf(cluster, line, context)]));
}

function waveLineOf(cluster: ClusterName, line: ClusterLine, { generation, held }: WaveContext): WaveLine {
  const mark = line.generation === generation ? line.rollout : undefined;
  if (mark !== undefined) {
    // Clusters that failed or timed out cannot get worse.
    const regression = mark.phase === 'Succeeded' || mark.phase === 'Progressing' ? regressions.get(line.phase) : undefined;
    return { phase: phases[mark.phase], sinceMs: Date.parse(mark.since), ...(regression === undefined ? {} : { regression }) };
  }
  const isSkipped = held.has(cluster) || line.reason === 'Suspended';
  return { phase: isSkipped ? 'skip' : 'toApply', sinceMs: Date.parse(line.since) };
}
