import type { Fault } from '../../core/faults.ts';
import type { LogPart, LogRequest } from '../cluster-api.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import { createLogLineCutter } from '../decoding/log-lines.ts';
import { openRequestScope, type RequestScope } from '../transport/request-scope.ts';
import type { ByteSource } from '../transport/wire.ts';
import type { Exchange } from './exchange.ts';
import { createLoopYield } from './loop-yield.ts';
import { queryText, requestPath } from './request-paths.ts';

const deadlineMs = 10_000;
const kind = { group: '', kind: 'Pod' };

/**
 * Streams one log, cut into lines as it arrives. If the reader does not request the next part, the server stops sending once 1 MiB waits
 * unread.
 */
export async function* streamLog(exchange: Exchange, request: LogRequest, signal: AbortSignal): AsyncGenerator<LogPart> {
  using scope = openRequestScope([signal, exchange.life], exchange.clock);
  const failed = (broken: ClusterFailure): LogPart => ({ type: 'failed', fault: exchange.fault(scope.failure ?? broken, kind) });
  const path = requestPath(['api', 'v1', 'namespaces', request.namespace, 'pods', request.pod, 'log']);
  if (path === undefined) return yield failed(clusterFailure('INVALID', 'expected names that are one segment of a path each', 'NEVER'));

  scope.setDeadline(
    deadlineMs,
    clusterFailure('TIMED_OUT', `no ${request.follow ? 'answer' : 'whole log'} within ${deadlineMs / 1_000} s`),
  );
  const httpRequest = {
    method: 'GET',
    path: path + logQuery(request),
    // A refusal is a Status in JSON, a success is text. The server answers 406 to a client that accepts text only.
    accept: 'application/json, */*',
    expected: ['text/plain'],
    lane: request.follow ? 'follow' : 'request',
    compressible: false,
    kind,
    as: request.as,
    requestId: request.requestId,
  } as const;
  const opened = await exchange.open(httpRequest, scope.signal);
  if (scope.isAbandoned) return;
  if (opened.type === 'failed')
    return yield scope.failure === undefined ? { type: 'failed', fault: withoutLog(opened.fault) } : failed(scope.failure);
  if (opened.status === 204) return yield failed(clusterFailure('NOT_FOUND', 'the Pod has no node yet', 'LATER'));
  if (request.follow) scope.clearDeadline();
  yield { type: 'opened' };
  yield* cutLines(exchange, { body: opened.body, scope, failed });
}

interface OpenLog {
  readonly body: ByteSource;
  readonly scope: RequestScope;
  readonly failed: (broken: ClusterFailure) => LogPart;
}

async function* cutLines({ clock }: Exchange, { body, scope, failed }: OpenLog): AsyncGenerator<LogPart> {
  const cutter = createLogLineCutter();
  let bytes = 0;
  const loop = createLoopYield(clock);
  for (;;) {
    const read = await body.read();
    if (scope.isAbandoned) return;
    if (read.type === 'broken') return yield failed(read.failure);
    if (read.type === 'ended') break;
    for (const chunk of read.chunks) {
      const lines = cutter.push(chunk);
      bytes += chunk.length;
      if (lines.length > 0) {
        const lineBytes = bytes - cutter.pendingBytes;
        bytes = cutter.pendingBytes;
        yield { type: 'lines', lines, bytes: lineBytes, isCut: false };
      }
      await loop.yieldIfDue();
      if (scope.isAbandoned) return;
    }
  }
  const rest = cutter.end();
  if (rest !== undefined) yield { type: 'lines', lines: [rest], bytes, isCut: true };
  if (!scope.isAbandoned) yield { type: 'closed' };
}

function logQuery({ container, follow, previous, timestamps, tailLines, sinceSeconds, sinceTime, limitBytes }: LogRequest): string {
  const query = new URLSearchParams({ container });
  if (follow) query.set('follow', 'true');
  if (previous) query.set('previous', 'true');
  if (timestamps) query.set('timestamps', 'true');
  if (tailLines !== undefined) query.set('tailLines', String(tailLines));
  if (sinceSeconds !== undefined) query.set('sinceSeconds', String(sinceSeconds));
  if (sinceTime !== undefined) query.set('sinceTime', sinceTime);
  if (limitBytes !== undefined) query.set('limitBytes', String(limitBytes));
  return queryText(query);
}

/**
 * Turns the answer 400 for a container without a log into `NOT_FOUND`. If the container is waiting to start, `retry` is `LATER`. Returns
 * any other fault unchanged.
 */
function withoutLog(fault: Fault): Fault {
  if (fault.status?.code !== 400) return fault;
  const { message } = fault.status;
  // The messages are those of the kubelet (kubernetes, pkg/kubelet/kubelet_pods.go, validateContainerLogStatus).
  if (/ is waiting to start| is not available$/.test(message))
    return { ...fault, code: 'NOT_FOUND', message: 'the container is waiting to start', retry: 'LATER' };
  if (/^previous terminated container /.test(message))
    return { ...fault, code: 'NOT_FOUND', message: 'the container had no run before this one' };
  return fault;
}
