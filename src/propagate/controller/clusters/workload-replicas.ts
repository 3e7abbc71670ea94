import { workloadCountOf } from '../../plan/placing/workload-count.ts';
import { readyOf } from '../../status/copy-state.ts';
import type { CopyFacts } from '../../status/facts.ts';

/**
 * How many replicas all workloads among these copies are to have where they stand, and how many are ready; undefined if there is none. What a division
 * counts, and nothing else: so both sides of a move are of the same.
 */
export function workloadReplicasOf(copies: readonly CopyFacts[]): { readonly wanted: number; readonly ready: number } | undefined {
  const workloads = copies.flatMap((copy) => {
    const wanted = wantedOf(copy);
    return wanted === undefined ? [] : [{ wanted, ready: readyOf(copy) ?? 0 }];
  });
  if (workloads.length === 0) return undefined;
  return workloads.reduce((sum, { wanted, ready }) => ({ wanted: sum.wanted + wanted, ready: sum.ready + ready }), { wanted: 0, ready: 0 });
}

function wantedOf({ entry: { key }, mirrored }: CopyFacts): number | undefined {
  if (mirrored.result !== 'held') return undefined;
  // Items of lists do not say what they are.
  return workloadCountOf({ ...mirrored.object, apiVersion: key.apiVersion, kind: key.kind })?.count;
}
