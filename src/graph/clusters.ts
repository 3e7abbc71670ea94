import { idOfCluster } from '../core/object-ids.ts';
import type { ClusterView } from '../load/reads.ts';
import { charged } from './budget.ts';
import { asServed, type GraphBuilder } from './builder.ts';
import { enumsOf, faultIn } from './faults.ts';
import { personal, volatile } from './personal.ts';
import { ageSecondsOf, isoOf } from './times.ts';

/** Adds `Cluster`, `ClusterPhase` and `ServedKind`. A cluster's taints have the type of a Node's, which the model brings. */
export function addClusters({ pothos, types, outputOf }: GraphBuilder): void {
  const phase = enumsOf(pothos)('ClusterPhase', 'How a cluster does, as far as this gateway can tell.', phaseMeanings);
  types.cluster.implement({
    description: 'A Kubernetes cluster of the fleet.',
    fields: (t) => ({
      id: t.id({ nullable: false, description: 'Opaque; the same as long as its name is.', resolve: ({ name }) => idOfCluster(name) }),
      name: t.exposeString('name', { nullable: false, description: 'What the fleet calls it.' }),
      labels: t.field({
        type: 'StringMap',
        nullable: false,
        description: 'The labels it was given in the fleet.',
        ...volatile,
        resolve: asServed,
      }),
      label: t.string({
        description: 'One of its labels.',
        ...volatile,
        args: { key: t.arg.string({ required: true, description: 'The whole key, such as `example.com/team`.' }) },
        resolve: ({ labels }, { key }) => (Object.hasOwn(labels, key) ? labels[key] : undefined),
      }),
      version: t.exposeString('version', {
        description: 'The version of Kubernetes it runs. Null until it has answered once.',
        ...volatile,
      }),
      provider: t.exposeString('provider', { description: 'Who runs its machines, such as `aws` or `gce`.', ...volatile }),
      region: t.exposeString('region', { description: 'Where its machines stand: the region most of them are in.', ...volatile }),
      zones: t.exposeStringList('zones', { nullable: false, description: 'The zones its machines stand in.', ...volatile }),
      taints: t.field({
        type: outputOf({ list: { type: 'Taint' } }),
        nullable: false,
        description: 'What keeps work away from it, unless tolerated.',
        ...volatile,
        resolve: (cluster, _args, context) => charged(cluster.taints, context),
      }),
      phase: t.field({ type: phase, nullable: false, description: 'How it does.', ...volatile, resolve: (cluster) => cluster.phase }),
      asOf: t.field({
        type: 'DateTime',
        description: 'When it last gave a sign of life.',
        ...volatile,
        resolve: ({ asOfMs }) => isoOf(asOfMs),
      }),
      ageSeconds: t.float({
        description: 'How long ago that was.',
        ...volatile,
        resolve: ({ asOfMs }, _args, { clock }) => ageSecondsOf(asOfMs, clock.now()),
      }),
      faults: t.field({
        type: [types.fault],
        nullable: false,
        description: 'What it could not do, as a whole or in part.',
        ...volatile,
        resolve: (cluster, _args, context) =>
          charged(
            cluster.faults.map((fault) => faultIn(cluster, fault)),
            context,
          ),
      }),
      kinds: t.field({
        type: [types.servedKind],
        nullable: false,
        description: 'What it serves. Empty until it has said so once.',
        ...personal,
        resolve: (cluster, _args, context) => charged(context.reads.servedKinds(context.read, cluster), context),
      }),
    }),
  });
  addServedKinds(types);
}

function addServedKinds(types: GraphBuilder['types']): void {
  types.servedKind.implement({
    description: 'A kind as one cluster serves it.',
    fields: (t) => ({
      kind: t.field({ type: types.kind, nullable: false, description: 'The kind.', resolve: (served) => served.kind }),
      versions: t.exposeStringList('versions', { nullable: false, description: 'The versions that serve it, the preferred one first.' }),
      verbs: t.exposeStringList('verbs', { nullable: false, description: 'What may be asked of it, such as `list` or `watch`.' }),
      count: t.exposeInt('count', { description: 'How many objects are held. Null while nobody has asked for them.' }),
      sync: t.field({ type: types.sync, nullable: false, description: 'How complete and old they are.', resolve: (served) => served.sync }),
    }),
  });
}

const phaseMeanings: Readonly<Record<ClusterView['phase'], string>> = {
  CONNECTING: 'It has not answered yet.',
  SYNCED: 'All is well.',
  DEGRADED: 'It answers, but something is wrong: see `faults`.',
  UNREACHABLE: 'It does not answer. What was read before is still served.',
};
