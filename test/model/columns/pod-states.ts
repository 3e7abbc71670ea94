import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';

/** A state of a Pod, with the output of `kubectl get pods` (1.36): STATUS, READY, and RESTARTS without "(… ago)". */
export interface PodState {
  /** The state as the name of an object. */
  readonly name: string;
  readonly spec?: JsonObject;
  readonly status: JsonObject;
  /** True while the Pod is being deleted. */
  readonly deleted?: boolean;
  readonly prints: readonly [phase: string, ready: string, restarts: number];
}

/** The Pod in the form an API server serves it. */
export function podIn({ name, spec, status, deleted = false }: PodState): KubernetesObject {
  const metadata = {
    name,
    namespace: 'default',
    ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['test/keep'] } : {}),
  };
  return { metadata, spec: { ...oneContainer, ...spec }, status };
}

const image = 'registry.example/web:1';
const time = '2026-01-01T00:00:00Z';

/** Containers of these names. */
export function containers(...names: readonly string[]): readonly JsonObject[] {
  return names.map((name) => ({ name, image }));
}

/** Init containers that keep running. */
export function sidecars(...names: readonly string[]): readonly JsonObject[] {
  return containers(...names).map((container) => ({ ...container, restartPolicy: 'Always' }));
}

const oneContainer = { containers: containers('web') };
const twoContainers = { containers: containers('web', 'log') };
const twoInits = { ...oneContainer, initContainers: containers('fetch', 'migrate') };
const oneSidecar = { ...oneContainer, initContainers: sidecars('proxy') };
const mixedInits = { ...oneContainer, initContainers: [...sidecars('proxy'), ...containers('migrate')] };

/** The status that a kubelet reports for a container. */
export function container(name: string, state: JsonObject, more: JsonObject = {}): JsonObject {
  return { name, image, imageID: '', restartCount: 0, ready: false, state, ...more };
}

const runs = { running: { startedAt: time } };
const waits = (reason: string) => ({ waiting: { reason } });
const ended = (exitCode: number, more: JsonObject = {}) => ({ terminated: { exitCode, startedAt: time, finishedAt: time, ...more } });
const up = (name: string, more: JsonObject = {}) => container(name, runs, { ready: true, started: true, ...more });
const before = { lastState: ended(1, { reason: 'Error' }) };
const condition = (type: string, status = 'True', more: JsonObject = {}) => ({ type, status, ...more });

const beginnings: readonly PodState[] = [
  { name: 'nothing-yet', status: { phase: 'Pending' }, prints: ['Pending', '0/1', 0] },
  {
    name: 'gated',
    spec: { schedulingGates: [{ name: 'example.com/quota' }] },
    status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', { reason: 'SchedulingGated' })] },
    prints: ['SchedulingGated', '0/1', 0],
  },
  {
    name: 'unschedulable',
    status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable' })] },
    prints: ['Pending', '0/1', 0],
  },
  {
    name: 'creating',
    status: { phase: 'Pending', containerStatuses: [container('web', waits('ContainerCreating'))] },
    prints: ['ContainerCreating', '0/1', 0],
  },
  {
    name: 'waiting-without-a-reason',
    status: { phase: 'Pending', containerStatuses: [container('web', { waiting: {} })] },
    prints: ['Pending', '0/1', 0],
  },
  {
    name: 'image-missing',
    spec: twoContainers,
    status: { phase: 'Pending', containerStatuses: [container('log', waits('ImagePullBackOff')), container('web', waits('ErrImagePull'))] },
    prints: ['ImagePullBackOff', '0/2', 0],
  },
];

const initializing: readonly PodState[] = [
  {
    name: 'init-first',
    spec: twoInits,
    status: {
      phase: 'Pending',
      initContainerStatuses: [container('fetch', waits('PodInitializing')), container('migrate', waits('PodInitializing'))],
      containerStatuses: [container('web', waits('PodInitializing'))],
    },
    prints: ['Init:0/2', '0/1', 0],
  },
  {
    name: 'init-second',
    spec: twoInits,
    status: {
      phase: 'Pending',
      initContainerStatuses: [container('fetch', ended(0, { reason: 'Completed' })), container('migrate', runs, { restartCount: 3 })],
      containerStatuses: [container('web', waits('PodInitializing'))],
    },
    prints: ['Init:1/2', '0/1', 3],
  },
  {
    name: 'init-crashes',
    spec: twoInits,
    status: {
      phase: 'Pending',
      initContainerStatuses: [container('fetch', waits('CrashLoopBackOff'), { restartCount: 5, ...before }), container('migrate', {})],
      containerStatuses: [container('web', waits('PodInitializing'), { restartCount: 7 })],
    },
    prints: ['Init:CrashLoopBackOff', '0/1', 5],
  },
  {
    name: 'init-failed-with-a-reason',
    spec: twoInits,
    status: { phase: 'Pending', initContainerStatuses: [container('fetch', ended(1, { reason: 'Error' }))] },
    prints: ['Init:Error', '0/1', 0],
  },
  {
    name: 'init-failed-with-a-code',
    spec: twoInits,
    status: { phase: 'Pending', initContainerStatuses: [container('fetch', ended(3))] },
    prints: ['Init:ExitCode:3', '0/1', 0],
  },
  {
    name: 'init-failed-by-a-signal',
    spec: twoInits,
    status: { phase: 'Pending', initContainerStatuses: [container('fetch', ended(137, { signal: 9 }))] },
    prints: ['Init:Signal:9', '0/1', 0],
  },
  {
    name: 'initialized-again',
    spec: twoInits,
    status: {
      phase: 'Running',
      conditions: [condition('Initialized'), condition('Ready')],
      initContainerStatuses: [container('fetch', runs, { restartCount: 2 })],
      containerStatuses: [up('web', { restartCount: 1 })],
    },
    prints: ['Init:0/2', '1/1', 1],
  },
];

const withSidecars: readonly PodState[] = [
  {
    name: 'sidecar-starts',
    spec: oneSidecar,
    status: { phase: 'Pending', initContainerStatuses: [container('proxy', runs, { started: false })] },
    prints: ['Init:0/1', '0/2', 0],
  },
  {
    name: 'sidecar-up-init-runs',
    spec: mixedInits,
    status: {
      phase: 'Pending',
      initContainerStatuses: [up('proxy', { restartCount: 2 }), container('migrate', runs, { restartCount: 1 })],
    },
    prints: ['Init:1/2', '1/2', 3],
  },
  {
    name: 'sidecar-and-web-up',
    spec: mixedInits,
    status: {
      phase: 'Running',
      conditions: [condition('Initialized'), condition('Ready')],
      initContainerStatuses: [up('proxy', { restartCount: 2, ...before }), container('migrate', ended(0), { restartCount: 4 })],
      containerStatuses: [up('web', { restartCount: 1, ...before })],
    },
    prints: ['Running', '2/2', 3],
  },
  {
    name: 'sidecar-not-ready',
    spec: oneSidecar,
    status: {
      phase: 'Running',
      conditions: [condition('Initialized')],
      initContainerStatuses: [up('proxy', { ready: false })],
      containerStatuses: [up('web')],
    },
    prints: ['Running', '1/2', 0],
  },
  {
    name: 'sidecar-crashes-later',
    spec: oneSidecar,
    status: {
      phase: 'Running',
      conditions: [condition('Initialized')],
      initContainerStatuses: [container('proxy', waits('CrashLoopBackOff'), { restartCount: 9, started: false })],
      containerStatuses: [up('web')],
    },
    prints: ['Init:CrashLoopBackOff', '1/2', 9],
  },
];

const runnings: readonly PodState[] = [
  { name: 'running', status: { phase: 'Running', containerStatuses: [up('web')] }, prints: ['Running', '1/1', 0] },
  { name: 'running-not-ready', status: { phase: 'Running', containerStatuses: [container('web', runs)] }, prints: ['Running', '0/1', 0] },
  {
    name: 'crashing',
    status: { phase: 'Running', containerStatuses: [container('web', waits('CrashLoopBackOff'), { restartCount: 12, ...before })] },
    prints: ['CrashLoopBackOff', '0/1', 12],
  },
  {
    name: 'one-of-two-done-and-ready',
    spec: twoContainers,
    status: {
      phase: 'Running',
      conditions: [condition('Ready')],
      containerStatuses: [container('log', ended(0, { reason: 'Completed' })), up('web')],
    },
    prints: ['Running', '1/2', 0],
  },
  {
    name: 'one-of-two-done-and-not-ready',
    spec: twoContainers,
    status: {
      phase: 'Running',
      conditions: [condition('Ready', 'False')],
      containerStatuses: [container('log', ended(0, { reason: 'Completed' })), up('web')],
    },
    prints: ['NotReady', '1/2', 0],
  },
  {
    name: 'one-done-one-failed',
    spec: twoContainers,
    status: {
      phase: 'Failed',
      containerStatuses: [container('log', ended(0, { reason: 'Completed' })), container('web', ended(1, { reason: 'Error' }))],
    },
    prints: ['Error', '0/2', 0],
  },
];

const ends: readonly PodState[] = [
  { name: 'succeeded', status: { phase: 'Succeeded' }, prints: ['Succeeded', '0/1', 0] },
  {
    name: 'completed',
    status: { phase: 'Succeeded', containerStatuses: [container('web', ended(0, { reason: 'Completed' }))] },
    prints: ['Completed', '0/1', 0],
  },
  {
    name: 'out-of-memory',
    status: { phase: 'Failed', containerStatuses: [container('web', ended(137, { reason: 'OOMKilled' }))] },
    prints: ['OOMKilled', '0/1', 0],
  },
  { name: 'exit-code', status: { phase: 'Failed', containerStatuses: [container('web', ended(2))] }, prints: ['ExitCode:2', '0/1', 0] },
  {
    name: 'signal',
    status: { phase: 'Failed', containerStatuses: [container('web', ended(139, { signal: 11 }))] },
    prints: ['Signal:11', '0/1', 0],
  },
  {
    name: 'unknown-container',
    status: { phase: 'Failed', containerStatuses: [container('web', ended(137, { reason: 'ContainerStatusUnknown' }))] },
    prints: ['ContainerStatusUnknown', '0/1', 0],
  },
  { name: 'evicted', status: { phase: 'Failed', reason: 'Evicted' }, prints: ['Evicted', '0/1', 0] },
  { name: 'node-lost', status: { phase: 'Running', reason: 'NodeLost', containerStatuses: [up('web')] }, prints: ['NodeLost', '1/1', 0] },
  {
    name: 'node-lost-and-deleted',
    status: { phase: 'Running', reason: 'NodeLost', containerStatuses: [up('web')] },
    deleted: true,
    prints: ['Unknown', '1/1', 0],
  },
  {
    name: 'terminating',
    status: { phase: 'Running', containerStatuses: [up('web', { restartCount: 1 })] },
    deleted: true,
    prints: ['Terminating', '1/1', 1],
  },
  {
    name: 'completed-and-deleted',
    status: { phase: 'Succeeded', containerStatuses: [container('web', ended(0, { reason: 'Completed' }))] },
    deleted: true,
    prints: ['Completed', '0/1', 0],
  },
  { name: 'failed-and-deleted', status: { phase: 'Failed' }, deleted: true, prints: ['Failed', '0/1', 0] },
];

/** At least one Pod for each state that `printPod` distinguishes. */
export const podStates: readonly PodState[] = [...beginnings, ...initializing, ...withSidecars, ...runnings, ...ends];
