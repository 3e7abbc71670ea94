import type { ClusterApi, ListPart, LogPart, WatchPart } from '../../cluster/cluster-api.ts';
import { forwardingApi } from '../../cluster/forwarding-api.ts';
import type { Fault } from '../../core/faults.ts';

/** Learns from each request whether a cluster answers. */
interface ApiObserver {
  /** Called after an HTTP answer, and after each further part of it. */
  answered(): void;
  /** Called after a connection failed or was lost. */
  failed(fault: Fault): void;
  /** Called when a list or a watch received its first answer. */
  opened(): void;
}

/**
 * Returns an API that passes every call on to `api`. It reports answers and lost connections to the observer before the caller receives the result. It
 * reports neither timeouts nor the end of a stream.
 */
export function observeApi(api: ClusterApi, observer: ApiObserver): ClusterApi {
  return forwardingApi(api, {
    list: (page, signal) => opened(observed(api.list(page, signal), observer), observer),
    watch: (start, signal) => opened(observed(api.watch(start, signal), observer), observer),
    logs: (request, signal) => observed(api.logs(request, signal), observer),
    async send(request, signal) {
      const answer = await api.send(request, signal);
      if (answer.type === 'answered') observer.answered();
      else notify(observer, answer.fault);
      return answer;
    },
  });
}

/**
 * Returns an API that passes every call on to `api`, and calls back after each answer to `send`, even an error. It does not report the parts of
 * streams.
 */
export function reportAnswers(api: ClusterApi, onAnswered: () => void): ClusterApi {
  const observer: ApiObserver = { answered: onAnswered, failed: () => undefined, opened: () => undefined };
  return forwardingApi(api, { send: observeApi(api, observer).send });
}

async function* observed<P extends ListPart | WatchPart | LogPart>(
  parts: AsyncIterable<P>,
  observer: ApiObserver,
): AsyncGenerator<P, void> {
  for await (const part of parts) {
    if (part.type === 'failed') notify(observer, part.fault);
    // The end of a stream does not show that the cluster can be reached, because its connection may have been closed in an orderly way.
    else if (part.type !== 'closed') observer.answered();
    yield part;
  }
}

async function* opened<P extends ListPart | WatchPart>(parts: AsyncIterable<P>, observer: ApiObserver): AsyncGenerator<P, void> {
  let isFirst = true;
  for await (const part of parts) {
    if (isFirst && part.type !== 'failed') observer.opened();
    isFirst = false;
    yield part;
  }
}

/**
 * Reports a failed request to the observer. An answer shows that the cluster can be reached, even if it is an error. A timeout shows
 * nothing.
 */
function notify(observer: ApiObserver, fault: Fault): void {
  if (fault.status !== undefined || fault.code === 'MALFORMED' || fault.code === 'TOO_LARGE') observer.answered();
  else if (fault.code === 'UNREACHABLE') observer.failed(fault);
}
