import type { JsonObject } from '../../core/json.ts';
import { type ClusterAnswers, type ClusterSync, syncFields } from './cluster-answers.ts';
import { type ClusterFault, type ClusterFaultReport, faultFields, faultsInExtensions } from './cluster-faults.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';
import { dataOf, type GatewayAnswer, type GatewayRequest } from './gateway-client.ts';
import type { Session } from './session.ts';

/** The objects to list and their order, as arguments of the gateway. */
export interface ObjectSelection {
  readonly namespaces: readonly string[] | null;
  readonly labels: string | null;
  readonly where: JsonObject | null;
  readonly orderBy: readonly { readonly path: string }[] | null;
}

/** All objects that the caller may see. */
export const allObjects: ObjectSelection = { namespaces: null, labels: null, where: null, orderBy: null };

/** The kinds, objects and fields to list. */
export interface ListPagesOptions {
  /** Names of kinds. Null: every kind that may be listed. */
  readonly kinds: readonly string[] | null;
  readonly selected: ObjectSelection;
  /** The GraphQL selection on each object. */
  readonly fields: string;
  /** GraphQL fragments that `fields` uses. Default: none. */
  readonly fragments?: string;
  /** Objects in one page, 1 to 500. Use fewer if each object is large. Default: 500. */
  readonly pageSize?: number;
  /** Prints the faults of clusters after the last page. */
  readonly report: Pick<ClusterFaultReport, 'print'>;
  /** Collects which clusters have answered. Used only if `kinds` names kinds. */
  readonly answers?: ClusterAnswers;
}

/** The largest page that the gateway gives. */
const maxPageSize = 500;

interface Page<Item> {
  readonly items: readonly Item[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly faults: readonly ClusterFault[];
  /** The sync states by cluster and kind. Undefined if the query names no kinds. Empty if no cluster serves any of the named kinds. */
  readonly sync?: readonly ClusterSync[];
}

/** Returns the request of a page. `after` is the cursor of the page before, null for the first page. */
export function pageRequest(
  { clusters }: Pick<Session, 'clusters'>,
  {
    kinds,
    selected,
    fields,
    fragments = '',
    pageSize = maxPageSize,
  }: Pick<ListPagesOptions, 'kinds' | 'selected' | 'fields' | 'fragments' | 'pageSize'>,
  after: string | null,
): GatewayRequest {
  const query = `query ($kinds: [String!], $clusters: [String!], $namespaces: [String!], $labels: String, $where: Where,
    $orderBy: [OrderBy!], $first: Int, $after: String) {
    resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, where: $where, orderBy: $orderBy,
      first: $first, after: $after) {
      items { ${fields} } pageInfo { hasNextPage endCursor } faults { ${faultFields} } ${kinds === null ? '' : `sync { ${syncFields} }`}
    }
  } ${fragments}`;
  return { query, variables: { kinds, clusters, ...selected, first: pageSize, after } };
}

/**
 * Lists objects page by page, and prints the faults of clusters after the last page. A cursor continues after the previous page, even if
 * objects have changed since then.
 *
 * @throws {CommandFailure} if no cluster serves any of the named kinds.
 */
export async function* listPages<Item>(session: Session, options: ListPagesOptions): AsyncIterable<readonly Item[]> {
  const { kinds, report, answers } = options;
  const faults: ClusterFault[] = [];
  let after: string | null = null;
  do {
    const answer: GatewayAnswer = await session.gateway.send(pageRequest(session, options, after));
    const { resources } = dataOf<{ readonly resources: Page<Item> }>(answer);
    if (resources.sync?.length === 0) throw new CommandFailure(exitCodes.failed, `no cluster serves ${kinds?.join(',')}`);
    answers?.add(resources.sync ?? []);
    faults.push(...resources.faults, ...faultsInExtensions(answer));
    yield resources.items;
    after = resources.pageInfo.hasNextPage ? resources.pageInfo.endCursor : null;
  } while (after !== null);
  report.print(faults);
}
