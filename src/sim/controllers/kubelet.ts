import type { V1Condition, V1ContainerStatus } from '@kubernetes/client-node';
import type { JsonObject } from '../../core/json.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';
import type { Pod } from './controller-view.ts';
import { containerImagesOf, isTerminating, outcomeAnnotationOf, podPhaseOf } from './pods.ts';
import { changedStatus, imageDigest, kubernetesTime, type World, withCondition } from './world.ts';

const from = 'kubelet';

/**
 * Runs Pods as the kubelets of all nodes do.
 *
 * A bound Pod runs after 0.5 to 1.5 s. A Pod of a Job ends 2 to 6 s later. A terminating Pod is removed after 0.5 to 1.5 s.
 *
 * The annotation `sim/outcome` changes that. `failed`: the Pod of a Job fails. `forever`: the Pod of a Job never ends. `crash`: the Pod
 * of any owner crashes repeatedly, with a growing delay of at most 5 minutes. `no-image`: the Pod of any owner never starts.
 */
export function runPods(world: World): void {
  for (const pod of [...world.view.objects('Pod')]) {
    const key = `pod ${pod.metadata.uid}`;
    if (isTerminating(pod)) {
      if (world.hasElapsed(`${key} goes`, 500, 1_500)) remove(world, pod);
    } else if (!pod.spec?.nodeName) continue;
    else if (podPhaseOf(pod) === 'Pending' && outcomeAnnotationOf(pod) === 'no-image') failToPull(world, pod, key);
    else if (podPhaseOf(pod) === 'Pending') start(world, pod, key);
    else if (podPhaseOf(pod) === 'Running' && outcomeAnnotationOf(pod) === 'crash') keepCrashing(world, pod, key);
    else if (podPhaseOf(pod) === 'Running') keepRunning(world, pod, key);
  }
}

function remove(world: World, pod: Pod): void {
  if (pod.spec?.nodeName && podPhaseOf(pod) === 'Running') {
    const [container] = containerImagesOf(pod);
    world.record({ to: pod, type: 'Normal', reason: 'Killing', message: `Stopping container ${container?.name}`, from });
  }
  world.remove('Pod', pod);
}

function start(world: World, pod: Pod, key: string): void {
  if (!world.hasElapsed(`${key} starts`, 500, 1_500)) return;
  for (const { name, image } of containerImagesOf(pod)) {
    world.record({ to: pod, type: 'Normal', reason: 'Pulled', message: `Container image "${image}" already present on machine`, from });
    world.record({ to: pod, type: 'Normal', reason: 'Started', message: `Started container ${name}`, from });
  }
  world.put({ ...pod, status: runningStatus(world, pod) });
}

function failToPull(world: World, pod: Pod, key: string): void {
  const isFirst = itemsOf(pod.status?.containerStatuses).length === 0;
  if (world.isFastForward && !isFirst) return;
  if (!world.hasElapsed(`${key} pulls`, isFirst ? 500 : 20_000, isFirst ? 1_500 : 40_000)) return;
  const [container = { name: '', image: '' }] = containerImagesOf(pod);
  world.record({ to: pod, type: 'Warning', reason: 'Failed', message: `Failed to pull image "${container.image}": not found`, from });
  const state = { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${container.image}"` } };
  const status = { ...addressesOf(world, pod), ...notReady(world, pod, 'ContainersNotReady'), phase: 'Pending' };
  const next = changedStatus(pod, { ...pod.status, ...status, containerStatuses: containerStatuses(pod, { state, ready: false }) });
  if (next !== undefined) world.put(next);
}

function runningStatus(world: World, pod: Pod, restartCount = 0): JsonObject {
  let conditions: readonly Stored<V1Condition>[] = itemsOf(pod.status?.conditions);
  const startedMs = world.nowMs;
  for (const type of ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']) {
    conditions = withCondition(conditions, { type, status: 'True' }, startedMs);
  }
  const state = { running: { startedAt: kubernetesTime(startedMs) } };
  return {
    ...pod.status,
    ...addressesOf(world, pod),
    phase: 'Running',
    conditions,
    containerStatuses: containerStatuses(pod, { state, ready: true, restartCount }),
  };
}

function keepRunning(world: World, pod: Pod, key: string): void {
  const isOfJob = pod.metadata.ownerReferences?.some(({ kind }) => kind === 'Job') ?? false;
  if (!isOfJob || outcomeAnnotationOf(pod) === 'forever' || !world.hasElapsed(`${key} ends`, 2_000, 6_000)) return;
  const failed = outcomeAnnotationOf(pod) === 'failed';
  const reason = failed ? 'PodFailed' : 'PodCompleted';
  const terminated = { exitCode: failed ? 1 : 0, reason: failed ? 'Error' : 'Completed', finishedAt: kubernetesTime(world.nowMs) };
  const startedAt = pod.status?.startTime ?? kubernetesTime(world.nowMs);
  world.put({
    ...pod,
    status: {
      ...pod.status,
      ...notReady(world, pod, reason),
      phase: failed ? 'Failed' : 'Succeeded',
      containerStatuses: containerStatuses(pod, { state: { terminated: { ...terminated, startedAt } }, ready: false }),
    },
  });
}

function keepCrashing(world: World, pod: Pod, key: string): void {
  const restarts = itemsOf(pod.status?.containerStatuses)[0]?.restartCount ?? 0;
  const isWaiting = itemsOf(pod.status?.containerStatuses)[0]?.state?.waiting?.reason !== undefined;
  const [container = { name: '', image: '' }] = containerImagesOf(pod);
  if (isWaiting) {
    if (world.isFastForward) return;
    const backoffMs = Math.min(300_000, 10_000 * 2 ** Math.min(restarts, 5));
    if (!world.hasElapsed(`${key} restarts`, backoffMs, backoffMs * 1.1)) return;
    world.record({ to: pod, type: 'Normal', reason: 'Started', message: `Started container ${container.name}`, from });
    world.put({ ...pod, status: runningStatus(world, pod, restarts + 1) });
    return;
  }
  if (!world.hasElapsed(`${key} crashes`, 2_000, 5_000)) return;
  const message = `Back-off restarting failed container ${container.name} in pod ${pod.metadata.name}`;
  world.record({ to: pod, type: 'Warning', reason: 'BackOff', message, from });
  const state = { waiting: { reason: 'CrashLoopBackOff', message } };
  const startedAt = itemsOf(pod.status?.containerStatuses)[0]?.state?.running?.startedAt ?? kubernetesTime(world.nowMs);
  const lastState = { terminated: { exitCode: 1, reason: 'Error', startedAt, finishedAt: kubernetesTime(world.nowMs) } };
  const statuses = containerStatuses(pod, {
    state,
    lastState,
    ready: false,
    restartCount: restarts + (world.isFastForward ? 1 + Math.floor(world.random() * 40) : 0),
  });
  world.put({ ...pod, status: { ...pod.status, ...notReady(world, pod, 'ContainersNotReady'), containerStatuses: statuses } });
}

function notReady(world: World, pod: Pod, reason: string): JsonObject {
  let conditions: readonly Stored<V1Condition>[] = itemsOf(pod.status?.conditions);
  for (const type of ['Ready', 'ContainersReady']) conditions = withCondition(conditions, { type, status: 'False', reason }, world.nowMs);
  return { conditions };
}

interface ContainerChange {
  readonly state: JsonObject;
  readonly lastState?: JsonObject;
  readonly ready: boolean;
  readonly restartCount?: number;
}

function containerStatuses(pod: Pod, { state, lastState, ready, restartCount }: ContainerChange): JsonObject[] {
  const before = itemsOf(pod.status?.containerStatuses);
  return containerImagesOf(pod).map(({ name, image }, index) => ({
    name,
    state,
    lastState: lastState ?? before[index]?.lastState ?? {},
    ready,
    restartCount: restartCount ?? runOf(before[index]),
    image,
    imageID: `${image.split(':')[0]}@sha256:${imageDigest(image)}`,
    containerID: `containerd://${imageDigest(`${pod.metadata.uid} ${name} ${restartCount ?? runOf(before[index])}`)}`,
    started: ready,
  }));
}

function runOf(status: Stored<V1ContainerStatus> | undefined): number {
  return status?.restartCount ?? 0;
}

/** Returns the addresses and the start time for a Pod that starts. Empty if the Pod has addresses already. */
function addressesOf(world: World, pod: Pod): JsonObject {
  if (pod.status?.podIP) return {};
  const node = world.view.find('Node', pod.spec?.nodeName ?? '');
  const hostIP = itemsOf(node?.status?.addresses)[0]?.address ?? '10.0.0.1';
  const block = node?.spec?.podCIDR?.split('.').slice(0, 3).join('.') ?? '10.244.0';
  const podIP = `${block}.${2 + Math.floor(world.random() * 250)}`;
  const startTime = world.creationTimeFor(pod);
  return { hostIP, hostIPs: [{ ip: hostIP }], podIP, podIPs: [{ ip: podIP }], startTime };
}
