import type { ClusterTaint } from '../members.ts';
import type { Toleration } from '../spec.ts';

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
export interface TolerationsUsed {
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
