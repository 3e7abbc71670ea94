import type { Plan } from '../../../src/cli/propagation/plan.ts';
import type { ClusterCopyState, ShownPropagation } from '../../../src/cli/propagation/propagation-state.ts';

/** Makes the line of one cluster. It is settled unless `parts` change that. */
export function copyLine(cluster: string, parts: Partial<ClusterCopyState> = {}): ClusterCopyState {
  return {
    cluster: { name: cluster },
    phase: 'SETTLED',
    reason: null,
    message: null,
    wave: 0,
    replicas: 2,
    ready: 2,
    health: 'HEALTHY',
    since: '2026-01-01T00:00:00Z',
    fault: null,
    ...parts,
  };
}

/** Makes the GraphQL answer for the Propagation shop/web. It is settled unless `parts` change that. */
export function propagationState(parts: Partial<ShownPropagation> = {}): ShownPropagation {
  return {
    namespace: 'shop',
    name: 'web',
    generation: 1,
    revision: 1,
    phase: 'SETTLED',
    desired: 4,
    unplaced: 0,
    ready: 4,
    progress: { wave: 0, waves: 1, clusters: 2, done: 2, failed: 0 },
    clusters: [copyLine('north'), copyLine('south')],
    conditions: [],
    notes: [],
    faults: [],
    ...parts,
  };
}

/** Makes a plan without any changes. `parts` add to it. */
export function planOf(parts: Partial<Plan> = {}): Plan {
  return {
    digest: 'd1',
    ok: true,
    desired: null,
    placed: null,
    unplaced: 0,
    waves: ['all'],
    clusters: [],
    notes: [],
    faults: [],
    ...parts,
  };
}
