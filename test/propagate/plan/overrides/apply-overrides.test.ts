import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/json.ts';
import { valueAt } from '../../../../src/core/json-at.ts';
import { parseLabelSelector } from '../../../../src/core/selectors.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import type { Override } from '../../../../src/propagate/model/spec.ts';
import { applyOverrides, type OverrideResult } from '../../../../src/propagate/plan/overrides/apply-overrides.ts';
import { cluster, configMap, deployment, imagesOf, none, notesOf, objectOf, overridden, podSpec } from './overriding.ts';

describe('command and args', () => {
  const listsOf = (object: Manifest): JsonObject =>
    (valueAt(object, 'spec', 'template', 'spec', 'containers') as readonly JsonObject[])[0] ?? {};

  test.each<[string, Partial<Override>, Json]>([
    ['Add appends', { command: [{ container: 'web', operator: 'Add', values: ['-v'] }] }, { command: ['nginx', '-v'] }],
    ['Replace sets', { command: [{ container: 'web', operator: 'Replace', values: ['sh', '-c'] }] }, { command: ['sh', '-c'] }],
    [
      'Remove deletes all that are equal',
      { args: [{ container: 'web', operator: 'Remove', values: ['-g', 'none'] }] },
      { args: ['daemon off;'] },
    ],
  ])('%s', (_name, entry, expected) => {
    expect(listsOf(objectOf(overridden(deployment, entry)))).toMatchObject(expected as JsonObject);
  });

  test.each([
    ['Add', ['a']],
    ['Remove', []],
  ] as const)('%s creates an absent list', (operator, expected) => {
    const changed = objectOf(overridden(deployment, { command: [{ container: 'init', operator, values: ['a'] }] }));
    expect(valueAt(changed, 'spec', 'template', 'spec', 'initContainers')).toEqual([{ ...podSpec.initContainers[0], command: expected }]);
  });

  test('an unknown container is a warning', () => {
    expect(notesOf(overridden(deployment, { args: [{ container: 'nope', operator: 'Add', values: ['a'] }] }))).toEqual([
      ['UNKNOWN_CONTAINER', 'overrides[0].args[0].container'],
    ]);
  });
});

describe('env', () => {
  const envOf = (object: Manifest): readonly (Json | undefined)[] => {
    const spec = valueAt(object, 'spec', 'template', 'spec');
    return [valueAt(spec, 'initContainers'), valueAt(spec, 'containers')].flatMap((list) =>
      (list as readonly Json[]).map((one) => valueAt(one, 'env')),
    );
  };
  const from = { fieldRef: { fieldPath: 'metadata.name' } };

  test.each<[string, Override['env'][number], readonly (Json | undefined)[]]>([
    [
      'Add sets it in every container',
      { operator: 'Add', name: 'B', value: '2' },
      [
        [{ name: 'B', value: '2' }],
        [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
        [{ name: 'B', value: '2' }],
      ],
    ],
    [
      'Add sets one that is there in its place',
      { container: 'web', operator: 'Add', name: 'A', valueFrom: from },
      [undefined, [{ name: 'A', valueFrom: from }], undefined],
    ],
    [
      'Replace touches what is there only',
      { operator: 'Replace', name: 'A', value: '3' },
      [undefined, [{ name: 'A', value: '3' }], undefined],
    ],
    ['Remove ignores values', { operator: 'Remove', name: 'A', value: 'not 1' }, [undefined, [], undefined]],
  ])('%s', (_name, item, expected) => {
    expect(envOf(objectOf(overridden(deployment, { env: [item] })))).toEqual(expected);
  });

  test.each<[string, Override['env'][number], string, string]>([
    ['a variable that is not there', { operator: 'Replace', name: 'Z', value: '1' }, 'OVERRIDE_WITHOUT_EFFECT', 'name'],
    ['an unknown container', { container: 'nope', operator: 'Add', name: 'Z', value: '1' }, 'UNKNOWN_CONTAINER', 'container'],
  ])('%s is a warning', (_name, item, code, field) => {
    expect(notesOf(overridden(deployment, { env: [item] }))).toEqual([[code, `overrides[0].env[0].${field}`]]);
  });
});

describe('labels and annotations', () => {
  test.each<[string, Partial<Override>, JsonObject]>([
    ['Add sets', { labels: [{ operator: 'Add', values: { app: 'x', zone: 'a' } }] }, { labels: { app: 'x', zone: 'a' } }],
    [
      'Replace touches what is there only',
      { labels: [{ operator: 'Replace', values: { app: 'x', zone: 'a' } }] },
      { labels: { app: 'x' } },
    ],
    ['Remove ignores values', { labels: [{ operator: 'Remove', values: { app: 'not web', zone: '' } }] }, { labels: {} }],
    [
      'keys may hold a slash',
      { annotations: [{ operator: 'Replace', values: { 'example.com/team': 'b' } }] },
      { annotations: { 'example.com/team': 'b' } },
    ],
  ])('%s', (_name, entry, expected) => {
    expect(objectOf(overridden(deployment, entry)).metadata).toMatchObject(expected);
  });

  test('labels are added to an object without labels', () => {
    expect(objectOf(overridden(configMap, { labels: [{ operator: 'Add', values: { a: 'b' } }] })).metadata).toEqual({
      name: 'web',
      labels: { a: 'b' },
    });
  });

  test('each missing key gives a warning with its name', () => {
    const outcome = overridden(deployment, { labels: [{ operator: 'Remove', values: { b: '', c: '' } }] });
    expect(outcome.result === 'overridden' && outcome.notes.map(({ message }) => message)).toEqual([
      'the object has no labels with the key "b", so this changes nothing',
      'the object has no labels with the key "c", so this changes nothing',
    ]);
  });
});

describe('fields', () => {
  const dataOf = (outcome: OverrideResult): JsonObject => objectOf(outcome).data as JsonObject;

  test('YAML is patched, with sorted keys and without comments', () => {
    const patch = [
      { op: 'replace', path: '/b', value: 8080 },
      { op: 'add', path: '/a/-', value: 'yes' },
      { op: 'add', path: '/9', value: { x: [] } },
    ] as const;
    const outcome = overridden(configMap, { fields: [{ path: '/data/app.yaml', format: 'yaml', patch }] });
    expect(dataOf(outcome)['app.yaml']).toBe('"9":\n  x: []\na:\n- x\n- "yes"\nb: 8080\n');
  });

  test('JSON is patched in its order, with exact integers', () => {
    const patch = [
      { op: 'add', path: '/a', value: true },
      { op: 'replace', path: '/z', value: 2 },
    ] as const;
    const outcome = overridden(configMap, { fields: [{ path: '/data/app.json', format: 'json', patch }] });
    expect(dataOf(outcome)['app.json']).toBe('{"z":2,"big":9007199254740993,"a":true}');
  });

  test('a text that YAML could read as another type is quoted again', () => {
    const outcome = overridden(configMap, {
      fields: [{ path: '/data/n', format: 'yaml', patch: [{ op: 'add', path: '/x', value: '1' }] }],
    });
    expect(dataOf(outcome).n).toBe('"true": "yes"\nx: "1"\n');
  });

  test.each<[string, Override['fields'][number], string]>([
    ['a field that is not there', { path: '/data/nope', format: 'yaml', patch: [] }, '.path'],
    ['a field that is no text', { path: '/data', format: 'json', patch: [] }, '.path'],
    ['a text that is no YAML', { path: '/data/plain', format: 'yaml', patch: [] }, '.path'],
    ['a text that is no JSON', { path: '/data/app.yaml', format: 'json', patch: [] }, '.path'],
    ['a patch that fails', { path: '/data/app.json', format: 'json', patch: [{ op: 'remove', path: '/nope' }] }, '.patch[0]'],
  ])('fails at %s', (_name, item, path) => {
    expect(overridden(configMap, { fields: [item] })).toMatchObject({ result: 'failed', path: `overrides[0].fields[0]${path}` });
  });

  test('JSON of 100k levels is refused', () => {
    const deep: Manifest = { ...configMap, data: { j: '['.repeat(100_000) + ']'.repeat(100_000) } };
    expect(overridden(deep, { fields: [{ path: '/data/j', format: 'json', patch: [] }] })).toMatchObject({ result: 'failed' });
  });
});

describe('the whole object', () => {
  test('jsonPatch applies as a whole, and a failure names its operation', () => {
    const outcome = overridden(deployment, { jsonPatch: [{ op: 'replace', path: '/spec/paused', value: true }] });
    expect(outcome).toMatchObject({
      result: 'failed',
      path: 'overrides[0].jsonPatch[0]',
      message: expect.stringContaining('/spec/paused'),
    });
  });

  test('merge uses the keys of lists', () => {
    const listRulesAt = (path: readonly string[]) =>
      path.at(-1) === 'containers' ? ({ listType: 'map', listMapKeys: ['name'] } as const) : undefined;
    const merge = { spec: { template: { spec: { containers: [{ name: 'side', image: 'x' }] } } } };
    const outcome = applyOverrides({ object: deployment, overrides: [{ ...none, merge }], cluster, listRulesAt });
    expect(imagesOf(objectOf(outcome)).slice(1)).toEqual(['docker.io/library/nginx:1.25', 'x']);
    expect(imagesOf({ ...objectOf(overridden(deployment, { merge })) }).slice(1)).toEqual(['x']);
  });

  test.each<[string, Partial<Override>, string, string]>([
    ['the name', { jsonPatch: [{ op: 'replace', path: '/metadata/name', value: 'x' }] }, '.jsonPatch', 'metadata.name'],
    ['the namespace', { merge: { metadata: { namespace: null } } }, '.merge', 'metadata.namespace'],
    [
      'the kind',
      { image: [{ component: 'tag', operator: 'Replace', value: 'x', scope: 'All', path: '/metadata/name' }] },
      '.image[0]',
      'metadata.name',
    ],
    ['the apiVersion', { merge: { apiVersion: 'v2' } }, '.merge', 'apiVersion'],
    ['a generateName', { merge: { metadata: { generateName: 'x-' } } }, '.merge', 'metadata.generateName'],
    ['the status', { jsonPatch: [{ op: 'add', path: '/status', value: {} }] }, '.jsonPatch', 'status'],
    ['all of it', { jsonPatch: [{ op: 'replace', path: '', value: [] }] }, '.jsonPatch', 'an object with metadata'],
    ['its metadata', { merge: { metadata: null } }, '.merge', 'an object with metadata'],
  ])('never changes %s', (_name, entry, path, message) => {
    const outcome = overridden(deployment, entry);
    expect(outcome).toMatchObject({ result: 'failed', path: `overrides[0]${path}`, message: expect.stringContaining(message) });
  });

  test('an override of the replica count gives a warning', () => {
    expect(notesOf(overridden(deployment, { merge: { spec: { replicas: 9 } } }))).toEqual([['COUNT_OVERRIDDEN', 'overrides']]);
    expect(notesOf(overridden(deployment, { merge: { spec: { replicas: 2 } } }))).toEqual([]);
  });
});

describe('entries', () => {
  test('apply in the order of the list, and the items of one entry in their fixed order', () => {
    const entry: Partial<Override> = {
      merge: { metadata: { labels: { last: 'merge' } } },
      jsonPatch: [
        { op: 'test', path: '/metadata/labels/a', value: '1' },
        { op: 'replace', path: '/metadata/labels/a', value: '2' },
      ],
      labels: [{ operator: 'Add', values: { a: '1', last: 'labels' } }],
    };
    const outcome = overridden(deployment, entry, { name: 'second', labels: [{ operator: 'Replace', values: { a: '3' } }] });
    expect(objectOf(outcome).metadata.labels).toEqual({ app: 'web', a: '3', last: 'merge' });
    expect(outcome).toMatchObject({ applied: ['overrides[0]', 'second'], unmatched: [] });
  });

  test.each<[string, Partial<Override>, 'applied' | 'unmatched' | 'neither']>([
    ['of its cluster', { set: { clusters: ['north'] } }, 'applied'],
    ['by its labels', { set: { selector: parseLabelSelector('tier=edge') } }, 'applied'],
    ['of another cluster', { set: { clusters: ['south'] } }, 'neither'],
    [
      'of the object',
      { objects: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', labels: parseLabelSelector('app=web') } },
      'applied',
    ],
    ['of another version', { objects: { apiVersion: 'apps/v1beta1' } }, 'unmatched'],
    ['of another kind', { objects: { kind: 'StatefulSet' } }, 'unmatched'],
    ['of another namespace', { objects: { namespace: 'x' } }, 'unmatched'],
    ['of another name', { objects: { name: 'x' } }, 'unmatched'],
    ['of other labels', { objects: { labels: parseLabelSelector('app!=web') } }, 'unmatched'],
  ])('one %s', (_name, part, expected) => {
    const outcome = overridden(deployment, { name: 'one', labels: [{ operator: 'Add', values: { touched: 'yes' } }], ...part });
    expect(outcome).toMatchObject({ applied: expected === 'applied' ? ['one'] : [], unmatched: expected === 'unmatched' ? ['one'] : [] });
    expect(valueAt(objectOf(outcome), 'metadata', 'labels', 'touched')).toBe(expected === 'applied' ? 'yes' : undefined);
  });

  test('a failing entry fails the whole, with its path in the input', () => {
    const outcome = overridden(
      deployment,
      { labels: [{ operator: 'Add', values: { a: 'b' } }] },
      { jsonPatch: [{ op: 'remove', path: '/nope' }] },
    );
    expect(outcome).toMatchObject({ result: 'failed', path: 'overrides[1].jsonPatch[0]' });
  });

  test('applying items that set values twice has the effect of once', () => {
    const entry: Partial<Override> = {
      image: [{ component: 'tag', operator: 'Replace', value: '2', scope: 'All' }],
      env: [{ operator: 'Add', name: 'B', value: '2' }],
      merge: { spec: { paused: true } },
    };
    const once = objectOf(overridden(deployment, entry));
    expect(objectOf(overridden(once, entry))).toEqual(once);
  });
});
