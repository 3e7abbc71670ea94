import type { BenchCase } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

/** Lists again after no change. Only keys and versions are read from the bytes. No object is parsed and no reader gets an event. */
export const relistCase: BenchCase = {
  name: 'relist',
  samples: 5,
  prepare: async ({ quick, signal }) => {
    const server = await startServer('servers/canned-server.ts', ['--pods', quick ? '5000' : '20000', '--no-watch-list'], { signal });
    const { url = '', ca = '', control = '' } = server.address;
    return {
      programs: { ours: () => runProgram('relist.ts', [url, ca, control], { nodeFlags: ['--expose-gc'], signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: 'relist, nothing changed',
      unit: 'CPU ms',
      against: 'the first list',
      ours: (all) => all.ours?.relistMainMs ?? Number.NaN,
      floor: (all) => all.ours?.firstMainMs ?? Number.NaN,
      target: { atMost: 0.25 },
    },
    {
      name: 'relist, nothing changed: events',
      unit: 'events',
      against: 'target on the count itself',
      ours: (all) => all.ours?.events ?? Number.NaN,
      target: { atMost: 0 },
    },
  ],
};
