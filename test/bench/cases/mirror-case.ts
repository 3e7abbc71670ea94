import type { BenchCase, Figures } from '../bench-case.ts';
import { type RunningServer, runProgram, startServer } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const of = (program: string, figure: string) => (all: All) => all[program]?.[figure] ?? Number.NaN;
const per = (program: string, figure: string, count: string) => (all: All) => of(program, figure)(all) / of(program, count)(all);
const microsecondsPerPod = (program: string, figure: string) => (all: All) => per(program, figure, 'held')(all) * 1000;
const perSecond = (program: string, figure: string) => (all: All) => of(program, 'events')(all) / (of(program, figure)(all) / 1000);

/**
 * A mirror of pods, compared with client-node and with parsing alone (docs/internals/mirror.md 7). A pod has 6 KB, a third of it
 * managedFields.
 * Each owner has 12 replicas.
 */
export const mirrorCase: BenchCase = {
  name: 'mirror',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    await using stack = new AsyncDisposableStack();
    // A large list for memory, and a smaller one for events, as in a cluster of a few hundred nodes.
    const large = stack.use(await startServer('servers/canned-server.ts', ['--pods', quick ? '10000' : '50000'], { signal }));
    const busy = stack.use(await startServer('servers/canned-server.ts', ['--pods', quick ? '5000' : '20000'], { signal }));
    const program = (server: RunningServer, name: string, { events = 0, rate = 0 } = {}) => {
      const { url = '', ca = '', control = '' } = server.address;
      return async (): Promise<Figures> => {
        const figures = await runProgram(name, [url, ca, control, String(events), String(rate)], { nodeFlags: ['--expose-gc'], signal });
        return { ...figures, events };
      };
    };
    const fast = { events: quick ? 15_000 : 60_000 };
    const paced = { events: quick ? 3_000 : 10_000, rate: 1000 };
    const kept = stack.move();
    return {
      programs: {
        floor: program(large, 'parse-and-keep.ts'),
        held: program(large, 'mirror.ts'),
        informerHeld: program(large, 'informer.ts'),
        events: program(busy, 'mirror.ts', fast),
        informerEvents: program(busy, 'informer.ts', fast),
        watchEvents: program(busy, 'bare-watch.ts', fast),
        paced: program(busy, 'mirror.ts', paced),
        informerPaced: program(busy, 'informer.ts', paced),
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  },
  rows: [
    {
      name: 'held per pod',
      unit: 'KB',
      against: 'target on the bytes themselves',
      ours: (all) => per('held', 'bytes', 'held')(all) / 1000,
      target: { atMost: 1.8 },
    },
    {
      name: 'held per pod / keep',
      unit: 'B',
      against: 'JSON.parse and keep',
      ours: per('held', 'bytes', 'held'),
      floor: per('floor', 'bytes', 'held'),
      target: { atMost: 0.18 },
    },
    {
      name: 'list and hold, cpu / keep',
      unit: 'µs per pod',
      against: 'fetch, JSON.parse, keep',
      ours: microsecondsPerPod('held', 'listCpuMs'),
      floor: microsecondsPerPod('floor', 'fetchKeepCpuMs'),
      target: { atMost: 0.75 },
    },
    {
      name: 'list and hold, cpu / informer',
      unit: 'µs per pod',
      against: "client-node's informer",
      ours: microsecondsPerPod('held', 'listCpuMs'),
      floor: microsecondsPerPod('informerHeld', 'listCpuMs'),
      target: { atMost: 0.45 },
    },
    {
      name: 'list and hold, main thread',
      unit: 'µs per pod',
      against: 'JSON.parse of each',
      ours: microsecondsPerPod('held', 'listMainMs'),
      floor: (all) => of('floor', 'parseEachMainMs')(all) * 1000,
      target: { atMost: 1.6 },
    },
    {
      name: 'peak memory',
      unit: 'MB',
      against: "client-node's informer",
      ours: of('held', 'peakRssMb'),
      floor: of('informerHeld', 'peakRssMb'),
      target: null,
    },
    {
      name: 'longest stall while listing',
      unit: 'ms',
      against: "client-node's informer",
      ours: of('held', 'longestStallMs'),
      floor: of('informerHeld', 'longestStallMs'),
      target: { atMost: 0.05 },
    },
    {
      name: 'watch events / informer',
      unit: 'events per CPU s',
      against: "client-node's informer",
      ours: perSecond('events', 'eventCpuMs'),
      floor: perSecond('informerEvents', 'eventCpuMs'),
      target: { atLeast: 2.2 },
    },
    {
      name: 'watch events / Watch',
      unit: 'events per CPU s',
      against: "client-node's Watch, holding nothing",
      ours: perSecond('events', 'eventCpuMs'),
      floor: perSecond('watchEvents', 'eventCpuMs'),
      target: { atLeast: 1.2 },
    },
    {
      name: '1,000 events/s',
      unit: 'CPU ms',
      against: "client-node's informer",
      ours: of('paced', 'eventCpuMs'),
      floor: of('informerPaced', 'eventCpuMs'),
      target: { atMost: 0.65 },
    },
    {
      name: 'GC under churn',
      unit: '% of main',
      against: 'target on the share itself',
      ours: (all) => per('events', 'gcMs', 'eventMainMs')(all) * 100,
      target: { atMost: 6 },
    },
    {
      name: 'GC under churn, longest',
      unit: 'ms',
      against: 'target on the time itself',
      ours: of('events', 'longestGcMs'),
      target: { atMost: 15 },
    },
  ],
};
