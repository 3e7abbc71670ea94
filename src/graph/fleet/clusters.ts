import { idOfCluster } from '../../core/object-ids.ts';
import { mapPromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { constantProperty, repeatableResolver, valueResolver } from '../../execution/known-resolvers.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import { asServed, type GraphBuilder } from '../builder/builder.ts';
import { enumsOf, type FieldsOf } from '../builder/pothos.ts';
import { ageSecondsOf, isoOf } from '../builder/times.ts';
import { chargeList } from '../context/budget.ts';
import { personal, volatile } from '../context/personal.ts';
import { faultWithCluster } from './faults.ts';

/** Adds `Cluster`, `ClusterPhase` and `ServedKind`. The taints of a cluster have the type of the taints of a Node. */
export function addClusters({ pothos, types, outputOf }: GraphBuilder): void {
  const phase = enumsOf(pothos)('ClusterPhase', 'The state of a cluster, as far as this gateway knows it.', phaseMeanings);
  types.cluster.implement({
    description: 'A Kubernetes cluster of the fleet.',
    fields: (t) => ({
      ...identityFields(t),
      taints: t.field({
        type: outputOf({ list: { type: 'Taint' } }),
        nullable: false,
        description: 'The taints of the cluster. They keep away work that does not tolerate them.',
        ...volatile,
        resolve: repeatableResolver((cluster, _args, context) => chargeList(cluster.taints, context)),
      }),
      phase: t.field({
        type: phase,
        nullable: false,
        description: 'The state of the cluster.',
        ...volatile,
        resolve: valueResolver((cluster) => cluster.phase),
      }),
      asOf: t.field({
        type: 'DateTime',
        description: 'The last time at which the cluster answered. Null before its first answer.',
        ...volatile,
        resolve: valueResolver(({ asOfMs }) => isoOf(asOfMs)),
      }),
      ageSeconds: t.float({
        description: 'The seconds since `asOf`. Null if `asOf` is null.',
        ...volatile,
        resolve: repeatableResolver(({ asOfMs }, _args, { clock }) => ageSecondsOf(asOfMs, clock.now())),
      }),
      faults: t.field({
        type: [types.fault],
        nullable: false,
        description: 'The current faults of the cluster, and of its kinds.',
        ...volatile,
        resolve: repeatableResolver((cluster, _args, context) =>
          chargeList(
            cluster.faults.map((fault) => faultWithCluster(cluster, fault)),
            context,
          ),
        ),
      }),
      kinds: t.field({
        type: [types.servedKind],
        nullable: false,
        description: 'The kinds that the cluster serves. Empty until the cluster has listed them once.',
        ...personal,
        resolve: repeatableResolver((cluster, _args, context) => chargeList(context.reads.servedKinds(context.read, cluster), context)),
      }),
    }),
  });
  addServedKinds(types);
}

/** Returns the names, the labels and the location of a cluster. */
function identityFields(t: FieldsOf<ClusterView>) {
  return {
    id: t.id({
      nullable: false,
      description: 'An opaque id of the cluster. It stays the same as long as the name does.',
      resolve: valueResolver(({ name }) => idOfCluster(name)),
    }),
    name: t.string({ nullable: false, description: 'The name of the cluster in the fleet.', resolve: constantProperty('name') }),
    labels: t.field({
      type: 'StringMap',
      nullable: false,
      description: 'The labels of the cluster in the fleet.',
      ...volatile,
      resolve: asServed,
    }),
    label: t.string({
      description: 'The value of one label. Null if the cluster does not have it.',
      ...volatile,
      args: { key: t.arg.string({ required: true, description: 'The full key of the label, such as `example.com/team`.' }) },
      resolve: repeatableResolver(({ labels }, { key }) => (Object.hasOwn(labels, key) ? labels[key] : undefined)),
    }),
    version: t.exposeString('version', {
      description: 'The Kubernetes version of the cluster. Null until the cluster has answered once.',
      ...volatile,
    }),
    provider: t.exposeString('provider', {
      description: 'The provider of the machines, such as `aws` or `gce`. Null if it is unknown.',
      ...volatile,
    }),
    region: t.exposeString('region', { description: 'The region of most machines of the cluster. Null if it is unknown.', ...volatile }),
    zones: t.exposeStringList('zones', { nullable: false, description: 'The zones of the machines of the cluster.', ...volatile }),
  };
}

function addServedKinds(types: GraphBuilder['types']): void {
  types.servedKind.implement({
    description: 'A kind as one cluster serves it.',
    fields: (t) => ({
      kind: t.field({ type: types.kind, nullable: false, description: 'The kind.', resolve: valueResolver((served) => served.kind) }),
      versions: t.exposeStringList('versions', {
        nullable: false,
        description: 'The API versions of the kind in this cluster, the preferred one first.',
      }),
      verbs: t.exposeStringList('verbs', {
        nullable: false,
        description: 'The operations that the cluster supports for the kind, such as `list` or `watch`.',
      }),
      count: t.int({
        resolve: (served) => mapPromiseOrValue(served.mirrored(), ({ count }) => count),
        description: 'The number of objects in the local copy. Null if the gateway has not read the kind from this cluster.',
      }),
      sync: t.field({
        type: types.sync,
        nullable: false,
        description: 'How complete and current the local copy is.',
        resolve: (served) => mapPromiseOrValue(served.mirrored(), ({ sync }) => sync),
      }),
    }),
  });
}

const phaseMeanings: Readonly<Record<ClusterView['phase'], string>> = {
  CONNECTING: 'The cluster has not answered yet.',
  SYNCED: 'The cluster answers, and has no fault.',
  DEGRADED: 'The cluster answers, but something is wrong: see `faults`.',
  UNREACHABLE: 'The cluster does not answer. Objects that were read before are still served.',
};

/** Adds `Gateway`. */
export function addGateway({ types }: GraphBuilder): void {
  types.gateway.implement({
    description: 'The gateway that answers this request.',
    fields: (t) => ({
      version: t.exposeString('version', { nullable: false, description: 'The version of the gateway.' }),
      demo: t.exposeBoolean('demo', { nullable: false, description: 'True if the clusters are the embedded ones of the demo.' }),
      readOnly: t.exposeBoolean('readOnly', {
        nullable: false,
        description: 'True if the gateway refuses every mutation, and never keeps Propagations in sync.',
      }),
      schemaHash: t.exposeString('schemaHash', {
        nullable: false,
        description: 'A hash of this schema. Gateways with equal schemas have equal hashes.',
      }),
      schemaBuiltAt: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'The time at which the gateway began to use this schema.',
        resolve: valueResolver(({ schemaBuiltAtMs }) => isoOf(schemaBuiltAtMs) ?? ''),
      }),
      schemaProblem: t.exposeString('schemaProblem', {
        nullable: true,
        description: 'The reason why kinds are missing from this schema. Null if none are missing.',
      }),
      controllerProblem: t.exposeString('controllerProblem', {
        nullable: true,
        description:
          'The reason why no gateway has kept Propagations in sync for more than 30 seconds. Null if a gateway does, if this gateway has no hub or is read-only, and if the caller may see nothing in the hub.',
      }),
    }),
  });
}
