import type { BenchCase, Figures, Row } from '../bench-case.ts';
import { runProgram } from '../run-program.ts';

type All = Readonly<Record<string, Figures>>;

const of = (program: string, figure: string) => (all: All) => all[program]?.[figure] ?? Number.NaN;
const each = (program: string) => of(program, 'usPerDelivery');
const perSecond = (program: string) => of(program, 'deliveriesPerCpuSecond');

interface Asked {
  readonly readers: number;
  /** Changes published in one event-loop turn. */
  readonly changes?: number;
  readonly rounds: number;
}

/** One change to many readers: Muster over both transports, the floors, and other libraries in their default setup. */
function fanOutTo(readers: number): BenchCase {
  return {
    name: `fan-out to ${readers}`,
    samples: 5,
    prepare: async ({ quick, signal }) => {
      // The floors write messages of the same size as ours. The size is known after our program has run.
      let frameBytes: number | undefined;
      const program =
        (variant: string, { changes = 1, rounds, readers: asked }: Asked) =>
        async () => {
          const args = [variant, asked, changes, quick ? Math.ceil(rounds / 4) : rounds, ...(frameBytes === undefined ? [] : [frameBytes])];
          const figures = await runProgram('fan-out.ts', args.map(String), { signal });
          if (variant === 'websocket' && changes === 1) frameBytes = figures.frameBytes;
          return figures;
        };
      const [many, few] = [200_000 / readers, 40_000 / readers];
      return {
        programs: {
          websocket: program('websocket', { readers, rounds: many }),
          raw: program('raw', { readers, rounds: many }),
          ws: program('ws', { readers, rounds: many }),
          sse: program('sse', { readers, rounds: many }),
          batches: program('websocket', { readers, changes: 10, rounds: many / 2 }),
          graphqlWs: program('graphql-ws', { readers, rounds: few }),
          yoga: program('yoga-sse', { readers, rounds: few }),
        },
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
    rows: rowsOf(`1 event to ${readers.toLocaleString('en')}`),
  };
}

function rowsOf(name: string): readonly Row[] {
  const unit = 'deliveries per CPU s';
  return [
    {
      name,
      unit,
      against: 'a raw socket write of the same bytes',
      ours: perSecond('websocket'),
      floor: perSecond('raw'),
      target: { atLeast: 0.7 },
    },
    { name: `${name}, each`, unit: 'CPU µs', against: 'target on the time itself', ours: each('websocket'), target: { atMost: 10 } },
    {
      name: `${name}, against ws`,
      unit,
      against: 'a send of the `ws` package',
      ours: perSecond('websocket'),
      floor: perSecond('ws'),
      target: { atLeast: 0.6 },
    },
    {
      name: `${name}, against graphql-ws`,
      unit,
      against: 'graphql-ws as it comes',
      ours: perSecond('websocket'),
      floor: perSecond('graphqlWs'),
      target: null,
    },
    {
      name: `${name}, SSE`,
      unit,
      against: 'a raw socket write of the same bytes',
      ours: perSecond('sse'),
      floor: perSecond('raw'),
      target: null,
    },
    {
      name: `${name}, SSE against Yoga`,
      unit,
      against: "Yoga's server-sent events",
      ours: perSecond('sse'),
      floor: perSecond('yoga'),
      target: null,
    },
    {
      name: `${name}, 10 in a window`,
      unit,
      against: 'one event per write',
      ours: perSecond('batches'),
      floor: perSecond('websocket'),
      target: { atLeast: 4 },
    },
    { name: `${name}, bytes of a frame`, unit: 'B', against: 'for information', ours: of('websocket', 'frameBytes'), target: null },
  ];
}

export const fanOutCases: readonly BenchCase[] = [fanOutTo(1000), fanOutTo(5000)];
