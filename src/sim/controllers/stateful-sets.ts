import type { KubernetesObject } from '../../core/objects.ts';
import type { Pod, StatefulSet } from './controller-view.ts';
import { counted } from './deployments.ts';
import { isReady, isTerminating, podOf } from './pods.ts';
import { changedStatus, controlEach, hashOf, type World } from './world.ts';

const from = 'statefulset-controller';
const revisionLabel = 'controller-revision-hash';

/** Keeps numbered Pods for each StatefulSet. Creates them one after the other, and updates them from the last to the first. */
export const keepStatefulSets = controlEach('StatefulSet.apps', reconcile);

function reconcile(world: World, set: StatefulSet): void {
  const wanted = set.spec?.replicas ?? 1;
  const revision = `${set.metadata.name}-${hashOf(set.spec?.template)}`;
  const pods = world.view.owned('Pod', set.metadata.uid).toSorted((a, b) => ordinalOf(a) - ordinalOf(b));
  const change = nextChange(set, pods, { wanted, revision });
  if (change?.type === 'create') create(world, set, { ordinal: change.ordinal, revision });
  else if (change?.type === 'delete') {
    world.terminate(change.pod);
    const message = `delete Pod ${change.pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
    world.record({ to: set, type: 'Normal', reason: 'SuccessfulDelete', message, from });
  }
  report(world, set, revision);
}

type Change = { readonly type: 'create'; readonly ordinal: number } | { readonly type: 'delete'; readonly pod: Pod };

/**
 * Returns the next change. Undefined if the StatefulSet is complete, or if it must first wait for a Pod that terminates or is not ready.
 */
function nextChange(
  set: StatefulSet,
  pods: readonly Pod[],
  { wanted, revision }: { readonly wanted: number; readonly revision: string },
): Change | undefined {
  const last = pods.at(-1);
  if (last !== undefined && ordinalOf(last) >= wanted) return isTerminating(last) ? undefined : { type: 'delete', pod: last };
  const isParallel = set.spec?.podManagementPolicy === 'Parallel';
  const numbers = new Set(pods.map(ordinalOf));
  for (let ordinal = 0; ordinal < wanted; ordinal++) {
    if (!numbers.has(ordinal)) return { type: 'create', ordinal };
    if (!isParallel && !pods.some((pod) => ordinalOf(pod) === ordinal && isReady(pod))) return undefined;
  }
  const stale = pods.findLast((pod) => pod.metadata.labels?.[revisionLabel] !== revision);
  return stale === undefined || isTerminating(stale) ? undefined : { type: 'delete', pod: stale };
}

function create(world: World, set: StatefulSet, { ordinal, revision }: { readonly ordinal: number; readonly revision: string }): void {
  const name = `${set.metadata.name}-${ordinal}`;
  const labels = {
    [revisionLabel]: revision,
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
  };
  const subdomain = set.spec?.serviceName ?? '';
  world.put(podOf(set, { name, labels, extraSpec: { hostname: name, subdomain } }, world));
  const message = `create Pod ${name} in StatefulSet ${set.metadata.name} successful`;
  world.record({ to: set, type: 'Normal', reason: 'SuccessfulCreate', message, from });
}

function report(world: World, set: StatefulSet, updateRevision: string): void {
  const pods = world.view.owned('Pod', set.metadata.uid);
  const updated = pods.filter((pod) => pod.metadata.labels?.[revisionLabel] === updateRevision).length;
  const ready = pods.filter(isReady).length;
  const isDone = updated === pods.length;
  const currentRevision = isDone ? updateRevision : (set.status?.currentRevision ?? updateRevision);
  const next = changedStatus(set, {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    ...counted({ readyReplicas: ready, currentReplicas: isDone ? pods.length : pods.length - updated, updatedReplicas: updated }),
    availableReplicas: ready,
    currentRevision,
    updateRevision,
    collisionCount: 0,
  });
  if (next !== undefined) world.put(next);
}

function ordinalOf({ metadata }: KubernetesObject): number {
  return Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1));
}
