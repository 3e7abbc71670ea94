import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

const of = (program: string, figure: string) => (all: Readonly<Record<string, Figures>>) => all[program]?.[figure] ?? Number.NaN;

/** 200 quiet watches over TLS, 100 streams per HTTP/2 session, compared with the Watch of client-node. */
export const watchesCase: BenchCase = {
  name: '200 watches',
  samples: 5,
  prepare: async ({ signal }) => {
    const server = await startServer('servers/canned-server.ts', ['--pods', '1'], { signal });
    const { url = '', ca = '', control = '' } = server.address;
    const run = (variant: string) => () => runProgram('watches.ts', [variant, url, ca, control], { nodeFlags: ['--expose-gc'], signal });
    return { programs: { ours: run('ours'), clientNode: run('client-node') }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  },
  rows: [
    {
      name: '200 watches, cpu',
      unit: 'ms',
      against: "client-node's Watch",
      ours: of('ours', 'cpuMs'),
      floor: of('clientNode', 'cpuMs'),
      target: { atMost: 0.15 },
    },
    {
      name: '200 watches, sockets',
      unit: 'sockets',
      against: 'target on the count itself',
      ours: of('ours', 'sockets'),
      target: { atMost: 3 },
    },
    {
      name: '200 watches, memory',
      unit: 'KB each',
      against: 'target on the bytes themselves',
      ours: (all) => of('ours', 'bytesEach')(all) / 1000,
      target: { atMost: 25 },
    },
  ],
};
