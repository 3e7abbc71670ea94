import type { Fault, FaultCode, Retry } from '../core/faults.ts';
import { keyOfKind } from '../core/kinds.ts';
import { type ClusterName, clusterName } from '../core/names.ts';
import type { ClusterView } from '../load/reads.ts';
import { chargedList } from './budget.ts';
import type { FaultView, GraphBuilder, Pothos } from './builder.ts';
import type { GraphContext } from './context.ts';
import { isoOf } from './times.ts';

/** Adds `Fault`, `FaultCode`, `Retry`, `ApiError` and `ApiErrorCause`. */
export function addFaults(builder: GraphBuilder): void {
  const { pothos, types, model } = builder;
  const code = enumsOf(pothos)('FaultCode', 'What went wrong.', faultMeanings);
  const retry = enumsOf(pothos)('Retry', 'Whether the same request may succeed later.', retryMeanings);
  types.fault.implement({
    description: 'What one cluster could not do. Data beside the results: it never fails a request.',
    fields: (t) => ({
      code: t.field({ type: code, nullable: false, description: 'What went wrong.', resolve: (fault) => fault.code }),
      cluster: t.field({
        type: types.cluster,
        nullable: false,
        description: 'The cluster that could not do it.',
        resolve: (fault, _args, context) => clusterOf(fault, context),
      }),
      kind: t.field({
        type: types.kind,
        description: 'The kind it is about; null if it is about the cluster as a whole.',
        resolve: ({ kind }) => (kind === undefined ? undefined : model.kinds.get(keyOfKind(kind))),
      }),
      message: t.exposeString('message', { nullable: false, description: 'For people. Holds neither host nor secret.' }),
      retry: t.field({ type: retry, nullable: false, description: 'Whether to ask again.', resolve: (fault) => fault.retry }),
      since: t.field({ type: 'DateTime', description: 'Since when it holds.', resolve: ({ sinceMs }) => isoOf(sinceMs) }),
      status: t.field({ type: types.apiError, description: 'What the API server itself said.', resolve: (fault) => fault.status }),
    }),
  });
  addApiErrors(builder);
}

function addApiErrors({ types }: GraphBuilder): void {
  types.apiError.implement({
    description: 'The answer of an API server that refused: its Status.',
    fields: (t) => ({
      code: t.exposeInt('code', { nullable: false, description: 'The HTTP status.' }),
      reason: t.exposeString('reason', { nullable: false, description: 'One word for machines, such as `Forbidden`.' }),
      message: t.exposeString('message', { nullable: false, description: 'For people.' }),
      retryAfterSeconds: t.exposeInt('retryAfterSeconds', { description: 'How long to wait before asking again.' }),
      causes: t.field({
        type: [types.apiErrorCause],
        nullable: false,
        description: 'Why, field by field.',
        resolve: chargedList('causes'),
      }),
    }),
  });
  types.apiErrorCause.implement({
    description: 'One reason why an API server refused.',
    fields: (t) => ({
      reason: t.exposeString('reason', { description: 'One word for machines.' }),
      field: t.exposeString('field', { description: 'The path of the field at fault.' }),
      message: t.exposeString('message', { description: 'For people.' }),
    }),
  });
}

/**
 * The fault with its cluster as the answer sees it: of the same moment as all else in it, also once the cluster has left, and the same for all who
 * are given one answer.
 */
export function faultIn(clusterView: ClusterView, fault: Fault): FaultView {
  return fault.cluster === clusterView.name ? { ...fault, clusterView } : fault;
}

function clusterOf({ cluster, clusterView }: FaultView, context: GraphContext): ClusterView {
  return clusterView ?? clusterNamed(cluster, context);
}

/** The cluster as the caller sees it. One that has left since is still named: what is told of it must not be lost with it. */
export function clusterNamed(cluster: ClusterName, { reads, read }: Pick<GraphContext, 'reads' | 'read'>): ClusterView {
  return reads.cluster(read, cluster) ?? { name: cluster, labels: {}, zones: [], taints: [], phase: 'UNREACHABLE', faults: [] };
}

/** Resolves a field to the cluster that its parent names. */
export function namedCluster({ cluster }: { readonly cluster: string }, _args: unknown, context: GraphContext): ClusterView {
  return clusterNamed(clusterName(cluster), context);
}

/** What adds an enum by its values with their meanings, in their order. Each value stands for itself. */
export function enumsOf(pothos: Pothos) {
  return <const Value extends string>(name: string, description: string, meanings: Readonly<Record<Value, string>>) => {
    const values = Object.entries<string>(meanings).map(([value, meaning]) => [value, { value, description: meaning }]);
    type Values = { readonly [V in Value]: { readonly value: V; readonly description: string } };
    return pothos.enumType(name, { description, values: Object.fromEntries(values) as Values });
  };
}

const faultMeanings: Readonly<Record<FaultCode, string>> = {
  UNREACHABLE: 'Nothing can be sent to the cluster, or nothing comes back.',
  TIMED_OUT: 'The cluster did not answer in time.',
  UNAUTHENTICATED: 'The cluster does not know who asks: the credentials are wrong or have expired.',
  FORBIDDEN: 'The cluster knows who asks, and does not allow it.',
  NOT_SERVED: 'The cluster has no such kind.',
  NOT_FOUND: 'The cluster has no such object.',
  CONFLICT: 'Somebody else has changed or owns what was to be changed.',
  INVALID: 'The cluster refuses what it was sent.',
  THROTTLED: 'The cluster asks for patience.',
  EXPIRED: 'What was read is too old to go on from.',
  SYNCING: 'The first list is not whole yet.',
  TOO_LARGE: 'More than this gateway takes.',
  MALFORMED: 'The cluster answered something that cannot be understood.',
  MISFIT: 'A stored value does not fit the type of its field: it is null here, and as stored in `object` and `yaml`.',
  SERVER_ERROR: 'The cluster failed while answering.',
  INSECURE: 'The identity of the cluster is not verified, as its kubeconfig demands.',
  DUPLICATE: 'Another name of the fleet has the same address, or another cluster has the same uid of `kube-system`.',
  GONE: 'The cluster or the kind has left, or another cluster answers at the address.',
};

const retryMeanings: Readonly<Record<Retry, string>> = {
  NOW: 'At once.',
  LATER: 'After a while.',
  NEVER: 'Not before somebody changes something.',
};
