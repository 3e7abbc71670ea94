import { useEffect, useState } from 'preact/hooks';
import type { ChangeMessage } from '../../core/streams/streamed-objects.ts';
import { followStream } from '../gateway/follow-stream.ts';
import type { RequestFailure } from '../gateway/graphql.ts';
import { LiveRows } from './live-rows.ts';

/** The state of a live table. */
export interface LiveState<Item> {
  readonly items: readonly Item[];
  /** The number of all objects. It may be larger than that of `items`. */
  readonly count: number;
  /** The clusters that have sent all their objects. */
  readonly complete: ReadonlySet<string>;
  readonly failure: RequestFailure | undefined;
}

export interface LiveQuery<Message> {
  /** The subscription. It takes the variable `after`. */
  readonly query: string;
  readonly field: string;
  readonly variables: object;
  /** Called with each message. Default: not called. */
  readonly onMessage?: (message: Message) => void;
}

/** Milliseconds between two renders of a busy table. */
const renderMs = 150;

/** Follows a subscription of objects. When the query changes, the state keeps the old objects until the first new ones have come. */
export function useLiveRows<Item extends { readonly id: string }, Message extends ChangeMessage<Item> & { readonly cursor: string }>(
  live: LiveQuery<Message> | undefined,
): LiveState<Item> {
  const [state, setState] = useState<LiveState<Item>>({ items: [], count: 0, complete: new Set(), failure: undefined });
  const key = live === undefined ? '' : JSON.stringify([live.query, live.variables]);
  useEffect(() => {
    if (live === undefined) return undefined;
    const ending = new AbortController();
    const rows = new LiveRows<Item>();
    let timer: number | undefined;
    const show = (failure?: RequestFailure) => {
      clearTimeout(timer);
      timer = undefined;
      if (!ending.signal.aborted) setState({ items: rows.items(), count: rows.count, complete: new Set(rows.complete), failure });
    };
    const showSoon = () => {
      timer ??= window.setTimeout(() => show(), renderMs);
    };
    const { query, field, variables } = live;
    void followStream<Message>(
      {
        query,
        field,
        variables: (how) => ({ ...variables, after: how === 'anew' ? undefined : rows.cursor }),
        onMessage: (message) => {
          rows.apply(message);
          live.onMessage?.(message);
          showSoon();
        },
        onRestart: () => rows.restart(),
        onFailure: show,
      },
      ending.signal,
    );
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return state;
}
