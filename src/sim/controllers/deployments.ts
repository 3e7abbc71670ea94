import type { V1Condition } from '@kubernetes/client-node';
import type { Json, JsonObject } from '../../core/json.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';
import type { Deployment, ReplicaSet } from './controller-view.ts';
import { isReady } from './pods.ts';
import { changedStatus, controlEach, controllerReference, hashOf, type World, withCondition } from './world.ts';

const from = 'deployment-controller';
const revisionKey = 'deployment.kubernetes.io/revision';
const hashLabel = 'pod-template-hash';

/**
 * A ReplicaSet of a Deployment. `wanted` is the number of its replicas, `made` that of its existing Pods, and `ready` that of its ready
 * Pods.
 */
interface Generation {
  readonly set: ReplicaSet;
  readonly revision: number;
  readonly wanted: number;
  readonly ready: number;
  readonly made: number;
}

/** Rolls out Deployments: one ReplicaSet per template. Moves Pods to the new ReplicaSet within `maxSurge` and `maxUnavailable`. */
export const keepDeployments = controlEach('Deployment.apps', reconcile);

function reconcile(world: World, deployment: Deployment): void {
  const generations = generationsOf(world, deployment);
  const current = generations.find(({ set }) => set.metadata.labels?.[hashLabel] === hashOf(deployment.spec?.template));
  if (current === undefined) {
    begin(world, deployment, generations);
    return;
  }
  const old = generations.filter((generation) => generation !== current);
  // A rollout makes at most one step every 1 to 2 s, so that people can follow it.
  if (isUnfinished(deployment, current, old) && world.hasElapsed(`deployment ${deployment.metadata.uid} steps`, 1_000, 2_000)) {
    step(world, deployment, { current, old });
  }
  const limit = deployment.spec?.revisionHistoryLimit ?? 10;
  const empty = old.filter(({ wanted, made }) => wanted === 0 && made === 0).toSorted((a, b) => b.revision - a.revision);
  for (const { set } of empty.slice(limit)) world.remove('ReplicaSet.apps', set);
  report(world, deployment, { current, old });
}

function generationsOf(world: World, deployment: Deployment): Generation[] {
  return world.view.owned('ReplicaSet.apps', deployment.metadata.uid).map((set) => {
    const pods = world.view.owned('Pod', set.metadata.uid);
    return {
      set,
      revision: Number(set.metadata.annotations?.[revisionKey] ?? 0),
      wanted: set.spec?.replicas ?? 0,
      ready: pods.filter(isReady).length,
      made: pods.length,
    };
  });
}

/** Creates the ReplicaSet of a new template, without Pods. */
function begin(world: World, deployment: Deployment, generations: readonly Generation[]): void {
  const template = deployment.spec?.template;
  const hash = hashOf(template);
  const labels = { ...(template?.metadata?.labels ?? {}), [hashLabel]: hash };
  const revision = String(Math.max(0, ...generations.map((generation) => generation.revision)) + 1);
  const { name, namespace = 'default' } = deployment.metadata;
  world.put({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      creationTimestamp: world.creationTimeFor(deployment),
      labels,
      annotations: { [revisionKey]: revision },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: { ...(deployment.spec?.selector?.matchLabels ?? {}), [hashLabel]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
    status: { replicas: 0 },
  });
  const annotations = { ...deployment.metadata.annotations, [revisionKey]: revision };
  world.put({ ...deployment, metadata: { ...deployment.metadata, annotations } });
}

interface Rollout {
  readonly current: Generation;
  readonly old: readonly Generation[];
}

function isUnfinished(deployment: Deployment, current: Generation, old: readonly Generation[]): boolean {
  const isPaused = deployment.spec?.paused === true;
  return !isPaused && (current.wanted !== replicasOf(deployment) || old.some(({ wanted }) => wanted > 0));
}

function step(world: World, deployment: Deployment, { current, old }: Rollout): void {
  const replicas = replicasOf(deployment);
  const { surge, unavailable } = limitsOf(deployment, replicas);
  const all = [current, ...old];
  const total = sum(all, 'wanted');
  if (current.wanted > replicas) {
    scale(world, deployment, current, replicas);
    return;
  }
  const room = world.isFastForward ? replicas : replicas + surge - total;
  if (current.wanted < replicas && room > 0) scale(world, deployment, current, Math.min(replicas, current.wanted + room));
  // Pods that are not ready serve no traffic, so they are removed first.
  const spare = world.isFastForward ? total : total - (replicas - unavailable) - (current.wanted - current.ready);
  let removable = Math.min(spare, sum(old, 'wanted'));
  for (const generation of old.toSorted((a, b) => a.ready - b.ready || a.revision - b.revision)) {
    const taken = Math.min(Math.max(0, removable), generation.wanted);
    if (taken > 0) scale(world, deployment, generation, generation.wanted - taken);
    removable -= taken;
  }
}

function scale(world: World, deployment: Deployment, { set, wanted }: Generation, replicas: number): void {
  const direction = replicas > wanted ? 'up' : 'down';
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${wanted} to ${replicas}`;
  world.record({ to: deployment, type: 'Normal', reason: 'ScalingReplicaSet', message, from });
  world.put({ ...set, spec: { ...set.spec, replicas } });
}

function report(world: World, deployment: Deployment, { current, old }: Rollout): void {
  const all = [current, ...old];
  const replicas = replicasOf(deployment);
  const [made, ready] = [sum(all, 'made'), sum(all, 'ready')];
  const isDone = current.wanted === replicas && current.ready >= replicas && old.every(({ made: left }) => left === 0);
  const { unavailable } = limitsOf(deployment, replicas);
  const status: JsonObject = {
    observedGeneration: deployment.metadata.generation,
    ...counted({ replicas: made, updatedReplicas: current.made, readyReplicas: ready, availableReplicas: ready }),
    ...counted({ unavailableReplicas: Math.max(0, replicas - ready) }),
    conditions: conditionsOf(world, deployment, { set: current.set, isDone, isAvailable: ready >= replicas - unavailable }),
  };
  const next = changedStatus(deployment, status);
  if (next !== undefined) world.put(next);
}

interface Progress {
  readonly set: ReplicaSet;
  readonly isDone: boolean;
  readonly isAvailable: boolean;
}

function conditionsOf(world: World, deployment: Deployment, { set, isDone, isAvailable }: Progress): readonly Stored<V1Condition>[] {
  const available = isAvailable
    ? ({ status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' } as const)
    : ({ status: 'False', reason: 'MinimumReplicasUnavailable', message: 'Deployment does not have minimum availability.' } as const);
  const before = itemsOf(deployment.status?.conditions);
  const progress = `ReplicaSet "${set.metadata.name}"`;
  const progressing = isDone
    ? ({ status: 'True', reason: 'NewReplicaSetAvailable', message: `${progress} has successfully progressed.` } as const)
    : isLate(world, deployment, set)
      ? ({ status: 'False', reason: 'ProgressDeadlineExceeded', message: `${progress} has timed out progressing.` } as const)
      : ({ status: 'True', reason: 'ReplicaSetUpdated', message: `${progress} is progressing.` } as const);
  const updatedKey = 'lastUpdateTime';
  const first = withCondition(before, { type: 'Available', ...available, updatedKey }, world.nowMs);
  return withCondition(first, { type: 'Progressing', ...progressing, updatedKey }, world.nowMs);
}

/** True if the condition `Progressing` of that ReplicaSet has not changed for the progress deadline. */
function isLate(world: World, deployment: Deployment, set: ReplicaSet): boolean {
  const deadlineMs = (deployment.spec?.progressDeadlineSeconds ?? 600) * 1000;
  const condition = itemsOf(deployment.status?.conditions).find((one) => one?.type === 'Progressing');
  const reason = condition?.reason;
  // If the condition describes another ReplicaSet, the rollout has just begun, and has the whole deadline.
  if (condition?.message?.includes(`"${set.metadata.name}"`) !== true) return false;
  if (reason === 'ProgressDeadlineExceeded') return true;
  if (reason !== 'ReplicaSetUpdated') return false;
  return world.hasElapsed(`deployment ${deployment.metadata.uid} is late with ${set.metadata.name}`, deadlineMs, deadlineMs);
}

function replicasOf(deployment: Deployment): number {
  return deployment.spec?.replicas ?? 1;
}

function limitsOf(deployment: Deployment, replicas: number): { readonly surge: number; readonly unavailable: number } {
  if (deployment.spec?.strategy?.type === 'Recreate') return { surge: 0, unavailable: replicas };
  const rolling = deployment.spec?.strategy?.rollingUpdate;
  const surge = Math.ceil(share(rolling?.maxSurge, replicas));
  const unavailable = Math.floor(share(rolling?.maxUnavailable, replicas));
  return surge + unavailable === 0 ? { surge: 0, unavailable: 1 } : { surge, unavailable };
}

/**
 * Returns the number of Pods that `maxSurge` or `maxUnavailable` allows, not rounded. The value is a number, or a percentage of the
 * replicas. Default: 25 %.
 */
function share(value: Json | undefined, replicas: number): number {
  if (typeof value === 'number') return value;
  const percent = typeof value === 'string' ? Number.parseFloat(value) : 25;
  return (replicas * percent) / 100;
}

function sum(generations: readonly Generation[], key: 'wanted' | 'ready' | 'made'): number {
  return generations.reduce((total, generation) => total + generation[key], 0);
}

/** Returns the counts above zero. Kubernetes leaves out zero counts of a status. */
export function counted(counts: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
