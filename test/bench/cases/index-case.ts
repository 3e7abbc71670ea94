import type { BenchCase, Figures, Row } from '../bench-case.ts';
import { runProgram } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const of = (program: string, figure: string) => (all: All) => all[program]?.[figure] ?? Number.NaN;
const many = 1_000_000;
const few = 10_000;

const selections: Readonly<Record<string, string>> = {
  namespaceUs: 'namespace',
  labelUs: 'label',
  ownerUs: 'owner',
  commonLabelUs: 'namespace and a label of all',
  hiddenLabelUs: 'a label of all, in visibility of one namespace',
};

/** Selections that an index answers do not scan. With equally many matches, a hundred times as many objects cost no more. */
export const indexCase: BenchCase = {
  name: 'indexed selections',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    const hold = (held: number) => () => runProgram('selections.ts', [String(held)], { nodeFlags: ['--max-old-space-size=3000'], signal });
    return { programs: { many: hold(quick ? many / 5 : many), few: hold(few) }, [Symbol.asyncDispose]: async () => undefined };
  },
  rows: [
    ...Object.entries(selections).map(
      ([figure, by]): Row => ({
        name: `1,000 by ${by}`,
        unit: 'µs per page',
        against: '1,000 of 10,000 held, ours of 1,000,000 (200,000 with --quick)',
        ours: of('many', figure),
        floor: of('few', figure),
        target: { atMost: 2 },
      }),
    ),
    {
      name: 'totalCount of everything',
      unit: 'µs',
      against: '10,000 held, ours of 1,000,000 (200,000 with --quick)',
      ours: of('many', 'countUs'),
      floor: of('few', 'countUs'),
      target: { atMost: 2 },
    },
    {
      name: 'held for it',
      unit: 'MB resident',
      against: 'the store and its indexes',
      ours: of('many', 'rssMb'),
      target: { atMost: 3_000 },
    },
  ],
};

/** Sums by group over all matches through paths of the model, compared with a loop written for this one question. */
export const groupsCase: BenchCase = {
  name: 'groups with sums',
  samples: 3,
  prepare: async ({ quick, signal }) => ({
    programs: { groups: () => runProgram('groups.ts', [quick ? '10000' : '50000'], { signal }) },
    [Symbol.asyncDispose]: async () => undefined,
  }),
  rows: [
    {
      name: '50,000 pods by node, sum of cpu',
      unit: 'ms',
      against: 'a loop written for it, inexact (10,000 pods with --quick)',
      ours: of('groups', 'oursMs'),
      floor: of('groups', 'loopMs'),
      target: { atMost: 2.5 },
    },
  ],
};
