import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const sumOf =
  (...figures: readonly string[]) =>
  (all: All) =>
    figures.reduce((sum, figure) => sum + (all.imported?.[figure] ?? Number.NaN), 0);

/** An import costs little more than parsing its text and printing its result, however many policies select resources. */
export const importCase: BenchCase = {
  name: 'importing policies',
  samples: 3,
  prepare: async ({ signal }) => ({
    programs: { imported: () => runProgram('import-policies.ts', ['1000', '100'], { signal }) },
    [Symbol.asyncDispose]: async () => undefined,
  }),
  rows: [
    {
      name: '1,000 Deployments with 100 Karmada policies',
      unit: 'ms',
      against: 'parsing the YAML, and JSON.stringify of the result',
      ours: sumOf('importMs'),
      floor: sumOf('parseMs', 'printMs'),
      target: { atMost: 3 },
    },
  ],
};
