import { groupOfApiVersion } from '../../core/kinds.ts';
import { fullKindName, resolveDistinctKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import type { PropagationKey } from '../writes/write-targets.ts';

/** Selects the Propagations that were imported from one cluster. */
export interface ImportedSelection {
  readonly cluster: string;
  /** Names of the kinds of the propagated objects. Default: all kinds. */
  readonly kinds: readonly string[] | undefined;
  /** Namespaces of the source objects. Default: all namespaces, and objects without a namespace. */
  readonly namespaces: readonly string[] | undefined;
}

interface KindInTemplate {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The fields of a `PropagationInput` that tell where it was imported from. */
interface ImportedSpec {
  readonly source?: {
    readonly cluster?: string;
    readonly objects?: readonly { readonly role?: string; readonly namespace?: string }[];
  };
  readonly template: readonly { readonly json?: KindInTemplate; readonly ref?: KindInTemplate }[];
}

interface PropagationsPage {
  readonly items: readonly (PropagationKey & { readonly spec: ImportedSpec })[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** Propagations per page. A spec may have 1.5 MB. */
const pageSize = 50;

const query = `query ($first: Int, $after: String) {
  propagations(first: $first, after: $after) { items { namespace name spec } pageInfo { hasNextPage endCursor } } }`;

/**
 * Finds the Propagations that were imported from a cluster, ordered by namespace and name. The cluster need not be in the fleet any more.
 *
 * @throws {CommandFailure} if a name means no kind, or if no cluster serves any of the kinds.
 */
export async function importedFrom(
  session: Session,
  { cluster, kinds, namespaces }: ImportedSelection,
): Promise<readonly PropagationKey[]> {
  const wanted = kinds && new Set((await resolveDistinctKinds({ ...session, clusters: null }, kinds)).map(fullKindName));
  const isWanted = ({ source, template: [first] }: ImportedSpec): boolean => {
    const { apiVersion = '', kind = '' } = first?.json ?? first?.ref ?? {};
    if (source?.cluster !== cluster || wanted?.has(fullKindName({ group: groupOfApiVersion(apiVersion), kind })) === false) return false;
    const place = source.objects?.find(({ role }) => role === 'Template')?.namespace;
    return namespaces === undefined || (place !== undefined && namespaces.includes(place));
  };
  const found: PropagationKey[] = [];
  for (let after: string | null = null; ; ) {
    const { propagations }: { readonly propagations: PropagationsPage } = await session.gateway.query(query, { first: pageSize, after });
    found.push(...propagations.items.filter(({ spec }) => isWanted(spec)).map(({ namespace, name }) => ({ namespace, name })));
    after = propagations.pageInfo.endCursor;
    if (!propagations.pageInfo.hasNextPage) return found;
  }
}
