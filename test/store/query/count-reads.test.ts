import { describe, expect, test } from 'vitest';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { type CountReads, createReadCounter } from '../../../src/store/query/count-reads.ts';
import type { SourceMatches } from '../../../src/store/query/query.ts';
import { sample, smallModel, sourceOfSpecs } from '../../support/store/query-sources.ts';
import { compileExtreme, compileGroups, compileSum, runQuery } from '../../support/store/store-at-once.ts';

const asked = { model: smallModel, kinds: [sample] };

/** 50 objects. Each has three names (two of them equal), two parts and one amount. */
const source = sourceOfSpecs(
  ...Array.from(
    { length: 50 },
    (_, index) => `{"text": "t${index}", "amount": "${index}m", "names": ["a", "a", "b"], "parts": [{"name": "x"}, {"name": "y"}]}`,
  ),
);
const { matches } = runQuery([source], { first: 1, keepMatches: true });

/** Returns the number of reads that were reported. */
function looksOf(work: (look: CountReads) => unknown): number {
  let told = 0;
  work((looks) => {
    told += looks;
  });
  return told;
}

describe('reports reads:', () => {
  const groups = (...by: readonly string[]) => {
    const grouped = compileGroups(asked, { by, order: 'COUNT_DESC', first: 1 });
    return (look: CountReads) => grouped(matches, look);
  };
  test.each<[string, (look: CountReads) => unknown, number]>([
    ['of a page in order nothing but its sources', (look) => runQuery([source, source], { first: 10, countReads: look }), 2],
    ['of a filter each candidate', (look) => runQuery([source], { first: 10, search: 'nothing', countReads: look }), 1 + 50],
    [
      'also of one by labels, among so few',
      (look) => runQuery([source], { first: 10, selector: parseLabelSelector('a=b'), countReads: look }),
      1 + 50,
    ],
    ['of a sum each object', (look) => compileSum(asked, 'spec.amount')(matches, look), 50],
    ['where nothing is found too', (look) => compileSum(asked, 'spec.count')(matches, look), 50],
    ['through lists each value', (look) => compileExtreme(asked, 'spec.names', 'max')(matches, look), 150],
    ['of groups each object', groups('spec.text'), 50],
    ['of several paths each again', groups('spec.text', 'spec.amount', 'spec.count'), 150],
    ['through lists each value, and each further place', groups('spec.names'), 50 * (2 + 2)],
    ['of combinations each place', groups('spec.names', 'spec.parts.name'), 50 * (1 + 2 + 1 + 2 * 2)],
  ])('%s', (_, work, looks) => {
    expect(looksOf(work)).toBe(looks);
  });

  test('can be ended by the receiver of the counts, long before the end', () => {
    const many: readonly SourceMatches[] = Array.from({ length: 1_000 }, () => matches).flat();
    const works: readonly ((look: CountReads) => unknown)[] = [
      (look) => compileSum(asked, 'spec.amount')(many, look),
      (look) => compileGroups(asked, { by: ['spec.names'], order: 'COUNT_DESC', first: 1 })(many, look),
      (look) => runQuery(Array(1_000).fill(source), { first: 1, search: 'nothing', countReads: (looks) => looks > 1_000 || look(looks) }),
    ];
    for (const work of works) {
      let told = 0;
      const ended = () =>
        work((looks) => {
          told += looks;
          throw new Error('enough');
        });
      expect(ended).toThrow('enough');
      expect(told).toBeLessThanOrEqual(1_004);
    }
  });
});

test('reports reads in groups of a thousand, and the rest at the end', () => {
  const told: number[] = [];
  const looks = createReadCounter((some) => told.push(some));
  for (const some of [999, 1, 500, 2_000]) looks.add(some);
  looks.end();
  looks.add(7);
  looks.end();
  looks.end();
  expect(told).toEqual([1_000, 2_500, 7]);
});
