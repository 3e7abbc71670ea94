import { browserPath } from '../../support/browser.ts';
import type { BenchCase, Figures } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';
import { writeKubeconfig } from '../support/bench-kubeconfig.ts';

const of = (figure: string) => (all: Readonly<Record<string, Figures>>) => all.ours?.[figure] ?? Number.NaN;

/** A key press in the console's table of 10,000 pods, while 500 of them change each second. */
const consoleCase: BenchCase = {
  name: 'console',
  samples: 3,
  prepare: async ({ quick, signal }) => {
    const { build } = await import('vite');
    await build({ logLevel: 'error' });
    const server = await startServer('servers/canned-server.ts', ['--pods', '10000'], { signal });
    const { url = '', ca = '', control = '' } = server.address;
    const args = [writeKubeconfig([{ name: 'bench', url, ca }]), control, quick ? '20' : '100'];
    return {
      programs: { ours: () => runProgram('console/changes.ts', args, { signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  // The page must answer each key press within 100 ms, so the slowest one has the target too.
  rows: [
    {
      name: 'console: a key press while 500 of 10,000 rows change each second, the slowest of 100',
      unit: 'ms',
      against: 'target on the time itself',
      ours: of('maxMs'),
      target: { atMost: 100 },
    },
    { name: 'the same, p95', unit: 'ms', against: 'target on the time itself', ours: of('p95Ms'), target: { atMost: 100 } },
    { name: 'the same, p50', unit: 'ms', against: 'for information', ours: of('p50Ms'), target: null },
    { name: 'console: longest task', unit: 'ms', against: 'for information', ours: of('longestTaskMs'), target: null },
  ],
};

/** The cases of the console. None where there is no browser. */
export const consoleCases: readonly BenchCase[] = browserPath === undefined ? [] : [consoleCase];
