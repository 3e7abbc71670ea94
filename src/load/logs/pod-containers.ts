import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/** The state of a container, from the status of its Pod. */
export type ContainerState =
  /** The container has not run yet, or waits to be started again. `run` is the last run, if there was one. */
  | { readonly phase: 'waiting'; readonly reason: string; readonly run: string | undefined }
  /** The container runs. Equal values of `run` mean the same run, which has one log. */
  | { readonly phase: 'running'; readonly run: string }
  | { readonly phase: 'ended'; readonly run: string };

/** Returns the names of the containers of a Pod: init containers, then the main ones, then ephemeral ones, each in the order of the Pod. */
export function podContainersOf({ spec }: KubernetesObject): readonly string[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => namesIn(spec, field));
}

/** Returns the container that kubectl chooses by default: the one that an annotation names, or else the first. Undefined if the Pod has none. */
export function defaultContainerOf(pod: KubernetesObject): string | undefined {
  const named = pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (named !== undefined && podContainersOf(pod).includes(named)) return named;
  return namesIn(pod.spec, 'containers')[0];
}

/** Returns the state of one container. If the status does not name the container, the phase of the Pod decides. */
export function stateOf({ status }: KubernetesObject, container: string): ContainerState {
  const reported = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses']
    .flatMap((field) => objectsIn(status, field))
    .find(({ name }) => name === container);
  if (reported === undefined) return stateByPhase(isJsonObject(status) ? status.phase : undefined);
  const run = `${text(reported.restartCount)} ${text(reported.containerID)}`;
  const state = isJsonObject(reported.state) ? reported.state : {};
  if (isJsonObject(state.running)) return { phase: 'running', run };
  if (isJsonObject(state.terminated)) return { phase: 'ended', run };
  const hasRun = isJsonObject(reported.lastState) && isJsonObject(reported.lastState.terminated);
  const reason = isJsonObject(state.waiting) ? text(state.waiting.reason) : '';
  return { phase: 'waiting', reason, run: hasRun ? run : undefined };
}

function stateByPhase(phase: Json | undefined): ContainerState {
  if (phase === 'Running') return { phase: 'running', run: '' };
  if (phase === 'Succeeded' || phase === 'Failed') return { phase: 'ended', run: '' };
  return { phase: 'waiting', reason: '', run: undefined };
}

function namesIn(spec: Json | undefined, field: string): readonly string[] {
  return objectsIn(spec, field).flatMap(({ name }) => (typeof name === 'string' && name !== '' ? [name] : []));
}

function objectsIn(value: Json | undefined, field: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? (list as readonly Json[]).filter(isJsonObject) : [];
}

function text(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
