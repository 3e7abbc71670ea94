import { isUnknownKindMessage } from '../../core/kinds.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';
import type { Session } from './session.ts';

/** A named kind in one cluster that serves it. */
export interface ClusterKind {
  readonly cluster: { readonly name: string };
  readonly kind: ResolvedKind;
}

/** A kind as the gateway describes it. */
export interface ResolvedKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** The name of its GraphQL type. */
  readonly type: string;
  readonly namespaced: boolean;
  readonly source: string;
}

/** Returns the name that identifies exactly this kind, such as `Deployment.apps` or `Pod.core`. */
export function fullKindName({ group, kind }: Pick<ResolvedKind, 'group' | 'kind'>): string {
  return `${kind}.${group === '' ? 'core' : group}`;
}

/**
 * Queries which kinds the names mean. Returns an entry for each of these kinds and each cluster that is known to serve it. Empty if no cluster is
 * known to serve any of them.
 *
 * @throws {CommandFailure} if a name means no kind. The exit code is 3 if a cluster has not answered, because that cluster may have the kind.
 */
export async function resolveKinds(session: Session, kinds: readonly string[]): Promise<readonly ClusterKind[]> {
  const query = `query ($kinds: [String!]!, $clusters: [String!]) {
    resources(kinds: $kinds, clusters: $clusters, first: 1, waitSeconds: 0) { sync { cluster { name } kind { group kind plural type namespaced source } } }
  }`;
  const { gateway, clusters } = session;
  try {
    const { resources } = await gateway.query<{ readonly resources: { readonly sync: readonly ClusterKind[] } }>(query, {
      kinds,
      clusters,
    });
    return resources.sync;
  } catch (error) {
    if (!(error instanceof CommandFailure) || !isUnknownKindMessage(error.message)) throw error;
    const silent = await silentClusters(session);
    if (silent.length === 0) throw error;
    throw new CommandFailure(
      exitCodes.unknown,
      `unknown whether a cluster serves ${kinds.join(',')}. Did not answer: ${silent.join(', ')}`,
    );
  }
}

/** Queries which kinds the names mean, and returns each kind once. @throws {CommandFailure} if no cluster serves any of them. */
export async function resolveDistinctKinds(session: Session, names: readonly string[]): Promise<readonly ResolvedKind[]> {
  const resolved = await Promise.all(names.map((name) => resolveKinds(session, [name])));
  const kinds = new Map(resolved.flat().map(({ kind }) => [fullKindName(kind), kind]));
  if (kinds.size === 0) throw noClusterServes(names);
  return [...kinds.values()];
}

/** Returns the clusters that do not answer now, as texts such as `south (UNREACHABLE)`. With `--context`, only the named clusters count. */
async function silentClusters({ gateway, clusters: named }: Session): Promise<readonly string[]> {
  const { clusters } = await gateway.query<{ readonly clusters: readonly { readonly name: string; readonly phase: string }[] }>(
    '{ clusters { name phase } }',
    {},
  );
  return clusters
    .filter(({ name, phase }) => (named?.includes(name) ?? true) && (phase === 'CONNECTING' || phase === 'UNREACHABLE'))
    .map(({ name, phase }) => `${name} (${phase})`);
}

/** Returns the failure of a command whose kinds no cluster serves. */
export function noClusterServes(names: readonly string[]): CommandFailure {
  return new CommandFailure(exitCodes.failed, `no cluster serves ${names.join(',')}`);
}
