import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { lastRestartOfPod, phaseOfPod, readyOfPod, restartsOfPod } from '../../../src/model/columns/pod-status.ts';
import { container, containers, podIn, podStates, sidecars } from './pod-states.ts';

test.each(podStates.map((state) => [state.name, state] as const))('status as kubectl prints it: %s', (_, state) => {
  const pod = podIn(state);
  expect([phaseOfPod(pod), readyOfPod(pod), restartsOfPod(pod)]).toEqual(state.prints);
});

describe('the last restart is one of those that count', () => {
  const restarted = (name: string, hour: number, state: JsonObject = { running: {} }) =>
    container(name, state, {
      restartCount: 1,
      started: true,
      lastState: { terminated: { exitCode: 1, finishedAt: `2026-01-01T0${hour}:00:00Z` } },
    });
  const spec = { containers: containers('web', 'log'), initContainers: [...sidecars('proxy'), ...containers('migrate')] };
  const lastOf = (status: JsonObject) => lastRestartOfPod(podIn({ name: 'web', spec, status, prints: ['', '', 0] }));
  const done = { terminated: { exitCode: 0 } };

  test.each([
    ['the latest of the containers', [], [restarted('web', 2), restarted('log', 1)], '2026-01-01T02:00:00Z'],
    ['of a sidecar too', [restarted('proxy', 3)], [restarted('web', 2)], '2026-01-01T03:00:00Z'],
    ['of no other init container, once it is through', [restarted('migrate', 5, done)], [restarted('web', 2)], '2026-01-01T02:00:00Z'],
    ['of that one while it runs, and of no container', [restarted('migrate', 1)], [restarted('web', 2)], '2026-01-01T01:00:00Z'],
    ['of none', [], [container('web', { running: {} })], undefined],
  ])('%s', (_, initContainerStatuses, containerStatuses, last) => {
    expect(lastOf({ phase: 'Running', initContainerStatuses, containerStatuses })).toBe(last);
  });
});

test.each([
  ['a container that runs and waits is not ready', { state: { running: {}, waiting: { reason: 'Odd' } }, ready: true }, '0/1', 0],
  ['parts of a restart are none', { state: { running: {} }, ready: true, restartCount: 1.5 }, '1/1', 0],
  ['more restarts than an Int holds', { state: { running: {} }, ready: 'yes', restartCount: 2 ** 40 }, '0/1', 2 ** 31 - 1],
  ['fewer restarts than none', { state: { running: {} }, ready: true, restartCount: -(2 ** 40) }, '1/1', -(2 ** 31)],
])('states that no kubelet writes: %s', (_, status, ready, restarts) => {
  const pod = podIn({ name: 'odd', status: { containerStatuses: [{ name: 'web', ...status }] }, prints: ['', '', 0] });
  expect([readyOfPod(pod), restartsOfPod(pod)]).toEqual([ready, restarts]);
});
