import type { KubernetesObject } from '../../core/objects.ts';
import type { ReplicaSet } from './controller-view.ts';
import { counted } from './deployments.ts';
import { isFinished, isReady, isTerminating, podOf } from './pods.ts';
import { changedStatus, controlEach, suffix, type World } from './world.ts';

const from = 'replicaset-controller';

/** Creates and deletes Pods until each ReplicaSet has the wanted number. */
export const keepReplicaSets = controlEach('ReplicaSet.apps', reconcile);

function reconcile(world: World, set: ReplicaSet): void {
  const wanted = set.spec?.replicas ?? 1;
  const pods = world.view.owned('Pod', set.metadata.uid).filter((pod) => !isTerminating(pod) && !isFinished(pod));
  for (let missing = wanted - pods.length; missing > 0; missing--) {
    const pod = podOf(set, { name: `${set.metadata.name}-${suffix(world)}` }, world);
    world.put(pod);
    world.record({ to: set, type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}`, from });
  }
  // Pods that are not ready are deleted first, then the youngest.
  const surplus = pods.toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)) || age(b) - age(a));
  for (const pod of surplus.slice(0, Math.max(0, pods.length - wanted))) {
    world.terminate(pod);
    world.record({ to: set, type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.metadata.name}`, from });
  }
  report(world, set);
}

function report(world: World, set: ReplicaSet): void {
  const pods = world.view.owned('Pod', set.metadata.uid).filter((pod) => !isTerminating(pod) && !isFinished(pod));
  const ready = pods.filter(isReady).length;
  const next = changedStatus(set, {
    replicas: pods.length,
    ...counted({ fullyLabeledReplicas: pods.length, readyReplicas: ready, availableReplicas: ready }),
    observedGeneration: set.metadata.generation,
  });
  if (next !== undefined) world.put(next);
}

function age({ metadata }: KubernetesObject): number {
  return Date.parse(String(metadata.creationTimestamp)) || 0;
}
