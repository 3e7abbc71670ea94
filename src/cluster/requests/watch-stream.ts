import { type Breakage, breakage } from '../classify.ts';
import type { WatchPart, WatchStart } from '../cluster-api.ts';
import { lineFramer } from '../decoding/frames.ts';
import { openRequestScope, type RequestScope } from '../transport/request-scope.ts';
import type { ByteSource } from '../transport/wire.ts';
import type { Exchange } from './exchange.ts';
import { breakageOfFraming } from './list-stream.ts';
import { createPace } from './pace.ts';
import { acceptOf, collectionPath, watchQuery } from './request-paths.ts';

/** Milliseconds of silence after the requested end of a watch. Then the gateway ends it. */
const graceMs = 5_000;

/**
 * Streams the lines of one watch as they arrive. The answer's head has no deadline, because some proxies send it together with the first
 * event. The limit on silence holds from the start.
 */
export async function* watchStream(exchange: Exchange, start: WatchStart, signal: AbortSignal): AsyncGenerator<WatchPart> {
  using scope = openRequestScope([signal, exchange.life], exchange.clock);
  const failed = (broken: Breakage): WatchPart => ({ type: 'failed', fault: exchange.fault(scope.broken ?? broken, start.resource) });
  const path = collectionPath(start.resource, start.namespace);
  if (path === undefined) return yield failed(breakage('INVALID', 'expected a namespace that can stand in a path', 'NEVER'));

  const idle = () =>
    scope.within(
      start.timeoutSeconds * 1_000 + graceMs,
      breakage('TIMED_OUT', 'the watch was silent for longer than it was to live', 'NOW'),
    );
  idle();
  const asked = {
    method: 'GET',
    path: path + watchQuery(start),
    accept: acceptOf(start.form, 'watch'),
    lane: 'watch',
    packable: false,
    kind: start.resource,
  } as const;
  const opened = await exchange.open(asked, scope.signal);
  if (scope.abandoned) return;
  if (opened.type === 'failed') return yield scope.broken === undefined ? opened : failed(scope.broken);
  yield { type: 'opened', heardMs: () => opened.heardMs() };
  yield* frameLines(exchange, { body: opened.body, scope, failed, idle });
}

interface OpenWatch {
  readonly body: ByteSource;
  readonly scope: RequestScope;
  readonly failed: (broken: Breakage) => WatchPart;
  readonly idle: () => void;
}

async function* frameLines({ clock }: Exchange, { body, scope, failed, idle }: OpenWatch): AsyncGenerator<WatchPart> {
  const framer = lineFramer();
  const pace = createPace(clock);
  let first = true;
  for (;;) {
    const read = await body.read();
    if (scope.abandoned) return;
    if (read.type === 'broken') return yield failed(read.breakage);
    if (read.type === 'ended') return yield { type: 'closed' };
    idle();
    for (const chunk of read.chunks) {
      if (first && isWholeObject(chunk)) return yield failed(breakage('MALFORMED', 'expected a stream of events, got one object'));
      first = false;
      const { frames, broken } = framer.push(chunk);
      if (frames.length > 0) yield { type: 'frames', frames };
      if (broken !== undefined) return yield failed(breakageOfFraming(broken, 'a line of the watch'));
      await pace.breathe();
      if (scope.abandoned) return;
    }
  }
}

const beginnings = ['{"kind":"', '{"apiVersion":"'].map((text) => Buffer.from(text));

/** True for a list or a Table. A proxy that strips `watch` from the query causes one. Watch events begin with their `type`. */
function isWholeObject(chunk: Uint8Array): boolean {
  return beginnings.some((beginning) => Buffer.compare(chunk.subarray(0, beginning.length), beginning) === 0);
}
