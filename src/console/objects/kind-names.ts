import type { AnsweredSync } from './answers.ts';

/** A kind, as the console selects it. */
export interface ShownKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** The name of its GraphQL type. */
  readonly type: string;
  readonly namespaced: boolean;
  readonly source: string;
}

/** The GraphQL selection that gives a `ShownKind`. */
export const shownKindFields = 'group kind plural type namespaced source';

/** Returns the name of a kind in paths: `pods`, `deployments.apps`. */
export function pathNameOfKind({ group, plural }: Pick<ShownKind, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** How current the objects of one kind in one cluster are. */
export interface KindSync extends AnsweredSync {
  readonly cluster: { readonly name: string };
  readonly kind: ShownKind;
}

/** The query that finds the kinds with a name such as `po`, and how current each kind is in each cluster. */
export const kindSyncQuery = `query ($kinds: [String!]!, $clusters: [String!]) {
  resources(kinds: $kinds, clusters: $clusters, first: 1, waitSeconds: 0) {
    sync { phase ageSeconds cluster { name } kind { ${shownKindFields} } fault { code message } }
  }
}`;

/** The answer to `kindSyncQuery`. */
export interface KindSyncAnswer {
  readonly resources: { readonly sync: readonly KindSync[] };
}
