import type { V1Container, V1ContainerStateTerminated, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { parseInstant } from '../../core/json/json-values.ts';
import type { TypedObject } from '../../core/objects.ts';
import { itemsOf, type Stored, textOrUndefined } from '../../core/stored.ts';

type Pod = TypedObject<V1Pod>;
type ContainerStatus = Stored<V1ContainerStatus>;

// The columns that `kubectl get pods` prints for a Pod: `printPod` of kubernetes/pkg/printers/internalversion/printers.go (1.36). No
// function throws: a value with an unexpected type counts as absent. The functions run once for each Pod and condition of a filter, so they
// allocate as little as possible.

/**
 * Returns the column STATUS, such as `Running`, `Init:0/2`, `CrashLoopBackOff`, `Completed` or `Terminating`. It may be any reason that a
 * kubelet gives, so it is no enum. `Unknown` for a Pod without a phase.
 */
export function phaseOfPod(pod: Pod): string {
  const { phase, reason } = pod.status ?? {};
  if (typeof pod.metadata.deletionTimestamp !== 'string') return reasonOf(pod);
  if (reason === 'NodeLost') return 'Unknown';
  return phase === 'Succeeded' || phase === 'Failed' ? reasonOf(pod) : 'Terminating';
}

/**
 * Returns the column READY: the number of ready containers, and of all containers that should keep running, such as `1/2`. Sidecars count.
 */
export function readyOfPod(pod: Pod): string {
  const init = readInit(pod);
  let ready = init.ready;
  if (isPast(init, pod)) for (const status of itemsOf(pod.status?.containerStatuses)) if (isUp(status)) ready += 1;
  let total = itemsOf(pod.spec?.containers).length;
  for (const container of itemsOf(pod.spec?.initContainers)) if (isSidecar(container)) total += 1;
  return `${ready}/${total}`;
}

/**
 * Returns the column RESTARTS without the time of the last restart. While the Pod initializes, the restarts of its init containers count.
 * After that, those of sidecars and main containers.
 */
export function restartsOfPod(pod: Pod): number {
  let restarts = 0;
  for (const status of countedIn(pod)) restarts += integerOf(status.restartCount);
  return Math.min(Math.max(restarts, -(2 ** 31)), 2 ** 31 - 1);
}

/**
 * Returns the time of the last restart that `restartsOfPod` counts: the end of the previous run of that container, in the form the API
 * server serves. Undefined if no status has such a time.
 */
export function lastRestartOfPod(pod: Pod): string | undefined {
  let last: string | undefined;
  for (const status of countedIn(pod)) last = later(last, textOrUndefined(status.lastState?.terminated?.finishedAt));
  return last;
}

/** The progress of the init containers. */
interface InitProgress {
  /** The number of ready sidecars. */
  readonly ready: number;
  /** The index of the init container that the Pod waits for, and the reason. Undefined if it waits for none. */
  readonly waiting: { readonly at: number; readonly reason: string } | undefined;
}

const withoutInit: InitProgress = { ready: 0, waiting: undefined };

/**
 * Reads the progress of the init containers, which run one after the other. The first unfinished one gives the reason why the Pod waits.
 * The containers after it have not started.
 */
function readInit(pod: Pod): InitProgress {
  const statuses = itemsOf(pod.status?.initContainerStatuses);
  if (statuses.length === 0) return withoutInit;
  const containers = itemsOf(pod.spec?.initContainers);
  let ready = 0;
  let at = 0;
  for (const status of statuses) {
    const terminated = status.state?.terminated;
    const isThrough = terminated && integerOf(terminated.exitCode) === 0;
    if (!isThrough && status.started === true && isOfSidecar(status, containers)) {
      if (status.ready === true) ready += 1;
    } else if (!isThrough) {
      return { ready, waiting: { at, reason: `Init:${causeOf(status) ?? `${at}/${containers.length}`}` } };
    }
    at += 1;
  }
  return { ready, waiting: undefined };
}

function causeOf({ state }: ContainerStatus): string | undefined {
  if (state?.terminated) return reasonOfEnd(state.terminated);
  const reason = textOrUndefined(state?.waiting?.reason);
  return reason === '' || reason === 'PodInitializing' ? undefined : reason;
}

/**
 * True if the main containers decide the status: the Pod waits for no init container, or has been initialized before. After its Node has
 * restarted, an initialized Pod runs its init containers again.
 */
function isPast({ waiting }: InitProgress, pod: Pod): boolean {
  return waiting === undefined || holds(pod, 'Initialized');
}

/** Returns the statuses of the containers whose restarts count: see `restartsOfPod`. */
function countedIn(pod: Pod): readonly ContainerStatus[] {
  const init = readInit(pod);
  const statuses = itemsOf(pod.status?.containerStatuses);
  const ofInit = itemsOf(pod.status?.initContainerStatuses);
  if (ofInit.length === 0) return statuses;
  const begun = init.waiting === undefined ? ofInit : ofInit.slice(0, init.waiting.at + 1);
  if (!isPast(init, pod)) return begun;
  const containers = itemsOf(pod.spec?.initContainers);
  return [...begun.filter((status) => isOfSidecar(status, containers)), ...statuses];
}

function reasonOf(pod: Pod): string {
  const init = readInit(pod);
  const before = init.waiting?.reason ?? reasonOfStatus(pod);
  if (!isPast(init, pod)) return before;
  let [reason, failure, hasRunning]: readonly [string | undefined, string | undefined, boolean] = [undefined, undefined, false];
  for (const status of itemsOf(pod.status?.containerStatuses)) {
    const { waiting, terminated } = status.state ?? {};
    const waitingFor = textOrUndefined(waiting?.reason) ?? '';
    if (waitingFor !== '') {
      reason ??= waitingFor;
    } else if (terminated) {
      const end = reasonOfEnd(terminated);
      reason ??= end;
      if (integerOf(terminated.exitCode) !== 0) failure ??= end;
    } else {
      hasRunning ||= isUp(status);
    }
  }
  reason ??= before;
  if (reason !== 'Completed') return reason;
  // A completed first container does not make the Pod `Completed` if another container failed or still runs.
  if (hasRunning && holds(pod, 'Ready')) return 'Running';
  return failure ?? (hasRunning ? 'NotReady' : reason);
}

function reasonOfStatus(pod: Pod): string {
  const { conditions, reason, phase } = pod.status ?? {};
  for (const condition of itemsOf(conditions)) {
    if (condition.reason === 'SchedulingGated' && condition.type === 'PodScheduled') return condition.reason;
  }
  return textOrUndefined(reason) || textOrUndefined(phase) || 'Unknown';
}

function reasonOfEnd({ reason, signal, exitCode }: Stored<V1ContainerStateTerminated>): string {
  const number = integerOf(signal);
  return textOrUndefined(reason) || (number === 0 ? `ExitCode:${integerOf(exitCode)}` : `Signal:${number}`);
}

/** True for a container that is ready and running, without a reason for waiting or ending. */
function isUp({ ready, state }: ContainerStatus): boolean {
  return ready === true && !!state?.running && !state.terminated && !textOrUndefined(state.waiting?.reason);
}

/** True if the first condition of this type has the status `True`. Kubernetes also reads only the first one. */
function holds(pod: Pod, type: string): boolean {
  return itemsOf(pod.status?.conditions).find((condition) => condition.type === type)?.status === 'True';
}

function isOfSidecar({ name }: ContainerStatus, initContainers: readonly Stored<V1Container>[]): boolean {
  return initContainers.some((container) => container.name === name && isSidecar(container));
}

function isSidecar({ restartPolicy }: Stored<V1Container>): boolean {
  return restartPolicy === 'Always';
}

function integerOf(value: number | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : 0;
}

/**
 * Returns the later of two times, unchanged. The first wins if they are equal. A text that is no time is ignored. Undefined if neither is a
 * time.
 */
export function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined && b === undefined) return undefined;
  const [x, y] = [a, b].map((text) => (text === undefined ? undefined : parseInstant(text)));
  if (y === undefined) return x === undefined ? undefined : a;
  if (x === undefined) return b;
  return y.ms > x.ms || (y.ms === x.ms && y.nanos > x.nanos) ? b : a;
}
