import type { ClusterApi, ListPart, LogPart, WatchPart } from '../../cluster/cluster-api.ts';
import type { Fault } from '../../core/faults.ts';

/** Who wants to know whether a cluster answers. */
interface ApiObserver {
  /** An HTTP answer came, or more of one. */
  answered(): void;
  /** There was no connection, or it died. */
  failed(fault: Fault): void;
  /** Called when a list or a watch got its first answer. */
  opened(): void;
}

/** The same API server, whose every answer and failure is told to the observer first. */
export function observeApi(api: ClusterApi, observer: ApiObserver): ClusterApi {
  return {
    cluster: api.cluster,
    get standingFaults() {
      return api.standingFaults;
    },
    list: (page, signal) => opened(observed(api.list(page, signal), observer), observer),
    watch: (start, signal) => opened(observed(api.watch(start, signal), observer), observer),
    logs: (request, signal) => observed(api.logs(request, signal), observer),
    async send(request, signal) {
      const answer = await api.send(request, signal);
      if (answer.type === 'answered') observer.answered();
      else tell(observer, answer.fault);
      return answer;
    },
  };
}

async function* observed<P extends ListPart | WatchPart | LogPart>(
  parts: AsyncIterable<P>,
  observer: ApiObserver,
): AsyncGenerator<P, void> {
  for await (const part of parts) {
    if (part.type === 'failed') tell(observer, part.fault);
    // An end is no sign of life: the connection beneath may have been taken down in order.
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

/** What came as an answer says that the cluster can be reached, however bad it is. A timeout says neither. */
function tell(observer: ApiObserver, fault: Fault): void {
  if (fault.status !== undefined || fault.code === 'MALFORMED' || fault.code === 'TOO_LARGE') observer.answered();
  else if (fault.code === 'UNREACHABLE') observer.failed(fault);
}
