import type { BenchCase } from '../bench-case.ts';
import { type RunningServer, runProgram, startServer } from '../run-program.ts';

/** Clusters that are registered at the same time, against bare lists of the same clusters. */
export const joiningCase: BenchCase = {
  name: 'clusters joining',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    let server: RunningServer | undefined;
    const startFleet = async () => {
      // Each sample needs a hub without registrations.
      await server?.[Symbol.asyncDispose]();
      server = await startServer('servers/joining-fleet.ts', [quick ? '20' : '200'], { signal });
      return server.address.kubeconfig ?? '';
    };
    return {
      programs: {
        ours: async () => runProgram('joining.ts', [await startFleet()], { signal }),
        turns: async () => runProgram('joining.ts', [await startFleet(), 'turns'], { signal }),
        floor: async () => runProgram('bare-lists.ts', [server?.address.kubeconfig ?? ''], { signal }),
      },
      [Symbol.asyncDispose]: async () => server?.[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: '200 clusters join at once',
      unit: 'ms',
      against: 'bare discovery and lists of the same, 20 clusters at a time (20 clusters with --quick)',
      ours: (all) => all.ours?.ms ?? Number.NaN,
      floor: (all) => all.floor?.ms ?? Number.NaN,
      target: { atMost: 1.5 },
    },
    {
      name: '200 clusters join at once, in CPU of the main thread',
      unit: 'ms',
      against: 'the same, without the time of other processes',
      ours: (all) => all.ours?.mainMs ?? Number.NaN,
      floor: (all) => all.floor?.mainMs ?? Number.NaN,
      target: null,
    },
    {
      name: 'longest hold of the event loop while they join',
      unit: 'ms',
      against: 'the same',
      ours: (all) => all.ours?.longestStallMs ?? Number.NaN,
      target: { atMost: 50 },
    },
    {
      name: 'longest event-loop turn while they join, in CPU',
      unit: 'ms',
      against: 'the same, without the time of other processes',
      ours: (all) => all.turns?.longestTurnMs ?? Number.NaN,
      target: { atMost: 50 },
    },
    {
      name: 'resident memory with 500 ConfigMaps of each cluster',
      unit: 'MB',
      against: 'the same',
      ours: (all) => all.ours?.residentMb ?? Number.NaN,
      target: { atMost: 600 },
    },
    {
      name: 'lists and watches for a changed label',
      unit: 'requests',
      against: 'the same',
      ours: (all) => all.ours?.lists ?? Number.NaN,
      target: { atMost: 0 },
    },
  ],
};
