import type { BenchCase } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

/** The memory of a mirror of 100,000 pods, as docs/guide/operate.md has it for sizing. `--quick` has as many, because the figures are for this number. */
export const sizingCase: BenchCase = {
  name: 'sizing',
  samples: 3,
  prepare: async ({ signal }) => {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startServer('servers/canned-server.ts', ['--pods', '100000'], { signal }));
    const { url = '', ca = '', control = '' } = server.address;
    const kept = stack.move();
    return {
      programs: { mirror: () => runProgram('mirror.ts', [url, ca, control, '0', '0'], { nodeFlags: ['--expose-gc'], signal }) },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  },
  rows: [
    {
      name: 'heap of a mirror of 100,000 pods',
      unit: 'MB',
      against: 'after a garbage collection, without the process itself',
      ours: ({ mirror }) => (mirror?.bytes ?? Number.NaN) / 1e6,
      target: { atMost: 320 },
    },
    {
      name: 'peak resident memory while they are listed',
      unit: 'MB',
      against: 'the whole process',
      ours: ({ mirror }) => mirror?.peakRssMb ?? Number.NaN,
      target: { atMost: 600 },
    },
  ],
};
