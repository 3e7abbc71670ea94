import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const of = (program: string, figure: string) => (all: All) => all[program]?.[figure] ?? Number.NaN;
const per = (program: string, figure: string, count: string) => (all: All) => of(program, figure)(all) / of(program, count)(all);
const microsecondsPerPod = (program: string, figure: string) => (all: All) => per(program, figure, 'held')(all) * 1000;
const perSecond = (program: string, figure: string) => (all: All) => of(program, 'events')(all) / (of(program, figure)(all) / 1000);

/** docs/mirror.md 7: a mirror of pods of 6 KB (12 replicas an owner, a third managedFields) against client-node and against parsing alone. */
export const mirrorCase: BenchCase = {
  name: 'mirror',
  samples: 5,
  prepare: async ({ quick, signal }) => {
    const pods = quick ? 5_000 : 20_000;
    const events = quick ? 10_000 : 60_000;
    const server = await startServer('canned-server.ts', ['--pods', String(pods)], { signal });
    const { url = '', ca = '', control = '' } = server.address;
    const program = (name: string, count: number, rate: number) => async (): Promise<Figures> => {
      const figures = await runProgram(name, [url, ca, control, String(count), String(rate)], { nodeFlags: ['--expose-gc'], signal });
      return { ...figures, events: count };
    };
    const paced = quick ? 3_000 : 10_000;
    return {
      programs: {
        floor: program('parse-and-keep.ts', 0, 0),
        ours: program('mirror.ts', events, 0),
        informer: program('informer.ts', events, 0),
        watch: program('bare-watch.ts', events, 0),
        oursPaced: program('mirror.ts', paced, 1000),
        informerPaced: program('informer.ts', paced, 1000),
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: 'held per pod',
      unit: 'KB',
      against: 'target on the bytes themselves',
      ours: (all) => per('ours', 'bytes', 'held')(all) / 1000,
      target: { atMost: 3.2 },
    },
    {
      name: 'held per pod / keep',
      unit: 'B',
      against: 'JSON.parse and keep',
      ours: per('ours', 'bytes', 'held'),
      floor: per('floor', 'bytes', 'held'),
      target: { atMost: 0.27 },
    },
    {
      name: 'list and hold, cpu / keep',
      unit: 'µs per pod',
      against: 'fetch, JSON.parse, keep',
      ours: microsecondsPerPod('ours', 'listCpuMs'),
      floor: microsecondsPerPod('floor', 'fetchKeepCpuMs'),
      target: { atMost: 0.75 },
    },
    {
      name: 'list and hold, cpu / informer',
      unit: 'µs per pod',
      against: "client-node's informer",
      ours: microsecondsPerPod('ours', 'listCpuMs'),
      floor: microsecondsPerPod('informer', 'listCpuMs'),
      target: { atMost: 0.45 },
    },
    {
      name: 'list and hold, main thread',
      unit: 'µs per pod',
      against: 'JSON.parse of each',
      ours: microsecondsPerPod('ours', 'listMainMs'),
      floor: (all) => of('floor', 'parseEachMainMs')(all) * 1000,
      target: { atMost: 1.6 },
    },
    {
      name: 'peak memory',
      unit: 'MB',
      against: "client-node's informer",
      ours: of('ours', 'peakRssMb'),
      floor: of('informer', 'peakRssMb'),
      target: null,
    },
    {
      name: 'longest stall while listing',
      unit: 'ms',
      against: "client-node's informer",
      ours: of('ours', 'longestStallMs'),
      floor: of('informer', 'longestStallMs'),
      target: { atMost: 0.05 },
    },
    {
      name: 'watch events / informer',
      unit: 'events per CPU s',
      against: "client-node's informer",
      ours: perSecond('ours', 'eventCpuMs'),
      floor: perSecond('informer', 'eventCpuMs'),
      target: { atLeast: 2.2 },
    },
    {
      name: 'watch events / Watch',
      unit: 'events per CPU s',
      against: "client-node's Watch, holding nothing",
      ours: perSecond('ours', 'eventCpuMs'),
      floor: perSecond('watch', 'eventCpuMs'),
      target: { atLeast: 1.2 },
    },
    {
      name: '1,000 events/s',
      unit: 'CPU ms',
      against: "client-node's informer",
      ours: of('oursPaced', 'eventCpuMs'),
      floor: of('informerPaced', 'eventCpuMs'),
      target: { atMost: 0.65 },
    },
    {
      name: 'GC under churn',
      unit: '% of main',
      against: 'target on the share itself',
      ours: (all) => per('ours', 'gcMs', 'eventMainMs')(all) * 100,
      target: { atMost: 6 },
    },
    {
      name: 'GC under churn, longest',
      unit: 'ms',
      against: 'target on the time itself',
      ours: of('ours', 'longestGcMs'),
      target: { atMost: 15 },
    },
  ],
};
