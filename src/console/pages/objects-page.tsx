import { useState } from 'preact/hooks';
import { navigate, query } from '../browser/location.ts';
import { kindPath } from '../browser/paths.ts';
import { type RequestFailure, request } from '../gateway/graphql.ts';
import { usePolled } from '../gateway/use-polled.ts';
import { pathNameOfKind, type ShownKind, shownKindFields } from '../objects/kind-names.ts';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { countedText } from '../parts/texts.ts';
import { DataTable } from '../table/data-table.tsx';
import type { TableColumn } from '../table/table-column.ts';

interface KindsAnswer {
  readonly clusters: readonly {
    readonly name: string;
    readonly kinds: readonly {
      readonly count: number | null;
      readonly verbs: readonly string[];
      readonly kind: ShownKind & { readonly shortNames: readonly string[] };
    }[];
  }[];
}

interface KindRow {
  readonly kind: ShownKind & { readonly shortNames: readonly string[] };
  /** The objects of all clusters. Undefined if the gateway has not read the kind in any cluster. */
  readonly count: number | undefined;
  readonly clusters: number;
}

const kindsQuery = `{ clusters { name kinds { count verbs kind { ${shownKindFields} shortNames } } } }`;

/** The query that makes the gateway read every kind. The page ignores the answer, and asks for the counts afterwards. */
const countQuery = 'query { resources(first: 1, waitSeconds: 5) { totalCount } }';

const columns = (clusters: number): readonly TableColumn<KindRow>[] => [
  { header: 'Name', text: ({ kind }) => pathNameOfKind(kind), href: ({ kind }) => kindPath(pathNameOfKind(kind)) },
  { header: 'Kind', text: ({ kind }) => kind.kind },
  { header: 'Short', text: ({ kind }) => kind.shortNames.join(',') },
  { header: 'Namespaced', text: ({ kind }) => String(kind.namespaced), tone: () => 'dim' },
  { header: 'Count', text: ({ count }) => (count === undefined ? '–' : count.toLocaleString('en')), isNumeric: true },
  {
    header: 'Clusters',
    text: (row) => `${row.clusters}/${clusters}`,
    isNumeric: true,
    tone: (row) => (row.clusters < clusters ? 'warn' : undefined),
  },
];

/** Shows all kinds that the clusters serve. The search box finds one, and Enter opens it. */
export function ObjectsPage() {
  const [version, setVersion] = useState(0);
  const { data, failure } = usePolled<KindsAnswer>({ query: kindsQuery, everyMs: 5_000, version });
  const search = (query.value.get('search') ?? '').toLowerCase();
  const all = data === undefined ? [] : kindRows(data);
  const rows = all.filter(({ kind }) => isFound(kind, search));
  const [first] = rows;
  return (
    <>
      <Heading title="Objects">
        <CountButton onCounted={() => setVersion((before) => before + 1)} />
      </Heading>
      <div class="filters">
        <SearchBox
          label="Jump to a kind"
          onEnter={() => first !== undefined && navigate(kindPath(pathNameOfKind(kindNamed(rows, search) ?? first.kind)))}
        />
      </div>
      {failure === undefined ? null : <Alert>{failure.message}</Alert>}
      <p role="status" class="status-line">
        {data === undefined ? 'Loading' : kindsText(data, search, { shown: rows.length, all: all.length })}
      </p>
      <DataTable name="Kinds" rows={rows} columns={columns(data?.clusters.length ?? 0)} keyOf={({ kind }) => pathNameOfKind(kind)} isMain />
    </>
  );
}

/** Returns `64 kinds. A kind is counted once it has been opened.` */
function kindsText({ clusters }: KindsAnswer, search: string, { shown, all }: { readonly shown: number; readonly all: number }): string {
  if (clusters.length === 0) return 'No kinds, because there are no clusters.';
  const count = `${countedText(shown, 'kind', 'kinds')}${search === '' ? '' : ` of ${all}`}`;
  return `${count}. A kind is counted once it has been opened.`;
}

/** Makes the gateway read and count every kind. It costs memory, so it happens only on request. */
function CountButton({ onCounted }: { readonly onCounted: () => void }) {
  const [state, setState] = useState<'idle' | 'busy' | RequestFailure>('idle');
  const count = async () => {
    setState('busy');
    await request(countQuery).then(() => setState('idle'), setState);
    onCounted();
  };
  return (
    <>
      {state instanceof Error ? <Alert>{state.message}</Alert> : null}
      <button type="button" disabled={state === 'busy'} onClick={count}>
        {state === 'busy' ? 'Counting' : 'Count all kinds'}
      </button>
    </>
  );
}

function kindRows({ clusters }: KindsAnswer): readonly KindRow[] {
  const rows = new Map<string, KindRow>();
  for (const { kinds } of clusters)
    for (const { kind, count, verbs } of kinds) {
      if (!verbs.includes('list')) continue;
      const name = pathNameOfKind(kind);
      const before = rows.get(name);
      const sum = count === null ? before?.count : count + (before?.count ?? 0);
      rows.set(name, { kind, count: sum, clusters: (before?.clusters ?? 0) + 1 });
    }
  return [...rows.values()].toSorted((a, b) => (pathNameOfKind(a.kind) < pathNameOfKind(b.kind) ? -1 : 1));
}

function isFound(kind: KindRow['kind'], search: string): boolean {
  return [pathNameOfKind(kind), kind.kind.toLowerCase(), ...kind.shortNames].some((name) => name.includes(search));
}

/** Returns the kind whose plural, kind or short name equals the search. Undefined if there is none. */
function kindNamed(rows: readonly KindRow[], search: string): ShownKind | undefined {
  return rows.find(({ kind }) => [kind.plural, kind.kind.toLowerCase(), ...kind.shortNames].includes(search))?.kind;
}
