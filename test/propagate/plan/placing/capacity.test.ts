import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/json.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { acceptsPod } from '../../../../src/propagate/plan/placing/node-fit.ts';
import { nodeRoomsOf, replicasForRequests, replicasThatFit } from '../../../../src/propagate/plan/placing/node-rooms.ts';
import { amountsIn, type ResourceAmounts, requestsOf, timesThatFit } from '../../../../src/propagate/plan/placing/resource-amounts.ts';
import { freePods, replicasInSummary, roomsOfGrades, smallestEstimate } from '../../vectors/karmada/estimator.ts';

describe('amounts', () => {
  test('are whole numbers: CPU in millicores, others in units, rounded up', () => {
    const list = { cpu: '1500m', memory: '1Gi', pods: '110', 'nvidia.com/gpu': 2, tiny: '1500m', none: 'much', nothing: null };
    expect(Object.fromEntries(amountsIn(list))).toEqual({ cpu: 1_500, memory: 1_073_741_824, pods: 110, 'nvidia.com/gpu': 2, tiny: 2 });
    expect(Object.fromEntries(amountsIn({ cpu: '2', a: '100u', b: '-1500m' }))).toEqual({ cpu: 2_000, a: 1, b: -1 });
    expect(amountsIn('nonsense').size).toBe(0);
  });

  test.each<[string, Record<string, number>, Record<string, number>, number]>([
    ['the scarcest decides', { cpu: 10, memory: 100 }, { cpu: 2, memory: 50 }, 2],
    ['what is not there fits never', { cpu: 10 }, { cpu: 2, gpu: 1 }, 0],
    ['what is used up, or more, fits never', { cpu: -5 }, { cpu: 2 }, 0],
    ['what asks for nothing fits without end', { cpu: 10 }, { cpu: 0 }, Number.POSITIVE_INFINITY],
  ])('%s', (_, free, requests, times) => {
    expect(timesThatFit(amounts(free), amounts(requests))).toBe(times);
  });

  test('a Pod requests the sum of its containers, or more while it starts', () => {
    const spec = {
      containers: [container({ cpu: '1', memory: '10' }), container({ cpu: '500m' })],
      initContainers: [container({ cpu: '3' })],
      overhead: { cpu: '10m' },
    };
    expect(Object.fromEntries(requestsOf(spec))).toEqual({ cpu: 3_010, memory: 10 });
    expect(requestsOf(undefined).size).toBe(0);
  });

  test('a sidecar counts with the containers, and with the init containers after it', () => {
    const sidecar = { ...container({ cpu: '1' }), restartPolicy: 'Always' };
    const containers = [container({ cpu: '1' })];
    expect(requestsOf({ containers, initContainers: [sidecar] }).get('cpu')).toBe(2_000);
    expect(requestsOf({ containers, initContainers: [sidecar, container({ cpu: '2' })] }).get('cpu')).toBe(3_000);
    expect(requestsOf({ containers, initContainers: [container({ cpu: '2' }), sidecar] }).get('cpu')).toBe(2_000);
  });

  test('a limit is the default of a request', () => {
    const limited = { resources: { limits: { cpu: '2', memory: '5' }, requests: { cpu: '1' } } };
    expect(Object.fromEntries(requestsOf({ containers: [limited] }))).toEqual({ cpu: 1_000, memory: 5 });
  });
});

describe('room by sums', () => {
  const summary = {
    allocatable: amountsIn({ cpu: '4', memory: '8Gi', pods: '100' }),
    allocated: amountsIn({ cpu: '1', memory: '2Gi', pods: '20' }),
    allocating: amountsIn({ cpu: '1', pods: '10' }),
  };

  test('subtracts allocated and allocating resources', () => {
    expect(freePods(summary)).toBe(70);
    expect(replicasInSummary(summary, amountsIn({ cpu: '500m', memory: '1Gi' }))).toBe(4);
    expect(replicasInSummary(summary, amountsIn({ cpu: '100m', memory: '2Gi' }))).toBe(3);
    expect(replicasInSummary(summary, amountsIn({ gpu: '1' }))).toBe(0);
  });

  test('is never below zero', () => {
    expect(freePods({ ...summary, allocating: amountsIn({ pods: '300' }) })).toBe(0);
    expect(freePods({ ...summary, allocatable: new Map() })).toBe(0);
  });

  test('uses the smallest known estimate', () => {
    expect(smallestEstimate([5, undefined, 3])).toBe(3);
    expect(smallestEstimate([undefined])).toBeUndefined();
    expect(smallestEstimate([])).toBeUndefined();
  });
});

describe('room by grades', () => {
  const grades = [
    { grade: 1, minimums: amountsIn({ cpu: '2', memory: '4Gi' }) },
    { grade: 0, minimums: amountsIn({ cpu: '0', memory: '0' }) },
  ];
  const fits = (counts: readonly { grade: number; count: number }[], requests: Json): number | undefined => {
    const rooms = roomsOfGrades(grades, counts);
    return rooms === undefined ? undefined : replicasForRequests(rooms, amountsIn(requests));
  };

  test('assumes the smallest Node of each grade', () => {
    expect(
      fits(
        [
          { grade: 1, count: 3 },
          { grade: 0, count: 50 },
        ],
        { cpu: '500m', memory: '1Gi' },
      ),
    ).toBe(12);
    expect(fits([{ grade: 1, count: 3 }], { cpu: '500m', memory: '3Gi' })).toBe(3);
    expect(fits([{ grade: 1, count: 3 }], { gpu: '1' })).toBe(0);
  });

  test('takes 110 Pods', () => {
    expect(
      fits(
        [
          { grade: 0, count: 1 },
          { grade: 1, count: 1 },
        ],
        {},
      ),
    ).toBe(220);
  });

  test('gives no estimate without grades, or with a negative count', () => {
    expect(roomsOfGrades([], [])).toBeUndefined();
    expect(fits([{ grade: 0, count: -1 }], {})).toBeUndefined();
  });
});

describe('room by Nodes and Pods', () => {
  const nodes = [node('n1', { cpu: '2', memory: '4Gi', pods: '10' }), node('n2', { cpu: '2', memory: '4Gi', pods: '10' })];
  const podSpec = { containers: [container({ cpu: '1500m', memory: '1Gi' })] };

  test('does not add up room of several Nodes for one Pod', () => {
    expect(capacityOf({ nodes, pods: [], podSpec })).toBe(2);
    expect(capacityOf({ nodes, pods: [], podSpec: { containers: [container({ cpu: '500m' })] } })).toBe(8);
  });

  test('subtracts the requests of existing Pods until they end', () => {
    const pod = (phase: string, nodeName?: string) => podOn(nodeName, phase, { cpu: '1' });
    expect(capacityOf({ nodes, pods: [pod('Running', 'n1')], podSpec })).toBe(1);
    expect(
      capacityOf({ nodes, pods: [pod('Succeeded', 'n1'), pod('Failed', 'n2'), pod('Pending'), pod('Running', 'gone')], podSpec }),
    ).toBe(2);
  });

  test('respects the maximum number of Pods', () => {
    const small = { containers: [container({})] };
    expect(capacityOf({ nodes, pods: [podOn('n1', 'Running', {})], podSpec: small })).toBe(19);
    expect(capacityOf({ nodes: [node('n', {})], pods: [], podSpec: small })).toBe(0);
  });

  test('leaves out Nodes that accept no Pods', () => {
    const [first] = nodes;
    const cordoned = { ...first, metadata: { name: 'c' }, spec: { unschedulable: true } };
    const broken = {
      ...node('b', { cpu: '9', memory: '9Gi', pods: '9' }),
      status: { ...(first?.status as JsonObject), conditions: [{ type: 'Ready', status: 'Unknown' }] },
    };
    const ready = { ...node('r', {}), status: { ...(first?.status as JsonObject), conditions: [{ type: 'Ready', status: 'True' }] } };
    expect(nodeRoomsOf([cordoned, broken, ready], []).map(({ count }) => count)).toEqual([0, 0, 1]);
    expect(capacityOf({ nodes: [cordoned, broken], pods: [], podSpec })).toBe(0);
  });

  test('is unlimited without Nodes, because it is unknown', () => {
    expect(capacityOf({ nodes: [], pods: [], podSpec })).toBe(Number.POSITIVE_INFINITY);
  });

  test('leaves out Nodes on which the Pod may not run', () => {
    const tainted = node('t', { cpu: '9', memory: '9Gi', pods: '9' }, { taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
    expect(capacityOf({ nodes: [tainted], pods: [], podSpec })).toBe(0);
    expect(capacityOf({ nodes: [tainted], pods: [], podSpec: { ...podSpec, tolerations: [{ key: 'gpu', operator: 'Exists' }] } })).toBe(6);
  });
});

describe('a Node accepts a Pod', () => {
  const labelled = { ...node('n1', {}), metadata: { name: 'n1', labels: { disk: 'ssd', cores: '8' } } };
  const affinity = (...terms: readonly JsonObject[]): JsonObject => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
  });
  const expressions = (...matchExpressions: readonly JsonObject[]): JsonObject => affinity({ matchExpressions });

  test.each<[string, JsonObject, boolean]>([
    ['that asks for nothing', {}, true],
    ['with a selector', { nodeSelector: { disk: 'ssd' } }, true],
    ['with another selector', { nodeSelector: { disk: 'ssd', zone: 'a' } }, false],
    ['with In', expressions({ key: 'disk', operator: 'In', values: ['hdd', 'ssd'] }), true],
    ['with NotIn', expressions({ key: 'disk', operator: 'NotIn', values: ['ssd'] }), false],
    ['with Exists', expressions({ key: 'disk', operator: 'Exists' }, { key: 'gpu', operator: 'DoesNotExist' }), true],
    ['with Gt', expressions({ key: 'cores', operator: 'Gt', values: ['7'] }), true],
    ['with Lt', expressions({ key: 'cores', operator: 'Lt', values: ['8'] }), false],
    ['with a bound that is none', expressions({ key: 'cores', operator: 'Gt', values: ['few'] }), false],
    ['with an unknown operator', expressions({ key: 'cores', operator: 'Near' }), false],
    [
      'with one term of two',
      affinity({ matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }, { matchExpressions: [{ key: 'disk', operator: 'Exists' }] }),
      true,
    ],
    ['with an empty term', affinity({}), false],
    ['with its name', affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }), true],
    ['with another name', affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }), false],
    ['that only prefers', { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] } } }, true],
  ])('%s', (_, podSpec, accepted) => {
    expect(acceptsPod(labelled, podSpec)).toBe(accepted);
  });
});

function capacityOf({
  nodes,
  pods,
  podSpec,
}: Record<'nodes' | 'pods', readonly KubernetesObject[]> & { readonly podSpec: JsonObject }): number {
  return replicasThatFit(nodeRoomsOf(nodes, pods), podSpec);
}

function amounts(record: Readonly<Record<string, number>>): ResourceAmounts {
  return new Map(Object.entries(record));
}

function container(requests: JsonObject): JsonObject {
  return { name: 'c', resources: { requests } };
}

function node(name: string, allocatable: JsonObject, spec: JsonObject = {}): KubernetesObject {
  return { metadata: { name }, spec, status: { allocatable } };
}

function podOn(nodeName: string | undefined, phase: string, requests: JsonObject): KubernetesObject {
  return {
    metadata: { name: 'p' },
    spec: { ...(nodeName === undefined ? {} : { nodeName }), containers: [container(requests)] },
    status: { phase },
  };
}
