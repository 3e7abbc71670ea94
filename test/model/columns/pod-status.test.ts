import { expect, test } from 'vitest';
import { podStatusOf } from '../../../src/model/columns/pod-status.ts';
import { podIn, podStates } from './pod-states.ts';

test.each(podStates.map((state) => [state.name, state] as const))('what kubectl prints: %s', (_, state) => {
  const { phase, ready, restarts } = podStatusOf(podIn(state));
  expect([phase, ready, restarts]).toEqual(state.prints);
});
