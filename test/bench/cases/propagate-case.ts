import type { BenchCase, Figures, Row } from '../bench-case.ts';
import { runProgram, startServer } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const of = (program: string, figure: string) => (all: All) => all[program]?.[figure] ?? Number.NaN;
const nothing = { [Symbol.asyncDispose]: async () => undefined };

/** The pure stages of a plan for 200 clusters and 20 objects, compared with JSON.stringify of the rendered manifests. */
export const planCase: BenchCase = {
  name: 'plan',
  samples: 5,
  prepare: async ({ quick, signal }) => ({
    programs: { plan: () => runProgram('propagation/plan-rendered.ts', quick ? ['200', '3'] : ['200', '9'], { signal }) },
    ...nothing,
  }),
  rows: [
    { name: 'plan 200 clusters × 20 objects: all is new', ours: of('plan', 'newMs'), target: { atMost: 3 } },
    { name: 'plan 200 clusters × 20 objects: all stands', ours: of('plan', 'againMs'), target: { atMost: 3 } },
    // The first plan that compares an object of a mirror compares it with the same copy of another cluster, or hashes it.
    { name: 'plan 200 clusters × 20 objects: all stands, first look', ours: of('plan', 'settledMs'), target: { atMost: 6 } },
  ].map((row) => ({ ...row, unit: 'ms cpu', against: 'JSON.stringify of the 4,000 manifests', floor: of('plan', 'stringifyMs') })),
};

/** One Propagation to 100 embedded clusters, from the mutation until every copy is written. */
function propagateCase(objects: number): BenchCase {
  const name = `propagate ${objects} × 100`;
  return {
    name,
    samples: 1,
    prepare: async ({ quick, signal }) => {
      const server = await startServer('servers/sim-fleet.ts', ['100'], { signal });
      const { kubeconfig = '', control = '', servers = '' } = server.address;
      const args = [kubeconfig, control, servers, String(objects), quick ? '3' : '9'];
      return {
        programs: { ours: () => runProgram('propagation/propagate.ts', args, { signal }) },
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      };
    },
    rows: [
      {
        name: `${name}: until all is written`,
        unit: 'ms',
        against: `${objects * 100} bare server-side applies`,
        ours: of('ours', 'oursMs'),
        floor: of('ours', 'bareMs'),
        target: { atMost: 2 },
      },
      exactly(`${name}: calls`, 'calls per copy', { figure: 'callsPerCopy', atMost: 2 }),
      exactly(`${name}: saves of the inventory`, 'writes on the hub per cluster', { figure: 'hubWritesPerCluster', atMost: 2.2 }),
      exactly(`${name}: calls when nothing changed`, 'calls', { figure: 'callsUnchanged', atMost: 0 }),
    ],
  };
}

function exactly(name: string, unit: string, { figure, atMost }: { readonly figure: string; readonly atMost: number }): Row {
  return { name, unit, against: 'target on the count itself', ours: of('ours', figure), target: { atMost } };
}

export const propagateCases: readonly BenchCase[] = [propagateCase(1), propagateCase(20)];

/** 1,000 quiet Propagations with 20 copies each. */
export const intentsAtRestCase: BenchCase = {
  name: 'propagations at rest',
  samples: 1,
  prepare: async ({ quick, signal }) => {
    const server = await startServer('servers/sim-fleet.ts', ['20'], { signal });
    const { kubeconfig = '', control = '' } = server.address;
    const args = [kubeconfig, control, quick ? '100' : '1000', quick ? '10' : '60'];
    return {
      programs: { ours: () => runProgram('propagation/propagations-at-rest.ts', args, { signal }) },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  rows: [
    {
      name: '1,000 propagations × 20 at rest, cpu',
      unit: '% of a core, the fleet included',
      against: 'target on the figure itself (100 with --quick)',
      ours: of('ours', 'cpuPercent'),
      target: { atMost: 1 },
    },
    exactly('1,000 propagations × 20 at rest, writes', 'writes to members', { figure: 'writes', atMost: 0 }),
    exactly('1,000 propagations × 20 at rest, saves', 'writes on the hub', { figure: 'hubWrites', atMost: 0 }),
    exactly('1,000 propagations × 20 at rest, calls', 'calls to members', { figure: 'calls', atMost: 0 }),
  ],
};

/** Deployments to three real clusters with controllers and nodes. `MUSTER_BENCH_FLEET` is the path of their kubeconfig. */
export function realPropagateCase(kubeconfig: string): BenchCase {
  const kubectl = 'kubectl apply and wait, in the three clusters at once';
  return {
    name: 'real propagation',
    real: true,
    samples: 1,
    prepare: async ({ quick, signal }) => ({
      programs: { fleet: () => runProgram('propagation/real-propagate.ts', [kubeconfig, quick ? '1' : '3'], { signal }) },
      ...nothing,
    }),
    rows: [
      {
        name: 'one Deployment to three ready copies',
        unit: 'ms',
        against: kubectl,
        ours: of('fleet', 'musterOneMs'),
        floor: of('fleet', 'kubectlOneMs'),
        target: { atMost: 1.2 },
      },
      {
        name: 'the same by a loop over the contexts',
        unit: 'ms',
        against: kubectl,
        ours: of('fleet', 'loopOneMs'),
        floor: of('fleet', 'kubectlOneMs'),
        target: null,
      },
      {
        name: 'fifty Deployments × 3, a Propagation each',
        unit: 'ms',
        against: 'an apply each and a wait, in the three clusters at once',
        ours: of('fleet', 'musterManyMs'),
        floor: of('fleet', 'kubectlManyMs'),
        target: { atMost: 0.6 },
      },
      {
        name: 'the same by one file of fifty per cluster',
        unit: 'ms',
        against: 'an apply each and a wait, in the three clusters at once',
        ours: of('fleet', 'fileManyMs'),
        floor: of('fleet', 'kubectlManyMs'),
        target: null,
      },
    ],
  };
}

/** Deployments that leave one of three real clusters. `MUSTER_BENCH_FLEET` is the path of their kubeconfig. */
export function realMoveCase(kubeconfig: string): BenchCase {
  const against = 'kubectl apply of one file of fifty per target, until available';
  return {
    name: 'real moves',
    real: true,
    samples: 1,
    prepare: async ({ quick, signal }) => ({
      programs: { fleet: () => runProgram('propagation/real-move.ts', [kubeconfig, quick ? '1' : '3'], { signal }) },
      ...nothing,
    }),
    rows: [
      {
        name: 'failover of fifty Deployments, from the end of `after` to healthy',
        unit: 'ms',
        against,
        ours: of('fleet', 'failoverMs'),
        floor: of('fleet', 'failoverFloorMs'),
        target: { atMost: 1.2 },
      },
      {
        name: 'migration of fifty Deployments, until all are Done',
        unit: 'ms',
        against,
        ours: of('fleet', 'migrationMs'),
        floor: of('fleet', 'migrationFloorMs'),
        target: { atMost: 2 },
      },
    ],
  };
}
