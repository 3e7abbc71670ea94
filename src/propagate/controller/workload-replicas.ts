import { numberAt } from '../../core/json-at.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import { countOf } from '../status/health.ts';

/** How many replicas the workload among these copies is to have where it stands, and how many are ready; undefined if there is none. */
export function workloadReplicasOf(copies: readonly MirroredObject[]): { readonly wanted: number; readonly ready: number } | undefined {
  for (const copy of copies) {
    if (copy.result !== 'held') continue;
    const wanted = numberAt(copy.object, 'spec', 'replicas');
    if (wanted !== undefined) return { wanted, ready: countOf(copy.object, 'readyReplicas') };
  }
  return undefined;
}
