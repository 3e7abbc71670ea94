import { CommandFailure, exitCodes } from './command-failure.ts';
import type { Session } from './session.ts';

/** A kind that was named, in one cluster that serves it. */
export interface ClusterKind {
  readonly cluster: { readonly name: string };
  readonly kind: ResolvedKind;
}

/** A kind, as the gateway tells it. */
export interface ResolvedKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** In the schema. */
  readonly type: string;
  readonly namespaced: boolean;
  readonly source: string;
}

/** The name that means this kind and no other. */
export function fullKindName({ group, kind }: Pick<ResolvedKind, 'group' | 'kind'>): string {
  return `${kind}.${group === '' ? 'core' : group}`;
}

/**
 * Asks the gateway what names of kinds mean, and where: once for each kind and cluster that serves it, as far as that is known.
 *
 * @throws {CommandFailure} for a name that means nothing. Its exit code is 3 if a cluster has not answered, because that cluster may have the kind.
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
    if (!(error instanceof CommandFailure) || !error.message.startsWith('no kind ')) throw error;
    const silent = await silentClusters(session);
    if (silent.length === 0) throw error;
    throw new CommandFailure(exitCodes.unknown, `${error.message} in the clusters that answered; no answer from ${silent.join(', ')}`);
  }
}

/** The kinds of these names, each once. */
export async function resolveDistinctKinds(session: Session, names: readonly string[]): Promise<readonly ResolvedKind[]> {
  const meant = await Promise.all(names.map((name) => resolveKinds(session, [name])));
  const kinds = new Map(meant.flat().map(({ kind }) => [fullKindName(kind), kind]));
  if (kinds.size === 0) throw noClusterServes(names);
  return [...kinds.values()];
}

/** The named clusters, or all, that do not answer now: `south (UNREACHABLE)`. */
async function silentClusters({ gateway, clusters: named }: Session): Promise<readonly string[]> {
  const { clusters } = await gateway.query<{ readonly clusters: readonly { readonly name: string; readonly phase: string }[] }>(
    '{ clusters { name phase } }',
    {},
  );
  return clusters
    .filter(({ name, phase }) => (named?.includes(name) ?? true) && (phase === 'CONNECTING' || phase === 'UNREACHABLE'))
    .map(({ name, phase }) => `${name} (${phase})`);
}

/** The end of a command that names kinds which no cluster serves. */
export function noClusterServes(names: readonly string[]): CommandFailure {
  return new CommandFailure(exitCodes.failed, `no cluster serves ${names.join(',')}`);
}
