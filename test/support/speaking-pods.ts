import type { Json, JsonObject } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';

/** A node for Pods that have logs. */
export const speakingNode: KubernetesObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' } };

export interface SpeakingPod {
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly uid?: string;
  /** Default: `main` alone. */
  readonly containers?: readonly string[];
  readonly initContainers?: readonly string[];
  /** The states of containers by name. Default: `running`. */
  readonly states?: Readonly<Record<string, ContainerCondition>>;
}

/** The condition of a container: its state, and how often it was restarted. */
type ContainerCondition = 'running' | 'ended' | 'waiting' | { readonly waiting: string } | { readonly restarts: number };

/** Makes a Pod on `speakingNode` with the status that a kubelet reports. */
export function speakingPod({ namespace = 'default', name = 'web', uid = `uid-${name}`, ...pod }: SpeakingPod = {}): KubernetesObject {
  const { labels = {}, annotations = {}, containers = ['main'], initContainers = [], states = {} } = pod;
  const statuses = (names: readonly string[], standard: ContainerCondition) =>
    names.map((each) => statusOf(each, states[each] ?? standard));
  const specs = (names: readonly string[]): Json => names.map((each) => ({ name: each, image: 'image' }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid, labels, annotations },
    spec: {
      nodeName: 'node',
      containers: specs(containers),
      ...(initContainers.length === 0 ? {} : { initContainers: specs(initContainers) }),
    },
    status: {
      phase: 'Running',
      ...(initContainers.length === 0 ? {} : { initContainerStatuses: statuses(initContainers, 'ended') }),
      containerStatuses: statuses(containers, 'running'),
    },
  };
}

const startedAt = '2026-01-01T00:00:00Z';

function statusOf(name: string, condition: ContainerCondition): JsonObject {
  const of = (state: JsonObject, restartCount = 0, lastState: JsonObject = {}) => ({
    ...{ name, state, lastState, restartCount },
    ...(state.waiting !== undefined && restartCount === 0 ? {} : { containerID: `containerd://${name}-${restartCount}` }),
  });
  const terminated = { exitCode: 0, reason: 'Completed', startedAt, finishedAt: startedAt };
  if (condition === 'running') return of({ running: { startedAt } });
  if (condition === 'ended') return of({ terminated });
  if (condition === 'waiting') return of({ waiting: { reason: 'ContainerCreating' } });
  if ('waiting' in condition) return of({ waiting: { reason: condition.waiting } });
  return of({ running: { startedAt } }, condition.restarts, { terminated });
}
