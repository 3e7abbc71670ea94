import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { type PropagationSpec, parseDeletionParts, parseSpec, printSpec } from '../../../src/propagate/model/spec.ts';

const json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } };
const least = { template: [{ json }], placement: {} } as const;

function problemsOf(document: JsonObject): readonly (readonly [string, string])[] {
  const read = parseSpec(document);
  return 'problems' in read ? read.problems.map(({ path, message }) => [path, message] as const) : [];
}

function specOf(document: JsonObject): PropagationSpec {
  const read = parseSpec(document);
  if ('problems' in read) throw new Error(`expected a spec, got ${JSON.stringify(read.problems)}`);
  return read;
}

describe('a spec', () => {
  test('with only required fields gets the defaults, and is printed without them', () => {
    expect(specOf(least)).toEqual({
      template: [{ type: 'manifest', manifest: json }],
      dependencies: false,
      placement: { tolerations: [], affinityGroups: [], spread: [] },
      replicas: { mode: 'Duplicated', strategy: 'Weighted', rules: [], rebalance: false },
      overrides: [],
      rollout: { waves: [], maxFailures: 0, soakMs: 0, onFailure: 'Pause' },
      conflict: 'Abort',
      write: 'Apply',
      deletion: { policy: 'Delete', cascade: 'Background' },
      suspend: { scheduling: false, all: false, clusters: [] },
      runAs: { type: 'requester' },
      strict: false,
    });
    expect(printSpec(specOf(least))).toEqual(least);
  });

  test('distinguishes all clusters from none', () => {
    expect(specOf({ ...least, placement: {} }).placement.clusters).toBeUndefined();
    expect(specOf({ ...least, placement: { clusters: null } }).placement.clusters).toBeUndefined();
    expect(specOf({ ...least, placement: { clusters: [] } }).placement.clusters).toEqual([]);
    expect(printSpec(specOf({ ...least, placement: { clusters: [] } })).placement).toEqual({ clusters: [] });
  });

  test('reports all problems, each with its path', () => {
    const wrong = {
      template: [{ json: { ...json, metadata: {} } }, { json, ref: {} }],
      placement: { clusters: ['', 'a\nb', 7], fields: [{ field: 'planet', operator: 'In' }] },
      overrides: [{ image: [{ component: 'tag', operator: 'Add' }], jsonPatch: [{ op: 'move', path: '/a~2' }] }],
      rollout: { soak: 90, maxFailures: '120%' },
      strict: 'yes',
      zeal: 1,
    };
    expect(problemsOf(wrong).map(([path]) => path)).toEqual([
      'zeal',
      'template[1].ref.cluster',
      'template[1].ref.apiVersion',
      'template[1].ref.kind',
      'template[1].ref.name',
      'placement.clusters[0]',
      'placement.clusters[1]',
      'placement.clusters[2]',
      'placement.fields[0].field',
      'overrides[0].image[0].value',
      'overrides[0].jsonPatch[0].path',
      'rollout.maxFailures',
      'rollout.soak',
      'strict',
    ]);
  });

  test.each<[Json, string, string]>([
    [{}, 'template[0]', 'one of json, yaml and ref'],
    [{ json, yaml: 'a: 1' }, 'template[0]', 'one of json, yaml and ref'],
    [{ json: [] }, 'template[0].json', 'an object'],
    [{ json: { kind: 'ConfigMap', metadata: { name: 'c' } } }, 'template[0].json.apiVersion', 'apps/v1'],
    [{ json: { ...json, metadata: { generateName: 'c-' } } }, 'template[0].json.metadata.generateName', 'a name'],
    [{ json: { ...json, metadata: { name: '../c' } } }, 'template[0].json.metadata.name', 'a name'],
    [{ json: { apiVersion: 'v1', kind: 'List', items: [json] } }, 'template[0].json', 'one object'],
    [{ json: { ...json, kind: 'Secret' } }, 'template[0].json', 'by ref only'],
    [
      { yaml: 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}' },
      'template[0].yaml[0]',
      'by ref only',
    ],
    [{ yaml: '# nothing' }, 'template[0].yaml', 'a manifest'],
    [{ yaml: 'a: [' }, 'template[0].yaml', 'line'],
    [{ ref: { cluster: 'a', apiVersion: 'v1', kind: 'Secret', name: 'a/b' } }, 'template[0].ref.name', 'the name of an object'],
    [
      { ref: { cluster: 'a', apiVersion: 'v1', kind: 'Secret', name: 's', resourceVersion: '1' } },
      'template[0].ref.resourceVersion',
      'no field',
    ],
  ])('refuses the template %j', (source, path, message) => {
    expect(problemsOf({ ...least, template: [source] })).toEqual([[path, expect.stringContaining(message)]]);
  });

  test('holds the objects of a YAML text in order as json, at most twenty', () => {
    const yaml = (count: number) =>
      Array.from({ length: count }, (_, n) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: c${n}}, data: {mode: 0644}}`).join(
        '\n---\n',
      );
    const spec = specOf({
      ...least,
      template: [{ yaml: yaml(2) }, { ref: { cluster: 'a', apiVersion: 'v1', kind: 'Secret', namespace: 'n', name: 's' } }],
    });
    expect(spec.template).toEqual([
      { type: 'manifest', manifest: { ...json, metadata: { name: 'c0' }, data: { mode: 420 } } },
      { type: 'manifest', manifest: { ...json, metadata: { name: 'c1' }, data: { mode: 420 } } },
      { type: 'ref', cluster: 'a', key: { apiVersion: 'v1', kind: 'Secret', namespace: 'n', name: 's' } },
    ]);
    expect(printSpec(spec).template[0]).toHaveProperty('json');
    expect(problemsOf({ ...least, template: [{ yaml: yaml(20) }, { json }] })).toEqual([
      ['template', expect.stringContaining('at most 20')],
    ]);
    expect(problemsOf({ ...least, template: Array(21).fill({ json }) })).toEqual([['template', expect.stringContaining('1 to 20')]]);
  });

  test('leaves out fields of a manifest that are specific to one cluster', () => {
    const served = {
      ...json,
      status: { a: 1 },
      metadata: { name: 'c', uid: 'u', resourceVersion: '7', managedFields: [], ownerReferences: [] },
    };
    expect(printSpec(specOf({ ...least, template: [{ json: served }] }))).toEqual(least);
  });

  test.each<[string, JsonObject, string]>([
    [
      'values beside Exists',
      { placement: { fields: [{ field: 'zone', operator: 'Exists', values: ['a'] }] } },
      'placement.fields[0].values',
    ],
    [
      'no values with In',
      { placement: { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      'placement.selector.matchExpressions[0].values',
    ],
    ['a key that is none', { placement: { selector: { matchLabels: { 'a b': 'c' } } } }, 'placement.selector.matchLabels.a b'],
    [
      'seconds without NoExecute',
      { placement: { tolerations: [{ key: 'a', tolerationSeconds: 3 }] } },
      'placement.tolerations[0].tolerationSeconds',
    ],
    ['purge Never with return Back', { failover: { purge: 'Never', return: 'Back' } }, 'failover.return'],
    [
      'an overflow like its group',
      {
        placement: { affinityGroups: [{ name: 'g', set: { clusters: ['a'] }, overflow: [{ name: 'g', set: {} }] }] },
        replicas: { mode: 'Divided', strategy: 'Available' },
      },
      'placement.affinityGroups[0].overflow[0].name',
    ],
    [
      'an overflow under an empty set',
      {
        placement: { affinityGroups: [{ name: 'g', set: {}, overflow: [{ name: 'o', set: {} }] }] },
        replicas: { mode: 'Divided', strategy: 'Available' },
      },
      'placement.affinityGroups[0].overflow',
    ],
    [
      'an overflow of weights',
      {
        placement: { affinityGroups: [{ name: 'g', set: { clusters: ['a'] }, overflow: [{ name: 'o', set: {} }] }] },
        replicas: { mode: 'Divided' },
      },
      'placement.affinityGroups[0].overflow',
    ],
    ['a field spread twice', { placement: { spread: [{ by: 'zone' }, { by: 'zone', min: 2 }] } }, 'placement.spread[1].by'],
    ['a label of a region', { placement: { spread: [{ by: 'region', label: 'a' }] } }, 'placement.spread[0].label'],
    ['a weight below nothing', { replicas: { rules: [{ weight: -1 }] } }, 'replicas.rules[0].weight'],
    ['half a replica', { replicas: { total: 1.5 } }, 'replicas.total'],
    ['a time that is none', { replicas: { rescheduleAt: 'tomorrow' } }, 'replicas.rescheduleAt'],
    ['a time of no calendar', { replicas: { rescheduleAt: '2026-13-01T00:00:00Z' } }, 'replicas.rescheduleAt'],
    ['a day of no calendar', { replicas: { rescheduleAt: '2026-02-30T00:00:00Z' } }, 'replicas.rescheduleAt'],
    ['a time that is too long', { replicas: { rescheduleAt: `2026-01-31T12:00:00.${'1'.repeat(60)}Z` } }, 'replicas.rescheduleAt'],
    ['a duration that is too long', { rollout: { soak: '1s'.repeat(65) } }, 'rollout.soak'],
    [
      'a label value that is none',
      { overrides: [{ labels: [{ operator: 'Add', values: { a: 'no spaces' } }] }] },
      'overrides[0].labels[0].values.a',
    ],
    [
      'a text in a map that is none',
      { overrides: [{ annotations: [{ operator: 'Add', values: { a: 1 } }] }] },
      'overrides[0].annotations[0].values.a',
    ],
    [
      'containers and a path',
      { overrides: [{ image: [{ component: 'tag', operator: 'Remove', containers: ['a'], path: '/b' }] }] },
      'overrides[0].image[0].path',
    ],
    ['a variable without a name', { overrides: [{ env: [{ operator: 'Remove', name: '' }] }] }, 'overrides[0].env[0].name'],
    ['a move from nowhere', { overrides: [{ jsonPatch: [{ op: 'move', path: '/a' }] }] }, 'overrides[0].jsonPatch[0].from'],
    ['an add from somewhere', { overrides: [{ jsonPatch: [{ op: 'add', path: '/a', from: '/b' }] }] }, 'overrides[0].jsonPatch[0].from'],
    [
      'an operation that is none',
      { overrides: [{ fields: [{ path: '/data/a', format: 'json', patch: [{ op: 'zap', path: '/a' }] }] }] },
      'overrides[0].fields[0].patch[0].op',
    ],
    ['a merge that is a list', { overrides: [{ merge: [] }] }, 'overrides[0].merge'],
    ['a wave twice', { rollout: { waves: [{ name: 'a' }, { name: 'a' }] } }, 'rollout.waves[1].name'],
    ['no concurrency', { rollout: { maxConcurrency: 0 } }, 'rollout.maxConcurrency'],
    ['a deadline for ever', { rollout: { deadline: '9999999h' } }, 'rollout.deadline'],
    ['a count beside Any', { completion: { mode: 'Any', count: 1 } }, 'completion.count'],
    ['Count without one', { completion: { mode: 'Count' } }, 'completion.count'],
    ['all and some suspended', { suspend: { all: true, clusters: ['a'] } }, 'suspend.clusters'],
    ['two actors', { runAs: { requester: true, serviceAccount: { namespace: 'a', name: 'b' } } }, 'runAs'],
    ['no actor', { runAs: { requester: false } }, 'runAs.requester'],
    ['a requester without a time', { requester: { user: 'a' } }, 'requester.at'],
    ['a source system that is none', { exact: { system: 'KARMADA' } }, 'exact.system'],
    ['exact rules of no system', { exact: { uid: 'u' } }, 'exact.system'],
    ['an exact key that is too long', { exact: { system: 'Kubefed', key: 'k'.repeat(508) } }, 'exact.key'],
    ['policies of more than 512 KiB', { exact: { system: 'Karmada', policies: ['é'.repeat(256 * 1024)] } }, 'exact.policies'],
    ['a source without a system', { source: { cluster: 'north' } }, 'source.system'],
    [
      'a source with too many objects',
      { source: { system: 'Karmada', objects: Array(1001).fill({ apiVersion: 'v1', kind: 'A', name: 'a' }) } },
      'source.objects',
    ],
    [
      'a source of more than 512 KiB',
      { source: { system: 'Karmada', notes: Array(140).fill({ severity: 'INFO', code: 'A', message: 'm'.repeat(4096) }) } },
      'source',
    ],
    [
      'a source object in an unknown role',
      { source: { system: 'Karmada', objects: [{ apiVersion: 'v1', kind: 'A', name: 'a', role: 'OTHER' }] } },
      'source.objects[0].role',
    ],
    [
      'a source object without a kind',
      { source: { system: 'Karmada', objects: [{ apiVersion: 'v1', name: 'a' }] } },
      'source.objects[0].kind',
    ],
    [
      'a source note without a message',
      { source: { system: 'Karmada', notes: [{ severity: 'INFO', code: 'A' }] } },
      'source.notes[0].message',
    ],
  ])('refuses %s', (_what, part, path) => {
    expect(problemsOf({ ...least, ...part }).map(([at]) => at)).toEqual([path]);
  });

  test('has at most 10,000 patch operations, including those in documents', () => {
    const operations = (count: number) => Array(count).fill({ op: 'remove', path: '/a' });
    const overrides = (count: number) => [
      { jsonPatch: operations(5_000) },
      { fields: [{ path: '/a', format: 'yaml', patch: operations(count) }] },
    ];
    expect(problemsOf({ ...least, overrides: overrides(5_000) })).toEqual([]);
    expect(problemsOf({ ...least, overrides: overrides(5_001) })).toEqual([['overrides', expect.stringContaining('got 10001')]]);
  });

  test.each([
    ['90s', 90_000, '90s'],
    ['60s', 60_000, '1m'],
    ['1h30m', 5_400_000, '90m'],
    ['120m', 7_200_000, '2h'],
    ['250ms', 250, '250ms'],
  ])('reads the duration %s, and prints it in its largest unit', (text, ms, printed) => {
    const spec = specOf({ ...least, rollout: { deadline: text } });
    expect(spec.rollout.deadlineMs).toBe(ms);
    expect(printSpec(spec).rollout).toEqual({ deadline: printed });
  });

  test.each(['__proto__', 'constructor', 'prototype'])('reports %s as an unknown field', (name) => {
    const document = JSON.parse(`{"template": [{"json": ${JSON.stringify(json)}}], "placement": {}, "${name}": {"polluted": true}}`);
    expect(problemsOf(document).map(([path]) => path)).toEqual([name]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test.each([
    ['template[0].jsom', { template: [{ jsom: json }] }],
    ['placement.tolerations[0].kee', { placement: { tolerations: [{ kee: 'a' }] } }],
    ['replicas.rules[0].mni', { replicas: { rules: [{ mni: 5, max: 0 }] } }],
    ['runAs.serviceAcount', { runAs: { serviceAcount: { namespace: 'a', name: 'b' } } }],
    ['placement[""]', { placement: { '': 1 } }],
  ])('reports one problem for the misspelt field %s', (path, part) => {
    expect(problemsOf({ ...least, ...part }).map(([at]) => at)).toEqual([path]);
  });

  test('lists the fields of a small structure if none of them was probably meant', () => {
    const [problem] = problemsOf({ ...least, template: [{ apiVersion: 'v1' }] });
    expect(problem).toEqual(['template[0].apiVersion', 'is no field here: expected json, yaml, ref']);
    expect(problemsOf({ ...least, zzzzzzzz: 1 })).toEqual([['zzzzzzzz', 'is no field here']]);
  });

  test('suggests the field that was probably meant, and never shows a long text', () => {
    expect(problemsOf({ ...least, overides: [] })).toEqual([['overides', 'is no field here: did you mean overrides?']]);
    const [problem] = problemsOf({ ...least, conflict: 'secret '.repeat(100) });
    expect(problem?.[1]).toContain('a text of 700 characters');
  });
});

test.each<[what: string, document: JsonObject, ending: unknown]>([
  ['nothing of it', { template: 7 }, {}],
  ['null, as nothing', { deletion: null, runAs: null }, {}],
  ['what copies become', { template: 7, deletion: { policy: 'Orphan' } }, { deletion: { policy: 'Orphan', cascade: 'Background' } }],
  ['whose rights serve', { zeal: 1, runAs: { requester: true } }, { runAs: { type: 'requester' } }],
  ['what cannot be read', { deletion: { policy: 'Keep' }, requester: 'me' }, ['deletion.policy', 'requester']],
  ['a part of it', { deletion: { policy: 'Orphan', cascde: 'Orphan' } }, ['deletion.cascde']],
])('the end of a document that is no spec and says %s', (_, document, ending) => {
  const read = parseDeletionParts(document);
  expect('problems' in read ? read.problems.map(({ path }) => path) : read).toEqual(ending);
});
