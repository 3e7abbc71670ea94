import type { JsonObject } from '../../core/json.ts';
import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';
import { followSubscriptionField } from '../client/follow-subscription.ts';
import type { NamedObject } from '../client/object-names.ts';
import { fullKindName, resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { ageColumn, nameColumn, type PrintedColumn } from '../columns/printed-column.ts';
import { objectSummary, summaryDefinition, summaryFragment } from '../columns/summary-columns.ts';
import { columnsToPrint, firstLine, locationColumns, selectionForColumns } from '../lists/list-tables.ts';
import { ChangeLines, eventHeader, MessageLines } from './change-lines.ts';
import type { ChangeMessage, StreamedChange, StreamedItem } from './streamed-objects.ts';

/** The kinds to watch, and the output format. */
export interface WatchObjectsOptions {
  readonly kinds: readonly string[];
  /** Values of `clusters`, `namespaces` and `labels`. */
  readonly selection: JsonObject;
  readonly output: 'json' | undefined;
}

interface WatchedObject extends NamedObject, StreamedItem {
  readonly cluster: { readonly name: string };
  readonly metadata: NamedObject['metadata'] & {
    readonly uid: string | null;
    readonly creationTimestamp: string | null;
    readonly resourceVersion: string | null;
  };
  readonly object?: JsonObject;
}

interface Message extends ChangeMessage<WatchedObject> {
  readonly kind: { readonly group: string; readonly kind: string };
  readonly cursor: string;
  readonly fault: ClusterFault | null;
}

const queryOf = ({ fields, fragments = '' }: Pick<ShownColumns, 'fields' | 'fragments'>) => {
  const object = `id apiVersion kind cluster { name } metadata { name namespace uid creationTimestamp resourceVersion } ${fields}`;
  return `subscription ($kinds: [String!]!, $clusters: [String!], $namespaces: [String!], $labels: String, $after: String) {
    resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, after: $after) {
      type cluster { name } kind { group kind } cursor fault { ${faultFields} }
      added { ${object} } modified { ${object} } deleted { ${object} }
    }
  } ${fragments}`;
};

/** Prints changes of objects until the signal aborts. A lost stream resumes where it was. */
export async function watchObjects(session: Session, { kinds, selection, output }: WatchObjectsOptions): Promise<number> {
  let cursor: string | null = null;
  const variables = (how: 'first' | 'resumed' | 'anew') => ({ kinds, ...selection, after: how === 'anew' ? null : cursor });
  const columns = output === 'json' ? undefined : await columnsToWatch(session, kinds);
  const query = queryOf(columns ?? { fields: 'object' });
  const show = columns === undefined ? jsonLines(session) : changeLines(session, columns);
  for await (const event of followSubscriptionField<Message>(session, { query, field: 'resources', variables })) {
    if (event.type === 'restarted') await show.restart();
    if (event.type !== 'message') continue;
    await show.show(event.message);
    cursor = event.message.cursor;
  }
  return 0;
}

interface ObjectShow {
  show(message: Message): Promise<void>;
  restart(): Promise<void>;
}

interface ShownColumns {
  readonly columns: readonly PrintedColumn[];
  readonly fields: string;
  readonly fragments?: string;
  readonly isMixed: boolean;
}

/** Returns the columns of a kind as `list` prints them. For several kinds, the columns that all of them have. */
async function columnsToWatch(session: Session, kinds: readonly string[]): Promise<ShownColumns> {
  const resolved = new Map((await resolveKinds(session, kinds)).map(({ kind }) => [fullKindName(kind), kind]));
  const [kind, another] = resolved.values();
  if (kind === undefined || another !== undefined)
    return { columns: mixedColumns, fields: `...${summaryFragment}`, fragments: summaryDefinition, isMixed: true };
  const columns = [...locationColumns(kind), ...(await columnsToPrint(session, kind, { isWide: false }))];
  return { columns, fields: selectionForColumns(kind, columns), isMixed: false };
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

function changeLines(session: Session, { columns, isMixed }: ShownColumns): ObjectShow {
  const row = ({ type, item }: StreamedChange<WatchedObject>) => {
    const at = { nowMs: session.clock.now(), isMixed };
    return [type, ...columns.map((column) => firstLine(column.cell(item, at) ?? ''))];
  };
  const versionOf = ({ metadata }: WatchedObject) => `${metadata.uid} ${metadata.resourceVersion}`;
  const lines = new ChangeLines(session, { header: [eventHeader, ...columns.map(({ header }) => header)], row, versionOf });
  return { show: (message) => lines.add(message), restart: async () => lines.restart() };
}

/** Prints messages as JSON, with each whole object in place of its GraphQL selection. */
function jsonLines({ terminal }: Session): ObjectShow {
  const lines = new MessageLines((text) => terminal.out(text));
  const whole = (items: Message['added']) => items.map(({ object = {} }) => object);
  return {
    show: (message) =>
      lines.print({ ...message, added: whole(message.added), modified: whole(message.modified), deleted: whole(message.deleted) }),
    restart: () => lines.restart(),
  };
}
