import { repeatableResolver, valueResolver } from '../../execution/known-resolvers.ts';
import type { SyncView } from '../../load/reads/reads.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf } from '../builder/pothos.ts';
import { ageSecondsOf, isoOf } from '../builder/times.ts';
import { volatile } from '../context/personal.ts';
import { faultWithCluster } from './faults.ts';

/** Adds `Sync` and `SyncPhase`. */
export function addSync({ pothos, types }: GraphBuilder): void {
  const phase = enumsOf(pothos)('SyncPhase', 'How complete and current the objects of one kind in one cluster are.', phaseMeanings);
  types.sync.implement({
    description: 'How complete and current the objects of one kind in one cluster are, as the gateway knows them.',
    fields: (t) => ({
      cluster: t.field({
        type: types.cluster,
        nullable: false,
        description: 'The cluster of the objects.',
        resolve: valueResolver((sync) => sync.cluster),
      }),
      kind: t.field({
        type: types.kind,
        nullable: false,
        description: 'The kind of the objects.',
        resolve: valueResolver((sync) => sync.kind),
      }),
      phase: t.field({
        type: phase,
        nullable: false,
        description: 'How complete and current the objects are.',
        ...volatile,
        resolve: valueResolver((sync) => sync.phase),
      }),
      asOf: t.field({
        type: 'DateTime',
        description: 'The time up to which the objects are known to be correct. Null before the first complete list.',
        ...volatile,
        resolve: valueResolver(({ asOfMs }) => isoOf(asOfMs)),
      }),
      ageSeconds: t.float({
        description: 'The seconds since `asOf`. Null if `asOf` is null.',
        ...volatile,
        resolve: repeatableResolver(({ asOfMs }, _args, { clock }) => ageSecondsOf(asOfMs, clock.now())),
      }),
      resourceVersion: t.string({
        description:
          'The resourceVersion of the cluster up to which the objects are correct. Null before the first complete list. With authentication, it is ' +
          'also null for one object of a namespace, and for a caller who may see only some namespaces, because it changes with hidden objects.',
        ...volatile,
        resolve: valueResolver((sync) => sync.version),
      }),
      fault: t.field({
        type: types.fault,
        description:
          'The reason why the phase is not `SYNCED`. Also set with `SYNCED` if the gateway may list the kind in some namespaces only. Its ' +
          'message then names the namespaces of the answer. Null otherwise.',
        ...volatile,
        resolve: valueResolver(({ cluster, fault }) => fault && faultWithCluster(cluster, fault)),
      }),
    }),
  });
}

const phaseMeanings: Readonly<Record<SyncView['phase'], string>> = {
  SYNCING: 'The first list is not complete yet.',
  SYNCED: 'The objects are complete and current.',
  STALE: 'The objects are complete, but may be out of date: see `fault`.',
  MISSING:
    'The gateway has no objects, or not those of all requested namespaces: see `fault`. Without a fault, the kind has not been read yet.',
};
