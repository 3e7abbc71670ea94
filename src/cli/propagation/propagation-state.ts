import { type IntentNote, noteFields } from '../../core/columns/plan-texts.ts';
import {
  type AnsweredCondition,
  type CopiesInCluster,
  copiesReason,
  type PropagationProgress,
} from '../../core/columns/propagation-texts.ts';
import { type ClusterFault, faultFields, reasonOfFault } from '../client/cluster-faults.ts';

/** A Propagation in an answer of the gateway. */
export interface ShownPropagation extends PropagationProgress {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly revision: number;
  readonly clusters: readonly ClusterCopyState[];
  readonly conditions: readonly AnsweredCondition[];
  readonly notes: readonly IntentNote[];
  readonly faults: readonly ClusterFault[];
}

/** The state of the copies in one cluster. */
export type ClusterCopyState = CopiesInCluster<ClusterFault>;

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

/** Returns the reason for the state of a cluster. Empty if there is none. */
export function reasonText(copies: ClusterCopyState): string {
  return copiesReason(copies, copies.fault === null ? '' : reasonOfFault(copies.fault));
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
    ...notes.filter(({ severity, code }) => severity === 'ERROR' || failoverNotes.has(code)).map(noteLine),
    ...hintsOf(phase, state),
  ];
}

/** Returns the warnings that a settled Propagation can have: about copies that a failover left behind. */
export function failoverLines({ notes }: Pick<ShownPropagation, 'notes'>): readonly string[] {
  return notes.filter(({ code }) => failoverNotes.has(code)).map(noteLine);
}

function noteLine({ code, path, message }: IntentNote): string {
  return `${code}${path === null ? '' : ` ${path}`}: ${message}`;
}

const causes = new Set(['Accepted', 'Planned', 'Applied', 'Healthy', 'Progressing', 'Fresh', 'Led']);

/** The warnings about copies of a failover that a user must look after. */
const failoverNotes = new Set(['POSSIBLY_DOUBLED', 'LEFT_BEHIND', 'FATE_UNKNOWN']);

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
