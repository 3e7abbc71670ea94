import { type ClusterFault, faultFields, reasonOfFault } from '../client/cluster-faults.ts';
import { phaseText } from '../output/kubectl-text.ts';
import { type IntentNote, noteFields } from './plan.ts';

/** A Propagation in an answer of the gateway. */
export interface ShownPropagation {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly revision: number;
  readonly phase: string;
  readonly desired: number | null;
  readonly unplaced: number;
  readonly ready: number | null;
  readonly progress: {
    readonly wave: number;
    readonly waves: number;
    readonly clusters: number;
    readonly done: number;
    readonly failed: number;
  };
  readonly clusters: readonly ClusterCopyState[];
  readonly conditions: readonly StateCondition[];
  readonly notes: readonly IntentNote[];
  readonly faults: readonly ClusterFault[];
}

/** The state of the copies in one cluster. */
export interface ClusterCopyState {
  readonly cluster: { readonly name: string };
  readonly phase: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly wave: number | null;
  readonly replicas: number | null;
  readonly ready: number | null;
  readonly health: string;
  readonly since: string;
  readonly fault: ClusterFault | null;
}

interface StateCondition {
  readonly type: string | null;
  readonly status: string | null;
  readonly reason: string | null;
  readonly message: string | null;
}

/** The GraphQL selection that gives a `ShownPropagation`. */
export const propagationFields = `namespace name generation observedGeneration revision digest phase paused desired placed unplaced ready
  progress { wave waves clusters done failed since nextCheckAt }
  clusters { cluster { name } phase reason message wave replicas ready health since asOf fault { ${faultFields} } }
  conditions { type status reason message lastTransitionTime } completion { mode needed complete failed done }
  notes { ${noteFields} } faults { ${faultFields} }`;

/** Returns whether the rollout has ended in this phase. `good` and `bad` last until a user acts. `open`: the phase will change by itself. */
export function endVerdict({ phase }: Pick<ShownPropagation, 'phase'>): 'open' | 'good' | 'bad' {
  switch (phase) {
    case 'SETTLED':
    // A user suspended the Propagation, so the controller has nothing to do.
    case 'SUSPENDED':
      return 'good';
    case 'PAUSED':
    case 'HELD':
    case 'FAILED':
    case 'DEGRADED':
      return 'bad';
    // PLANNING, ROLLING, ROLLING_BACK, DELETING, and phases of later gateways.
    default:
      return 'open';
  }
}

/** Returns `shop/web`. */
export function propagationName({ namespace, name }: Pick<ShownPropagation, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** Returns `Rolling, wave 2 of 3, 1 of 3 clusters done, 1 failed, 4 of 8 replicas ready, 2 unplaced`. */
export function propagationSummary(state: ShownPropagation): string {
  return [phaseText(state.phase), progressText(state)].filter((part) => part !== '').join(', ');
}

/** Returns the summary without the phase. Empty before there is a plan. */
export function progressText({ progress, desired, ready, unplaced }: ShownPropagation): string {
  const { wave, waves, clusters, done, failed } = progress;
  return [
    ...(waves > 1 && done < clusters ? [`wave ${Math.min(wave + 1, waves)} of ${waves}`] : []),
    ...(clusters > 0 ? [`${done} of ${clusters} ${clusters === 1 ? 'cluster' : 'clusters'} done`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(desired === null ? [] : [`${ready ?? 0} of ${desired} replicas ready`]),
    ...(unplaced > 0 ? [`${unplaced} unplaced`] : []),
  ].join(', ');
}

/** Returns the reason for the state of a cluster. Empty if there is none. */
export function reasonText({ reason, message, fault }: ClusterCopyState): string {
  const text = [reason ?? '', message ?? ''].filter((part) => part !== '').join(': ');
  const failed = fault === null || text.includes(fault.message) ? '' : reasonOfFault(fault);
  return [text, failed].filter((part) => part !== '').join('; ');
}

/** Returns the lines that explain what keeps a Propagation from being settled, and what a user can do. */
export function obstacleLines(state: ShownPropagation): readonly string[] {
  const { phase, conditions, notes } = state;
  const unmet = conditions.filter(
    // `Applying` is normal progress, not an obstacle.
    ({ type, status, reason, message }) => causes.has(type ?? '') && status !== 'True' && reason !== 'Applying' && (message ?? '') !== '',
  );
  return [
    ...unmet.map(({ type, reason, message }) => `${type}: ${reason ?? ''} ${message ?? ''}`),
    ...notes
      .filter(({ severity, code }) => severity === 'ERROR' || awayNotes.has(code))
      .map(({ code, path, message }) => `${code}${path === null ? '' : ` ${path}`}: ${message}`),
    ...hintsOf(phase, state),
  ];
}

const causes = new Set(['Accepted', 'Planned', 'Applied', 'Healthy', 'Progressing', 'Fresh', 'Led']);

/** The warnings about copies in clusters that do not answer. */
const awayNotes = new Set(['POSSIBLY_DOUBLED', 'FATE_UNKNOWN']);

function hintsOf(phase: string, { namespace, name, conditions }: ShownPropagation): readonly string[] {
  const verb = (words: string) => `muster rollout ${words}`;
  const target = `${name} -n ${namespace}`;
  const isFor = (wanted: string, why: string) => conditions.some(({ type, reason }) => type === wanted && reason === why);
  const goOn = `continue with: ${verb(`resume ${target}`)}`;
  // The hint names a rollback only after a breach, because a Propagation that a user has paused would stay paused after the rollback.
  if (phase === 'PAUSED') return [isFor('Progressing', 'Breach') ? `${goOn}; or roll back with: ${verb(`rollback ${target}`)}` : goOn];
  if (phase === 'HELD' && (isFor('Planned', 'PruneHeld') || isFor('Planned', 'DeletionHeld')))
    return [`confirm the deletions with: ${verb(`resume ${target} --confirm-prune`)}`];
  return [];
}
