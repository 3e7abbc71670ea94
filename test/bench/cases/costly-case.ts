import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const of = (figure: string) => (all: All) => all.ours?.[figure] ?? Number.NaN;

/** The small query of one client, while other clients run the most expensive allowed documents over three clusters of 20,000 pods. */
export const costlyCase: BenchCase = {
  name: 'costly operations',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    const server = await startServer('servers/pods-fleet.ts', ['3', quick ? '5000' : '20000', '24'], {
      nodeFlags: ['--max-old-space-size=6000'],
      signal,
    });
    const args = [server.address.kubeconfig ?? '', quick ? '5' : '20'];
    return {
      programs: { ours: () => runProgram('costly-operations.ts', args, { nodeFlags: ['--max-old-space-size=4000'], signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: 'a small query beside costly operations, p99',
      unit: 'ms',
      against: 'target on the time itself',
      ours: of('p99Ms'),
      target: { atMost: 50 },
    },
    { name: 'the same, p50', unit: 'ms', against: 'for information', ours: of('p50Ms'), target: null },
    { name: 'the same query with nothing beside it, p99', unit: 'ms', against: 'for information', ours: of('quietP99Ms'), target: null },
    { name: 'costly operations: longest turn', unit: 'CPU ms', against: 'for information', ours: of('longestTurnMs'), target: null },
  ],
};
