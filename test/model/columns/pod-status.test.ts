import { expect, test } from 'vitest';
import { phaseOfPod, readyOfPod, restartsOfPod } from '../../../src/model/columns/pod-status.ts';
import { podIn, podStates } from './pod-states.ts';

test.each(podStates.map((state) => [state.name, state] as const))('what kubectl prints: %s', (_, state) => {
  const pod = podIn(state);
  expect([phaseOfPod(pod), readyOfPod(pod), restartsOfPod(pod)]).toEqual(state.prints);
});
