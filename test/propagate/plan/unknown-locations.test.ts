import { describe, expect, test } from 'vitest';
import type { MemberCluster } from '../../../src/changes/members.ts';
import { objectAt } from '../../../src/core/json-at.ts';
import { actionsOf, clusterIn, codesOf, configMap, deployment, entry, existingObject, planOf, shareOf, specOf } from './snapshots.ts';

const eu = { fields: [{ field: 'region', operator: 'In', values: ['eu'] }] };
const unknownLocation: MemberCluster['unknownLocation'] = {
  fields: ['region'],
  mayBecomeKnown: true,
  message: 'region unknown: Nodes are unread',
};
const settings = configMap('settings');
const ours = [entry(settings, { uid: 'u' })];
const holding = { entries: ours, live: [existingObject(settings, 'u')] };
const inEu = { facts: { region: 'eu' } };

describe('a cluster with an unknown location', () => {
  test('keeps its copies, and gets no writes until the location is known', () => {
    const plan = planOf({
      purpose: 'keep',
      spec: { placement: eu },
      clusters: { a: inEu, b: { ...holding, facts: { unknownLocation } } },
    });

    expect(clusterIn(plan, 'b')).toMatchObject({
      objects: [],
      fault: { code: 'SYNCING', cluster: 'b', message: unknownLocation?.message },
    });
    expect([plan.leaving, plan.pruneHeld, plan.ok]).toEqual([[], undefined, true]);
    expect(actionsOf(clusterIn(plan, 'a').objects)).toEqual(['CREATE settings']);
  });

  test('is not chosen while others are, without an error', () => {
    const plan = planOf({ spec: { placement: eu }, clusters: { a: inEu, b: { facts: { unknownLocation } } } });

    expect([plan.ok, plan.rejected]).toEqual([true, [{ cluster: 'b', reason: 'SYNCING', detail: unknownLocation?.message }]]);
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['an override', { overrides: [{ set: eu, labels: [{ operator: 'Add', values: { a: 'b' } }] }] }],
    ['a wave', { rollout: { waves: [{ name: 'first', set: eu }] } }],
    ['a rule', { replicas: { mode: 'Divided', rules: [{ set: eu }, { set: { clusters: ['a'] } }] } }],
  ])('gets no rendered objects if %s depends on the location, without an error note even if strict', (_, spec) => {
    const more = { ...spec, strict: true };
    const previous = {
      replicas: new Map([
        ['a', 2],
        ['b', 2],
      ]),
      scheduledAt: '2026-01-01T00:00:00Z',
      spec: specOf([deployment('web', 4)], more),
    };
    const plan = planOf({
      template: [deployment('web', 4)],
      spec: more,
      previous,
      clusters: { a: inEu, b: { facts: { unknownLocation } } },
    });

    expect(clusterIn(plan, 'b').fault).toMatchObject({ code: 'SYNCING' });
    expect(clusterIn(plan, 'a').fault).toBeUndefined();
    expect(codesOf(plan)).toEqual([]);
    const never = { ...unknownLocation, fields: ['region'] as const, mayBecomeKnown: false, message: 'nobody may read Nodes' };
    expect(
      clusterIn(planOf({ spec: { overrides: [] }, clusters: { b: { facts: { unknownLocation: never } } } }), 'b').fault,
    ).toBeUndefined();
  });

  test('keeps its replicas, like the others, while the rules cannot be evaluated', () => {
    const rules = [
      { set: eu, weight: 3, max: 6 },
      { set: { clusters: ['a'] }, weight: 1, max: 2 },
    ];
    const spec = { replicas: { mode: 'Divided', rules } };
    const template = [deployment('web', 8)];
    const previous = {
      replicas: new Map([
        ['a', 2],
        ['b', 6],
      ]),
      scheduledAt: '2026-01-01T00:00:00Z',
      spec: specOf(template, spec),
    };
    const plan = planOf({ template, spec, purpose: 'keep', previous, clusters: { a: {}, b: { facts: { unknownLocation } } } });

    expect(plan.clusters.map(({ chosen, share }) => [chosen.cluster, share?.from, share?.to])).toEqual([
      ['a', 2, 2],
      ['b', 6, 6],
    ]);
    expect([plan.unplaced, plan.notes]).toEqual([0, []]);
  });

  test('is not checked again once the replicas are divided', () => {
    const template = [deployment('web', 2)];
    const spec = { placement: eu, replicas: { mode: 'Divided' } };
    const previous = {
      replicas: new Map([
        ['a', 1],
        ['b', 1],
      ]),
      scheduledAt: '2026-01-01T00:00:00Z',
      spec: specOf(template, spec),
    };
    const plan = planOf({
      template,
      spec,
      purpose: 'keep',
      previous,
      clusters: { a: inEu, b: { facts: { unknownLocation }, entries: ours } },
    });

    expect(plan.clusters.map(({ chosen, share, fault }) => [chosen.cluster, share?.to, fault])).toEqual([
      ['a', 1, undefined],
      ['b', 1, undefined],
    ]);
  });
});

describe('a cluster outside the fleet', () => {
  const left = [shareOf('gone', ours)];

  test.each<[string, Readonly<Record<string, unknown>>, boolean]>([
    ['every cluster', {}, true],
    ['its name', { clusters: ['a', 'gone'] }, true],
    ['labels', { selector: { matchLabels: { tier: 'gold' } } }, true],
    ['its location', eu, true],
    [
      'a group that it may be in',
      {
        affinityGroups: [
          { name: 'first', set: { clusters: ['a'] } },
          { name: 'second', set: {} },
        ],
      },
      true,
    ],
    ['other names', { clusters: ['a'] }, false],
    ['all but its name', { exclude: ['gone'] }, false],
  ])('keeps its copies with a placement by %s: %s', (_, placement, isAway) => {
    const facts = { facts: { region: 'eu', labels: { tier: 'gold' } } };
    const plan = planOf({ purpose: 'keep', spec: { placement }, clusters: { a: facts }, sharesOutsideFleet: left });

    expect([plan.away, plan.leaving.map(({ cluster }) => cluster)]).toEqual(isAway ? [['gone'], []] : [[], ['gone']]);
  });

  test('causes no error if all chosen clusters are outside the fleet', () => {
    const spec = { placement: { clusters: ['gone'] } };
    const later = planOf({ purpose: 'keep', spec, clusters: { a: {} }, sharesOutsideFleet: left });
    const anew = planOf({ spec, clusters: { a: {} }, sharesOutsideFleet: left });

    expect([later.ok, later.pruneHeld, later.away, codesOf(later)]).toEqual([true, undefined, ['gone'], ['WARNING UNKNOWN_CLUSTER']]);
    expect([anew.ok, codesOf(anew)]).toEqual([false, ['ERROR UNKNOWN_CLUSTER', 'ERROR NOTHING_CHOSEN']]);
  });

  test('keeps its copies if the template cannot be read', () => {
    const note = { severity: 'ERROR', code: 'INVALID', message: 'it is not there', path: 'template[0].ref' } as const;
    expect(planOf({ templates: [], notes: [note], clusters: {}, sharesOutsideFleet: left })).toMatchObject({ away: ['gone'], leaving: [] });
  });
});

describe('counts', () => {
  test.each([
    [[deployment('web', 1)], 6, []],
    [[deployment('web', 1), settings], 6, []],
    [[deployment('web', 1), deployment('worker', 1)], undefined, []],
    [[deployment('web', 1), deployment('worker', 1)], 6, ['ERROR INVALID replicas.total']],
  ])('total is allowed for a single workload only (%#)', (template, total, notes) => {
    for (const mode of ['Divided', 'Duplicated']) {
      const plan = planOf({ template, spec: { replicas: { mode, ...(total === undefined ? {} : { total }) } }, clusters: { a: {} } });
      expect(plan.notes.map(({ severity, code, path }) => `${severity} ${code} ${path}`)).toEqual(notes);
    }
  });

  test('are divided from zero for the first time, under other rules and once when rescheduleAt passes', () => {
    const template = [deployment('web', 4)];
    const rescheduleAt = '2026-03-01T00:00:00Z';
    const replicas = { mode: 'Divided', rescheduleAt };
    const planned = (nowMs: number, scheduledAt: string | undefined, asked: Readonly<Record<string, unknown>> = replicas) =>
      planOf({
        template,
        spec: { replicas: asked },
        purpose: 'keep',
        nowMs,
        ...(scheduledAt === undefined
          ? {}
          : {
              previous: {
                replicas: new Map([
                  ['a', 3],
                  ['b', 1],
                ]),
                scheduledAt,
                spec: specOf(template, { replicas }),
              },
            }),
        clusters: { a: {}, b: {} },
      });
    const figures = (plan: ReturnType<typeof planned>) => [
      plan.fromZero,
      plan.clusters.map(({ objects: [object] }) => objectAt(object?.desired, 'spec').replicas),
    ];
    const before = Date.parse('2026-02-01T00:00:00Z');
    const after = Date.parse('2026-03-01T00:00:01Z');

    expect(figures(planned(before, undefined))).toEqual([true, [2, 2]]);
    expect(figures(planned(before, '2026-01-01T00:00:00Z'))).toEqual([false, [3, 1]]);
    expect(figures(planned(after, '2026-01-01T00:00:00Z'))).toEqual([true, [2, 2]]);
    expect(figures(planned(after, '2026-03-01T00:00:01Z'))).toEqual([false, [3, 1]]);
    const ruled = {
      ...replicas,
      rules: [
        { set: { clusters: ['b'] }, weight: 3 },
        { set: { clusters: ['a'] }, weight: 1 },
      ],
    };
    expect(figures(planned(before, '2026-01-01T00:00:00Z', ruled))).toEqual([true, [1, 3]]);
    expect(figures(planned(before, '2026-01-01T00:00:00Z', { ...replicas, rebalance: true }))).toEqual([false, [2, 2]]);
  });
});
