import type { BenchCase } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';
import { writeKubeconfig } from '../support/bench-kubeconfig.ts';

/** The cost of a request that reads no cluster data. */
export const helloCase: BenchCase = {
  name: 'hello POST',
  samples: 3,
  prepare: async ({ signal }) => ({
    programs: {
      ours: () => runProgram('hello.ts', ['ours'], { signal }),
      yoga: () => runProgram('hello.ts', ['yoga'], { signal }),
      bare: () => runProgram('hello.ts', ['bare'], { signal }),
    },
    [Symbol.asyncDispose]: async () => undefined,
  }),
  rows: [
    {
      name: 'hello POST',
      unit: 'CPU µs',
      against: 'bare node:http, fixed answer',
      ours: (all) => all.ours?.cpuUsEach ?? Number.NaN,
      floor: (all) => all.bare?.cpuUsEach ?? Number.NaN,
      target: { atMost: 2.5 },
    },
    {
      name: 'hello POST, plain Yoga',
      unit: 'CPU µs',
      against: 'bare node:http, fixed answer',
      ours: (all) => all.yoga?.cpuUsEach ?? Number.NaN,
      floor: (all) => all.bare?.cpuUsEach ?? Number.NaN,
      target: null,
    },
  ],
};

/** The cost of a page of pods, from the mirror to bytes. */
export const listToBytesCase: BenchCase = {
  name: 'list to bytes',
  samples: 3,
  prepare: async ({ signal }) => {
    const server = await startServer('servers/canned-server.ts', ['--pods', '500'], { signal });
    const kubeconfig = writeKubeconfig([{ name: 'bench', url: server.address.url ?? '', ca: server.address.ca ?? '' }]);
    return {
      programs: { ours: () => runProgram('list-to-bytes.ts', [kubeconfig], { signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: '500 pods × 15 leaves, printed anew',
      unit: 'CPU ms',
      against: 'JSON.stringify of the same answer',
      ours: (all) => all.ours?.freshMs ?? Number.NaN,
      floor: (all) => all.ours?.freshStringifyMs ?? Number.NaN,
      target: { atMost: 2.5 },
    },
    {
      name: '500 pods × 15 leaves in edges, asked for again',
      unit: 'CPU ms',
      against: 'JSON.stringify of the same answer',
      ours: (all) => all.ours?.edgesMs ?? Number.NaN,
      floor: (all) => all.ours?.edgesStringifyMs ?? Number.NaN,
      target: { atMost: 2.5 },
    },
    {
      name: '500 pods × 15 leaves and the phase of the mirror, asked for again',
      unit: 'CPU ms',
      against: 'JSON.stringify of the same answer',
      ours: (all) => all.ours?.partlyMs ?? Number.NaN,
      floor: (all) => all.ours?.partlyStringifyMs ?? Number.NaN,
      target: { atMost: 2.5 },
    },
    {
      name: '500 pods × 15 leaves, asked for again',
      unit: 'CPU ms',
      against: 'JSON.stringify of the same answer',
      ours: (all) => all.ours?.againMs ?? Number.NaN,
      floor: (all) => all.ours?.againStringifyMs ?? Number.NaN,
      target: { atMost: 0.7 },
    },
    {
      name: '500 pods × 15 leaves, asked for again, beside HTTP',
      unit: 'CPU ms',
      against: 'bare node:http that sends the same bytes',
      ours: (all) => all.ours?.againMs ?? Number.NaN,
      floor: (all) => all.ours?.againBareMs ?? Number.NaN,
      target: null,
    },
  ],
};
