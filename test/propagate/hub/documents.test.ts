import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergePatchOf } from '../../../src/core/json/merge-patch.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import { isSubdomain } from '../../../src/core/selectors.ts';
import { mergePatchByKeys, noListRules } from '../../../src/manifests/merge-patch.ts';
import { abandonedOf, printAbandoned } from '../../../src/propagate/hub/abandoned.ts';
import { newShare, parseShare, printShare } from '../../../src/propagate/hub/share-document.ts';
import { shareNameOf } from '../../../src/propagate/hub/share-name.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import { parseStatus, printStatus } from '../../../src/propagate/model/status-definition.ts';

const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(0, 1, 'a', true),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
})).value;
const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), json, { maxKeys: 3 });

describe('a merge patch', () => {
  test('turns one document into the other, and is undefined for equal ones', () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        const patch = mergePatchOf(before, after);
        expect(mergePatchByKeys(before, patch ?? {}, noListRules)).toEqual(after);
        expect(mergePatchOf(after, structuredClone(after))).toBeUndefined();
      }),
    );
  });

  test('does not contain unchanged members', () => {
    expect(mergePatchOf({ a: 1, b: { c: 1, d: 2 }, e: [1] }, { b: { d: 3, c: 1 }, e: [1, 2] })).toEqual({
      a: null,
      b: { d: 3 },
      e: [1, 2],
    });
  });
});

describe('the name of a share', () => {
  const cluster = fc.oneof(fc.string({ minLength: 1, maxLength: 253 }), fc.constantFrom('west', 'WEST', 'we-st', '…', 'a'.repeat(253)));
  const owner = fc.record({ name: fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,250}[a-z0-9])?$/).filter(isSubdomain), uid: fc.uuid() });

  test('is a valid object name, and always the same', () => {
    fc.assert(
      fc.property(owner, cluster, (of, name) => {
        expect(isSubdomain(shareNameOf(of, name))).toBe(true);
        expect(shareNameOf({ ...of }, name)).toBe(shareNameOf(of, name));
      }),
    );
  });

  test('differs for another cluster and another Propagation', () => {
    const names = ['west', 'WEST', 'we st', 'we-st'].flatMap((name) => ['1', '2'].map((uid) => shareNameOf({ name: 'web', uid }, name)));
    expect(new Set(names).size).toBe(names.length);
    expect(names[0]).toMatch(/^web\.west\.[0-9a-f]{16}$/);
  });
});

describe('a share', () => {
  const share = newShare({ namespace: 'default', name: 'web', uid: 'u' }, clusterName('west'));
  const printed = printShare(share);
  const served = { ...printed, metadata: { ...printed.metadata, uid: 's', resourceVersion: '7' } };

  test('is printed and parsed without loss', () => {
    expect(parseShare(served)).toEqual({ ...share, uid: 's', version: '7' });
  });

  test.each<[string, JsonObject]>([
    ['no label', { metadata: { ...served.metadata, labels: {} } }],
    ['the label of another than its owner', { metadata: { ...served.metadata, labels: { [marks.propagation]: 'another' } } }],
    ['no cluster', { cluster: '' }],
    ['an entry without a key', { objects: [{ state: 'Owned', health: 'Healthy' }] }],
    ['an entry in no state', { objects: [{ apiVersion: 'v1', kind: 'A', name: 'a', state: 'Mine', health: 'Healthy' }] }],
  ])('with %s proves nothing', (_what, change) => {
    expect(parseShare({ ...served, ...change } as typeof served)).toBeUndefined();
  });
});

describe('a status', () => {
  test('is parsed as far as it is valid', () => {
    expect(parseStatus({ phase: 'Rolling', ready: -1, later: {}, unknown: ['a', 7], digest: 'd' })).toEqual({
      phase: 'Rolling',
      digest: 'd',
    });
    expect(parseStatus({})).toEqual({});
  });

  test('has shortened messages, without half characters', () => {
    const line = {
      cluster: 'west',
      phase: 'Failed',
      health: 'Unknown',
      since: '2026-01-01T00:00:00Z',
      message: `${'x'.repeat(1_023)}🙂`,
    } as const;
    const [printed] = printStatus({ clusters: [line] }).clusters as readonly { readonly message: string }[];
    expect(printed?.message).toBe(`${'x'.repeat(1_023)}\ufffd`);
  });
});

describe('abandoned clusters', () => {
  const withAnnotation = (text: string | undefined) =>
    abandonedOf({ metadata: { annotations: text === undefined ? {} : { [marks.abandon]: text } } });

  test('are parsed as they were printed, each once, with its share', () => {
    const abandoned = [
      { cluster: 'b, c', share: 'u2' },
      { cluster: 'a', share: 'u0' },
      { cluster: 'a', share: 'u1' },
    ];
    expect(withAnnotation(printAbandoned(abandoned) ?? '')).toEqual([
      { cluster: 'a', share: 'u1' },
      { cluster: 'b, c', share: 'u2' },
    ]);
    expect(printAbandoned([])).toBeNull();
  });

  test.each([undefined, '', 'west', '{"west": true}', '["west"]', '[1]', '"west"'])('are none if the annotation is %j', (text) => {
    expect(withAnnotation(text)).toEqual([]);
  });
});
