import { randomUUID } from 'node:crypto';
import type { Caller } from '../../access/access.ts';
import type { ClusterApi, ObjectForm } from '../../cluster/cluster-api.ts';
import type { Clock } from '../../core/clock.ts';
import { type Fault, type FaultCode, fault } from '../../core/faults.ts';
import { type HeapGauge, maxHeapForKinds } from '../../core/heap-gauge.ts';
import { keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../../core/names.ts';
import type { ConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { createStore } from '../../store/contents/store.ts';
import type { MirrorStore } from '../../store/mirror-store.ts';
import type { MirrorReader, SyncState } from '../../watch/mirrors.ts';
import { createListStaging } from '../../watch/reflector/list-staging.ts';
import type { LiveListBudget } from './live-list-budget.ts';

interface LiveListOptions {
  /** The API of the cluster, as the caller. */
  readonly api: ClusterApi;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  /** True: the kind is never listed. The fault `FORBIDDEN` says that the config withholds it. */
  readonly isWithheld: boolean;
  readonly caller: Caller;
  readonly budget: LiveListBudget;
  readonly heap: Pick<HeapGauge, 'used'>;
  /** Limits the concurrent lists of the operation. */
  readonly limit: ConcurrencyLimit;
  readonly requestScheduler: DecodingScheduler;
  readonly clock: Clock;
}

/** Spreads the decoding of received items over event-loop turns, together with the requests of all callers. Callers take turns. */
export interface DecodingScheduler {
  /** Returns undefined if the caller may continue at once. Otherwise returns a promise that resolves when it may continue. */
  waitForTurn(caller: Caller['key']): Promise<void> | undefined;
}

/** The namespaces to list. `all`: one list of all namespaces, or of a cluster-scoped kind. */
export type ListedNamespaces = 'all' | readonly string[];

/** Maximum number of objects of one kind in one cluster, in one operation. */
const maxObjects = 10_000;

/** Maximum number of namespaces that are listed one by one. */
export const maxListedNamespaces = 100;

const pageSize = 500;

/** Milliseconds that the lists of one kind in one cluster may take together. */
const listMs = 10_000;

/** The result of one list. Undefined: it is complete. */
type ListOutcome = Fault | undefined;

/**
 * The objects of one kind in one cluster, as the API server lists them for the caller. Filled by `load`, once for each scope, and never
 * updated. It belongs to one operation. Disposing it returns its bytes to the budget.
 *
 * At most 10,000 objects, and bytes of memory as the budget allows. With more, or while the heap of the process is nearly full, the scope has the fault
 * `TOO_LARGE` and no objects.
 */
export class LiveList implements MirrorReader, Disposable {
  readonly #options: LiveListOptions;
  readonly #store: MirrorStore;
  /** The lists by namespace. `''`: all namespaces. */
  readonly #lists = new Map<string, Promise<void>>();
  readonly #outcomes = new Map<string, ListOutcome>();
  #asOfMs: number | undefined;
  #bytes = 0;
  /** Number of objects that were received, also in lists that failed later. */
  #objects = 0;
  #isDisposed = false;

  constructor(options: LiveListOptions) {
    this.#options = options;
    const { form, clock } = options;
    this.#store = createStore({ epoch: randomUUID(), clock, policy: form === 'metadata' ? 'metadata' : 'parsed' });
  }

  get cluster(): ClusterName {
    return this.#options.api.cluster;
  }

  get resource(): ServedResource {
    return this.#options.resource;
  }

  get store(): MirrorStore {
    return this.#store;
  }

  /** True if `load` has nothing to do for this scope: its lists are complete or have failed. */
  covers(scope: ListedNamespaces): boolean {
    return this.#outcomes.has('') || (scope !== 'all' && scope.every((namespace) => this.#outcomes.has(namespace)));
  }

  /** Lists the scope as the caller, unless it is listed already. Failures become faults of the reader. An abort ends the lists. */
  async load(scope: ListedNamespaces, signal: AbortSignal): Promise<void> {
    if (this.#options.isWithheld) {
      this.#outcomes.set('', this.#fault('FORBIDDEN', 'this cluster is configured with secrets: none'));
      return;
    }
    const places = scope === 'all' ? [''] : scope;
    if (places.length > maxListedNamespaces) {
      const why = `the caller may not list the kind in all namespaces, and at most ${maxListedNamespaces} are listed one by one`;
      for (const place of places) this.#outcomes.set(place, this.#fault('TOO_LARGE', `${why}: name fewer namespaces`));
      return;
    }
    await Promise.all(
      places.map((place) => {
        const listing = this.#lists.get('') ?? this.#lists.get(place) ?? this.#list(place, signal);
        if (!this.#lists.has('')) this.#lists.set(place, listing);
        return listing;
      }),
    );
  }

  sync(): SyncState {
    const outcomes = [...this.#outcomes.values()];
    const failed = outcomes.find((outcome) => outcome !== undefined);
    if (failed !== undefined && outcomes.every((outcome) => outcome !== undefined)) return { phase: 'MISSING', fault: failed };
    return { phase: 'SYNCED', asOfMs: this.#asOfMs, version: this.#store.version };
  }

  faults(): readonly Fault[] {
    return [];
  }

  unmirroredFault(namespaces: readonly string[]): Fault | undefined {
    if (this.#outcomes.has('')) return this.#outcomes.get('');
    for (const namespace of namespaces) {
      const fault = this.#outcomes.has(namespace) ? this.#outcomes.get(namespace) : this.#fault('SYNCING', 'the list is not read yet');
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  partialListFault(visible: 'all' | ReadonlySet<string>): Fault | undefined {
    return this.unmirroredFault(visible === 'all' ? [''] : [...visible]);
  }

  settled(): boolean {
    return true;
  }

  whenSettled(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.dispose](): void {
    const { caller, budget } = this.#options;
    this.#isDisposed = true;
    budget.giveBack(caller, this.#bytes);
    this.#bytes = 0;
  }

  async #list(place: string, signal: AbortSignal): Promise<void> {
    const { clock, limit } = this.#options;
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    const nowMs = clock.now();
    void clock.sleep(listMs, either).then(() => ended.abort());
    try {
      const outcome = await limit.run(() => this.#readPages(place, either), either);
      signal.throwIfAborted();
      const timedOut = this.#fault('TIMED_OUT', `the list was not complete within ${listMs / 1_000} s`);
      this.#outcomes.set(place, ended.signal.aborted ? timedOut : outcome);
      this.#asOfMs = Math.min(nowMs, this.#asOfMs ?? nowMs);
    } finally {
      ended.abort();
    }
  }

  /** Reads all pages, and commits them to the store if no page fails. */
  async #readPages(place: string, signal: AbortSignal): Promise<ListOutcome> {
    const { api, resource, form, caller, requestScheduler } = this.#options;
    const namespace = place === '' ? undefined : place;
    const staging = createListStaging({ store: this.#store, ...(namespace === undefined ? {} : { namespace }) });
    let token: string | undefined;
    let version: ResourceVersion | undefined;
    let taken = 0;
    try {
      do {
        const from = token === undefined ? { version: '' as const } : { continue: token };
        token = undefined;
        let isEnded = false;
        for await (const part of api.list({ resource, namespace, form, limit: pageSize, ...from }, signal)) {
          if (part.type === 'failed') return part.fault;
          if (part.type === 'items') {
            const bytes = part.items.reduce((sum, { byteLength }) => sum + byteLength, 0);
            const refused = this.#countObjects(part.items.length) ?? this.#take(bytes);
            if (refused !== undefined) return refused;
            const turn = requestScheduler.waitForTurn(caller.key);
            if (turn !== undefined) await turn;
            if (signal.aborted) return undefined;
            const unreadable = staging.stage(part.items);
            if (unreadable !== undefined) return this.#fault('MALFORMED', unreadable);
            // Parsed objects may take many times the bytes of their JSON.
            const more = Math.max(0, staging.bytes - taken - bytes);
            const grown = this.#take(more);
            if (grown !== undefined) return grown;
            taken += bytes + more;
          } else [token, version, isEnded] = [part.continue, part.version, true];
        }
        if (signal.aborted) return undefined;
        // A cluster that leaves the fleet ends its requests without a last part.
        if (!isEnded) return this.#fault('GONE', 'the cluster has left the fleet during the list');
      } while (token !== undefined);
      staging.commit(version);
      return undefined;
    } finally {
      staging.discard();
    }
  }

  /** Counts received objects. Returns a fault if there are too many. */
  #countObjects(count: number): Fault | undefined {
    this.#objects += count;
    if (this.#objects <= maxObjects) return undefined;
    const message = `expected at most ${maxObjects} objects of a kind in a cluster that is not mirrored`;
    return this.#fault('TOO_LARGE', `${message}: name fewer namespaces`);
  }

  /** Takes bytes of the budget. Returns a fault if it has too few, or if the heap of the process is nearly full. */
  #take(bytes: number): Fault | undefined {
    const { caller, budget, heap } = this.#options;
    if (heap.used() >= maxHeapForKinds) {
      return this.#fault('TOO_LARGE', 'the memory of the gateway is nearly full, so clusters that are not mirrored are not listed now');
    }
    if (this.#isDisposed || !budget.take(caller, bytes)) {
      return this.#fault('TOO_LARGE', 'lists of clusters that are not mirrored hold too many bytes now: name fewer namespaces or kinds');
    }
    this.#bytes += bytes;
    return undefined;
  }

  #fault(code: FaultCode, message: string): Fault {
    const { group, kind } = this.resource;
    const about = { cluster: this.cluster, kind: { group, kind }, retry: 'LATER' } as const;
    return fault(code, `${keyOfKind(this.resource)}: ${message}`, about);
  }
}
