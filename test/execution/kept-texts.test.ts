import { expect, test } from 'vitest';
import { KeptTexts, KeptTextsBudget } from '../../src/execution/kept-texts.ts';
import { createManualClock } from '../support/manual-clock.ts';

interface Element {
  readonly object: object;
  readonly cluster: string;
}

const clock = createManualClock();
const sourceOf = (value: unknown) => {
  const { object, cluster } = value as Element;
  return { object, others: [cluster] };
};

test('texts are kept after many elements within a minute', async () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock, keepTextsAfter: 1_000 }), sourceOf);
  expect(texts.begin(900)).toBe(false);
  await clock.advance(61_000);
  expect(texts.begin(900)).toBe(false);
  expect(texts.begin(900)).toBe(true);
});

test('a text is found for the same object with the same other values', () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock }), sourceOf);
  const object = {};
  texts.keep({ object, cluster: 'north' }, ['{}']);
  expect(texts.find({ object, cluster: 'north' })).toEqual(['{}']);
  expect(texts.find({ object, cluster: 'south' })).toBeUndefined();
  expect(texts.find({ object: {}, cluster: 'north' })).toBeUndefined();
});

test('a run is found where the list continues with the same objects, and only there', () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock }), sourceOf);
  const [a, b, c] = ['north', 'north', 'south'].map((cluster) => ({ object: {}, cluster })) as [Element, Element, Element];
  const bytes = texts.keepRun([a, b], '1,2');
  expect(texts.findRun([c, { ...a }, { ...b }, c], 1)?.bytes).toBe(bytes);
  expect(texts.findRun([a, b], 1)).toBeUndefined();
  expect(texts.findRun([a], 0)).toBeUndefined();
  expect(texts.findRun([a, c], 0)).toBeUndefined();
  expect(texts.findRun([a, { ...b, object: {} }], 0)).toBeUndefined();
  expect(texts.findRun([a, { ...b, cluster: 'south' }], 0)).toBeUndefined();
});

test('the bytes of a replaced run still count, because a kept list may have them', () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock, keepTextsAfter: 0 }), sourceOf);
  const [a, b] = [
    { object: {}, cluster: 'north' },
    { object: {}, cluster: 'north' },
  ] as const;
  texts.keepRun([a, b], '1,2');
  texts.keepRun([a], '1');
  expect(texts.empty()).toEqual({ length: 4, objects: 1 });
});

test('the objects of all runs are bounded', () => {
  const budget = new KeptTextsBudget({ clock, keepTextsAfter: 0 });
  const [first, second] = [new KeptTexts(budget, sourceOf), new KeptTexts(budget, sourceOf)];
  const elements = (count: number) => Array.from({ length: count }, () => ({ object: {}, cluster: 'north' }));
  const [kept, many] = [elements(20_000), elements(20_000)];
  first.keepRun(kept, '[]');
  second.keepRun(many, '[]');
  expect(first.findRun(kept, 0)).toBeUndefined();
  expect(second.findRun(many, 0)).toBeDefined();
});

test('all texts together are bounded: the selection that was used least recently is emptied', () => {
  const budget = new KeptTextsBudget({ clock, keepTextsAfter: 0 });
  const [first, second] = [new KeptTexts(budget, sourceOf), new KeptTexts(budget, sourceOf)];
  const half = 'x'.repeat(33 << 20);
  const [one, two] = [
    { object: {}, cluster: 'north' },
    { object: {}, cluster: 'north' },
  ];
  first.keep(one, ['small']);
  second.keep(one, [half]);
  first.begin(1);
  first.keep(two, [half]);
  expect(first.find(two)).toEqual([half]);
  expect(second.find(one)).toBeUndefined();
});
