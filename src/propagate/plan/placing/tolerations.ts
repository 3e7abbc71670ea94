import type { V1Taint, V1Toleration } from '@kubernetes/client-node';
import type { ClusterTaint } from '../../../changes/members.ts';
import { type Stored, textOrUndefined } from '../../../core/stored.ts';
import type { Toleration } from '../../model/spec.ts';

/** True if the toleration covers the taint, as core/v1 does: an absent key or effect covers every one, `Exists` every value. */
export function tolerates(toleration: Toleration, taint: ClusterTaint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== taint.effect) return false;
  if (toleration.key !== undefined && toleration.key !== '' && toleration.key !== taint.key) return false;
  return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
}

/** The first taint that keeps new copies away: of NoSchedule or NoExecute, and covered by no toleration. */
export function untoleratedTaint(taints: readonly ClusterTaint[], tolerations: readonly Toleration[]): ClusterTaint | undefined {
  return taints.find(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** What tolerates a list of taints. */
interface TolerationsUsed {
  readonly allTolerated: boolean;
  /** In the order of the taints, the first that covers each. Empty if one taint is covered by none. */
  readonly matching: readonly Toleration[];
}

/** Which tolerations cover the taints, whatever the taints' effects: all or none. Without taints: none are needed, all is tolerated. */
export function tolerationsUsed(taints: readonly ClusterTaint[], tolerations: readonly Toleration[]): TolerationsUsed {
  const matching: Toleration[] = [];
  for (const taint of taints) {
    const first = tolerations.find((toleration) => tolerates(toleration, taint));
    if (first === undefined) return { allTolerated: false, matching: [] };
    matching.push(first);
  }
  return { allTolerated: true, matching };
}

/** The taint as kubectl writes it: `key=value:effect`, or `key:effect` without a value. */
export function printTaint({ key, value, effect }: ClusterTaint): string {
  return `${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`;
}

/** A core/v1 Toleration as it stands in an object. Undefined if it compares (`Lt`, `Gt`): that tolerates nothing here. */
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

/** The taints in a list of core/v1 Taints; what has no key is none. */
export function taintsIn(taints: readonly Stored<V1Taint>[]): readonly ClusterTaint[] {
  return taints.flatMap(({ key, value, effect }) =>
    typeof key === 'string' ? [{ key, value: textOrUndefined(value) ?? '', effect: textOrUndefined(effect) ?? '' }] : [],
  );
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;
