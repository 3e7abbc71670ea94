import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';
import { writeKubeconfig } from '../support/bench-kubeconfig.ts';

const of = (program: string, figure: string) => (all: Readonly<Record<string, Figures>>) => all[program]?.[figure] ?? Number.NaN;

/** `muster get pods` over ten clusters against kubectl over one of them. Needs kubectl, but no real API server. */
export const getCase: BenchCase = {
  name: 'get pods',
  real: true,
  samples: 3,
  prepare: async ({ quick, signal }) => {
    const server = await startServer('servers/pods-fleet.ts', ['10', '50'], { signal });
    const args = [server.address.kubeconfig ?? '', 'cluster-0', '500', quick ? '5' : '15'];
    return {
      programs: { get: () => runProgram('commands/time-commands.ts', args, { signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: 'muster get pods: 10 clusters × 50 pods, whole process',
      unit: 'ms',
      against: 'kubectl get pods of one of the clusters',
      ours: of('get', 'getMs'),
      floor: of('get', 'kubectlMs'),
      target: { atMost: 1.5 },
    },
  ],
};

/** Completion of names among 10,000 pods. */
export const completionCase: BenchCase = {
  name: 'completion',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    const server = await startServer('servers/canned-server.ts', ['--pods', '10000'], { signal });
    const { url = '', ca = '' } = server.address;
    const args = [writeKubeconfig([{ name: 'bench', url, ca }]), '', '10000', quick ? '5' : '15'];
    return {
      programs: { complete: () => runProgram('commands/time-commands.ts', args, { signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: "muster __complete get pods '', 10,000 pods",
      unit: 'ms',
      against: 'a start of Node that sends the same request',
      ours: of('complete', 'completeMs'),
      floor: of('complete', 'requestMs'),
      target: { atMost: 1.2 },
    },
    {
      name: 'the same, against an empty program',
      unit: 'ms',
      against: 'a start of Node with an empty program',
      ours: of('complete', 'completeMs'),
      floor: of('complete', 'bareMs'),
      target: null,
    },
  ],
};
