import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const plain = (all: All) => all.ours?.plainMs ?? Number.NaN;
const row = (name: string, figure: string, atMost: number) => ({
  name: `500 pods with ${name}`,
  unit: 'CPU ms',
  against: 'the same list without',
  ours: (all: All) => all.ours?.[figure] ?? Number.NaN,
  floor: plain,
  target: { atMost },
});

/** Relations of pods in a cluster of 10,000 pods, from running mirrors to bytes. */
export const relationsCase: BenchCase = {
  name: 'relations',
  samples: 3,
  prepare: async ({ signal }) => {
    const server = await startServer('servers/related-fleet.ts', ['10000'], { signal });
    return {
      programs: { ours: () => runProgram('relations.ts', [server.address.kubeconfig ?? ''], { signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    row('node, owner of owner, services', 'allMs', 3),
    row('node', 'nodeMs', 3),
    row('owner of owner', 'ownersMs', 4),
    row('services', 'servicesMs', 5),
  ],
};
