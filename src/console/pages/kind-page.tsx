import { useEffect, useMemo, useState } from 'preact/hooks';
import { isUnknownKindMessage, keyOfKind } from '../../core/kinds.ts';
import type { ChangeMessage } from '../../core/streams/streamed-objects.ts';
import { changeQuery, query } from '../browser/location.ts';
import type { RequestFailure } from '../gateway/graphql.ts';
import { usePolled } from '../gateway/use-polled.ts';
import { type ClusterAnswer, countSentence, isPartial, problemOfSync } from '../objects/answers.ts';
import { GroupTable } from '../objects/group-table.tsx';
import { Filters, kindFilters } from '../objects/kind-filters.tsx';
import { type KindSync, type KindSyncAnswer, kindSyncQuery, type ShownKind } from '../objects/kind-names.ts';
import { type KindState, kindStateOf } from '../objects/kind-state.ts';
import { objectColumns } from '../objects/object-columns.ts';
import { sortedRows } from '../objects/sorted-rows.ts';
import { type KindTableQuery, type ObjectRow, tableOfKinds } from '../objects/table-of-kind.ts';
import { useLiveRows } from '../objects/use-live-rows.ts';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { DataTable } from '../table/data-table.tsx';
import { sortAfterClick } from '../table/table-column.ts';

type ObjectMessage = ChangeMessage<ObjectRow> & { readonly cursor: string };

/** Shows all objects of a kind in all clusters, live. The query of the page chooses objects, columns and order. */
export function KindPage({ kind: name }: { readonly kind: string }) {
  const text = query.value.toString();
  const state = useMemo(() => kindStateOf(new URLSearchParams(text)), [text]);
  const clusters = state.selection.clusters ?? null;
  const { data, failure } = usePolled<KindSyncAnswer>({ query: kindSyncQuery, variables: { kinds: [name], clusters }, everyMs: 5_000 });
  const sync = data?.resources.sync;
  const kinds = kindsOf(sync ?? []);
  const table = useKindTable(kinds, state);
  const found = 'query' in table ? table : undefined;
  const live = useLiveRows<ObjectRow, ObjectMessage>(
    found === undefined || state.problem !== undefined
      ? undefined
      : { query: found.query, field: 'resources', variables: { kinds: kinds.map(fullName), ...state.selection } },
  );
  const rows = useMemo(() => (found === undefined ? [] : sortedRows(live.items, state.sort, found.paths)), [live.items, state.sort, found]);
  const [one, many] = wordsOf(kinds, name);
  const problem = state.problem ?? failureText(failure) ?? live.failure?.message ?? ('problem' in table ? table.problem : undefined);
  // Without a cluster that serves the kind there is no table, and nothing to wait for.
  const answers = sync === undefined || (found === undefined && sync.length > 0) ? undefined : answersOf(sync, live.complete);
  return (
    <>
      <Heading title={many} kicker={<KindKicker kinds={kinds} />} />
      {failure !== undefined && sync === undefined ? null : <Filters fields={kindFilters} search="Search names and labels" />}
      {problem === undefined ? null : <Alert>{problem}</Alert>}
      <p role="status" class={isPartial(answers) ? 'status-line warn' : 'status-line'}>
        {problem === undefined
          ? countSentence({ count: live.count, shown: live.items.length, one, many, answers, isFiltered: state.isFiltered })
          : ''}
      </p>
      {state.group === undefined || found === undefined ? null : (
        <GroupTable path={state.group} variables={{ kinds: [name], ...state.selection }} />
      )}
      {found === undefined || state.problem !== undefined ? null : (
        <DataTable
          name={many}
          rows={rows}
          columns={objectColumns(kinds, found, state.columns)}
          keyOf={({ id }) => id}
          sort={state.sort}
          onSort={(path) => changeQuery({ sort: sortAfterClick(state.sort, path) }, { isStep: true })}
          isMain
        />
      )}
    </>
  );
}

/** Returns the message of a failure. For an unknown kind, it also names the page that lists all kinds. */
function failureText(failure: RequestFailure | undefined): string | undefined {
  const isUnknown = failure?.code === 'BAD_INPUT' && isUnknownKindMessage(failure.message);
  if (!isUnknown) return failure?.message;
  // The message may end with a question: "no kind podz; did you mean pods?"
  const end = failure.message.endsWith('?') ? '' : '.';
  return `The clusters have ${failure.message}${end} The page Objects lists all kinds.`;
}

function KindKicker({ kinds }: { readonly kinds: readonly ShownKind[] }) {
  return (
    <>
      <a href="/objects">All kinds</a>
      {kinds.length === 1 ? ` / ${kinds.map(keyOfKind).join()}` : ''}
    </>
  );
}

/** Finds the table of a kind, again if the kind or the paths of the page change. */
function useKindTable(kinds: readonly ShownKind[], { columns, sort }: KindState): KindTableQuery | { readonly problem?: string } {
  const [table, setTable] = useState<KindTableQuery | { readonly problem?: string }>({});
  const paths = [...new Set([...columns, ...(sort === undefined ? [] : [sort.path])])];
  const key = kinds.length === 0 ? '' : JSON.stringify([kinds.map(fullName), paths]);
  useEffect(() => {
    if (kinds.length === 0) return undefined;
    let isCurrent = true;
    tableOfKinds(kinds, paths).then(
      (found) => isCurrent && setTable(found),
      (error: Error) => isCurrent && setTable({ problem: error.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return table;
}

function kindsOf(sync: readonly KindSync[]): readonly ShownKind[] {
  return [...new Map(sync.map(({ kind }) => [fullName(kind), kind])).values()];
}

function fullName({ group, kind }: ShownKind): string {
  return `${kind}.${group === '' ? 'core' : group}`;
}

/** Returns the words for one object and for many: `pod`, `pods`. They are `object` and `objects` for several kinds. */
function wordsOf(kinds: readonly ShownKind[], name: string): readonly [one: string, many: string] {
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) return ['object', kind === undefined ? name : 'objects'];
  return [kind.kind.toLowerCase(), kind.plural];
}

/** Returns whether each cluster answers. Clusters that do not serve the kind are left out. */
function answersOf(sync: readonly KindSync[], complete: ReadonlySet<string>): readonly ClusterAnswer[] {
  return sync
    .filter(({ fault }) => fault?.code !== 'NOT_SERVED')
    .map((one) => ({ cluster: one.cluster.name, isComplete: complete.has(one.cluster.name), problem: problemOfSync(one) }));
}
