import type { SyncView } from '../load/reads.ts';
import type { GraphBuilder } from './builder.ts';
import { enumsOf, faultIn } from './faults.ts';
import { volatile } from './personal.ts';
import { ageSecondsOf, isoOf } from './times.ts';

/** Adds `Sync` and `SyncPhase`. */
export function addSync({ pothos, types }: GraphBuilder): void {
  const phase = enumsOf(pothos)('SyncPhase', 'How complete and old a part of an answer is.', phaseMeanings);
  types.sync.implement({
    description: "How complete and old one cluster's part of an answer is, for one kind.",
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'Of which cluster.', resolve: (sync) => sync.cluster }),
      kind: t.field({ type: types.kind, nullable: false, description: 'Of which kind.', resolve: (sync) => sync.kind }),
      phase: t.field({ type: phase, nullable: false, description: 'How complete and old.', ...volatile, resolve: (sync) => sync.phase }),
      asOf: t.field({
        type: 'DateTime',
        description: 'Up to when the content is known to be true. Null before the first whole list.',
        ...volatile,
        resolve: ({ asOfMs }) => isoOf(asOfMs),
      }),
      ageSeconds: t.float({
        description: 'How long ago that was.',
        ...volatile,
        resolve: ({ asOfMs }, _args, { clock }) => ageSecondsOf(asOfMs, clock.now()),
      }),
      resourceVersion: t.string({
        description: "The cluster's version up to which the content is true.",
        ...volatile,
        resolve: (sync) => sync.version,
      }),
      fault: t.field({
        type: types.fault,
        description: 'Why it is not `SYNCED`; or, where it is, of which namespaces alone, if no more may be listed.',
        ...volatile,
        resolve: ({ cluster, fault }) => fault && faultIn(cluster, fault),
      }),
    }),
  });
}

const phaseMeanings: Readonly<Record<SyncView['phase'], string>> = {
  SYNCING: 'The first list is not whole yet.',
  SYNCED: 'Exact.',
  STALE: 'Whole, but old: see `fault`.',
  MISSING: 'Nothing is held, or not all that was named: see `fault`. Without one nobody has asked for it yet.',
};
