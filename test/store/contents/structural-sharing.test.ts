import fc from 'fast-check';
import { expect, test } from 'vitest';
import { equalJson } from '../../../src/core/json/json-values.ts';
import { isRawNumber, type Json, parseJsonExactly } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { shareStructure } from '../../../src/store/contents/structural-sharing.ts';
import { jsonText } from '../../support/arbitrary-json.ts';
import { deepFreeze, exactly, objectOf, parseObject } from '../../support/store/store-objects.ts';

const pod = (status: Json, labels = { app: 'web-with-a-long-name' }) =>
  objectOf({
    name: 'web-0',
    version: 1,
    labels,
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example.com/web:1' }] },
    status,
  });

test('returns the old object itself if both are equal', () => {
  const old = deepFreeze(pod({ phase: 'Running', list: [1, null, true, { a: [] }] }));
  expect(shareStructure(old, pod({ phase: 'Running', list: [1, null, true, { a: [] }] })).object).toBe(old);
});

test('ignores the order of keys', () => {
  const old = deepFreeze(parseObject('{"metadata":{"name":"a","uid":"u"},"spec":{"x":1,"y":2}}'));
  expect(shareStructure(old, parseObject('{"spec":{"y":2,"x":1},"metadata":{"uid":"u","name":"a"}}')).object).toBe(old);
});

test('shares every equal subtree, and writes only into the fresh object', () => {
  const old = deepFreeze(
    pod({
      phase: 'Pending',
      conditions: [
        { type: 'Ready', status: 'False' },
        { type: 'Initialized', status: 'True' },
      ],
    }),
  );
  const fresh = pod({
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Initialized', status: 'True' },
    ],
  });
  const expected = structuredClone(fresh);
  const { object } = shareStructure(old, fresh);
  expect(object).toBe(fresh);
  expect(object).toEqual(expected);
  expect(object.spec).toBe(old.spec);
  expect(object.metadata.labels).toBe(old.metadata.labels);
  expect((object.status as { conditions: Json[] }).conditions[1]).toBe((old.status as { conditions: Json[] }).conditions[1]);
});

test.each([
  ['a key less', '{"a":1,"b":2}', '{"a":1}'],
  ['a key more', '{"a":1}', '{"a":1,"b":2}'],
  ['another key', '{"a":1}', '{"b":1}'],
  ['null for absent', '{"a":1}', '{"a":1,"b":null}'],
  ['a shorter list', '[1,2]', '[1]'],
  ['a longer list', '[1]', '[1,2]'],
  ['a list for a map', '[]', '{}'],
  ['a map for a list', '{"0":1,"length":1}', '[1]'],
  ['null for a map', '{}', 'null'],
  ['text for a number', '1', '"1"'],
  ['false for null', 'null', 'false'],
  ['an own __proto__ for none', '{}', '{"__proto__":{}}'],
  ['none for an own __proto__', '{"__proto__":{}}', '{}'],
  ['another own __proto__', '{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}'],
  ['inherited names', '{}', '{"constructor":{},"toString":{},"hasOwnProperty":{}}'],
])('notices %s', (_, before, after) => {
  const old = deepFreeze(parseObject(`{"metadata":{"name":"a"},"spec":${before}}`));
  const { object } = shareStructure(old, parseObject(`{"metadata":{"name":"a"},"spec":${after}}`));
  expect(JSON.stringify(object)).toBe(`{"metadata":{"name":"a"},"spec":${after}}`);
});

test('keeps __proto__ as plain data', () => {
  const text = '{"metadata":{"name":"a","labels":{"__proto__":"x"}},"spec":{"__proto__":{"polluted":true},"a":1}}';
  const old = deepFreeze(parseObject(text.replace('"a":1', '"a":2')));
  const { object } = shareStructure(old, parseObject(text));
  expect(JSON.stringify(object)).toBe(text);
  expect(Object.getPrototypeOf(object.spec)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(shareStructure(object, parseObject(text)).object).toBe(object);
});

const deepText = (levels: number, leaf: string) =>
  `{"metadata":{"name":"a"},"spec":${'{"k":['.repeat(levels)}${leaf}${']}'.repeat(levels)}}`;

test.each([10, 31, 32, 33, 64, 5_000])('compares %i levels without overflowing', (levels) => {
  const old = deepFreeze(parseObject(deepText(levels, '1')));
  expect(shareStructure(old, parseObject(deepText(levels, '1'))).object).toBe(old);
  const changed = shareStructure(old, parseObject(deepText(levels, '2'))).object;
  expect(equalJson(changed, parseObject(deepText(levels, '2')))).toBe(true);
  expect(shareStructure(undefined, parseObject(deepText(levels, '1'))).inexact).toBe(false);
});

test.each(['9007199254740993', '-9007199254740992', '9223372036854775807', '1e300'])('finds the inexact %s at any place', (number) => {
  for (const text of [
    `{"metadata":{"name":"a"},"spec":{"x":[${number}]}}`,
    `{"metadata":{"name":"a","generation":${number}}}`,
    deepText(40, number),
    deepText(3_000, number),
  ]) {
    expect(shareStructure(undefined, parseObject(text)).inexact).toBe(true);
    expect(shareStructure(parseObject(text), parseObject(text)).inexact).toBe(true);
    expect(shareStructure(parseObject('{"metadata":{"name":"a"}}'), parseObject(text)).inexact).toBe(true);
  }
});

test.each(['9007199254740991', '-9007199254740991', '0.1', '-0', '1e15', '"9007199254740993"'])('accepts %s as exact', (number) => {
  expect(shareStructure(undefined, parseObject(`{"metadata":{"name":"a"},"spec":${number}}`)).inexact).toBe(false);
});

test('shares raw numbers with equal digits, and distinguishes them from objects of the same form', () => {
  const text = '{"metadata":{"name":"a"},"spec":{"n":9007199254740993,"m":[9007199254740995]}}';
  const old = deepFreeze(exactly(text)());
  expect(shareStructure(old, exactly(text)()).object).toBe(old);
  const other = shareStructure(old, exactly(text.replace('993', '991').replace('740991', '740997'))()).object;
  expect(JSON.stringify(other)).toBe(text.replace('993', '997'));
  expect((other.spec as { m: Json }).m).toBe((old.spec as { m: Json }).m);
  const plain = '{"metadata":{"name":"a"},"spec":{"n":{"rawJSON":"9007199254740993"},"m":[]}}';
  const shared = shareStructure(old, parseObject(plain)).object;
  expect(JSON.stringify(shared)).toBe(plain);
  expect(isRawNumber((shared.spec as { n: Json }).n)).toBe(false);
  expect(JSON.stringify(shareStructure(parseObject(plain), exactly(text)()).object)).toBe(text);
});

test('counts the bytes that an object holds by itself', () => {
  const old = pod({ phase: 'Running' });
  const alone = shareStructure(undefined, old).weight;
  expect(alone.own).toBe(alone.total);
  expect(alone.total).toBeGreaterThan(300);
  const changed = shareStructure(old, pod({ phase: 'Failed' })).weight;
  expect(changed.total).toBe(alone.total);
  expect(changed.own).toBeLessThan(alone.own / 2);
  expect(shareStructure(old, pod({ phase: 'Running' })).weight.own).toBe(0);
});

test('gives a result that equals the fresh object, whatever it shares', () => {
  const text = jsonText.map((spec) => `{"metadata":{"name":"a"},"spec":${spec}}`);
  fc.assert(
    fc.property(text, text, (before, after) => {
      const old: KubernetesObject = deepFreeze(exactly(before)());
      const { object } = shareStructure(old, exactly(after)());
      expect(equalJson(object, parseJsonExactly(after))).toBe(true);
      expect(object === old).toBe(equalJson(parseJsonExactly(before), parseJsonExactly(after)));
      expect(shareStructure(object, exactly(after)()).object).toBe(object);
    }),
    { numRuns: 1_000 },
  );
});

test('a text that occurs again in one object counts once, with an old object and without', () => {
  const at = (seconds: number) => `2026-01-01T00:00:0${seconds}Z`;
  const running = (first: string, second: string) =>
    pod({ phase: 'Running', startTime: first, conditions: [{ type: 'Ready', at: second }] });
  const saved = shareStructure(undefined, running(at(1), at(2))).weight.own - shareStructure(undefined, running(at(1), at(1))).weight.own;
  expect(saved).toBe(20 + at(1).length);
  const old = () => deepFreeze(running(at(3), at(3)));
  expect(shareStructure(old(), running(at(1), at(2))).weight.own - shareStructure(old(), running(at(1), at(1))).weight.own).toBe(saved);
});

test('a part of the old object in a fresh one is measured and never written', () => {
  const old = deepFreeze(pod({ phase: 'Pending' }));
  const { object, weight } = shareStructure(old, { ...pod({ phase: 'Running' }), spec: old.spec ?? null });
  expect(object.spec).toBe(old.spec);
  expect(weight).toEqual(shareStructure(old, pod({ phase: 'Running' })).weight);
});
