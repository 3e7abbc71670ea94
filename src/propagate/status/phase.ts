import type { ClusterLine, CopyPhase, PropagationPhase } from '../propagation.ts';
import { deletionHeld, type PropagationFacts } from './facts.ts';

const rollingPhases: readonly CopyPhase[] = ['Waiting', 'Applying', 'Progressing', 'Soaking', 'Draining', 'Deleting'];
const degradedPhases: readonly CopyPhase[] = ['Failed', 'Denied', 'Unknown'];

/**
 * What a Propagation is in: the first that holds (propagation.md 2.2). A suspended cluster that is not as wanted waits, and holds no wave up; the whole is
 * `Rolling` until it is suspended no more.
 */
export function phaseOf(facts: PropagationFacts, lines: readonly ClusterLine[]): PropagationPhase {
  const { spec, plan, refused, rollback, held, isDeleting, isPaused, waves } = facts;
  const isAny = (phases: readonly CopyPhase[]) => lines.some(({ phase }) => phases.includes(phase));
  if (isDeleting) return held?.reason === deletionHeld ? 'Held' : 'Deleting';
  if (spec?.suspend.all === true || (spec?.suspend.scheduling === true && plan === undefined)) return 'Suspended';
  if (plan === undefined && refused === undefined) return 'Planning';
  if (rollback === 'running' || isAny(['RollingBack'])) return 'RollingBack';
  if (refused !== undefined || rollback === 'done') return 'Failed';
  if (held !== undefined || lines.some(({ reason }) => reason === 'PruneHeld' || reason === 'SurgeHeld')) return 'Held';
  if (isPaused || waves?.breach?.action === 'Pause') return 'Paused';
  if (lines.some(isRolling)) return 'Rolling';
  const isSick = lines.some(({ phase, health }) => degradedPhases.includes(phase) || health !== 'Healthy');
  const isUnknown = facts.unreadable !== undefined && facts.unreadable.length > 0;
  return isSick || isUnknown || (plan?.unplaced ?? 0) > 0 ? 'Degraded' : 'Settled';
}

/** What was rolled out and has fallen behind since may stay so: nothing is being done about it. */
function isRolling({ phase, rollout }: ClusterLine): boolean {
  return rollingPhases.includes(phase) && !(phase === 'Progressing' && rollout?.phase === 'Succeeded');
}
