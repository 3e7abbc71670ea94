import type { ClusterApi, ListPart, LiveRequest, LogPart, WatchPart } from '../cluster/cluster-api.ts';
import type { Fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';

/** The number of requests to one cluster with one verb and result since the start. */
interface UpstreamCount {
  readonly cluster: ClusterName;
  /** `list`, `watch`, `log`, `apply` (without dry runs), or the HTTP method of a live request in lower case. */
  readonly verb: string;
  /** `OK`, or the code of the fault. */
  readonly code: 'OK' | Fault['code'];
  readonly count: number;
}

/** Counts the requests to API servers, for metrics. Series: clusters × verbs × codes, of clusters that are members. */
export class UpstreamCounts {
  readonly #counts = new Map<string, { cluster: ClusterName; verb: string; code: UpstreamCount['code']; count: number }>();

  /** Returns an API that counts its requests until the signal aborts. The counts of its cluster are then dropped. */
  counted(api: ClusterApi, signal: AbortSignal): ClusterApi {
    const { cluster } = api;
    const add = (verb: string, code: UpstreamCount['code']) => {
      if (!signal.aborted) this.#add(cluster, verb, code);
    };
    signal.addEventListener('abort', () => this.#forget(cluster), { once: true });
    return {
      cluster,
      get connectionFaults() {
        return api.connectionFaults;
      },
      list: (page, signal) => countedParts(api.list(page, signal), (code) => add('list', code)),
      watch: (start, signal) => countedParts(api.watch(start, signal), (code) => add('watch', code)),
      logs: (request, signal) => countedParts(api.logs(request, signal), (code) => add('log', code)),
      send: async (request, signal) => {
        const answer = await api.send(request, signal);
        add(verbOf(request), answer.type === 'failed' ? answer.fault.code : 'OK');
        return answer;
      },
    };
  }

  all(): readonly UpstreamCount[] {
    return [...this.#counts.values()];
  }

  #forget(cluster: ClusterName): void {
    for (const [key, counted] of this.#counts) if (counted.cluster === cluster) this.#counts.delete(key);
  }

  #add(cluster: ClusterName, verb: string, code: UpstreamCount['code']): void {
    const key = `${verb} ${code} ${cluster}`;
    const counted = this.#counts.get(key) ?? { cluster, verb, code, count: 0 };
    counted.count++;
    this.#counts.set(key, counted);
  }
}

/** The content type of a server-side apply (KEP-555). */
const applyType = 'application/apply-patch+yaml';

function verbOf({ method, contentType, query }: LiveRequest): string {
  return contentType === applyType && query?.dryRun === undefined ? 'apply' : method.toLowerCase();
}

async function* countedParts<P extends ListPart | WatchPart | LogPart>(
  parts: AsyncIterable<P>,
  count: (code: UpstreamCount['code']) => void,
): AsyncGenerator<P, void> {
  for await (const part of parts) {
    if (part.type === 'failed') count(part.fault.code);
    if (part.type === 'pageEnded' || part.type === 'closed') count('OK');
    yield part;
  }
}
