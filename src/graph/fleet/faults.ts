import type { Fault, FaultCode, Retry } from '../../core/faults.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { type ClusterName, clusterName } from '../../core/names.ts';
import { repeatableResolver, valueResolver } from '../../execution/known-resolvers.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import type { FaultView, GraphBuilder } from '../builder/builder.ts';
import { enumsOf } from '../builder/pothos.ts';
import { isoOf } from '../builder/times.ts';
import { resolveChargedList } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';

/** Adds `Fault`, `FaultCode`, `Retry`, `ApiError` and `ApiErrorCause`. */
export function addFaults(builder: GraphBuilder): void {
  const { pothos, types, model } = builder;
  const code = enumsOf(pothos)('FaultCode', 'The type of a fault.', faultMeanings);
  const retry = enumsOf(pothos)('Retry', 'When the same request may succeed.', retryMeanings);
  types.fault.implement({
    description: 'A problem of one cluster, returned next to the results. A fault never fails the request.',
    fields: (t) => ({
      code: t.field({ type: code, nullable: false, description: 'The type of the fault.', resolve: valueResolver((fault) => fault.code) }),
      cluster: t.field({
        type: types.cluster,
        nullable: false,
        description: 'The cluster that has the problem.',
        resolve: repeatableResolver((fault, _args, context) => clusterOf(fault, context)),
      }),
      kind: t.field({
        type: types.kind,
        description: 'The kind that the fault is about. Null if it is about the cluster as a whole.',
        resolve: valueResolver(({ kind }) => (kind === undefined ? undefined : model.kinds.get(keyOfKind(kind)))),
      }),
      message: t.exposeString('message', {
        nullable: false,
        description: 'The description of the fault for people. It contains no host names and no secrets.',
      }),
      retry: t.field({
        type: retry,
        nullable: false,
        description: 'When the same request may succeed.',
        resolve: valueResolver((fault) => fault.retry),
      }),
      since: t.field({
        type: 'DateTime',
        description: 'The time since which the problem exists. Null if it is not known.',
        resolve: valueResolver(({ sinceMs }) => isoOf(sinceMs)),
      }),
      status: t.field({
        type: types.apiError,
        description: 'The error of the API server. Null if the API server returned none.',
        resolve: valueResolver((fault) => fault.status),
      }),
    }),
  });
  addApiErrors(builder);
}

function addApiErrors({ types }: GraphBuilder): void {
  types.apiError.implement({
    description: 'An error that an API server returned: its `Status` object.',
    fields: (t) => ({
      code: t.exposeInt('code', { nullable: false, description: 'The HTTP status code.' }),
      reason: t.exposeString('reason', {
        nullable: false,
        description: 'The reason of the error as one word for programs, such as `Forbidden`.',
      }),
      message: t.exposeString('message', { nullable: false, description: 'The error as a sentence.' }),
      retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
        description: 'The number of seconds to wait before the next attempt. Null if the API server gave none.',
      }),
      causes: t.field({
        type: [types.apiErrorCause],
        nullable: false,
        description: 'The reasons of the error, field by field.',
        resolve: resolveChargedList('causes'),
      }),
    }),
  });
  types.apiErrorCause.implement({
    description: 'One reason why an API server refused.',
    fields: (t) => ({
      reason: t.exposeString('reason', { description: 'The reason as one word for programs. Null if the API server gave none.' }),
      field: t.exposeString('field', { description: 'The path of the field that caused the error. Null if no field did.' }),
      message: t.exposeString('message', { description: 'Why the API server refused, as a sentence. Null if it gave none.' }),
    }),
  });
}

/**
 * Adds the cluster to a fault, as it was when the answer was created. So the fault agrees with the other data of the answer, also after the
 * cluster has left, and all readers of one answer get the same data.
 */
export function faultWithCluster(clusterView: ClusterView, fault: Fault): FaultView {
  return fault.cluster === clusterView.name ? { ...fault, clusterView } : fault;
}

function clusterOf({ cluster, clusterView }: FaultView, context: GraphContext): ClusterView {
  return clusterView ?? clusterNamed(cluster, context);
}

/** Returns the cluster as the caller sees it. A cluster that has left is returned with its name only, so that its faults are not lost. */
export function clusterNamed(cluster: ClusterName, { reads, read }: Pick<GraphContext, 'reads' | 'read'>): ClusterView {
  return reads.cluster(read, cluster) ?? { name: cluster, labels: {}, zones: [], taints: [], phase: 'UNREACHABLE', faults: [] };
}

/** Resolves a field to the cluster with the name in the parent. */
export function namedCluster({ cluster }: { readonly cluster: string }, _args: unknown, context: GraphContext): ClusterView {
  return clusterNamed(clusterName(cluster), context);
}

const faultMeanings: Readonly<Record<FaultCode, string>> = {
  UNREACHABLE: 'The gateway cannot connect to the cluster, or gets no answer from it.',
  TIMED_OUT: 'The cluster did not answer in time.',
  UNAUTHENTICATED: 'The cluster does not accept the credentials: they are wrong or have expired.',
  FORBIDDEN: 'The user does not have the permission in this cluster.',
  NOT_SERVED: 'The cluster does not serve the kind.',
  NOT_FOUND: 'The object does not exist in the cluster.',
  CONFLICT: 'Another client has changed the object, or owns fields that the write would change.',
  INVALID: 'The cluster refuses the content of the request.',
  THROTTLED: 'The cluster limits the rate of requests.',
  EXPIRED: 'The version that was read is too old to continue from.',
  SYNCING: 'The first list is not complete yet.',
  TOO_LARGE: 'The answer or the object is larger than this gateway accepts.',
  MALFORMED: 'The cluster sent an answer that the gateway cannot read.',
  MISFIT: 'A stored value does not fit the type of its field. The field is null. `object` and `yaml` contain the stored value.',
  SERVER_ERROR: 'The cluster answered with an internal error.',
  INSECURE: 'The certificate of the API server is not verified, because the kubeconfig sets `insecure-skip-tls-verify`.',
  DUPLICATE: 'Another cluster of the fleet has the same address, or its namespace `kube-system` has the same uid.',
  GONE: 'The cluster has left the fleet, it no longer serves the kind, or another cluster answers at its address.',
};

const retryMeanings: Readonly<Record<Retry, string>> = {
  NOW: 'The same request may succeed at once.',
  LATER: 'The same request may succeed after a while.',
  NEVER: 'The same request fails until something changes, such as a permission.',
};
