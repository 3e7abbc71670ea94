import { type IntentNote, noteFields, noteText } from '../../core/columns/plan-texts.ts';
import {
  type AnsweredCondition,
  type CopiesInCluster,
  copiesReason,
  type PropagationProgress,
} from '../../core/columns/propagation-texts.ts';
import type { Json } from '../../core/json.ts';
import { faultText, type ShownFault, shownFaultFields } from '../gateway/faults.ts';
import type { Tone } from '../table/table-column.ts';

/** The GraphQL selection that gives a `PropagationProgress`. */
export const progressFields = 'phase desired ready unplaced progress { wave waves clusters done failed }';

/** The state of the copies in one cluster. */
export type ShownCopies = CopiesInCluster<ShownFault>;

/** A Propagation with its copies. */
export interface WholePropagation extends PropagationProgress {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly paused: boolean;
  readonly spec: Json;
  readonly clusters: readonly ShownCopies[];
  readonly conditions: readonly AnsweredCondition[];
  readonly notes: readonly IntentNote[];
}

/** The subscription to one Propagation. */
export const propagationQuery = `subscription ($namespace: String!, $name: String!) {
  propagation(namespace: $namespace, name: $name) {
    namespace name revision paused spec ${progressFields}
    clusters { cluster { name } phase reason message wave replicas ready health since fault { ${shownFaultFields} } }
    conditions { type status reason message } notes { ${noteFields} }
  }
}`;

const tones: Readonly<Record<string, Tone>> = {
  SETTLED: 'good',
  FAILED: 'bad',
  DENIED: 'bad',
  DEGRADED: 'bad',
  HELD: 'warn',
  PAUSED: 'warn',
  SUSPENDED: 'warn',
  UNKNOWN: 'warn',
  ROLLING_BACK: 'warn',
  WAITING: 'dim',
};

/** Returns the tone of a phase of a Propagation or of its copies. */
export function toneOfPhase(phase: string): Tone {
  return tones[phase] ?? 'busy';
}

/** Returns why the copies in a cluster are as they are. Empty if there is no reason. */
export function reasonOfCopies(copies: ShownCopies): string {
  return copiesReason(copies, copies.fault === null ? '' : faultText(copies.fault));
}

/**
 * Types of conditions that are about the Propagation itself. The others name clusters, whose state and reason the table of copies shows. Only the
 * reason `InventoryUnreadable` of the condition `Applied` names objects on the hub, so it is shown too.
 */
const causes = new Set(['Accepted', 'Planned', 'Progressing', 'Led']);

/** Returns what keeps a Propagation from being settled, besides the state of copies in single clusters. */
export function obstaclesOf({ conditions, notes }: WholePropagation): readonly string[] {
  return [
    ...conditions
      .filter(
        ({ type, status, reason, message }) =>
          (causes.has(type ?? '') || reason === 'InventoryUnreadable') && status !== 'True' && (message ?? '') !== '',
      )
      .map(({ reason, message }) => `${reason ?? ''}: ${message ?? ''}`),
    ...notes.filter(({ severity }) => severity === 'ERROR').map(noteText),
  ];
}

/** True if deletions wait until a user confirms them. */
export function holdsDeletions({ conditions }: WholePropagation): boolean {
  return conditions.some(({ type, reason }) => type === 'Planned' && (reason === 'PruneHeld' || reason === 'DeletionHeld'));
}
