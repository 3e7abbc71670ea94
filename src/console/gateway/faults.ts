/** A fault of one cluster, as the console selects it. */
export interface ShownFault {
  readonly code: string;
  readonly message: string;
  readonly cluster: { readonly name: string };
  readonly kind?: { readonly plural: string } | null;
}

/** The GraphQL selection that gives a `ShownFault`. */
export const shownFaultFields = 'code message cluster { name } kind { plural }';

/** Returns `pods: FORBIDDEN: the user may not list`, without the cluster. */
export function faultText({ code, message, kind }: ShownFault): string {
  return `${kind === undefined || kind === null ? '' : `${kind.plural}: `}${code}: ${message}`;
}
