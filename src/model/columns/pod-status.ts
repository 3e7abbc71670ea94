import type { Json, JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { later } from './later.ts';
import { listOf, objectOf, textOf } from './lenient.ts';

// What `kubectl get pods` says of a Pod: `printPod` of kubernetes/pkg/printers/internalversion/printers.go (1.36). Nothing here throws: what has
// another type than Kubernetes gives it reads as absent. It runs once for each Pod and condition of a filter, so it makes as little as it can.

/**
 * STATUS: `Running`, `Init:0/2`, `CrashLoopBackOff`, `Completed`, `Terminating`, … Any text that a kubelet gives as a reason, so no closed set. Of a
 * Pod without any phase `Unknown`.
 */
export function phaseOfPod(pod: KubernetesObject): string {
  const { phase, reason } = objectOf(pod.status);
  if (typeof pod.metadata.deletionTimestamp !== 'string') return reasonOf(pod);
  if (reason === 'NodeLost') return 'Unknown';
  return phase === 'Succeeded' || phase === 'Failed' ? reasonOf(pod) : 'Terminating';
}

/** READY: containers that are ready, of all that are meant to go on running: `1/2`. Sidecars count. */
export function readyOfPod(pod: KubernetesObject): string {
  const init = readInit(pod);
  const spec = objectOf(pod.spec);
  let ready = init.ready;
  if (isPast(init, pod)) for (const status of containerStatusesOf(pod)) if (isUp(status)) ready += 1;
  let total = listOf(spec.containers).length;
  for (const container of listOf(spec.initContainers)) if (isSidecar(container)) total += 1;
  return `${ready}/${total}`;
}

/** RESTARTS without when the last was. While the Pod is initializing those of its init containers, then those of the others and of sidecars. */
export function restartsOfPod(pod: KubernetesObject): number {
  let restarts = 0;
  for (const status of countedIn(pod)) restarts += integerOf(objectOf(status).restartCount);
  return Math.min(Math.max(restarts, -(2 ** 31)), 2 ** 31 - 1);
}

/** When the last of these restarts was: when a container that counts ended before it was started again, as served. Undefined if none says so. */
export function lastRestartOfPod(pod: KubernetesObject): string | undefined {
  let last: string | undefined;
  for (const status of countedIn(pod)) last = later(last, textOf(objectOf(objectOf(objectOf(status).lastState).terminated).finishedAt));
  return last;
}

/** How far the init containers are. */
interface InitProgress {
  /** Sidecars that are ready. */
  readonly ready: number;
  /** Which of their statuses the Pod waits for, and why; undefined if for none. */
  readonly waiting: { readonly at: number; readonly reason: string } | undefined;
}

const withoutInit: InitProgress = { ready: 0, waiting: undefined };

/** They run one after the other: the first that is not through says why the Pod waits, and those behind it have not begun. */
function readInit(pod: KubernetesObject): InitProgress {
  const statuses = initStatusesOf(pod);
  if (statuses.length === 0) return withoutInit;
  const containers = listOf(objectOf(pod.spec).initContainers);
  let ready = 0;
  let at = 0;
  for (const one of statuses) {
    const status = objectOf(one);
    const { terminated } = objectOf(status.state);
    const isThrough = isThere(terminated) && integerOf(terminated.exitCode) === 0;
    if (!isThrough && status.started === true && isOfSidecar(one, containers)) {
      if (status.ready === true) ready += 1;
    } else if (!isThrough) {
      return { ready, waiting: { at, reason: `Init:${causeOf(status) ?? `${at}/${containers.length}`}` } };
    }
    at += 1;
  }
  return { ready, waiting: undefined };
}

function causeOf(status: JsonObject): string | undefined {
  const { terminated, waiting } = objectOf(status.state);
  if (isThere(terminated)) return reasonOfEnd(terminated);
  const reason = textOf(objectOf(waiting).reason);
  return reason === '' || reason === 'PodInitializing' ? undefined : reason;
}

/** True if its other containers are looked at. A Pod that was initialized once may initialize again, after its node has. */
function isPast({ waiting }: InitProgress, pod: KubernetesObject): boolean {
  return waiting === undefined || holds(pod, 'Initialized');
}

/** The statuses whose restarts count. */
function countedIn(pod: KubernetesObject): readonly Json[] {
  const init = readInit(pod);
  const statuses = containerStatusesOf(pod);
  const ofInit = initStatusesOf(pod);
  if (ofInit.length === 0) return statuses;
  const begun = init.waiting === undefined ? ofInit : ofInit.slice(0, init.waiting.at + 1);
  if (!isPast(init, pod)) return begun;
  const containers = listOf(objectOf(pod.spec).initContainers);
  return [...begun.filter((status) => isOfSidecar(status, containers)), ...statuses];
}

function reasonOf(pod: KubernetesObject): string {
  const init = readInit(pod);
  const before = init.waiting?.reason ?? reasonOfStatus(pod);
  if (!isPast(init, pod)) return before;
  let [reason, failure, hasRunning]: readonly [string | undefined, string | undefined, boolean] = [undefined, undefined, false];
  for (const status of containerStatusesOf(pod)) {
    const { waiting, terminated } = objectOf(objectOf(status).state);
    const waitingFor = textOf(objectOf(waiting).reason) ?? '';
    if (waitingFor !== '') {
      reason ??= waitingFor;
    } else if (isThere(terminated)) {
      const end = reasonOfEnd(terminated);
      reason ??= end;
      if (integerOf(terminated.exitCode) !== 0) failure ??= end;
    } else {
      hasRunning ||= isUp(status);
    }
  }
  reason ??= before;
  if (reason !== 'Completed') return reason;
  // That its first container did its work says little of a Pod of which another one failed, or goes on.
  if (hasRunning && holds(pod, 'Ready')) return 'Running';
  return failure ?? (hasRunning ? 'NotReady' : reason);
}

function reasonOfStatus(pod: KubernetesObject): string {
  const { conditions, reason, phase } = objectOf(pod.status);
  for (const condition of listOf(conditions)) {
    const { type, reason: cause } = objectOf(condition);
    if (cause === 'SchedulingGated' && type === 'PodScheduled') return cause;
  }
  return textOf(reason) || textOf(phase) || 'Unknown';
}

function reasonOfEnd({ reason, signal, exitCode }: JsonObject): string {
  const number = integerOf(signal);
  return textOf(reason) || (number === 0 ? `ExitCode:${integerOf(exitCode)}` : `Signal:${number}`);
}

/** Ready and running, and neither waiting for a reason nor ended. */
function isUp(one: Json): boolean {
  const status = objectOf(one);
  const { running, waiting, terminated } = objectOf(status.state);
  return status.ready === true && isThere(running) && !isThere(terminated) && !textOf(objectOf(waiting).reason);
}

/** As Kubernetes asks: of several conditions of a type the first. */
function holds(pod: KubernetesObject, type: string): boolean {
  for (const one of listOf(objectOf(pod.status).conditions)) {
    const condition = objectOf(one);
    if (condition.type === type) return condition.status === 'True';
  }
  return false;
}

function initStatusesOf({ status }: KubernetesObject): readonly Json[] {
  return listOf(objectOf(status).initContainerStatuses);
}

function containerStatusesOf({ status }: KubernetesObject): readonly Json[] {
  return listOf(objectOf(status).containerStatuses);
}

function isOfSidecar(status: Json, initContainers: readonly Json[]): boolean {
  const { name } = objectOf(status);
  return initContainers.some((container) => objectOf(container).name === name && isSidecar(container));
}

function isSidecar(container: Json): boolean {
  return objectOf(container).restartPolicy === 'Always';
}

function isThere(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function integerOf(value: Json | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : 0;
}
