import type { CoreV1Event } from '@kubernetes/client-node';
import { pathColumn } from './json-columns.ts';
import { ageText } from './kubectl-text.ts';
import { type AnsweredObject, countText, type KindTable, type Maybe, nameColumn, type PrintedColumn } from './printed-column.ts';

type Event = AnsweredObject<CoreV1Event>;

const lastSeenColumn: PrintedColumn<Event> = {
  header: 'LAST SEEN',
  fields: 'firstTimestamp lastTimestamp eventTime series { lastObservedTime }',
  cell: (event, { nowMs }) => ageText(event.series ? event.series.lastObservedTime : (event.lastTimestamp ?? firstSeenOf(event)), nowMs),
};

const typeColumn = pathColumn('TYPE', 'type');

const reasonColumn = pathColumn('REASON', 'reason');

const messageColumn: PrintedColumn<Event> = { header: 'MESSAGE', fields: 'message', cell: ({ message }) => (message ?? '').trim() };

const columns: readonly PrintedColumn<Event>[] = [
  lastSeenColumn,
  typeColumn,
  reasonColumn,
  { header: 'OBJECT', fields: 'involvedObject { kind name }', cell: objectText },
  { ...pathColumn('SUBOBJECT', 'involvedObject.fieldPath'), isWide: true },
  { header: 'SOURCE', isWide: true, fields: 'source { component host } reportingComponent reportingInstance', cell: sourceText },
  messageColumn,
  {
    header: 'FIRST SEEN',
    isWide: true,
    fields: 'firstTimestamp eventTime',
    cell: (event, { nowMs }) => ageText(firstSeenOf(event), nowMs),
  },
  {
    header: 'COUNT',
    isWide: true,
    fields: 'count series { count }',
    cell: ({ count, series }) => countText(series ? series.count : count || 1),
  },
  { ...nameColumn, isWide: true },
];

/** The table of Events. NAME is a wide column. */
export const eventTable: KindTable = { group: '', kind: 'Event', columns };

/** The columns of the events of one object. */
export const eventColumnsOfObject: readonly PrintedColumn<Event>[] = [lastSeenColumn, typeColumn, reasonColumn, messageColumn];

function firstSeenOf({ firstTimestamp, eventTime }: Event): Maybe<string> {
  return firstTimestamp ?? eventTime;
}

function objectText({ involvedObject }: Event): string {
  const kind = (involvedObject?.kind ?? '').toLowerCase();
  return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind;
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || '';
  const instance = source?.host || reportingInstance || '';
  return instance === '' ? component : `${component}, ${instance}`;
}
