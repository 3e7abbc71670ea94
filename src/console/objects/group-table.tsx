import type { Json } from '../../core/json.ts';
import { usePolled } from '../gateway/use-polled.ts';
import { Alert } from '../parts/alert.tsx';
import { DataTable } from '../table/data-table.tsx';
import type { TableColumn } from '../table/table-column.ts';
import { textOfValue } from './path-values.ts';

interface Group {
  readonly keys: readonly (Json | null)[];
  readonly count: number;
}

interface GroupsAnswer {
  readonly resources: { readonly groups: readonly Group[] };
}

const groupsQuery = `query ($kinds: [String!], $clusters: [String!], $namespaces: [String!], $labels: String, $search: String, $where: Where, $by: [String!]!) {
  resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, search: $search, where: $where, first: 1) {
    groups(by: $by, first: 500) { keys count }
  }
}`;

/** Shows how many of the objects have each value at a path. The gateway counts, so the numbers are those of all objects. */
export function GroupTable({ path, variables }: { readonly path: string; readonly variables: object }) {
  const { data, failure } = usePolled<GroupsAnswer>({ query: groupsQuery, variables: { ...variables, by: [path] }, everyMs: 3_000 });
  const columns: readonly TableColumn<Group>[] = [
    { header: path, text: ({ keys }) => textOfValue(keys[0]) || '<none>' },
    { header: 'Count', text: ({ count }) => count.toLocaleString('en'), isNumeric: true },
  ];
  return (
    <>
      {failure === undefined ? null : <Alert>{failure.message}</Alert>}
      {failure !== undefined && data === undefined ? null : (
        <DataTable name="Groups" rows={data?.resources.groups ?? []} columns={columns} keyOf={({ keys }) => JSON.stringify(keys)} isShort />
      )}
    </>
  );
}
