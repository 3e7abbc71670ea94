import type { WatchPart, WatchRequest } from '../cluster-api.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import { createLineFramer } from '../decoding/frames.ts';
import { openRequestScope, type RequestScope } from '../transport/request-scope.ts';
import type { ByteSource } from '../transport/wire.ts';
import type { Exchange } from './exchange.ts';
import { failureOfFraming } from './list-stream.ts';
import { createLoopYield } from './loop-yield.ts';
import { acceptHeader, collectionPath, watchQuery } from './request-paths.ts';

/** Milliseconds of silence after the requested end of a watch. Then the gateway ends it. */
const graceMs = 5_000;

/**
 * Streams the lines of one watch as they arrive. The answer's head has no deadline, because some proxies send it together with the first
 * event. If nothing arrives for `timeoutSeconds` plus 5 s, the watch fails. This limit holds from the start.
 */
export async function* streamWatch(exchange: Exchange, start: WatchRequest, signal: AbortSignal): AsyncGenerator<WatchPart> {
  using scope = openRequestScope([signal, exchange.life], exchange.clock);
  const failed = (broken: ClusterFailure): WatchPart => ({
    type: 'failed',
    fault: exchange.fault(scope.failure ?? broken, start.resource),
  });
  const path = collectionPath(start.resource, start.namespace);
  if (path === undefined) return yield failed(clusterFailure('INVALID', 'expected a namespace that is one segment of a path', 'NEVER'));

  const idle = () =>
    scope.setDeadline(
      start.timeoutSeconds * 1_000 + graceMs,
      clusterFailure('TIMED_OUT', 'the watch was silent for longer than its lifetime', 'NOW'),
    );
  idle();
  const request = {
    method: 'GET',
    path: path + watchQuery(start),
    accept: acceptHeader(start.form, 'watch'),
    lane: 'watch',
    compressible: false,
    kind: start.resource,
    as: start.as,
    requestId: start.requestId,
  } as const;
  const opened = await exchange.open(request, scope.signal);
  if (scope.isAbandoned) return;
  if (opened.type === 'failed') return yield scope.failure === undefined ? opened : failed(scope.failure);
  yield { type: 'opened', lastReceivedMs: () => opened.lastReceivedMs() };
  yield* frameLines(exchange, { body: opened.body, scope, failed, idle });
}

interface OpenWatch {
  readonly body: ByteSource;
  readonly scope: RequestScope;
  readonly failed: (broken: ClusterFailure) => WatchPart;
  readonly idle: () => void;
}

async function* frameLines({ clock }: Exchange, { body, scope, failed, idle }: OpenWatch): AsyncGenerator<WatchPart> {
  const framer = createLineFramer();
  const loop = createLoopYield(clock);
  let first = true;
  for (;;) {
    const read = await body.read();
    if (scope.isAbandoned) return;
    if (read.type === 'broken') return yield failed(read.failure);
    if (read.type === 'ended') return yield { type: 'closed' };
    idle();
    for (const chunk of read.chunks) {
      if (first && isWholeObject(chunk)) return yield failed(clusterFailure('MALFORMED', 'expected a stream of events, got one object'));
      first = false;
      const { frames, broken } = framer.push(chunk);
      if (frames.length > 0) yield { type: 'frames', frames };
      if (broken !== undefined) return yield failed(failureOfFraming(broken, 'a line of the watch'));
      await loop.yieldIfDue();
      if (scope.isAbandoned) return;
    }
  }
}

const beginnings = ['{"kind":"', '{"apiVersion":"'].map((text) => Buffer.from(text));

/**
 * True if the answer begins as a list or a Table. Watch events begin with their `type`. A proxy that strips `watch` from the query causes
 * such an answer.
 */
function isWholeObject(chunk: Uint8Array): boolean {
  return beginnings.some((beginning) => Buffer.compare(chunk.subarray(0, beginning.length), beginning) === 0);
}
