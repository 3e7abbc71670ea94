import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { type CountMove, decideSurge } from '../../../src/propagate/rollout/decide-surge.ts';

/** A move as text. `a 4>2 ready 3 Failed`: cluster a has 4 replicas, is planned for 2, has 3 ready, and failed. */
function moves(text: string): readonly CountMove[] {
  return text.split(',').flatMap((part) => {
    const [, name = '', current, to, ready, mark] = /^\s*(\w+) (\d+)>(\d+) ready (\d+)(?: (\w+))?$/.exec(part) ?? [];
    if (name === '') return [];
    const figures = { cluster: clusterName(name), current: Number(current), to: Number(to), ready: Number(ready) };
    return [mark === undefined ? figures : { ...figures, mark: mark as NonNullable<CountMove['mark']> }];
  });
}

test.each([
  ['nothing moves', 'a 2>2 ready 2, b 2>2 ready 0', [], []],
  ['a decrease alone', 'a 4>2 ready 4', [], []],
  ['decreases alone, one sick', 'a 8>4 ready 8, b 8>4 ready 2', [], []],
  ['a decrease before its increase', 'a 4>0 ready 4, b 0>4 ready 0', ['a'], []],
  ['a decrease half made up for', 'a 4>0 ready 4, b 4>4 ready 2 Progressing', ['a'], []],
  ['a decrease made up for', 'a 4>0 ready 4, b 4>4 ready 4 Progressing', [], []],
  ['one after the other, by name', 'c 2>0 ready 2, a 2>0 ready 2, b 4>4 ready 2 Progressing', ['c'], []],
  ['one that fits after one that does not', 'a 3>0 ready 3, c 2>0 ready 2, b 4>4 ready 1 Progressing', ['a'], []],
  ['the second of two, once the first is gone', 'c 2>0 ready 2, b 4>4 ready 2 Progressing', ['c'], []],
  ['a sick copy makes no total fall', 'a 4>0 ready 0, b 0>4 ready 0', [], []],
  ['begun is let go, and no longer spare', 'a 4>0 ready 3 Progressing, c 4>0 ready 4, b 8>8 ready 4 Progressing', ['c'], []],
  ['less than before is let go at once', 'a 8>2 ready 8, b 2>4 ready 2', ['a'], []],
  ['replicas that an earlier decrease removes are not spare', 'a 3>2 ready 6, b 3>2 ready 3, c 0>2 ready 0', ['a', 'b'], []],
  ['a decrease whose own replicas are not ready either', 'a 3>2 ready 3, b 0>2 ready 0, c 2>1 ready 0, d 3>1 ready 3', ['a', 'd'], []],
  ['who once succeeded lacks nothing', 'a 4>2 ready 4, b 4>4 ready 1 Succeeded', [], []],
  ['an increase that failed', 'a 4>0 ready 4, b 4>4 ready 1 Failed', [], ['a']],
  ['an increase out of time, another under way', 'a 4>0 ready 4, b 2>2 ready 1 TimedOut, c 2>2 ready 1 Progressing', ['a'], []],
])('%s: %s', (_, text, waiting, held) => {
  expect(decideSurge(moves(text), 'Pause')).toEqual({ waiting, held });
});

test('with Continue, decreases wait for increases that are under way, not for failed ones', () => {
  expect(decideSurge(moves('a 4>0 ready 4, b 4>4 ready 1 Progressing'), 'Continue')).toEqual({ waiting: ['a'], held: [] });
  expect(decideSurge(moves('a 4>0 ready 4, b 4>4 ready 1 Failed'), 'Continue')).toEqual({ waiting: [], held: [] });
});

test('between healthy clusters the total never falls below the old or the new total, and the move ends', () => {
  const count = fc.nat(6);
  fc.assert(
    fc.property(fc.array(fc.tuple(count, count), { minLength: 1, maxLength: 6 }), fc.infiniteStream(fc.nat(5)), (counts, order) => {
      const fleet = counts.map(([from, to], at) => ({ cluster: clusterName(`c${at}`), current: from, ready: from, to, isBegun: false }));
      const sum = (figures: readonly number[]) => figures.reduce((total, figure) => total + figure, 0);
      const floor = Math.min(sum(fleet.map(({ ready }) => ready)), sum(fleet.map(({ to }) => to)));
      for (let turn = 0; turn < 200; turn++) {
        const present = fleet.filter(({ current, to }) => current > 0 || to > 0);
        const { waiting } = decideSurge(
          present.map(({ isBegun, ready, to, current, cluster }) => {
            const mark = ready === to && current === to ? ('Succeeded' as const) : ('Progressing' as const);
            return isBegun ? { cluster, current, to, ready, mark } : { cluster, current, to, ready };
          }),
          'Pause',
        );
        for (const member of present) if (!waiting.includes(member.cluster)) Object.assign(member, { isBegun: true, current: member.to });
        const moving = fleet.filter(({ ready, current }) => ready !== current);
        const one = moving[(order.next().value ?? 0) % Math.max(1, moving.length)];
        if (one !== undefined) one.ready += Math.sign(one.current - one.ready);
        expect(sum(fleet.map(({ ready }) => ready))).toBeGreaterThanOrEqual(floor);
      }
      expect(fleet.every(({ ready, to }) => ready === to)).toBe(true);
    }),
  );
});
