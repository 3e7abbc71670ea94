import { describe, expect, test } from 'vitest';
import { documentOf } from '../../../src/propagate/model/input-spec.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { configMap, deployment, imported, importedOne, inputOfOne, noteTexts, policyFor } from './karmada-documents.ts';

const web = deployment('web');
const exactly = { isExact: true } as const;

/** Imports the Deployment `web` with a policy of this spec. */
const withPolicy = (spec: string) => [web, policyFor('web', spec)];

describe('placement', () => {
  test.each([
    ['no placement', '{}', {}],
    ['names', '{ clusterAffinity: { clusterNames: [member1, member2] } }', { clusters: ['member1', 'member2'] }],
    ['an empty list of names', '{ clusterAffinity: { clusterNames: [] } }', {}],
    [
      'labels, fields and exclusion',
      `{ clusterAffinity: { exclude: [member4], labelSelector: { matchLabels: { env: test }, matchExpressions: [{ key: tier, operator: Exists }] },
         fieldSelector: { matchExpressions: [{ key: provider, operator: In, values: [huawei] }, { key: zone, operator: NotIn, values: [z1, z2] }] } } }`,
      {
        selector: 'env in (test),tier',
        fields: [
          { field: 'PROVIDER', operator: 'IN', values: ['huawei'] },
          { field: 'ZONE', operator: 'NOT_IN', values: ['z1', 'z2'] },
        ],
        exclude: ['member4'],
      },
    ],
    ['a zone of no list', '{ clusterAffinity: { fieldSelector: { matchExpressions: [{ key: zone, operator: In }] } } }', { clusters: [] }],
    [
      'groups',
      `{ clusterAffinities: [{ affinityName: local, clusterNames: [member1] }, { affinityName: cloud, labelSelector: { matchLabels: { cloud: 'yes' } } }] }`,
      {
        affinityGroups: [
          { name: 'local', set: { clusters: ['member1'] } },
          { name: 'cloud', set: { selector: 'cloud in (yes)' } },
        ],
      },
    ],
    [
      'tolerations',
      `{ clusterTolerations: [{ key: a, operator: Exists, value: ignored, effect: NoExecute, tolerationSeconds: 300 }, { key: b, value: c, effect: NoSchedule, tolerationSeconds: 5 },
         { operator: Exists }, { key: d, operator: '', effect: '' }] }`,
      {
        tolerations: [
          { key: 'a', operator: 'EXISTS', effect: 'NO_EXECUTE', tolerationSeconds: 300 },
          { key: 'b', value: 'c', effect: 'NO_SCHEDULE' },
          { operator: 'EXISTS' },
          { key: 'd' },
        ],
      },
    ],
    [
      'seconds for every effect',
      '{ clusterTolerations: [{ key: a, operator: Exists, tolerationSeconds: 5 }] }',
      {
        tolerations: [
          { key: 'a', operator: 'EXISTS', effect: 'NO_SCHEDULE' },
          { key: 'a', operator: 'EXISTS', effect: 'PREFER_NO_SCHEDULE' },
          { key: 'a', operator: 'EXISTS', effect: 'NO_EXECUTE', tolerationSeconds: 5 },
        ],
      },
    ],
    [
      'a spread over regions',
      `{ spreadConstraints: [{ spreadByField: region, minGroups: 2, maxGroups: 3 }, { spreadByField: cluster, maxGroups: 2 }] }`,
      { spread: [{ by: 'REGION', min: 2, max: 3 }, { max: 2 }] },
    ],
  ])('%s', (_, placement, expected) => {
    expect(inputOfOne(withPolicy(`placement: ${placement}`)).placement).toEqual(expected);
  });

  test.each([
    ['{ effect: NoSchedule }', [{ operator: 'EXISTS', effect: 'NO_SCHEDULE' }], 'UNSUPPORTED'],
    ['{ effect: NoSchedule, value: a }', undefined, 'DROPPED'],
    ['{ key: a, operator: Near }', undefined, 'DROPPED'],
    ['{ key: a, effect: Never }', undefined, 'DROPPED'],
  ])('the toleration %s has no equal in a Propagation', (toleration, expected, code) => {
    const one = importedOne(withPolicy(`placement: { clusterTolerations: [${toleration}] }`));
    expect(Object(one.input).placement).toEqual(expected === undefined ? {} : { tolerations: expected });
    expect(noteTexts(one)).toEqual([`WARNING ${code} [1].spec.placement.clusterTolerations[0]`]);
  });

  test('an overflow stays also for objects without replicas, as the strategy that it needs', () => {
    const placement = `{ clusterAffinities: [{ affinityName: local, clusterNames: [member1], overflowAffinities: [{ affinityName: more, clusterNames: [member2] }] }],
      replicaScheduling: { replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated } }`;
    const policy = policyFor('web', `placement: ${placement}`).replace('kind: Deployment', 'kind: ConfigMap').replace('apps/v1', 'v1');
    const { input, notes } = importedOne([configMap('web'), policy]);
    expect(input).toMatchObject({
      placement: { affinityGroups: [{ overflow: [{ name: 'more', set: { clusters: ['member2'] } }] }] },
      replicas: { mode: 'DIVIDED', strategy: 'AGGREGATED' },
    });
    expect(notes).toEqual([]);
    expect(parseSpec(documentOf(input as never).document)).not.toHaveProperty('problems');
  });

  test('an unknown cluster stays by default, and is left out in exact mode, both with a note', () => {
    const documents = withPolicy('placement: { clusterAffinity: { clusterNames: [far, member1], exclude: [away] } }');
    const expected = [
      'WARNING UNKNOWN_CLUSTER [1].spec.placement.clusterAffinity.exclude[0]',
      'WARNING UNKNOWN_CLUSTER [1].spec.placement.clusterAffinity.clusterNames[0]',
    ];
    const [ours, theirs] = [importedOne(documents), importedOne(documents, exactly)];
    expect(ours.input).toMatchObject({ placement: { clusters: ['far', 'member1'], exclude: ['away'] } });
    expect(theirs.input).toMatchObject({ placement: { clusters: ['member1'], exclude: [] } });
    expect([noteTexts(ours), noteTexts(theirs)]).toEqual([expected, expected]);
  });

  test('a policy of an unknown version is refused', () => {
    const { propagations, notes } = imported([web, policyFor('web', 'placement: {}').replace('v1alpha1', 'v1beta9')]);
    expect([propagations, notes[0]]).toEqual([
      [],
      {
        severity: 'ERROR',
        code: 'INVALID',
        message: expect.stringContaining('unknown version v1beta9, expected v1alpha1'),
        path: '[1].apiVersion',
      },
    ]);
  });

  test('hundreds of unknown clusters are one note, which lists the first ten', () => {
    const names = Array.from({ length: 400 }, (_, index) => `far${index}`);
    const { notes } = importedOne(withPolicy(`placement: { clusterAffinity: { clusterNames: [member1, ${names.join(', ')}] } }`));
    const first = names.slice(0, 10).map((name) => `"${name}"`);
    expect(notes).toEqual([
      {
        severity: 'WARNING',
        code: 'UNKNOWN_CLUSTER',
        message: `expected names of clusters of Muster, got ${first.join(', ')} and 390 more: a plan refuses them`,
        path: '[1].spec.placement.clusterAffinity.clusterNames[1]',
      },
    ]);
  });

  test('more clusters than a placement may name are an error', () => {
    const names = Array.from({ length: 501 }, (_, index) => `far${index}`);
    const result = imported(withPolicy(`placement: { clusterAffinity: { clusterNames: [${names.join(', ')}] } }`));
    expect([result.propagations, result.unread.map(({ index }) => index)]).toEqual([[], [0, 1]]);
    expect(result.notes.map(({ severity, code, message }) => `${severity} ${code} ${message}`)).toEqual([
      expect.stringMatching(/^ERROR INVALID no valid Propagation: placement.clusters: expected 0 to 500 members, got 501/),
      'WARNING NO_TEMPLATE PropagationPolicy web is only for resources that are not imported',
    ]);
  });

  test('an affinity of unknown clusters only matches no cluster in exact mode', () => {
    const documents = withPolicy('placement: { clusterAffinity: { clusterNames: [far] } }');
    expect(inputOfOne(documents, exactly).placement).toEqual({ clusters: [] });
  });

  test('a broken label selector matches no cluster, as in Karmada', () => {
    const one = importedOne(withPolicy(`placement: { clusterAffinity: { labelSelector: { matchLabels: { 'no key': a } } } }`));
    expect(one.input).toMatchObject({ placement: { clusters: [] } });
    expect(noteTexts(one)).toEqual(['WARNING UNSUPPORTED [1].spec.placement.clusterAffinity']);
  });

  test.each([
    [
      'zone',
      '[{ spreadByField: zone }, { spreadByField: cluster, maxGroups: 2 }]',
      ['INFO SPREAD_IGNORED [1].spec.placement.spreadConstraints[0]'],
    ],
    ['label', '[{ spreadByLabel: team, maxGroups: 2 }]', ['INFO SPREAD_IGNORED [1].spec.placement.spreadConstraints[0]']],
    ['no maximum', '[{ spreadByField: cluster, minGroups: 2 }]', ['INFO SPREAD_NO_MAX [1].spec.placement.spreadConstraints[0]']],
    [
      'two groupings',
      '[{ spreadByField: provider }, { spreadByField: region, maxGroups: 2 }, { spreadByField: cluster, maxGroups: 2 }]',
      ['WARNING DROPPED [1].spec.placement.spreadConstraints[0]'],
    ],
    ['no label', `[{ spreadByLabel: 'no key' }]`, ['WARNING DROPPED [1].spec.placement.spreadConstraints[0]']],
  ])('a spread by %s is noted, as Karmada does something else', (_, constraints, expected) => {
    expect(noteTexts(importedOne(withPolicy(`placement: { spreadConstraints: ${constraints} }`)))).toEqual(expected);
  });

  test.each([
    [
      'a zone filters',
      '[{ spreadByField: zone }, { spreadByField: cluster, maxGroups: 2 }]',
      { fields: [{ field: 'ZONE', operator: 'EXISTS' }], spread: [{ max: 2 }] },
    ],
    ['a label alone chooses nothing', '[{ spreadByLabel: team }]', { spread: [{ by: 'LABEL', label: 'team' }] }],
    ['regions choose', '[{ spreadByField: region, maxGroups: 1 }, { spreadByField: cluster }]', { spread: [{ by: 'REGION', max: 1 }, {}] }],
  ])('exact: %s', (_, constraints, expected) => {
    const one = importedOne(withPolicy(`placement: { spreadConstraints: ${constraints} }`), exactly);
    expect([one.input, one.notes]).toMatchObject([{ placement: expected }, []]);
  });

  test('exact: static weights ignore the spread, but clusters still need the field', () => {
    const placement =
      '{ replicaScheduling: { replicaSchedulingType: Divided }, spreadConstraints: [{ spreadByField: region, maxGroups: 1 }, { spreadByField: cluster, maxGroups: 1 }] }';
    expect(inputOfOne(withPolicy(`placement: ${placement}`), exactly).placement).toEqual({
      fields: [{ field: 'REGION', operator: 'EXISTS' }],
    });
    expect(noteTexts(importedOne(withPolicy(`placement: ${placement}`)))).toContain(
      'INFO SPREAD_IGNORED [1].spec.placement.spreadConstraints',
    );
  });
});

test('exact: keeps an empty weight preference for the planner, because Karmada then does not ignore the spread', () => {
  const placement = '{ replicaScheduling: { weightPreference: {} }, spreadConstraints: [{ spreadByField: cluster, maxGroups: 1 }] }';
  expect(inputOfOne(withPolicy(`placement: ${placement}`), exactly)).toMatchObject({
    placement: { spread: [{ max: 1 }] },
    exact: { policies: { replicaScheduling: { weightPreference: {} } } },
  });
});

describe('replicas', () => {
  const at = '[1].spec.placement.replicaScheduling';
  const statically = [`INFO STATIC_FROM_ZERO ${at}`, `INFO TIE_BY_UID ${at}`];
  const dynamically = [`INFO ALL_OR_NOTHING ${at}`, `INFO TIE_BY_UID ${at}`];
  const weights = `{ staticWeightList: [{ targetCluster: { clusterNames: [member1] }, weight: 2 }, { targetCluster: { labelSelector: { matchLabels: { a: b } } }, weight: 1 }] }`;
  const rules = [{ set: { clusters: ['member1'] }, weight: 2 }, { set: { selector: 'a in (b)' } }];
  test.each([
    ['none', '', undefined, undefined, []],
    ['duplicated', 'replicaSchedulingType: Duplicated', undefined, undefined, []],
    ['divided by default', '', { mode: 'DIVIDED' }, { mode: 'DIVIDED' }, statically],
    [
      'static weights',
      `replicaDivisionPreference: Weighted, weightPreference: ${weights}`,
      { mode: 'DIVIDED', rules },
      { mode: 'DIVIDED', rules },
      statically,
    ],
    [
      'dynamic weights',
      'weightPreference: { dynamicWeight: AvailableReplicas }',
      { mode: 'DIVIDED', strategy: 'AVAILABLE' },
      { mode: 'DIVIDED', strategy: 'AVAILABLE' },
      dynamically,
    ],
    [
      'aggregated',
      'replicaDivisionPreference: Aggregated',
      { mode: 'DIVIDED', strategy: 'AGGREGATED' },
      { mode: 'DIVIDED', strategy: 'AGGREGATED' },
      dynamically,
    ],
  ])('%s', (name, scheduling, ours, theirs, notes) => {
    const documents = withPolicy(name === 'none' ? 'placement: {}' : `placement: { replicaScheduling: { ${scheduling} } }`);
    const [plain, exact] = [importedOne(documents), importedOne(documents, exactly)];
    expect([plain.input, noteTexts(plain)]).toMatchObject([ours === undefined ? {} : { replicas: ours }, notes]);
    expect(exact.input).toMatchObject(theirs === undefined ? {} : { replicas: theirs });
    expect('replicas' in Object(plain.input)).toBe(ours !== undefined);
    expect(noteTexts(exact)).toEqual(notes.length === 0 ? [] : [`INFO TIE_BY_UID ${at}`]);
    const withUid = [documents[0]?.replace('metadata: {', 'metadata: { uid: a,') ?? '', documents[1] ?? ''];
    expect(importedOne(withUid, exactly).notes).toEqual([]);
  });

  test.each([
    [4, '[member1, member2]', [], false],
    [5, '[member1, member2]', [], true],
    [5, '[member1]', [], false],
    [5, '[member1, unknown]', [], false],
    [6, '[member1, member2, member3]', [2, 1], false],
    [2, '[member1, member2, member3]', [2, 2], false],
    [3, '[member1, member2]', [2, 2], true],
    [3, '[member1, member2]', [2, 1], false],
    [4, '[]', [], true],
  ])('exact without a uid: %i replicas in %s with the weights %j, tie: %s', (count, names, weights, isTold) => {
    const list = weights.map((weight, index) => `{ targetCluster: { clusterNames: [member${index + 1}] }, weight: ${weight} }`).join();
    const scheduling = `{ replicaSchedulingType: Divided, weightPreference: { staticWeightList: [${list}] } }`;
    const policy = policyFor('web', `placement: { clusterAffinity: { clusterNames: ${names} }, replicaScheduling: ${scheduling} }`);
    const { notes } = importedOne([web.replace('replicas: 4', `replicas: ${count}`), policy], exactly);
    expect(notes.some(({ code }) => code === 'TIE_BY_UID')).toBe(isTold);
  });

  test('weights next to dynamicWeight are noted, because neither system uses them', () => {
    const scheduling = `{ weightPreference: { dynamicWeight: AvailableReplicas, staticWeightList: [{ targetCluster: {}, weight: 1 }] } }`;
    const one = importedOne(withPolicy(`placement: { replicaScheduling: ${scheduling} }`), exactly);
    expect(noteTexts(one)).toEqual([`WARNING DROPPED ${at}.weightPreference.staticWeightList`, `INFO TIE_BY_UID ${at}`]);
  });

  test('an object without replicas gets none, and no notes about them', () => {
    const policy = policyFor('web', 'placement: { replicaScheduling: { replicaSchedulingType: Divided } }');
    const one = importedOne([configMap('web'), policy.replace('kind: Deployment', 'kind: ConfigMap').replace('apps/v1', 'v1')]);
    expect([Object(one.input).replicas, one.notes]).toEqual([undefined, []]);
  });

  test.each([
    ['apps/v1', []],
    ['extensions/v1beta1', ['API_CONVERTED']],
  ])('an autoscaler that is propagated too, for a Deployment of %s, decides the replicas', (version, codes) => {
    const autoscaler = `apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: web }\nspec: { scaleTargetRef: { apiVersion: ${version}, kind: Deployment, name: web }, maxReplicas: 5 }`;
    const policy = policyFor('web', 'placement: { replicaScheduling: { replicaSchedulingType: Divided } }').replace(
      'name: web }],',
      'name: web }, { apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler }],',
    );
    const { propagations } = imported([web, autoscaler, policy]);
    expect(propagations.map(({ input }) => Object(input).replicas)).toEqual([{ mode: 'EXTERNAL' }, undefined]);
    expect(noteTexts(Object(propagations[0]))).toEqual(['INFO AUTOSCALED [0]']);
    expect(propagations[1]?.notes.map(({ code }) => code)).toEqual(codes);
    const exact = imported([web, autoscaler, policy], exactly).propagations;
    expect(Object(exact[0]?.input).replicas).toEqual({ mode: 'DIVIDED' });
  });
});
