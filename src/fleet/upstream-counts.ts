import type { ClusterApi, ListPart, LogPart, WatchPart } from '../cluster/cluster-api.ts';
import type { Fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';

/** The number of requests to one cluster with one verb and result since the start. */
interface UpstreamCount {
  readonly cluster: ClusterName;
  /** `list`, `watch`, `log`, or the HTTP method of a live request in lower case. */
  readonly verb: string;
  /** `OK`, or the code of the fault. */
  readonly code: 'OK' | Fault['code'];
  readonly count: number;
}

/** Counts the requests to API servers, for metrics. Series: clusters × verbs × codes, of clusters that were members. */
export class UpstreamCounts {
  readonly #counts = new Map<string, { cluster: ClusterName; verb: string; code: UpstreamCount['code']; count: number }>();

  /** Returns an API that counts its requests. */
  counted(api: ClusterApi): ClusterApi {
    const { cluster } = api;
    return {
      cluster,
      get standingFaults() {
        return api.standingFaults;
      },
      list: (page, signal) => this.#parts(api.list(page, signal), cluster, 'list'),
      watch: (start, signal) => this.#parts(api.watch(start, signal), cluster, 'watch'),
      logs: (request, signal) => this.#parts(api.logs(request, signal), cluster, 'log'),
      send: async (request, signal) => {
        const answer = await api.send(request, signal);
        this.#add(cluster, request.method.toLowerCase(), answer.type === 'failed' ? answer.fault.code : 'OK');
        return answer;
      },
    };
  }

  all(): readonly UpstreamCount[] {
    return [...this.#counts.values()];
  }

  async *#parts<P extends ListPart | WatchPart | LogPart>(
    parts: AsyncIterable<P>,
    cluster: ClusterName,
    verb: string,
  ): AsyncGenerator<P, void> {
    for await (const part of parts) {
      if (part.type === 'failed') this.#add(cluster, verb, part.fault.code);
      if (part.type === 'pageEnded' || part.type === 'closed') this.#add(cluster, verb, 'OK');
      yield part;
    }
  }

  #add(cluster: ClusterName, verb: string, code: UpstreamCount['code']): void {
    const key = `${verb} ${code} ${cluster}`;
    const counted = this.#counts.get(key) ?? { cluster, verb, code, count: 0 };
    counted.count++;
    this.#counts.set(key, counted);
  }
}
