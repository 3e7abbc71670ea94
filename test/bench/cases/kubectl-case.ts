import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

const of = (figure: string) => (all: Readonly<Record<string, Figures>>) => all.loop?.[figure] ?? Number.NaN;
const against = 'kubectl get pods -A -o json --context X, ten times';
const row = (name: string, figure: string, atMost: number) => ({
  name: `10 clusters × 2,000 pods: ${name}`,
  unit: 'ms',
  against,
  ours: of(figure),
  floor: of('kubectlMs'),
  target: { atMost },
});

/** The same question to a kubectl loop over all contexts and to the gateway. Needs kubectl, but no real API server. */
export const kubectlCase: BenchCase = {
  name: 'kubectl loop',
  real: true,
  samples: 1,
  prepare: async ({ signal }) => {
    const size = ['10', '2000'];
    const server = await startServer('servers/pods-fleet.ts', size, { signal });
    return {
      programs: { loop: () => runProgram('kubectl-loop.ts', [server.address.kubeconfig ?? '', ...size], { signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    row('every page, 15 leaves', 'leavesMs', 0.0067),
    row('phases and requests by cluster', 'questionMs', 0.05),
    row('every page, whole objects', 'objectsMs', 0.0167),
  ],
};
