import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';
import { writeKubeconfig } from '../support/bench-kubeconfig.ts';

const msOf = (program: string) => (all: Readonly<Record<string, Figures>>) => all[program]?.msEach ?? Number.NaN;

/** The cost of a trace of every request for a collector. */
export const tracingCase: BenchCase = {
  name: 'tracing',
  samples: 5,
  prepare: async ({ quick, signal }) => {
    const server = await startServer('servers/canned-server.ts', ['--pods', '500'], { signal });
    const collector = await startServer('servers/collector.ts', [], { signal });
    const kubeconfig = writeKubeconfig([{ name: 'bench', url: server.address.url ?? '', ca: server.address.ca ?? '' }]);
    const rounds = quick ? '500' : '1000';
    const traced = (...flags: readonly string[]) => runProgram('tracing/traced-requests.ts', [kubeconfig, rounds, ...flags], { signal });
    return {
      programs: { off: () => traced(), on: () => traced(collector.address.url ?? '') },
      [Symbol.asyncDispose]: async () => {
        await server[Symbol.asyncDispose]();
        await collector[Symbol.asyncDispose]();
      },
    };
  },
  rows: [
    {
      name: 'tracing: a page of 50 pods, every request sampled',
      unit: 'CPU ms',
      against: 'the same without tracing',
      ours: msOf('on'),
      floor: msOf('off'),
      target: { atMost: 1.15 },
    },
  ],
};
