import type { V1Taint, V1Toleration } from '@kubernetes/client-node';
import type { ClusterTaint } from '../../../changes/members.ts';
import { type Stored, textOrUndefined } from '../../../core/stored.ts';
import type { Toleration } from '../../model/spec.ts';

/**
 * True if the toleration covers the taint, by the rules of core/v1. A toleration without a key covers every key, and without an effect
 * every effect. `Exists` covers every value.
 */
export function tolerates(toleration: Toleration, taint: ClusterTaint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== taint.effect) return false;
  if (toleration.key !== undefined && toleration.key !== '' && toleration.key !== taint.key) return false;
  return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
}

/**
 * Returns the first taint that keeps new copies away: its effect is NoSchedule or NoExecute, and no toleration covers it. Undefined if no
 * taint keeps copies away.
 */
export function untoleratedTaint(taints: readonly ClusterTaint[], tolerations: readonly Toleration[]): ClusterTaint | undefined {
  return taints.find(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Prints a taint as kubectl does: `key=value:effect`, or `key:effect` without a value. */
export function printTaint({ key, value, effect }: ClusterTaint): string {
  return `${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`;
}

/**
 * Reads a core/v1 Toleration of an object. Undefined if its operator compares numbers (`Lt`, `Gt`): Muster treats such a toleration as
 * absent.
 */
export function tolerationIn(toleration: Stored<V1Toleration>): Toleration | undefined {
  const operator = textOrUndefined(toleration.operator) ?? 'Equal';
  if (operator !== 'Equal' && operator !== 'Exists' && operator !== '') return undefined;
  const effect = effects.find((known) => known === toleration.effect);
  return {
    operator: operator === 'Exists' ? 'Exists' : 'Equal',
    key: textOrUndefined(toleration.key) ?? '',
    value: textOrUndefined(toleration.value) ?? '',
    ...(effect === undefined ? {} : { effect }),
  };
}

/** Reads a list of core/v1 Taints. Entries without a key are left out. */
export function taintsIn(taints: readonly Stored<V1Taint>[]): readonly ClusterTaint[] {
  return taints.flatMap(({ key, value, effect }) =>
    typeof key === 'string' ? [{ key, value: textOrUndefined(value) ?? '', effect: textOrUndefined(effect) ?? '' }] : [],
  );
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;
