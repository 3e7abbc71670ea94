import type { ListPageRequest, ListPart } from '../cluster-api.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import { createListFramer, type ListPageEnd } from '../decoding/list-frames.ts';
import { openRequestScope, type RequestScope } from '../transport/request-scope.ts';
import type { ByteRead, ByteSource } from '../transport/wire.ts';
import type { Exchange } from './exchange.ts';
import { createLoopYield } from './loop-yield.ts';
import { acceptHeader, collectionPath, listQuery } from './request-paths.ts';

/** Milliseconds until the first byte. The API server has the same time limit for a list. */
const firstByteMs = 60_000;
const betweenBytesMs = 30_000;

/**
 * Streams the items of one page of a list as they arrive.
 *
 * The first byte must come within 60 s, each further one within 30 s. Time in which the receiver does not request the next part does not
 * count. At most 1 MiB waits unread; the rest waits at the server. Each part holds the result of one read from the connection.
 */
export async function* streamListPage(exchange: Exchange, page: ListPageRequest, signal: AbortSignal): AsyncGenerator<ListPart> {
  using scope = openRequestScope([signal, exchange.life], exchange.clock);
  const failed = (broken: ClusterFailure): ListPart => ({ type: 'failed', fault: exchange.fault(scope.failure ?? broken, page.resource) });
  const path = collectionPath(page.resource, page.namespace);
  if (path === undefined) return yield failed(clusterFailure('INVALID', 'expected a namespace that is one segment of a path', 'NEVER'));

  scope.setDeadline(firstByteMs, clusterFailure('TIMED_OUT', `no answer to a list within ${firstByteMs / 1_000} s`));
  const request = {
    method: 'GET',
    path: path + listQuery(page),
    accept: acceptHeader(page.form, 'list'),
    lane: 'request',
    compressible: true,
    kind: page.resource,
    as: page.as,
    requestId: page.requestId,
  } as const;
  const opened = await exchange.open(request, scope.signal);
  if (scope.isAbandoned) return;
  if (opened.type === 'failed') return yield scope.failure === undefined ? opened : failed(scope.failure);
  yield* framePage(exchange, { body: opened.body, scope, failed });
}

interface OpenPage {
  readonly body: ByteSource;
  readonly scope: RequestScope;
  readonly failed: (broken: ClusterFailure) => ListPart;
}

async function* framePage({ clock }: Exchange, { body, scope, failed }: OpenPage): AsyncGenerator<ListPart> {
  const framer = createListFramer();
  const loop = createLoopYield(clock);
  for (;;) {
    const read = await readWithin(body, scope);
    if (scope.isAbandoned) return;
    if (read.type === 'broken') return yield failed(read.failure);
    if (read.type === 'ended') return yield pageEnded(framer.end(), failed);
    for (const chunk of read.chunks) {
      const { frames, broken } = framer.push(chunk);
      if (frames.length > 0) yield { type: 'items', items: frames };
      if (broken !== undefined) return yield failed(failureOfFraming(broken, 'an item of the list'));
      await loop.yieldIfDue();
      if (scope.isAbandoned) return;
    }
  }
}

function readWithin(body: ByteSource, scope: RequestScope): Promise<ByteRead> {
  scope.setDeadline(betweenBytesMs, clusterFailure('TIMED_OUT', `the list stopped: no byte within ${betweenBytesMs / 1_000} s`));
  return body.read().finally(() => scope.clearDeadline());
}

function pageEnded(end: ListPageEnd | undefined, failed: (broken: ClusterFailure) => ListPart): ListPart {
  return end === undefined ? failed(clusterFailure('MALFORMED', 'expected a list, got something else')) : { type: 'pageEnded', ...end };
}

/** Turns a framing error into a failure. */
export function failureOfFraming(broken: 'TOO_LARGE' | 'MALFORMED', what: string): ClusterFailure {
  return broken === 'TOO_LARGE'
    ? clusterFailure('TOO_LARGE', `${what} has more than 16 MiB`)
    : clusterFailure('MALFORMED', `${what} is no JSON object`);
}
