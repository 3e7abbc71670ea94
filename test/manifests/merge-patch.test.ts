import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { mergePatchByKeys, noListRules } from '../../src/manifests/merge-patch.ts';
import type { ListRules } from '../../src/model/model.ts';
import { deepFreeze } from '../support/store/store-objects.ts';

describe('a merge patch conforms to RFC 7396 (appendix A)', () => {
  test.each<[Json, JsonObject, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j with %j', (document, patch, expected) => {
    expect(mergePatchByKeys(deepFreeze(document), deepFreeze(patch), noListRules)).toEqual(expected);
  });

  test('a key __proto__ is an ordinary key', () => {
    const merged = mergePatchByKeys({}, JSON.parse('{"__proto__":{"polluted":1}}'), noListRules);
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

const rules: Readonly<Record<string, ListRules>> = {
  'spec.containers': { listType: 'map', listMapKeys: ['name'] },
  'spec.containers.ports': { listType: 'map', listMapKeys: ['containerPort', 'protocol'] },
  'spec.containers.env': { patchMergeKey: 'name' },
  'spec.tolerations': { listType: 'atomic' },
};
const rulesAt = (path: readonly string[]): ListRules | undefined => rules[path.join('.')];

describe('a list whose items have keys', () => {
  const web = {
    name: 'web',
    image: 'a:1',
    ports: [
      { containerPort: 80, protocol: 'TCP', name: 'http' },
      { containerPort: 80, protocol: 'UDP' },
    ],
  };
  const document = { spec: { containers: [web, { name: 'side', image: 'b:1' }], tolerations: [{ key: 'x' }] } };

  test.each<[string, JsonObject, JsonObject]>([
    [
      'merges into the item of equal key',
      { containers: [{ name: 'side', image: 'b:2' }] },
      { ...document.spec, containers: [web, { name: 'side', image: 'b:2' }] },
    ],
    [
      'appends an item of a new key, nulls left out',
      { containers: [{ name: 'new', image: null, x: 1 }] },
      { ...document.spec, containers: [...document.spec.containers, { name: 'new', x: 1 }] },
    ],
    [
      'goes on into lists below, with the protocol that is meant',
      { containers: [{ name: 'web', ports: [{ containerPort: 80, name: 'main' }] }] },
      {
        ...document.spec,
        containers: [{ ...web, ports: [{ ...web.ports[0], name: 'main' }, web.ports[1] ?? null] }, document.spec.containers[1] ?? null],
      },
    ],
    [
      'by the key of strategic merge, where it has no type',
      { containers: [{ name: 'side', env: [{ name: 'A', value: '1' }] }] },
      { ...document.spec, containers: [web, { name: 'side', image: 'b:1', env: [{ name: 'A', value: '1' }] }] },
    ],
    ['is replaced if an item has none of its keys', { containers: [{ image: 'x' }] }, { ...document.spec, containers: [{ image: 'x' }] }],
    ['is replaced if it is atomic', { tolerations: [{ key: 'y' }] }, { ...document.spec, tolerations: [{ key: 'y' }] }],
    ['goes with null', { containers: null }, { tolerations: document.spec.tolerations }],
    ['loses nothing to an empty list', { containers: [] }, document.spec],
  ])('%s', (_name, spec, expected) => {
    expect(mergePatchByKeys(deepFreeze(document), deepFreeze({ spec }), rulesAt)).toEqual({ spec: expected });
  });

  test('merging twice has the effect of merging once', () => {
    const patch = {
      spec: {
        containers: [
          { name: 'side', image: 'c' },
          { name: 'new', ports: [{ containerPort: 1 }] },
        ],
      },
    };
    const once = mergePatchByKeys(document, patch, rulesAt);
    expect(mergePatchByKeys(once, patch, rulesAt)).toEqual(once);
  });
});
