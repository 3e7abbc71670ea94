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

const elementsOf = (...clusters: string[]) => clusters.map((cluster): Element => ({ object: {}, cluster }));

/** Keeps each text by itself, then all as one run. */
function keepRun(texts: KeptTexts, elements: readonly Element[], run: readonly string[]) {
  for (const [index, element] of elements.entries()) texts.keep(element, [run[index] ?? '']);
  return texts.keepRun(elements, run);
}

test('a run is found where the list continues with the same objects, and only there', () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock }), sourceOf);
  const [a, b, c] = elementsOf('north', 'north', 'south') as [Element, Element, Element];
  const bytes = keepRun(texts, [a, b], ['1', '2']);
  expect(bytes?.toString()).toBe('1,2');
  expect(texts.findRun([c, { ...a }, { ...b }, c], 1)?.bytes).toBe(bytes);
  expect(texts.findRun([a, b], 1)).toBeUndefined();
  expect(texts.findRun([a], 0)).toBeUndefined();
  expect(texts.findRun([a, c], 0)).toBeUndefined();
  expect(texts.findRun([a, { ...b, object: {} }], 0)).toBeUndefined();
  expect(texts.findRun([a, { ...b, cluster: 'south' }], 0)).toBeUndefined();
});

test('the text of each element is found in the bytes of its run', () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock }), sourceOf);
  const [a, b, c] = elementsOf('north', 'north', 'north') as [Element, Element, Element];
  keepRun(texts, [a, b, c], ['"ö€"', '"𝄞"', '"z"']);
  expect([a, b, c].map((element) => texts.find(element))).toEqual([['"ö€"'], ['"𝄞"'], ['"z"']]);
  texts.keep(b, ['"changed"']);
  expect(texts.findRun([a, b, c], 0)).toBeUndefined();
  expect([a, b, c].map((element) => texts.find(element))).toEqual([['"ö€"'], ['"changed"'], ['"z"']]);
});

test('two lists with the same elements may each have a run', () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock }), sourceOf);
  const [a, b, c] = elementsOf('north', 'north', 'north') as [Element, Element, Element];
  const whole = keepRun(texts, [a, b, c], ['1', '2', '3']);
  const part = texts.keepRun([b, c], ['2', '3']);
  expect(texts.findRun([a, b, c], 0)?.bytes).toBe(whole);
  expect(texts.findRun([b, c], 0)?.bytes).toBe(part);
});

test('no run is kept with an element whose text is not stored', () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock }), sourceOf);
  const [a, b] = elementsOf('north', 'north') as [Element, Element];
  texts.keep(a, ['1']);
  expect(texts.keepRun([a, b], ['1', '2'])).toBeUndefined();
});

test('a text in a run counts once. The bytes of a replaced run still count, because a kept list may have them', () => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock, keepTextsAfter: 0 }), sourceOf);
  const elements = elementsOf('north', 'north');
  keepRun(texts, elements, ['1', '2']);
  texts.keepRun(elements, ['1', '2']);
  expect(texts.empty()).toBe('1,2'.length * 2);
  expect(texts.empty()).toBe(0);
});

test.each([
  { heap: '1 GiB', heapLimit: 1 << 30, least: 64 },
  { heap: '2 GiB', heapLimit: 2 ** 31, least: 128 },
  { heap: '16 GiB', heapLimit: 2 ** 34, least: 256 },
])('with a heap of $heap, all texts together may have $least Mi characters', ({ heapLimit, least }) => {
  const texts = new KeptTexts(new KeptTextsBudget({ clock, heapLimit }), sourceOf);
  const [fits, isMore] = elementsOf('north', 'north') as [Element, Element];
  texts.keep(fits, ['x'.repeat(least << 20)]);
  expect(texts.find(fits)).toBeDefined();
  texts.keep(isMore, ['x']);
  expect(texts.find(fits)).toBeUndefined();
});

test('all texts together are bounded: the selection that was used least recently is emptied', () => {
  const budget = new KeptTextsBudget({ clock, keepTextsAfter: 0, heapLimit: 0 });
  const [first, second] = [new KeptTexts(budget, sourceOf), new KeptTexts(budget, sourceOf)];
  const half = 'x'.repeat(33 << 20);
  const [one, two] = elementsOf('north', 'north') as [Element, Element];
  first.keep(one, ['small']);
  second.keep(one, [half]);
  first.begin(1);
  first.keep(two, [half]);
  expect(first.find(two)).toEqual([half]);
  expect(second.find(one)).toBeUndefined();
});
