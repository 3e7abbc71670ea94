import { describe, expect, test } from 'vitest';
import type { ClusterTaint } from '../../../../src/changes/members.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { Toleration } from '../../../../src/propagate/model/spec.ts';
import { printTaint, taintsIn, tolerates, tolerationIn, untoleratedTaint } from '../../../../src/propagate/plan/placing/tolerations.ts';

const taint: ClusterTaint = { key: 'team', value: 'blue', effect: 'NoSchedule' };

describe('a toleration', () => {
  test.each<[string, Toleration, boolean]>([
    ['of key, value and effect', { key: 'team', operator: 'Equal', value: 'blue', effect: 'NoSchedule' }, true],
    ['of every effect', { key: 'team', operator: 'Equal', value: 'blue' }, true],
    ['of every value', { key: 'team', operator: 'Exists' }, true],
    ['of everything', { operator: 'Exists' }, true],
    ['of another value', { key: 'team', operator: 'Equal', value: 'red' }, false],
    ['of no value', { key: 'team', operator: 'Equal' }, false],
    ['of another key', { key: 'zone', operator: 'Exists' }, false],
    ['of another effect', { key: 'team', operator: 'Exists', effect: 'NoExecute' }, false],
  ])('%s', (_, toleration, covers) => {
    expect(tolerates(toleration, taint)).toBe(covers);
  });

  test('without a value covers a taint without one', () => {
    expect(tolerates({ key: 'team', operator: 'Equal' }, { key: 'team', effect: 'NoSchedule' })).toBe(true);
    expect(tolerates({ key: 'team', operator: 'Equal', value: '' }, { key: 'team', effect: 'NoSchedule' })).toBe(true);
  });

  test.each<[JsonObject, Toleration | undefined]>([
    [
      { key: 'a', value: 'b' },
      { key: 'a', value: 'b', operator: 'Equal' },
    ],
    [
      { operator: 'Exists', effect: 'NoExecute' },
      { key: '', value: '', operator: 'Exists', effect: 'NoExecute' },
    ],
    [
      { key: 'a', operator: '', effect: '' },
      { key: 'a', value: '', operator: 'Equal' },
    ],
    [{ key: 'a', operator: 'Lt', value: '3' }, undefined],
    [{ key: 'a', operator: 'Gt', value: '3' }, undefined],
  ])('%j of an object is read', (value, toleration) => {
    expect(tolerationIn(value)).toEqual(toleration);
  });
});

describe('taints', () => {
  test('of NoSchedule and NoExecute exclude a cluster, but PreferNoSchedule does not', () => {
    const taints = (['PreferNoSchedule', 'NoExecute', 'NoSchedule'] as const).map((effect) => ({ key: 'k', effect }));
    expect(untoleratedTaint(taints, [])).toEqual({ key: 'k', effect: 'NoExecute' });
    expect(untoleratedTaint(taints.slice(0, 1), [])).toBeUndefined();
    expect(untoleratedTaint(taints, [{ operator: 'Exists', effect: 'NoExecute' }])).toEqual({ key: 'k', effect: 'NoSchedule' });
    expect(untoleratedTaint(taints, [{ operator: 'Exists' }])).toBeUndefined();
  });

  test('are read from a list, and printed as kubectl prints them', () => {
    const read = taintsIn([{ key: 'a', value: 'b', effect: 'NoExecute' }, { key: 'c', effect: 'NoSchedule' }, { value: 'no key' }]);
    expect(read.map(printTaint)).toEqual(['a=b:NoExecute', 'c:NoSchedule']);
  });
});
