import type { Session } from './session.ts';

/** A kind that was named, in one cluster that serves it. */
export interface MeantKind {
  readonly cluster: { readonly name: string };
  readonly kind: NamedKind;
}

/** A kind, as the gateway tells it. */
export interface NamedKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** In the schema. */
  readonly type: string;
  readonly namespaced: boolean;
  readonly source: string;
}

/** The name that means this kind and no other. */
export function nameOfKind({ group, kind }: Pick<NamedKind, 'group' | 'kind'>): string {
  return `${kind}.${group === '' ? 'core' : group}`;
}

/**
 * Asks the gateway what names of kinds mean, and where: once for each kind and cluster that serves it, as far as that is known.
 *
 * @throws {CommandFailure} for a name that means nothing.
 */
export async function meantKinds({ gateway, clusters }: Session, kinds: readonly string[]): Promise<readonly MeantKind[]> {
  const query = `query ($kinds: [String!]!, $clusters: [String!]) {
    resources(kinds: $kinds, clusters: $clusters, first: 1, waitSeconds: 0) { sync { cluster { name } kind { group kind plural type namespaced source } } }
  }`;
  const { resources } = await gateway.query<{ readonly resources: { readonly sync: readonly MeantKind[] } }>(query, { kinds, clusters });
  return resources.sync;
}
