import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import type { TypedObject } from '../../../src/core/objects.ts';
import { addRooms, createFreeRoom } from '../../../src/migrate/room/free-room.ts';

const node = (name: string, allocatable: Readonly<Record<string, string>>, more: object = {}): TypedObject<V1Node> => ({
  metadata: { name },
  spec: {},
  status: { allocatable: { pods: '110', ...allocatable }, conditions: [{ type: 'Ready', status: 'True' }] },
  ...more,
});
const running = (nodeName: string, requests: Readonly<Record<string, string>>): TypedObject<V1Pod> => ({
  metadata: { name: 'p' },
  spec: { nodeName, containers: [{ name: 'c', resources: { requests } }] },
  status: { phase: 'Running' },
});
const asking = (requests: Readonly<Record<string, string>>) => ({ containers: [{ name: 'c', resources: { requests } }] });
const three = ['a', 'b', 'c'].map((name) => node(name, { cpu: '16', memory: '64Gi' }));

describe('the free room of a cluster', () => {
  test('is what its Nodes offer, less the requests of their Pods', () => {
    const room = createFreeRoom(three, [running('a', { cpu: '1500m', memory: '4Gi' }), running('gone', { cpu: '8' })]);
    expect(room.free()).toEqual({ pods: 329, cpu: '46500m', memory: '188Gi' });
  });

  test('leaves out Nodes that are not ready or take no Pods', () => {
    const away = node(
      'away',
      { cpu: '16' },
      { status: { allocatable: { cpu: '16', pods: '9' }, conditions: [{ type: 'Ready', status: 'False' }] } },
    );
    const room = createFreeRoom([away, node('cordoned', { cpu: '16' }, { spec: { unschedulable: true } })], []);
    expect(room.free()).toEqual({ pods: 0, cpu: '0', memory: '0' });
  });

  test('fits replicas that need less than is free, and not those that need as much', () => {
    const room = createFreeRoom(three, []);
    const replicas = { count: 3, podSpec: asking({ cpu: '8' }) };
    const first = room.check(replicas, { take: true });
    expect(first).toEqual({ fits: true, needs: { pods: 3, cpu: '24', memory: '0' }, free: { pods: 330, cpu: '48', memory: '192Gi' } });
    const second = room.check(replicas, { take: true });
    expect(second).toMatchObject({
      fits: false,
      free: { cpu: '24' },
      message: 'needs 24 CPU, and 24 are free: expected less than is free',
    });
    expect(room.check({ ...replicas, count: 2 }, { take: true })).toMatchObject({ fits: true });
  });

  test('is not taken by replicas that do not fit, or are only checked', () => {
    const room = createFreeRoom(three, []);
    room.check({ count: 9, podSpec: asking({ cpu: '8' }) }, { take: true });
    room.check({ count: 1, podSpec: asking({ cpu: '8' }) }, { take: false });
    expect(room.free().cpu).toBe('48');
  });

  test('knows that a Pod cannot be divided between Nodes', () => {
    const room = createFreeRoom(three, []);
    const check = room.check({ count: 4, podSpec: asking({ cpu: '9' }) }, { take: true });
    expect(check).toMatchObject({ fits: false, message: 'the Nodes have room for 3 of 4 replicas: no Node has enough for another one' });
  });

  test('names labels and taints if no Node accepts a Pod', () => {
    const podSpec = { ...asking({ cpu: '1' }), nodeSelector: { accelerator: 'gpu' } };
    const { message } = createFreeRoom(three, []).check({ count: 1, podSpec }, { take: true });
    expect(message).toBe('the Nodes have room for 0 of 1 replicas: no Node accepts them, because of labels or taints');
  });

  test('fills the Nodes evenly, as the scheduler does', () => {
    const room = createFreeRoom([node('small', { cpu: '4' }), node('large', { cpu: '12' })], []);
    expect(room.check({ count: 8, podSpec: asking({ cpu: '1' }) }, { take: true }).fits).toBe(true);
    expect(room.check({ count: 2, podSpec: asking({ cpu: '4' }) }, { take: true }).fits).toBe(false);
    expect(room.check({ count: 1, podSpec: asking({ cpu: '4' }) }, { take: true }).fits).toBe(true);
    expect(room.free()).toMatchObject({ pods: 211, cpu: '4' });
  });

  test('takes a workload without replicas', () => {
    expect(createFreeRoom([], []).check({ count: 0, podSpec: undefined }, { take: true })).toMatchObject({
      fits: true,
      needs: { pods: 0 },
    });
  });

  test('adds up', () => {
    expect(addRooms({ pods: 1, cpu: '500m', memory: '1Gi' }, { pods: 2, cpu: '1', memory: '512Mi' })).toEqual({
      pods: 3,
      cpu: '1500m',
      memory: '1536Mi',
    });
  });
});
