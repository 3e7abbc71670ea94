import { expect, test } from 'vitest';
import { JsonListBuilder } from '../../src/execution/json-list.ts';
import { KeptTexts, KeptTextsBudget } from '../../src/execution/kept-texts.ts';
import { AnswerEncoder } from '../../src/operations/answer-encoder.ts';
import { createManualClock } from '../support/manual-clock.ts';

interface Row {
  readonly object: { readonly name: string };
}

const clock = createManualClock();
const sourceOf = (value: unknown) => ({ object: (value as Row).object, others: [] });
const createTexts = () => new KeptTexts(new KeptTextsBudget({ clock, keepTextsAfter: 0 }), sourceOf);

/** Prints the objects as compiled code does. Returns the number of objects that had to be projected, and true if the elements were not read. */
function print(objects: readonly Row['object'][], texts: KeptTexts, key?: object) {
  const rows: readonly Row[] = objects.map((object) => ({ object }));
  const builder = new JsonListBuilder({ list: () => rows, key }, texts);
  let projected = 0;
  if (builder.reuseAll()) return { list: builder.end(), projected, isWhole: true };
  for (let index = 0; index < rows.length; index += 1) {
    const count = builder.reuse(index);
    if (count === 0) {
      builder.keep(index, rows[index]?.object);
      projected += 1;
    } else index += count - 1;
  }
  return { list: builder.end(), projected, isWhole: false };
}

function bytesOf(list: unknown): string {
  const answer = { data: { list } };
  const pieces = new AnswerEncoder({ clock }).encode(answer, new AbortController().signal);
  if (pieces instanceof Promise) throw new Error('expected a short answer');
  return Buffer.concat(pieces).toString();
}

test('a list has the text of its elements after each change of some objects', () => {
  const texts = createTexts();
  const created = (index: number) => ({ name: `ö${index} ${'x'.repeat((index * 37) % 300)}` });
  let objects = Array.from({ length: 500 }, (_, index) => created(index));
  for (let round = 0; round < 60; round += 1) {
    const { list, projected } = print(objects, texts);
    expect(JSON.stringify(list)).toBe(JSON.stringify(objects));
    expect(bytesOf(list)).toBe(JSON.stringify({ data: { list: objects } }));
    if (round > 0) expect(projected).toBeLessThanOrEqual(2);
    const at = (round * 131) % objects.length;
    const insertion = round % 3 === 0 ? [created(round), created(round + 7)] : round % 3 === 1 ? [] : [created(round)];
    objects = objects.toSpliced(at, round % 3 === 0 ? 0 : 1, ...insertion);
  }
});

test('a list whose objects are unchanged consists of a few kept pieces', () => {
  const texts = createTexts();
  const objects = Array.from({ length: 500 }, (_, index) => ({ name: `${index} ${'x'.repeat(300)}` }));
  const first = print(objects, texts).list;
  const again = print(objects, texts);
  expect(again.projected).toBe(0);
  expect(again.list.texts).toHaveLength(8);
  expect(again.list.texts.every((text, index) => text === first.texts[index])).toBe(true);
});

test('a text above 64 Ki characters ends its run', () => {
  const texts = createTexts();
  const objects = Array.from({ length: 4 }, (_, index) => ({ name: `${index} ${'x'.repeat(70_000)}` }));
  expect(print(objects, texts).list.texts).toHaveLength(4);
  expect(JSON.stringify(print(objects, texts).list)).toBe(JSON.stringify(objects));
});

test('a list with a key is found as a whole, until the selection loses its texts', () => {
  const texts = createTexts();
  const objects = Array.from({ length: 100 }, (_, index) => ({ name: `ö${index} ${'x'.repeat(80)}` }));
  const key = {};
  expect(print(objects, texts, key).isWhole).toBe(false);
  const again = print(objects, texts, key);
  expect(again.isWhole).toBe(true);
  expect(JSON.stringify(again.list)).toBe(JSON.stringify(objects));
  expect(bytesOf(again.list)).toBe(JSON.stringify({ data: { list: objects } }));
  expect(print(objects, texts, {}).isWhole, 'another key').toBe(false);
  texts.empty();
  expect(print(objects, texts, key).isWhole).toBe(false);
});

test('a list is not kept if the text of one of its objects must not be', () => {
  const secret = { name: 'secret' };
  const texts = new KeptTexts(new KeptTextsBudget({ clock, keepTextsAfter: 0 }), (value) =>
    (value as Row).object === secret ? undefined : sourceOf(value),
  );
  const key = {};
  print([{ name: 'a' }, secret], texts, key);
  expect(print([{ name: 'a' }, secret], texts, key)).toMatchObject({ isWhole: false, projected: 2 });
});

test('the texts of a list whose texts are stored have at most 64 Mi characters, and its other elements stay plain values', () => {
  const texts = createTexts();
  const objects = Array.from({ length: 140 }, (_, index) => ({ name: `${index} ${'x'.repeat(500_000)}` }));
  for (const round of ['first', 'second']) {
    const { list } = print(objects, texts);
    expect(list.length, round).toBeGreaterThan(64 << 20);
    expect(list.length, round).toBeLessThan(65 << 20);
    expect(list.rest, round).toEqual(objects.slice(-list.rest.length));
    expect(list.rest.length, round).toBeGreaterThan(3);
    expect(list.toJSON(), round).toEqual(objects);
  }
});
