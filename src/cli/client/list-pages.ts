import type { JsonObject } from '../../core/json.ts';
import { type ClusterAnswers, type ClusterSync, syncFields } from './cluster-answers.ts';
import { type ClusterFault, type ClusterFaultReport, faultFields, faultsInExtensions } from './cluster-faults.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';
import { dataOf } from './gateway-client.ts';
import type { Session } from './session.ts';

/** Which objects are listed, and in which order, as the gateway takes it. */
export interface ObjectSelection {
  readonly namespaces: readonly string[] | null;
  readonly labels: string | null;
  readonly where: JsonObject | null;
  readonly orderBy: readonly { readonly path: string }[] | null;
}

/** All objects of all clusters that anybody may see. */
export const allObjects: ObjectSelection = { namespaces: null, labels: null, where: null, orderBy: null };

/** What to ask of which objects. */
export interface ListPagesOptions {
  /** Null for every kind that may be listed. */
  readonly kinds: readonly string[] | null;
  readonly selected: ObjectSelection;
  /** The selection of each object. */
  readonly fields: string;
  /** Fragments that it uses. */
  readonly fragments?: string;
  /** Most at once, if each is large: 1 to 500, 500 if absent. */
  readonly pageSize?: number;
  /** Is told what clusters could not do, after the last page. */
  readonly report: Pick<ClusterFaultReport, 'print'>;
  /** Collects which clusters have answered, if kinds are named. */
  readonly answers?: ClusterAnswers;
}

/** Most that the gateway gives at once. */
const maxPageSize = 500;

interface Page<Item> {
  readonly items: readonly Item[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly faults: readonly ClusterFault[];
  /** One for each cluster that serves one of the kinds, as far as that is known. */
  readonly sync?: readonly ClusterSync[];
}

/**
 * The objects, page by page: cursors go on where the last one ended, whatever changes meanwhile.
 *
 * @throws {CommandFailure} if no cluster serves any of the kinds that are named.
 */
export async function* listPages<Item>(
  session: Session,
  { kinds, selected, fields, fragments = '', pageSize = maxPageSize, report, answers }: ListPagesOptions,
): AsyncIterable<readonly Item[]> {
  const { gateway, clusters } = session;
  const query = `query ($kinds: [String!], $clusters: [String!], $namespaces: [String!], $labels: String, $where: Where,
    $orderBy: [OrderBy!], $first: Int, $after: String) {
    resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, where: $where, orderBy: $orderBy,
      first: $first, after: $after) {
      items { ${fields} } pageInfo { hasNextPage endCursor } faults { ${faultFields} } ${kinds === null ? '' : `sync { ${syncFields} }`}
    }
  } ${fragments}`;
  const faults: ClusterFault[] = [];
  let after: string | null = null;
  do {
    const variables: JsonObject = { kinds, clusters, ...selected, first: pageSize, after };
    const answer = await gateway.send({ query, variables });
    const { resources } = dataOf<{ readonly resources: Page<Item> }>(answer);
    if (resources.sync?.length === 0) throw new CommandFailure(exitCodes.failed, `no cluster serves ${kinds?.join(',')}`);
    answers?.add(resources.sync ?? []);
    faults.push(...resources.faults, ...faultsInExtensions(answer));
    yield resources.items;
    after = resources.pageInfo.hasNextPage ? resources.pageInfo.endCursor : null;
  } while (after !== null);
  report.print(faults);
}
