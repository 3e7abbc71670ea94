import { expect, test } from 'vitest';
import { obstaclesOf, type WholePropagation } from '../../src/console/propagation/propagation-state.ts';

const condition = (type: string, reason: string, message: string) => ({ type, status: 'False', reason, message });

test.each([
  ['Planned', 'Unplaced', '2 replicas have no cluster', ['Unplaced: 2 replicas have no cluster']],
  ['Applied', 'InventoryUnreadable', 'fix or delete a', ['InventoryUnreadable: fix or delete a']],
  ['Applied', 'Failed', 'north', []],
  ['Healthy', 'Unhealthy', 'north', []],
  ['Progressing', 'Paused', '', []],
])('the condition %s with the reason %s and the message "%s" is shown as %j', (type, reason, message, expected) => {
  const state = { conditions: [condition(type, reason, message)], notes: [] } as unknown as WholePropagation;
  expect(obstaclesOf(state)).toEqual(expected);
});
