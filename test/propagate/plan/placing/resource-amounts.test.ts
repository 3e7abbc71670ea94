import { expect, test } from 'vitest';
import { requestsOf } from '../../../../src/propagate/plan/placing/resource-amounts.ts';

const container = (requests: object, limits: object = {}) => ({ name: 'c', resources: { requests, limits } });
const sidecar = (requests: object) => ({ ...container(requests), restartPolicy: 'Always' });

test.each([
  { name: 'sums its containers', spec: { containers: [container({ cpu: '500m', memory: '1Gi' }), container({ cpu: '1' })] }, cpu: 1_500 },
  { name: 'without requests needs none', spec: { containers: [{ name: 'c' }] }, cpu: undefined },
  { name: 'takes a limit where a request is missing', spec: { containers: [container({}, { cpu: '2' })] }, cpu: 2_000 },
  { name: 'prefers the request to the limit', spec: { containers: [container({ cpu: '1' }, { cpu: '2' })] }, cpu: 1_000 },
  { name: 'rounds up to a millicore', spec: { containers: [container({ cpu: '0.1234' })] }, cpu: 124 },
  {
    name: 'counts the largest init container if it needs more than all containers',
    spec: { initContainers: [container({ cpu: '3' }), container({ cpu: '1' })], containers: [container({ cpu: '2' })] },
    cpu: 3_000,
  },
  {
    name: 'counts sidecars with the containers',
    spec: { initContainers: [sidecar({ cpu: '1' })], containers: [container({ cpu: '2' })] },
    cpu: 3_000,
  },
  {
    name: 'counts an init container with the sidecars before it only',
    spec: {
      initContainers: [sidecar({ cpu: '1' }), container({ cpu: '4' }), sidecar({ cpu: '2' })],
      containers: [container({ cpu: '1' })],
    },
    cpu: 5_000,
  },
  { name: 'adds its overhead', spec: { overhead: { cpu: '250m' }, containers: [container({ cpu: '1' })] }, cpu: 1_250 },
  { name: 'leaves out what is no quantity', spec: { containers: [container({ cpu: 'much' })] }, cpu: undefined },
])('a Pod $name', ({ spec, cpu }) => {
  expect(requestsOf(spec as Parameters<typeof requestsOf>[0]).get('cpu')).toBe(cpu);
});
