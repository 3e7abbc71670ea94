import { expect, test } from 'vitest';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import { compileWhere } from '../../../src/store/filter/where.ts';
import { JudgedSelection } from '../../../src/streams/views/judged-selection.ts';
import { sample, smallModel, sourceOf } from '../../support/store/query-sources.ts';
import { neverAsked, objectOf, versionOf } from '../../support/store/store-objects.ts';

const where = compileWhere(smallModel, [sample], { path: 'spec.text', startsWith: 'a' });
const objectAt = (index: number, text = index % 2 === 0 ? 'a' : 'b') => objectOf({ name: `n${index}`, spec: { text } });

function selectionOf(count: number) {
  const source = sourceOf({ objects: Array.from({ length: count }, (_, index) => objectAt(index)) });
  let checked = 0;
  const counting = {
    ...where,
    predicateFor: (...asked: Parameters<typeof where.predicateFor>) => {
      const passes = where.predicateFor(...asked);
      return (object: Parameters<typeof passes>[0]) => {
        checked += 1;
        return passes(object);
      };
    },
  };
  return { source, selection: new JudgedSelection(source, { where: counting }), checked: () => checked };
}

test('all objects are judged in steps, and selected at once afterwards', () => {
  const { selection, checked } = selectionOf(2_000);
  let steps = 0;
  for (const work = selection.judgeAll(() => undefined); work.next().done !== true; steps += 1);
  expect(steps).toBeGreaterThanOrEqual(9);
  expect(checked()).toBe(2_000);
  expect(selection.all()).toHaveLength(1_000);
  expect(checked()).toBe(2_000);
});

test('objects that have changed since are judged again, and no others', () => {
  const { source, selection, checked } = selectionOf(100);
  expect(runAtOnce(selection.judgeAll(() => undefined))).toBe(100);
  source.store.applied(objectAt(1, 'a'), versionOf(2), neverAsked);
  source.store.deleted(objectAt(2), versionOf(3), neverAsked);
  expect(selection.all()).toHaveLength(50);
  expect(checked()).toBe(101);
  expect(runAtOnce(selection.judgeAll(() => undefined))).toBe(1);
});

test('reads are counted: each object, and its values', () => {
  const { selection } = selectionOf(100);
  let looks = 0;
  const look = (some: number) => {
    looks += some;
  };
  runAtOnce(selection.judgeAll(look));
  expect(looks).toBeGreaterThanOrEqual(100);
  looks = 0;
  runAtOnce(selection.judgeAll(look));
  expect(looks).toBe(0);
});

test('one object is judged in steps where many conditions read a long text', () => {
  const source = sourceOf({ objects: [objectAt(0, 'ab'.repeat(450_000))] });
  const or = Array.from({ length: 100 }, (_, index) => ({ path: 'spec.text', contains: index === 99 ? 'bab' : `ab${index}` }));
  const selection = new JudgedSelection(source, { where: compileWhere(smallModel, [sample], { or }) });
  let steps = 0;
  for (const work = selection.judgeAll(() => undefined); work.next().done !== true; steps += 1);
  expect(steps).toBeGreaterThanOrEqual(99);
  expect(selection.all()).toHaveLength(1);
});
