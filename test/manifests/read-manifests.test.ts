import { describe, expect, test } from 'vitest';
import { type Json, type JsonObject, parseJsonExactly } from '../../src/core/json.ts';
import { type ManifestsRead, readManifestJson, readManifestText } from '../../src/manifests/read-manifests.ts';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } };
const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n';

function manifestsOf(read: ManifestsRead): readonly JsonObject[] {
  if (read.result === 'refused') throw new Error(`${read.path}: ${read.message}`);
  return read.manifests;
}

describe('a text', () => {
  test('may contain several manifests, with empty documents between them', () => {
    const read = readManifestText(`---\n# nothing\n---\n${text}---\nnull\n---\n${text.replace('name: c', 'name: d')}---\n`);
    expect(manifestsOf(read)).toEqual([configMap, { ...configMap, metadata: { name: 'd' } }]);
  });

  test('may be JSON', () => {
    expect(manifestsOf(readManifestText(JSON.stringify(configMap)))).toEqual([configMap]);
  });

  test.each([
    ['', '', 'expected a manifest, got none'],
    ['# only a comment\n---\n---\n', '', 'expected a manifest, got none'],
    ['hello', '', 'expected an object'],
    ['- a', '', 'expected an object'],
    [`${text}---\n${text}---\nkind: X\n`, '[2].apiVersion', 'expected a version'],
    [`${text}data: {a: b, a: c}`, '', 'line 4: expected each key once'],
  ])('%j is refused', (source, path, message) => {
    expect(readManifestText(source)).toEqual({ result: 'refused', path, message: expect.stringContaining(message) });
  });
});

describe('fields that are specific to one cluster are removed', () => {
  test('status, and metadata of one cluster', () => {
    const metadata = {
      name: 'c',
      generateName: 'c-',
      namespace: null,
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      managedFields: [{}],
      creationTimestamp: null,
      deletionTimestamp: 't',
      deletionGracePeriodSeconds: 1,
      selfLink: '/x',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'q' }],
      finalizers: ['example.com/f'],
      labels: { a: 'b' },
    };
    expect(manifestsOf(readManifestJson({ ...configMap, metadata, status: { x: 1 }, data: { k: 'v' } }))).toEqual([
      { ...configMap, metadata: { name: 'c', finalizers: ['example.com/f'], labels: { a: 'b' } }, data: { k: 'v' } },
    ]);
  });
});

describe('an invalid manifest is refused with the path of the field', () => {
  const named = (name: Json): JsonObject => ({ ...configMap, metadata: { name } });

  test.each<[string, Json, string]>([
    ['a text', 'x', ''],
    ['no apiVersion', { kind: 'X', metadata: { name: 'c' } }, 'apiVersion'],
    ['an apiVersion of three parts', { ...configMap, apiVersion: 'a/b/c' }, 'apiVersion'],
    ['an apiVersion with a way out', { ...configMap, apiVersion: '../v1' }, 'apiVersion'],
    ['no kind', { apiVersion: 'v1', metadata: { name: 'c' } }, 'kind'],
    ['a kind with a slash', { ...configMap, kind: 'a/b' }, 'kind'],
    ['no metadata', { apiVersion: 'v1', kind: 'X' }, 'metadata'],
    ['no name', { ...configMap, metadata: {} }, 'metadata.name'],
    ['a generateName', { ...configMap, metadata: { generateName: 'c-' } }, 'metadata.generateName'],
    ['a name that is a number', named(5), 'metadata.name'],
    ['..', named('..'), 'metadata.name'],
    ['.', named('.'), 'metadata.name'],
    ['a/b', named('a/b'), 'metadata.name'],
    ['%2f', named('%2f'), 'metadata.name'],
    ['a line break', named('a\nb'), 'metadata.name'],
    ['254 characters', named('x'.repeat(254)), 'metadata.name'],
    ['half an emoji', named('\ud83d'), 'metadata.name'],
    ['a namespace with a slash', { ...configMap, metadata: { name: 'c', namespace: 'a/b' } }, 'metadata.namespace'],
    ['an empty namespace', { ...configMap, metadata: { name: 'c', namespace: '' } }, 'metadata.namespace'],
    ['a label that is a number', { ...configMap, metadata: { name: 'c', labels: { a: 1 } } }, 'metadata.labels["a"]'],
    ['annotations that are a list', { ...configMap, metadata: { name: 'c', annotations: [] } }, 'metadata.annotations'],
    ['a List', { apiVersion: 'v1', kind: 'List', items: [configMap] }, ''],
    ['an integer beyond 64 bits', { ...configMap, data: { list: [parseJsonExactly('9223372036854775808')] } }, 'data.list[0]'],
  ])('%s', (_name, json, path) => {
    expect(readManifestJson(json)).toMatchObject({ result: 'refused', path });
  });

  test.each(['a', 'system:masters', 'a.b-c_d', '😀', 'x'.repeat(253)])('%s is a name that can be part of a URL path', (name) => {
    expect(manifestsOf(readManifestJson(named(name)))).toEqual([named(name)]);
  });

  test('integers of 64 bits are exact', () => {
    const read = readManifestJson({ ...configMap, data: parseJsonExactly('{"a":9007199254740993,"b":-9223372036854775808}') });
    expect(JSON.stringify(manifestsOf(read)[0]?.data)).toBe('{"a":9007199254740993,"b":-9223372036854775808}');
  });

  test('JSON of 100k levels or more than 3 MiB', () => {
    let deep: Json = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(readManifestJson({ ...configMap, data: deep })).toMatchObject({ message: expect.stringContaining('at most 200 levels') });
    expect(readManifestJson({ ...configMap, data: { a: 'x'.repeat(3 * 1024 * 1024) } })).toMatchObject({
      message: expect.stringContaining('bytes of JSON'),
    });
  });
});

describe('a List with lists "opened"', () => {
  const list = {
    apiVersion: 'v1',
    kind: 'List',
    metadata: { resourceVersion: '' },
    items: [configMap, { ...configMap, metadata: { name: 'd' } }],
  };

  test('is replaced by its items, also if it is a typed list', () => {
    const names = (read: ManifestsRead): readonly unknown[] => manifestsOf(read).map(({ metadata }) => (metadata as JsonObject).name);
    expect(names(readManifestJson(list, { lists: 'opened' }))).toEqual(['c', 'd']);
    expect(names(readManifestText(`${text}---\n${JSON.stringify({ ...list, kind: 'ConfigMapList' })}`, { lists: 'opened' }))).toEqual([
      'c',
      'c',
      'd',
    ]);
  });

  test('with an invalid item is refused with the path of the item', () => {
    const read = readManifestText(`${text}---\n${JSON.stringify({ ...list, items: [configMap, {}] })}`, { lists: 'opened' });
    expect(read).toMatchObject({ result: 'refused', path: '[1].items[1].apiVersion' });
    expect(readManifestJson({ ...list, items: [] }, { lists: 'opened' })).toMatchObject({
      result: 'refused',
      message: 'expected a manifest, got none',
    });
    expect(readManifestJson({ ...list, items: [list] }, { lists: 'opened' })).toMatchObject({ result: 'refused', path: 'items[0]' });
  });
});

test('no message contains a value', () => {
  for (const json of [
    { ...configMap, apiVersion: 'hunter2/hunter2/x' },
    { ...configMap, metadata: { name: 'hunter2/' } },
    { ...configMap, metadata: { name: 'c', labels: { a: ['hunter2'] } } },
  ]) {
    expect(JSON.stringify(readManifestJson(json))).not.toContain('hunter2');
  }
});
