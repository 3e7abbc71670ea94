import type { Session } from './session.ts';

/** A kind that was named, in one cluster that serves it. */
export interface MeantKind {
  readonly cluster: { readonly name: string };
  readonly kind: { readonly group: string; readonly kind: string; readonly namespaced: boolean };
}

/**
 * Asks the gateway what names of kinds mean, and where: once for each kind and cluster that serves it, as far as that is known.
 *
 * @throws {CommandFailure} for a name that means nothing.
 */
export async function meantKinds({ gateway, clusters }: Session, kinds: readonly string[]): Promise<readonly MeantKind[]> {
  const query = `query ($kinds: [String!]!, $clusters: [String!]) {
    resources(kinds: $kinds, clusters: $clusters, first: 1, waitSeconds: 0) { sync { cluster { name } kind { group kind namespaced } } }
  }`;
  const { resources } = await gateway.query<{ readonly resources: { readonly sync: readonly MeantKind[] } }>(query, { kinds, clusters });
  return resources.sync;
}
