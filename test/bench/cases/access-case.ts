import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const of = (program: string, figure: string) => (all: All) => all[program]?.[figure] ?? Number.NaN;

/** The cost of the rights of callers: in lists, in memory, and for a caller whose rights are not known yet. */
export const accessCase: BenchCase = {
  name: 'rights of callers',
  samples: 3,
  prepare: async ({ quick, signal }) => ({
    programs: {
      lists: () => runProgram('access/seen-lists.ts', [quick ? '20000' : '100000'], { nodeFlags: ['--max-old-space-size=3000'], signal }),
      decisions: () => runProgram('access/decisions.ts', [quick ? '200' : '1000', '100'], { nodeFlags: ['--expose-gc'], signal }),
      one: () => runProgram('fan-out.ts', ['identities-1', '1000', '1', quick ? '50' : '200'], { signal }),
      ten: () => runProgram('fan-out.ts', ['identities-10', '1000', '1', quick ? '50' : '200'], { signal }),
      cold: () => runProgram('access/cold-caller.ts', ['75'], { signal }),
    },
    [Symbol.asyncDispose]: async () => undefined,
  }),
  rows: [
    {
      name: '500 pods for a caller with all namespaces',
      unit: 'CPU ms',
      against: 'local mode',
      ours: of('lists', 'reviewedAllMs'),
      floor: of('lists', 'localAllMs'),
      target: { atMost: 1.05 },
    },
    {
      name: '500 pods for a caller with 10 of 1,000 namespaces, 100,000 held',
      unit: 'CPU ms',
      against: 'the same rows by namespace in local mode (20,000 held with --quick)',
      ours: of('lists', 'reviewedSomeMs'),
      floor: of('lists', 'localSomeMs'),
      target: { atMost: 1.3 },
    },
    {
      name: 'decisions of 1,000 users in 100 clusters',
      unit: 'MB',
      against: 'target on the memory itself (200 users with --quick)',
      ours: of('decisions', 'decisionsMb'),
      target: { atMost: 150 },
    },
    {
      name: 'a known decision, p99',
      unit: 'µs',
      against: 'target on the time itself',
      ours: of('decisions', 'p99Us'),
      target: { atMost: 20 },
    },
    {
      name: '1 event to 1,000 readers of 10 identities',
      unit: 'CPU µs',
      against: '1,000 readers of one identity',
      ours: of('ten', 'usPerDelivery'),
      floor: of('one', 'usPerDelivery'),
      target: { atMost: 1.3 },
    },
    {
      name: 'a cold caller with 75 namespaces',
      unit: 'ms',
      against: '75 reviews at 200 per second',
      ours: of('cold', 'coldMs'),
      floor: () => (75 / 200) * 1_000,
      target: { atMost: 1.5 },
    },
    {
      name: 'reviews in flight',
      unit: 'reviews',
      against: 'target on the number itself',
      ours: of('cold', 'mostInFlight'),
      target: { atMost: 10 },
    },
    {
      name: 'reviews of eleven cold callers, after the first 200',
      unit: 'per second',
      against: 'target on the rate itself',
      ours: of('cold', 'perSecond'),
      target: { atMost: 200 },
    },
  ],
};
