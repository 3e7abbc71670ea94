import { type Breakage, breakage } from '../classify.ts';
import type { ListPage, ListPart } from '../cluster-api.ts';
import { listFramer, type PageEnd } from '../decoding/list-frames.ts';
import { openRequestScope, type RequestScope } from '../transport/request-scope.ts';
import type { ByteRead, ByteSource } from '../transport/wire.ts';
import type { Exchange } from './exchange.ts';
import { createPace } from './pace.ts';
import { acceptOf, collectionPath, listQuery } from './request-paths.ts';

/** Milliseconds until the first byte. The API server has the same time limit for a list. */
const firstByteMs = 60_000;
const betweenBytesMs = 30_000;

/**
 * Streams the items of one page of a list as they arrive.
 *
 * The first byte must come within 60 s, each further one within 30 s. The time in which the receiver takes no part does not count. At
 * most 1 MiB waits unread; the rest waits at the server. Each part holds the result of one read from the connection.
 */
export async function* listPage(exchange: Exchange, page: ListPage, signal: AbortSignal): AsyncGenerator<ListPart> {
  using scope = openRequestScope([signal, exchange.life], exchange.clock);
  const failed = (broken: Breakage): ListPart => ({ type: 'failed', fault: exchange.fault(scope.broken ?? broken, page.resource) });
  const path = collectionPath(page.resource, page.namespace);
  if (path === undefined) return yield failed(breakage('INVALID', 'expected a namespace that can stand in a path', 'NEVER'));

  scope.within(firstByteMs, breakage('TIMED_OUT', `no answer to a list within ${firstByteMs / 1_000} s`));
  const asked = {
    method: 'GET',
    path: path + listQuery(page),
    accept: acceptOf(page.form, 'list'),
    lane: 'request',
    packable: true,
    kind: page.resource,
  } as const;
  const opened = await exchange.open(asked, scope.signal);
  if (scope.abandoned) return;
  if (opened.type === 'failed') return yield scope.broken === undefined ? opened : failed(scope.broken);
  yield* framePage(exchange, { body: opened.body, scope, failed });
}

interface OpenPage {
  readonly body: ByteSource;
  readonly scope: RequestScope;
  readonly failed: (broken: Breakage) => ListPart;
}

async function* framePage({ clock }: Exchange, { body, scope, failed }: OpenPage): AsyncGenerator<ListPart> {
  const framer = listFramer();
  const pace = createPace(clock);
  for (;;) {
    const read = await readWithin(body, scope);
    if (scope.abandoned) return;
    if (read.type === 'broken') return yield failed(read.breakage);
    if (read.type === 'ended') return yield pageEnded(framer.end(), failed);
    for (const chunk of read.chunks) {
      const { frames, broken } = framer.push(chunk);
      if (frames.length > 0) yield { type: 'items', items: frames };
      if (broken !== undefined) return yield failed(breakageOfFraming(broken, 'an item of the list'));
      await pace.breathe();
      if (scope.abandoned) return;
    }
  }
}

function readWithin(body: ByteSource, scope: RequestScope): Promise<ByteRead> {
  scope.within(betweenBytesMs, breakage('TIMED_OUT', `the list stopped: no byte within ${betweenBytesMs / 1_000} s`));
  return body.read().finally(() => scope.relax());
}

function pageEnded(end: PageEnd | undefined, failed: (broken: Breakage) => ListPart): ListPart {
  return end === undefined ? failed(breakage('MALFORMED', 'expected a list, got something else')) : { type: 'pageEnded', ...end };
}

/** Turns a framing error into a failure. */
export function breakageOfFraming(broken: 'TOO_LARGE' | 'MALFORMED', what: string): Breakage {
  return broken === 'TOO_LARGE'
    ? breakage('TOO_LARGE', `${what} has more than 16 MiB`)
    : breakage('MALFORMED', `${what} is no JSON object`);
}
