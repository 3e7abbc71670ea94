import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';
import { writeKubeconfig } from '../support/bench-kubeconfig.ts';

const of = (figure: string) => (all: Readonly<Record<string, Figures>>) => all.gateways?.[figure] ?? Number.NaN;

/** The mean of the two gateways without traces: equal processes differ by up to 8 %. */
const withoutTraces = (all: Readonly<Record<string, Figures>>) => (of('offMs')(all) + of('offAgainMs')(all)) / 2;

/** The cost of a trace of every request for a collector, and of a collector that gets no trace. */
export const tracingCase: BenchCase = {
  name: 'tracing',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    const server = await startServer('servers/canned-server.ts', ['--pods', '500'], { signal });
    const collector = await startServer('servers/collector.ts', [], { signal });
    const kubeconfig = writeKubeconfig([{ name: 'bench', url: server.address.url ?? '', ca: server.address.ca ?? '' }]);
    const args = [kubeconfig, collector.address.url ?? '', quick ? '32' : '128'];
    return {
      programs: { gateways: () => runProgram('tracing/compare-tracing.ts', args, { signal }) },
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
      ours: of('onMs'),
      floor: withoutTraces,
      target: { atMost: 1.15 },
    },
    {
      name: 'the same without a collector, in another process',
      unit: 'CPU ms',
      against: 'the same without tracing: the noise',
      ours: of('offAgainMs'),
      floor: of('offMs'),
      target: null,
    },
    {
      name: 'the same, no request sampled',
      unit: 'CPU ms',
      against: 'the same without tracing',
      ours: of('unsampledMs'),
      floor: withoutTraces,
      target: null,
    },
  ],
};
