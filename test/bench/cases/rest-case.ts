import type { BenchCase } from '../bench-case.ts';
import { runProgram } from '../run-program.ts';

/** A large fleet without requests: the embedded API servers and their mirrors together. */
export const restCase: BenchCase = {
  name: 'fleet at rest',
  samples: 1,
  prepare: async ({ quick, signal }) => ({
    programs: {
      ours: () => runProgram('fleet-at-rest.ts', quick ? ['20', '500'] : ['200', '500'], { nodeFlags: ['--expose-gc'], signal }),
    },
    [Symbol.asyncDispose]: async () => undefined,
  }),
  rows: [
    {
      name: 'fleet at rest, memory',
      unit: 'MB resident',
      against: '200 embedded clusters × 500 objects (20 with --quick)',
      ours: (all) => all.ours?.rssMb ?? Number.NaN,
      target: null,
    },
    { name: 'fleet at rest, heap', unit: 'MB', against: 'the same', ours: (all) => all.ours?.heapMb ?? Number.NaN, target: null },
    {
      name: 'fleet at rest, cpu',
      unit: '% of a core',
      against: 'the same',
      ours: (all) => all.ours?.cpuPercent ?? Number.NaN,
      target: null,
    },
  ],
};
