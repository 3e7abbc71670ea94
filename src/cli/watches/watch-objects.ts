import type { NamedObject } from '../../core/columns/object-names.ts';
import { ageColumn, nameColumn, type PrintedColumn } from '../../core/columns/printed-column.ts';
import { objectSummary, summaryDefinition, summaryFragment } from '../../core/columns/summary-columns.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ChangeMessage, StreamedChange } from '../../core/streams/streamed-objects.ts';
import type { ListOutput } from '../arguments/list-output.ts';
import { type ClusterFault, faultFields, lineOfFault } from '../client/cluster-faults.ts';
import { followSubscriptionField } from '../client/follow-subscription.ts';
import { fullKindName, resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { firstLine, labelColumns, locationColumns, selectionForColumns, type TableFlags, tableColumns } from '../lists/list-tables.ts';
import { customColumnsCells } from '../lists/template-text.ts';
import { ChangeLines, type ChangeSource, ChangesToPrint, eventHeader } from './change-lines.ts';
import { documentOfChange, fieldsOfFormat, type WatchedDocument } from './watched-documents.ts';

/** The objects to watch, and how they are printed. */
export interface WatchObjectsOptions {
  readonly kinds: readonly string[];
  /** Values of the variables `clusters`, `namespaces`, `labels` and `where`. */
  readonly selection: JsonObject;
  readonly output: ListOutput;
  readonly table: Omit<TableFlags, 'isWide'>;
  /** True: each change is printed with its type, ADDED, MODIFIED or DELETED. */
  readonly hasEvents: boolean;
  /** True: the objects that exist at the start are printed too. False: only changes are printed. */
  readonly showsExisting: boolean;
  /** True: in a jsonpath template, a field that an object does not have prints nothing. False: the command fails. */
  readonly allowsMissingKeys: boolean;
}

interface WatchedObject extends WatchedDocument {
  readonly metadata: NamedObject['metadata'] & {
    readonly uid: string | null;
    readonly creationTimestamp: string | null;
    readonly resourceVersion: string | null;
  };
}

interface Message extends ChangeMessage<WatchedObject> {
  readonly kind: { readonly group: string; readonly kind: string };
  readonly cursor: string;
  readonly fault: ClusterFault | null;
}

const queryOf = ({ fields, fragments = '' }: Pick<ObjectShow, 'fields' | 'fragments'>) => {
  const object = `id apiVersion kind cluster { name } metadata { name namespace uid creationTimestamp resourceVersion } ${fields}`;
  return `subscription ($kinds: [String!]!, $clusters: [String!], $namespaces: [String!], $labels: String, $where: Where, $after: String) {
    resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, where: $where, after: $after) {
      type cluster { name } kind { group kind } cursor fault { ${faultFields} }
      added { ${object} } modified { ${object} } deleted { ${object} }
    }
  } ${fragments}`;
};

/** Prints changes of objects until the signal aborts. A lost stream resumes where it was. */
export async function watchObjects(session: Session, options: WatchObjectsOptions): Promise<number> {
  const { kinds, selection, showsExisting } = options;
  let cursor: string | null = null;
  const variables = (how: 'first' | 'resumed' | 'anew') => ({ kinds, ...selection, after: how === 'anew' ? null : cursor });
  const versionOf = ({ metadata }: WatchedObject) => `${metadata.uid} ${metadata.resourceVersion}`;
  const changes = new ChangesToPrint<WatchedObject>({ versionOf, showsExisting });
  const show = await objectShow(session, options, changes);
  for await (const event of followSubscriptionField<Message>(session, { query: queryOf(show), field: 'resources', variables })) {
    if (event.type === 'restarted') changes.restart();
    if (event.type !== 'message') continue;
    await show.show(event.message);
    cursor = event.message.cursor;
  }
  return 0;
}

/** Prints the messages of a stream. */
interface ObjectShow {
  /** The GraphQL selection on each object. */
  readonly fields: string;
  /** GraphQL fragments that `fields` uses. Default: none. */
  readonly fragments?: string;
  show(message: Message): Promise<void>;
}

async function objectShow(session: Session, options: WatchObjectsOptions, changes: ChangeSource<WatchedObject>): Promise<ObjectShow> {
  const { terminal } = session;
  const { output: format } = options;
  if (format.type === 'table') return rowShow(session, await columnsToWatch(session, options, format), { ...options, changes });
  if (format.type === 'custom-columns') {
    const header = format.columns.map((column) => column.header);
    const cells = ({ object = {}, cluster }: WatchedObject) => customColumnsCells(format.columns, { ...object, cluster });
    const fields = 'object cluster { name region provider version labels }';
    return rowShow(session, { header, cells, fields }, { ...options, changes, minWidth: 3 });
  }
  return {
    fields: fieldsOfFormat(format),
    show: async (message) => {
      if (message.fault !== null) terminal.err(lineOfFault(message.fault));
      const text = changes.apply(message).map((change) => documentOfChange(change, { ...options, format }));
      if (text.length > 0) await terminal.out(text.join(''));
    },
  };
}

/** The columns of a table, without EVENT. */
interface WatchedColumns extends Pick<ObjectShow, 'fields' | 'fragments'> {
  readonly header: readonly string[];
  readonly cells: (item: WatchedObject) => readonly string[];
}

interface RowShowOptions extends Pick<WatchObjectsOptions, 'table' | 'hasEvents'> {
  readonly changes: ChangeSource<WatchedObject>;
  readonly minWidth?: number;
}

/** Prints a row per change. */
function rowShow(session: Session, { header, cells, ...selected }: WatchedColumns, options: RowShowOptions): ObjectShow {
  const { table, hasEvents, changes, minWidth } = options;
  const lines = new ChangeLines<WatchedObject>(session, {
    header: hasEvents ? [eventHeader, ...header] : header,
    row: ({ type, item }: StreamedChange<WatchedObject>) => (hasEvents ? [type, ...cells(item)] : cells(item)),
    changes,
    hasHeader: table.hasHeaders,
    minWidth,
  });
  return { ...selected, show: (message) => lines.add(message) };
}

/** Returns the columns of a kind as `list` prints them. For several kinds, the columns that all of them have. */
async function columnsToWatch(
  session: Session,
  { kinds, table }: WatchObjectsOptions,
  { isWide }: { readonly isWide: boolean },
): Promise<WatchedColumns> {
  const resolved = new Map((await resolveKinds(session, kinds)).map(({ kind }) => [fullKindName(kind), kind]));
  const [kind, another] = resolved.values();
  const isMixed = kind === undefined || another !== undefined;
  const columns = isMixed ? [...mixedColumns, ...labelColumns(table)] : await tableColumns(session, kind, { ...table, isWide });
  const header = columns.map((column) => column.header);
  const cells = (item: WatchedObject) => {
    const at = { nowMs: session.clock.now(), isMixed };
    return columns.map((column) => firstLine(column.cell(item, at) ?? ''));
  };
  if (!isMixed) return { header, cells, fields: selectionForColumns(kind, columns) };
  const fields = [`...${summaryFragment}`, ...columns.map((column) => column.fields)].join(' ');
  return { header, cells, fields, fragments: summaryDefinition };
}

const summaryColumn = (header: string, part: 'ready' | 'status'): PrintedColumn => ({
  header,
  fields: '',
  cell: (item, at) => objectSummary(item, at)[part],
});

const mixedColumns: readonly PrintedColumn[] = [
  ...locationColumns({ namespaced: true }),
  nameColumn,
  summaryColumn('READY', 'ready'),
  summaryColumn('STATUS', 'status'),
  ageColumn,
];
