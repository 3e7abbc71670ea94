import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { later } from './later.ts';

/** What `kubectl get pods` prints of a Pod. */
export interface PodStatus {
  /** STATUS: `Running`, `Init:0/2`, `CrashLoopBackOff`, `Completed`, `Terminating`, … Any text a kubelet gives as a reason, so no closed set. */
  readonly phase: string;
  /** READY: containers that are ready, of all that are meant to go on running: `1/2`. Sidecars count. */
  readonly ready: string;
  /** RESTARTS without when the last was. While the Pod is initializing those of its init containers, then those of the others and of sidecars. */
  readonly restarts: number;
  /** When the last of them was: when a container of those that are counted ended before it was started again, as served. Undefined if none says so. */
  readonly lastRestart: string | undefined;
}

/**
 * What `kubectl get pods` says of a Pod: `printPod` of kubernetes/pkg/printers/internalversion/printers.go (1.36). Never throws: what has another
 * type than Kubernetes gives it reads as absent. A Pod without any phase is `Unknown`.
 */
export function podStatusOf(pod: KubernetesObject): PodStatus {
  const status = objectAt(pod, 'status');
  const initContainers = listAt(pod, 'spec', 'initContainers');
  const sidecars = new Set(initContainers.filter(isSidecar).map((container) => textAt(container, 'name') ?? ''));
  const init = readInitContainers(listAt(status, 'initContainerStatuses'), { sidecars, total: initContainers.length });
  const running =
    init.reason === undefined || holds(status, 'Initialized') ? readContainers(listAt(status, 'containerStatuses'), init.ready) : undefined;
  const total = listAt(pod, 'spec', 'containers').length + initContainers.filter(isSidecar).length;
  const reason = running?.reason ?? init.reason ?? reasonOfStatus(status);
  return {
    phase: phaseOf(pod, reason === 'Completed' && running !== undefined ? reasonOfCompleted(status, running) : reason),
    ready: `${(running ?? init).ready}/${total}`,
    restarts: asInt32(running === undefined ? init.restarts : init.sidecarRestarts + running.restarts),
    lastRestart: running === undefined ? init.lastRestart : later(init.lastSidecarRestart, running.lastRestart),
  };
}

interface InitProgress {
  readonly ready: number;
  readonly restarts: number;
  readonly sidecarRestarts: number;
  readonly lastRestart: string | undefined;
  readonly lastSidecarRestart: string | undefined;
  /** Why the Pod is not initialized yet; undefined if nothing is left to wait for. */
  readonly reason: string | undefined;
}

interface InitContainers {
  /** Names of those that go on running. */
  readonly sidecars: ReadonlySet<string>;
  readonly total: number;
}

/** They run one after the other: the first that is not through says why the Pod waits, and those behind it have not begun. */
function readInitContainers(statuses: readonly Json[], { sidecars, total }: InitContainers): InitProgress {
  let [ready, restarts, sidecarRestarts] = [0, 0, 0];
  let lastRestart: string | undefined;
  let lastSidecarRestart: string | undefined;
  for (const [index, status] of statuses.entries()) {
    const sidecar = sidecars.has(textAt(status, 'name') ?? '');
    const count = countAt(status, 'restartCount');
    restarts += count;
    lastRestart = later(lastRestart, lastEndOf(status));
    if (sidecar) {
      sidecarRestarts += count;
      lastSidecarRestart = later(lastSidecarRestart, lastEndOf(status));
    }
    const { terminated, waiting } = stateOf(status);
    if (terminated !== undefined && countAt(terminated, 'exitCode') === 0) continue;
    if (sidecar && isTrue(status, 'started')) {
      if (isTrue(status, 'ready')) ready += 1;
      continue;
    }
    const waitingFor = textAt(waiting, 'reason') ?? '';
    const isCause = waitingFor !== '' && waitingFor !== 'PodInitializing';
    const cause = terminated !== undefined ? reasonOfEnd(terminated) : isCause ? waitingFor : `${index}/${total}`;
    return { ready, restarts, sidecarRestarts, lastRestart, lastSidecarRestart, reason: `Init:${cause}` };
  }
  return { ready, restarts, sidecarRestarts, lastRestart, lastSidecarRestart, reason: undefined };
}

interface ContainersProgress {
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart: string | undefined;
  /** Of the first container that gives one. */
  readonly reason: string | undefined;
  /** Of the first that ended badly. */
  readonly failure: string | undefined;
  readonly hasRunning: boolean;
}

function readContainers(statuses: readonly Json[], readyBefore: number): ContainersProgress {
  let [ready, restarts, hasRunning] = [readyBefore, 0, false];
  let reason: string | undefined;
  let failure: string | undefined;
  let lastRestart: string | undefined;
  for (const status of statuses) {
    restarts += countAt(status, 'restartCount');
    lastRestart = later(lastRestart, lastEndOf(status));
    const { waiting, terminated, running } = stateOf(status);
    const waitingFor = textAt(waiting, 'reason') ?? '';
    if (waitingFor !== '') {
      reason ??= waitingFor;
    } else if (terminated !== undefined) {
      const end = reasonOfEnd(terminated);
      reason ??= end;
      if (countAt(terminated, 'exitCode') !== 0) failure ??= end;
    } else if (running !== undefined && isTrue(status, 'ready')) {
      hasRunning = true;
      ready += 1;
    }
  }
  return { ready, restarts, lastRestart, reason, failure, hasRunning };
}

/** That its first container did its work says little of a Pod of which another one failed, or goes on. */
function reasonOfCompleted(status: JsonObject, { hasRunning, failure }: ContainersProgress): string {
  if (hasRunning && holds(status, 'Ready')) return 'Running';
  return failure ?? (hasRunning ? 'NotReady' : 'Completed');
}

function reasonOfStatus(status: JsonObject): string {
  const gated = listAt(status, 'conditions').some(
    (condition) => textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'reason') === 'SchedulingGated',
  );
  return gated ? 'SchedulingGated' : textAt(status, 'reason') || textAt(status, 'phase') || 'Unknown';
}

function phaseOf(pod: KubernetesObject, reason: string): string {
  if (typeof pod.metadata.deletionTimestamp !== 'string') return reason;
  if (textAt(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase') ?? '') ? reason : 'Terminating';
}

function reasonOfEnd(terminated: JsonObject): string {
  const signal = countAt(terminated, 'signal');
  return textAt(terminated, 'reason') || (signal === 0 ? `ExitCode:${countAt(terminated, 'exitCode')}` : `Signal:${signal}`);
}

function lastEndOf(status: Json): string | undefined {
  return textAt(status, 'lastState', 'terminated', 'finishedAt');
}

interface ContainerState {
  readonly waiting: JsonObject | undefined;
  readonly running: JsonObject | undefined;
  readonly terminated: JsonObject | undefined;
}

function stateOf(status: Json): ContainerState {
  const { waiting, running, terminated } = objectAt(status, 'state');
  return { waiting: objectOf(waiting), running: objectOf(running), terminated: objectOf(terminated) };
}

function objectOf(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function isSidecar(container: Json): boolean {
  return textAt(container, 'restartPolicy') === 'Always';
}

/** As Kubernetes asks: of several conditions of a type the first. */
function holds(status: JsonObject, type: string): boolean {
  const found = listAt(status, 'conditions').find((condition) => textAt(condition, 'type') === type);
  return textAt(found, 'status') === 'True';
}

function isTrue(value: Json, key: string): boolean {
  return isJsonObject(value) && value[key] === true;
}

function countAt(value: Json, key: string): number {
  const found = isJsonObject(value) ? value[key] : undefined;
  return typeof found === 'number' && Number.isInteger(found) ? found : 0;
}

function asInt32(count: number): number {
  return Math.min(Math.max(count, -(2 ** 31)), 2 ** 31 - 1);
}
