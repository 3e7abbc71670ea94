import type { JsonObject } from '../../../src/core/json.ts';

/** A Pod with requests, and the requests that `kubectl describe node` (1.36) prints for it, where it prints the resource. */
export interface RequestingPod {
  /** A text that can be the name of an object. */
  readonly name: string;
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  /** The runtime class named `heavy` has an overhead of `heavyOverhead`; the API server copies it to the Pod. */
  readonly heavy?: boolean;
  readonly requests: Readonly<Record<string, string>>;
}

export const heavyOverhead = { cpu: '100m', memory: '120Mi' };

const image = 'registry.example/web:1';
const asks = (name: string, requests?: JsonObject) => ({ name, image, ...(requests === undefined ? {} : { resources: { requests } }) });
const sidecar = (name: string, requests: JsonObject) => ({ ...asks(name, requests), restartPolicy: 'Always' });

/** One Pod for each rule of the scheduler. */
export const requestingPods: readonly RequestingPod[] = [
  { name: 'nothing', spec: { containers: [asks('web')] }, requests: {} },
  {
    name: 'one',
    spec: { containers: [asks('web', { cpu: '250m', memory: '64Mi', 'ephemeral-storage': '1Gi' })] },
    requests: { cpu: '250m', memory: '64Mi', 'ephemeral-storage': '1Gi' },
  },
  {
    name: 'a-sum',
    spec: { containers: [asks('web', { cpu: '250m', memory: '64Mi' }), asks('log', { cpu: '1', memory: '1Gi' }), asks('idle')] },
    requests: { cpu: '1250m', memory: '1088Mi' },
  },
  {
    name: 'a-sum-of-two-formats',
    spec: { containers: [asks('web', { memory: '1M' }), asks('log', { memory: '1Mi' })] },
    requests: { memory: '2048576' },
  },
  {
    name: 'a-sum-of-two-formats-with-nothing-first',
    spec: { containers: [asks('web', { memory: '0' }), asks('log', { memory: '1Mi' })] },
    requests: { memory: '1Mi' },
  },
  {
    name: 'init-asks-for-more',
    spec: {
      containers: [asks('web', { cpu: '100m', memory: '1Gi' })],
      initContainers: [asks('a', { cpu: '2' }), asks('b', { cpu: '500m' })],
    },
    requests: { cpu: '2', memory: '1Gi' },
  },
  {
    name: 'init-asks-for-less',
    spec: { containers: [asks('web', { cpu: '1' }), asks('log', { cpu: '1' })], initContainers: [asks('a', { cpu: '1500m' })] },
    requests: { cpu: '2' },
  },
  {
    name: 'sidecar-goes-on',
    spec: { containers: [asks('web', { cpu: '1' })], initContainers: [sidecar('proxy', { cpu: '250m', memory: '32Mi' })] },
    requests: { cpu: '1250m', memory: '32Mi' },
  },
  {
    name: 'init-beside-the-sidecars-before-it',
    spec: {
      containers: [asks('web', { cpu: '100m' })],
      initContainers: [asks('a', { cpu: '3' }), sidecar('proxy', { cpu: '1' }), asks('b', { cpu: '2500m' }), sidecar('late', { cpu: '1' })],
    },
    requests: { cpu: '3500m' },
  },
  {
    name: 'overhead',
    spec: { containers: [asks('web', { cpu: '250m' })] },
    heavy: true,
    requests: { cpu: '350m', memory: '120Mi' },
  },
  {
    name: 'as-a-whole',
    spec: { resources: { requests: { cpu: '3' } }, containers: [asks('web', { cpu: '250m', memory: '64Mi' })] },
    requests: { cpu: '3', memory: '64Mi' },
  },
  {
    name: 'as-a-whole-with-overhead',
    spec: { resources: { requests: { cpu: '3', memory: '1Gi' } }, containers: [asks('web', { cpu: '250m' })] },
    heavy: true,
    requests: { cpu: '3100m', memory: '1144Mi' },
  },
  {
    name: 'resized-up-not-yet-there',
    spec: { containers: [asks('web', { cpu: '2', memory: '64Mi' })] },
    status: { containerStatuses: [resized('web', { cpu: '1', memory: '64Mi' })] },
    requests: { cpu: '2', memory: '64Mi' },
  },
  {
    name: 'resized-down-not-yet-there',
    spec: { containers: [asks('web', { cpu: '1', memory: '64Mi' })] },
    status: { containerStatuses: [resized('web', { cpu: '2', memory: '64Mi' })] },
    requests: { cpu: '2', memory: '64Mi' },
  },
  {
    name: 'resized-and-infeasible',
    spec: { containers: [asks('web', { cpu: '900' })] },
    status: {
      conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
      containerStatuses: [resized('web', { cpu: '2' })],
    },
    requests: { cpu: '2' },
  },
  {
    name: 'resized-apart',
    spec: { containers: [asks('web', { cpu: '2' }), asks('log', { cpu: '1' })] },
    status: { containerStatuses: [resized('web', { cpu: '1' }), resized('log', { cpu: '2' })] },
    requests: { cpu: '4' },
  },
  {
    name: 'resized-and-deferred',
    spec: { containers: [asks('web', { cpu: '3' })] },
    status: {
      conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }],
      containerStatuses: [resized('web', { cpu: '2' })],
    },
    requests: { cpu: '3' },
  },
  {
    name: 'allocated-beyond-what-it-has',
    spec: { containers: [asks('web', { cpu: '1' })] },
    status: { containerStatuses: [{ ...resized('web', { cpu: '1' }), allocatedResources: { cpu: '4' } }] },
    requests: { cpu: '4' },
  },
  {
    name: 'only-allocated',
    spec: { containers: [asks('web', { cpu: '1' })] },
    status: { containerStatuses: [{ ...resized('web', {}), resources: null, allocatedResources: { cpu: '5' } }] },
    requests: { cpu: '1' },
  },
  {
    name: 'resized-sidecar',
    spec: { containers: [asks('web', { cpu: '1' })], initContainers: [sidecar('proxy', { cpu: '1' })] },
    status: { initContainerStatuses: [resized('proxy', { cpu: '2' })] },
    requests: { cpu: '3' },
  },
  {
    name: 'resized-init',
    spec: { containers: [asks('web', { cpu: '1' })], initContainers: [asks('fetch', { cpu: '2' })] },
    status: { initContainerStatuses: [resized('fetch', { cpu: '3' })] },
    requests: { cpu: '2' },
  },
  {
    name: 'resized-as-a-whole',
    spec: { resources: { requests: { cpu: '3' } }, containers: [asks('web', { cpu: '1' })] },
    status: { resources: { requests: { cpu: '4' } }, allocatedResources: { cpu: '5' } },
    requests: { cpu: '3' },
  },
];

/** The status that a kubelet reports for a container with these actual resources. */
function resized(name: string, requests: JsonObject): JsonObject {
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  return { name, image, imageID: '', ready: true, restartCount: 0, state, allocatedResources: requests, resources: { requests } };
}
