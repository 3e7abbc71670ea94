import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram } from '../run-program.ts';

const of = (figure: string) => (all: Readonly<Record<string, Figures>>) => all.fleet?.[figure] ?? Number.NaN;

/** The gateway over three real API servers, compared with direct answers of these servers in the same run. */
export const realCase: BenchCase = {
  name: 'real fleet',
  real: true,
  samples: 1,
  prepare: async ({ quick, signal }) => ({
    programs: { fleet: () => runProgram('servers/real-fleet.ts', quick ? ['200', '3'] : ['1000', '15'], { signal }) },
    [Symbol.asyncDispose]: async () => undefined,
  }),
  rows: [
    {
      name: 'all pods of 3 clusters, pages of 500',
      unit: 'ms',
      against: 'raw list from the three API servers at once',
      ours: of('allMs'),
      floor: of('rawListMs'),
      target: { atMost: 0.2 },
    },
    {
      name: 'a page of 100',
      unit: 'ms',
      against: 'the same raw lists',
      ours: of('page100Ms'),
      floor: of('rawListMs'),
      target: { atMost: 0.015 },
    },
    { name: 'one object', unit: 'ms', against: 'raw GET', ours: of('oneMs'), floor: of('rawGetMs'), target: { atMost: 0.4 } },
    {
      name: 'a change is readable',
      unit: 'ms after its PATCH returned',
      against: 'target on the time itself',
      ours: of('changeMs'),
      target: { atMost: 5 },
    },
  ],
};
