import type { Fault } from '../../../src/core/faults.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { InventoryEntry } from '../../../src/propagate/model/inventory.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { RolloutSpec } from '../../../src/propagate/model/spec-definition.ts';
import type { ClusterFacts, CopyFacts, PropagationFacts } from '../../../src/propagate/status/facts.ts';

export const nowMs = Date.parse('2030-01-01T00:10:00Z');
export const now = '2030-01-01T00:10:00.000Z';
/** Returns the time this many seconds before now. */
export const ago = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();

/** A Deployment with two replicas, rolled out, as generation 3 of its Propagation wrote it. */
export const rolledOut: JsonObject = {
  metadata: { generation: 1 },
  spec: { replicas: 2 },
  status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 },
};

/** Replaces figures of its status. */
export const withStatus = (status: JsonObject): JsonObject => ({
  ...rolledOut,
  status: { ...(rolledOut.status as JsonObject), ...status },
});

interface CopyGiven {
  readonly kind?: 'Deployment' | 'ConfigMap' | 'Job';
  readonly name?: string;
  /** The mirrored object without names, or why there is none. */
  readonly object?: JsonObject | 'absent' | 'unread' | 'unserved';
  readonly entry?: Partial<InventoryEntry>;
  readonly agoMs?: number;
  readonly fault?: Fault;
}

const versions = { Deployment: 'apps/v1', ConfigMap: 'v1', Job: 'batch/v1' } as const;

/** A copy that generation 3 wrote, with a current mirror. */
export function copyOf({ kind = 'Deployment', name = 'web', object = rolledOut, entry = {}, agoMs = 0, fault }: CopyGiven = {}): CopyFacts {
  const key = { apiVersion: versions[kind], kind, namespace: 'default', name };
  const age = { asOfMs: nowMs - agoMs, ...(fault === undefined ? {} : { fault }) };
  return {
    entry: { key, state: 'Owned', uid: 'u1', appliedHash: 'h3', appliedGeneration: 3, action: 'Created', health: 'Unknown', ...entry },
    mirrored: mirroredOf(object, name, age),
  };
}

function mirroredOf(object: NonNullable<CopyGiven['object']>, name: string, age: { readonly asOfMs: number; readonly fault?: Fault }) {
  if (object === 'absent') return { result: 'absent', ...age } as const;
  if (object === 'unread' || object === 'unserved') {
    const code = object === 'unread' ? 'SYNCING' : 'NOT_SERVED';
    return { result: 'unread', fault: { code, cluster: clusterName('north'), message: 'nothing is read', retry: 'LATER' } } as const;
  }
  const annotations = { [marks.generation]: '3' };
  const metadata = {
    name,
    namespace: 'default',
    uid: 'u1',
    annotations,
    ...(object.metadata as { readonly [key: string]: Json } | undefined),
  };
  const held: KubernetesObject = { ...object, metadata };
  return { result: 'held', object: held, ...age } as const;
}

/** A cluster where generation 3 was started, with one Deployment of two replicas. */
export function clusterOf(name: string, given: Partial<ClusterFacts> = {}): ClusterFacts {
  const copies = given.copies ?? [copyOf()];
  const objects = copies.map(({ entry: { key } }) => ({ key, action: 'UPDATE' as const, desiredHash: 'h3' }));
  return {
    cluster: clusterName(name),
    member: { phase: 'SYNCED', asOfMs: nowMs, taints: [], faults: [] },
    planned: { wave: 0, replicas: 2, objects },
    stage: 'begun',
    ...given,
    copies,
  };
}

/** The same cluster without a plan. */
export function leavingOf(name: string, given: Partial<ClusterFacts> = {}): ClusterFacts {
  const { planned: _, ...facts } = clusterOf(name, { stage: 'leaving', ...given });
  return facts;
}

export const rollout: RolloutSpec = { waves: [], maxFailures: 0, soakMs: 0, onFailure: 'Pause' };

/** Generation 3 with a plan, and no options. */
export function propagationOf(clusters: readonly ClusterFacts[], given: Partial<PropagationFacts> = {}): PropagationFacts {
  return {
    generation: 3,
    spec: { rollout, suspend: { scheduling: false, all: false, clusters: [] } },
    previous: {},
    plan: { digest: 'd3', revision: 2, scheduledAt: ago(60), desired: 4, placed: 4, unplaced: 0, notes: [] },
    clusters,
    isDeleting: false,
    isPaused: false,
    nowMs,
    ...given,
  };
}

/** A fault of the cluster. */
export const faultOf = (code: Fault['code'], message = 'it does not answer'): Fault => ({
  code,
  cluster: clusterName('north'),
  message,
  retry: 'LATER',
});
