import { eventColumnsOfObject } from '../../core/columns/event-table.ts';
import { itemFields, type PrintedColumn } from '../../core/columns/printed-column.ts';
import { usePolled } from '../gateway/use-polled.ts';
import type { ObjectRow } from '../objects/table-of-kind.ts';
import { Alert } from '../parts/alert.tsx';
import { countedText } from '../parts/texts.ts';
import { DataTable } from '../table/data-table.tsx';
import type { TableColumn } from '../table/table-column.ts';

interface EventsAnswer {
  readonly resource: { readonly events: { readonly totalCount: number; readonly items: readonly ObjectRow[] } } | null;
}

const printed = eventColumnsOfObject as readonly PrintedColumn[];

const eventsQuery = `query ($id: ID!) {
  resource(id: $id) { events(first: 200) { totalCount items { id ${itemFields} ${printed.map(({ fields }) => fields).join(' ')} } } }
}`;

const columns = printed.map(({ header, cell }): TableColumn<ObjectRow> => {
  return {
    header: header.charAt(0) + header.slice(1).toLowerCase(),
    text: (row, nowMs) => cell(row, { nowMs, isMixed: false }) ?? '',
    tone: (row) => (header === 'TYPE' && cell(row, { nowMs: 0, isMixed: false }) === 'Warning' ? 'warn' : undefined),
  };
});

export interface EventsTabProps {
  readonly id: string;
  /** True if the cluster does not answer, so its newest Events are unknown. */
  readonly isSilent: boolean;
  /** True if the object has Pods. The Events about a Pod are not about this object. */
  readonly hasPods: boolean;
}

/** Shows the Events about an object, the newest first. */
export function EventsTab({ id, isSilent, hasPods }: EventsTabProps) {
  const { data, failure } = usePolled<EventsAnswer>({ query: eventsQuery, variables: { id }, everyMs: 3_000 });
  const events = data?.resource?.events;
  const emptyText = `No ${isSilent ? 'known ' : ''}events about this object itself.${hasPods ? ' Relations leads to its Pods, which have events of their own.' : ''}`;
  if (failure !== undefined) return <Alert>{failure.message}</Alert>;
  if (events === undefined) return <p class="status-line">{data === undefined ? 'Loading' : 'The object is gone.'}</p>;
  return (
    <>
      <p class="status-line">{events.totalCount === 0 ? emptyText : countedText(events.totalCount, 'event', 'events')}</p>
      {events.totalCount === 0 ? null : <DataTable name="Events" rows={events.items} columns={columns} keyOf={(row) => row.id} isMain />}
    </>
  );
}
