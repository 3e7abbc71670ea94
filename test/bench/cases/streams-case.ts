import type { BenchCase, Figures, Row } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const of = (program: string, figure: string) => (all: All) => all[program]?.[figure] ?? Number.NaN;
const collecting = { nodeFlags: ['--expose-gc'] } as const;
const nothing = { [Symbol.asyncDispose]: async () => undefined };

/** 5,000 quiet streams: each on its own connection, and 50 on each of 100 sockets. */
export const idleCase: BenchCase = {
  name: 'idle streams',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    const [many, few] = quick ? ['1000', '20'] : ['5000', '100'];
    const program =
      (...args: readonly string[]) =>
      () =>
        runProgram('idle-streams.ts', args, { ...collecting, signal });
    return {
      ...nothing,
      programs: { websocket: program('websocket', many, '1'), sse: program('sse', many, '1'), shared: program('websocket', few, '50') },
    };
  },
  rows: [
    memoryRow('idle streams, heap', 'websocket', { figure: 'heapKbEach', atMost: 15 }),
    memoryRow('idle streams, resident', 'websocket', { figure: 'rssKbEach', atMost: 35 }),
    memoryRow('idle streams over SSE, heap', 'sse', { figure: 'heapKbEach', atMost: 15 }),
    memoryRow('idle streams over SSE, resident', 'sse', { figure: 'rssKbEach', atMost: 35 }),
    memoryRow('idle streams, 50 a socket, heap', 'shared', { figure: 'heapKbEach', atMost: 15 }),
  ],
};

function memoryRow(name: string, program: string, { figure, atMost }: { readonly figure: string; readonly atMost: number }): Row {
  return { name, unit: 'kB each', against: 'the process without them', ours: of(program, figure), target: { atMost } };
}

/** A thousand readers. One of them does not read. */
export const stalledCase: BenchCase = {
  name: 'stalled reader',
  samples: 5,
  prepare: async ({ quick, signal }) => ({
    ...nothing,
    programs: { ours: () => runProgram('stalled-reader.ts', quick ? ['300', '2'] : ['1000', '4'], { ...collecting, signal }) },
  }),
  rows: [
    {
      name: '1 stalled among 1,000: it holds',
      unit: 'kB past the kernel',
      against: '1 MiB of changes and 64 KiB of its socket',
      ours: of('ours', 'heldKb'),
      target: { atMost: ((1 << 20) + (64 << 10)) / 1000 },
    },
    {
      name: "1 stalled among 1,000: the others' p99",
      unit: 'ms',
      against: 'the same without it',
      ours: of('ours', 'p99WithMs'),
      floor: of('ours', 'p99WithoutMs'),
      target: { atMost: 1.1 },
    },
  ],
};

/** The cost of the first state for a new reader of a large selection, and how long it delays other readers. */
export const firstStateCase: BenchCase = {
  name: 'first state',
  samples: 5,
  prepare: async ({ quick, signal }) => ({
    ...nothing,
    programs: {
      ours: () => runProgram('first-state.ts', ['ours', '10000', quick ? '20' : '100'], { signal }),
      floor: () => runProgram('first-state.ts', ['floor', '10000'], { signal }),
    },
  }),
  rows: [
    {
      name: 'INITIAL of 10,000 objects',
      unit: 'CPU ms',
      against: 'JSON.stringify and a write of the same',
      ours: of('ours', 'cpuMs'),
      floor: of('floor', 'cpuMs'),
      target: { atMost: 2.5 },
    },
    {
      name: 'INITIAL of 10,000 objects, after three joins',
      unit: 'CPU ms',
      against: 'JSON.stringify and a write of the same, compiled',
      ours: of('ours', 'coldCpuMs'),
      floor: of('floor', 'cpuMs'),
      target: null,
    },
    {
      name: 'INITIAL of 10,000 objects: longest turn',
      unit: 'CPU ms',
      against: 'target on the time itself',
      ours: of('ours', 'longestTurnMs'),
      target: { atMost: 10 },
    },
    {
      name: 'the same for 100 who join at once: longest turn',
      unit: 'CPU ms',
      against: 'target on the time itself',
      ours: of('ours', 'longestTurnOfManyMs'),
      target: { atMost: 10 },
    },
  ],
};

/** Latency of a change at 1,000 changes a second. */
export const latencyCase: BenchCase = {
  name: 'change latency',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    const server = await startServer('servers/canned-server.ts', ['--pods', '2000'], { signal });
    const program = (from: string) => () =>
      runProgram('change-latency.ts', [from, '10', quick ? '3' : '10', JSON.stringify(server.address)], { signal });
    return {
      programs: { mirror: program('mirror'), server: program('server') },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: 'mirror change → client frame, 1,000/s, p99',
      unit: 'ms',
      against: 'target on the time itself',
      ours: of('mirror', 'p99Ms'),
      target: { atMost: 10 },
    },
    latencyRow('mirror change → client frame, 1,000/s, p50', 'mirror', 'p50Ms'),
    latencyRow('API server change → client frame, 1,000/s, p99', 'server', 'p99Ms'),
    latencyRow('API server change → client frame, 1,000/s, p50', 'server', 'p50Ms'),
  ],
};

function latencyRow(name: string, program: string, figure: string): Row {
  return { name, unit: 'ms', against: 'for information', ours: of(program, figure), target: null };
}

/** Latency of a change of a real API server, to our readers and to the output of `kubectl get --watch`. */
export const realLatencyCase: BenchCase = {
  name: 'real change latency',
  real: true,
  samples: 3,
  prepare: async ({ quick, signal }) => ({
    ...nothing,
    programs: { ours: () => runProgram('real-change-latency.ts', [quick ? '100' : '500'], { signal }) },
  }),
  rows: [
    {
      name: 'PATCH sent → client frame, p50',
      unit: 'ms',
      against: 'until kubectl get --watch prints it',
      ours: of('ours', 'p50Ms'),
      floor: of('ours', 'kubectlP50Ms'),
      target: null,
    },
    {
      name: 'PATCH sent → client frame, p99',
      unit: 'ms',
      against: 'until kubectl get --watch prints it',
      ours: of('ours', 'p99Ms'),
      floor: of('ours', 'kubectlP99Ms'),
      target: null,
    },
  ],
};
