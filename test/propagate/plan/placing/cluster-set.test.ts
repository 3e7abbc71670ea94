import { describe, expect, test } from 'vitest';
import { parseLabelSelector } from '../../../../src/core/selectors.ts';
import type { ClusterFieldRequirement, ClusterSet } from '../../../../src/propagate/model/spec.ts';
import {
  dependsOnUnknown,
  fieldValuesOf,
  matchesSet,
  mayMatchName,
  meetsField,
  mismatchOf,
} from '../../../../src/propagate/plan/placing/cluster-set.ts';
import { member } from './placing-fixtures.ts';

const north = member('north', { labels: { tier: 'gold', env: 'prod' }, provider: 'aws', region: 'eu', zones: ['eu-1', 'eu-2'] });
const bare = member('bare');

describe('a set', () => {
  test.each<[string, ClusterSet, boolean]>([
    ['without parts holds everything', {}, true],
    ['with an empty list of names holds nothing', { clusters: [] }, false],
    ['of names holds those', { clusters: ['south', 'north'] }, true],
    ['of other names does not', { clusters: ['south'] }, false],
    ['excludes, whatever else it says', { clusters: ['north'], exclude: ['north'] }, false],
    ['that excludes others holds it', { exclude: ['south'] }, true],
    ['by labels', { selector: parseLabelSelector('tier in (gold, silver),!old') }, true],
    ['by labels it has not', { selector: parseLabelSelector('tier=gold,env!=prod') }, false],
    ['by fields', { fields: [{ field: 'region', operator: 'In', values: ['us', 'eu'] }] }, true],
    ['by fields, all of which must hold', { fields: [requires('region', 'Exists'), requires('provider', 'DoesNotExist')] }, false],
    [
      'by everything at once',
      { clusters: ['north'], selector: parseLabelSelector('tier'), fields: [requires('zone', 'Exists')], exclude: ['x'] },
      true,
    ],
  ])('%s', (_, set, matches) => {
    expect(matchesSet(set, north)).toBe(matches);
  });

  test.each<[ClusterSet, ReturnType<typeof mismatchOf>]>([
    [
      { exclude: ['north'], clusters: [] },
      { reason: 'EXCLUDED', detail: 'north' },
    ],
    [
      { selector: parseLabelSelector('env=prod,tier in (bronze, silver)'), clusters: [] },
      { reason: 'LABELS', detail: 'tier in (bronze,silver)' },
    ],
    [
      { fields: [requires('zone', 'NotIn', ['eu-2'])], clusters: [] },
      { reason: 'FIELDS', detail: 'zone NotIn (eu-2)' },
    ],
    [{ fields: [requires('provider', 'DoesNotExist')] }, { reason: 'FIELDS', detail: 'provider DoesNotExist' }],
    [{ clusters: ['south'] }, { reason: 'NOT_NAMED', detail: 'north' }],
    [{}, undefined],
  ])('%j says what decided: %j', (set, mismatch) => {
    expect(mismatchOf(set, north)).toEqual(mismatch);
  });
});

describe('a requirement on a field', () => {
  const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

  test.each<[string, ClusterFieldRequirement['field'], readonly string[], readonly boolean[]]>([
    ['a region that is named', 'region', ['eu', 'us'], [true, false, true, false]],
    ['a region that is not', 'region', ['us'], [false, true, true, false]],
    ['zones that overlap', 'zone', ['eu-2', 'eu-3'], [true, false, true, false]],
    ['zones that do not', 'zone', ['eu-3'], [false, true, true, false]],
    ['no values', 'provider', [], [false, true, true, false]],
  ])('%s: In, NotIn, Exists, DoesNotExist', (_, field, values, expected) => {
    expect(operators.map((operator) => meetsField({ field, operator, values }, north))).toEqual(expected);
  });

  test.each(['provider', 'region', 'zone'] as const)('an absent %s meets only NotIn and DoesNotExist', (field) => {
    expect(operators.map((operator) => meetsField({ field, operator, values: ['eu'] }, bare))).toEqual([false, true, false, true]);
  });

  test('an empty text counts as absent', () => {
    expect(fieldValuesOf(member('x', { region: '', zones: ['', 'a'] }), 'region')).toEqual([]);
    expect(fieldValuesOf(member('x', { zones: ['b', '', 'a'] }), 'zone')).toEqual(['b', 'a']);
  });
});

function requires(
  field: ClusterFieldRequirement['field'],
  operator: ClusterFieldRequirement['operator'],
  values: readonly string[] = [],
): ClusterFieldRequirement {
  return { field, operator, values };
}

describe('unknown location fields of a cluster', () => {
  const unread = member('unread', {
    labels: { tier: 'gold' },
    provider: 'aws',
    unknownLocation: { fields: ['region', 'zone'], mayBecomeKnown: true, message: 'Nodes are unread' },
  });

  test.each<[string, ClusterSet, boolean]>([
    ['is not asked for', {}, false],
    ['is not asked for: what is, is known', { fields: [requires('provider', 'Exists')] }, false],
    ['decides', { fields: [requires('region', 'Exists')] }, true],
    [
      'decides, as all else fits',
      { selector: parseLabelSelector('tier=gold'), fields: [requires('provider', 'Exists'), requires('zone', 'Exists')] },
      true,
    ],
    ['decides whatever it would be', { fields: [requires('region', 'DoesNotExist')] }, true],
    ['does not decide: a label does', { selector: parseLabelSelector('tier=iron'), fields: [requires('region', 'Exists')] }, false],
    ['does not decide: another field does', { fields: [requires('provider', 'DoesNotExist'), requires('region', 'Exists')] }, false],
    ['does not decide: its name does', { clusters: ['north'], fields: [requires('region', 'Exists')] }, false],
    ['does not decide: it is excluded', { exclude: ['unread'], fields: [requires('region', 'Exists')] }, false],
  ])('%s', (_, set, open) => {
    expect(dependsOnUnknown(set, unread)).toBe(open);
    expect(dependsOnUnknown(set, { ...north, name: unread.name })).toBe(false);
  });

  test.each<[ClusterSet, boolean]>([
    [{}, true],
    [{ clusters: ['gone', 'north'] }, true],
    [{ clusters: ['north'] }, false],
    [{ clusters: [] }, false],
    [{ exclude: ['gone'] }, false],
    [{ exclude: ['north'], selector: parseLabelSelector('tier=gold'), fields: [requires('region', 'Exists')] }, true],
  ])('leaves the name of one that is no member to be judged: %j', (set, may) => {
    expect(mayMatchName(set, 'gone')).toBe(may);
  });
});
