import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/** How a container stands, as its Pod's status says. */
export type ContainerState =
  /** It has not run yet, or waits to be started again. `run` is its last one, if there was any. */
  | { readonly phase: 'waiting'; readonly reason: string; readonly run: string | undefined }
  /** Equal `run`s are one run, and one log. */
  | { readonly phase: 'running'; readonly run: string }
  | { readonly phase: 'ended'; readonly run: string };

/** The names of a Pod's containers: init containers, then the others, then ephemeral ones, each in the order of the Pod. */
export function podContainersOf({ spec }: KubernetesObject): readonly string[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => namesIn(spec, field));
}

/** The container that kubectl takes where none is named: the one an annotation names, else the first. Undefined if there is none. */
export function defaultContainerOf(pod: KubernetesObject): string | undefined {
  const named = pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (named !== undefined && podContainersOf(pod).includes(named)) return named;
  return namesIn(pod.spec, 'containers')[0];
}

/** The state of one container. Where the status does not name it, its Pod's phase speaks for it. */
export function stateOf({ status }: KubernetesObject, container: string): ContainerState {
  const said = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses']
    .flatMap((field) => objectsIn(status, field))
    .find(({ name }) => name === container);
  if (said === undefined) return stateByPhase(isJsonObject(status) ? status.phase : undefined);
  const run = `${text(said.restartCount)} ${text(said.containerID)}`;
  const state = isJsonObject(said.state) ? said.state : {};
  if (isJsonObject(state.running)) return { phase: 'running', run };
  if (isJsonObject(state.terminated)) return { phase: 'ended', run };
  const hasRun = isJsonObject(said.lastState) && isJsonObject(said.lastState.terminated);
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
