import { setImmediate } from 'node:timers/promises';
import DataLoader from 'dataloader';
import type { Clock } from '../../core/clock.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { allPromiseOrValues, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { QueryVisibility } from '../../store/query-source.ts';
import type { MirrorLease, MirrorReader, Mirrors } from '../../watch/mirrors.ts';

/** Names one mirror: a kind in one cluster. */
export interface MirrorKey {
  readonly cluster: { readonly name: ClusterName };
  readonly kind: GroupKind;
  /** The requested namespaces. They are listed first if the gateway may not list the kind in all namespaces. Default: all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** The objects that the caller may see. Only lists of clusters that are not mirrored use it. Default: all. */
  readonly visible?: QueryVisibility | undefined;
}

/** The lists that one operation reads as its caller, from clusters that are not mirrored. Implemented in `live-lists.ts`. */
export interface UnmirroredLists extends Disposable {
  /** True if objects of the cluster come from these lists, and not from mirrors. */
  areOf(cluster: ClusterName): boolean;
  /** Returns the list that the operation holds. Undefined if it holds none. */
  held(key: MirrorKey): MirrorReader | undefined;
  /**
   * Lists the objects of the kind as the caller, and returns the list. Lists all namespaces if the request names none and the caller may see
   * all. Otherwise lists the requested namespaces that the caller may see. A failed list is a fault of the reader. Undefined if the cluster
   * does not serve the kind. An abort rejects with its reason.
   */
  load(key: MirrorKey): PromiseOrValue<MirrorReader | undefined>;
}

interface MirrorLoaderOptions {
  readonly mirrors: Mirrors;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Milliseconds that the operation waits for first lists, over all its relations together. Default: 0. */
  readonly waitMs?: number;
  /** Reads clusters that are not mirrored. Default: their kinds are empty mirrors with a fault. */
  readonly lists?: UnmirroredLists | undefined;
}

interface HeldMirror {
  readonly lease: MirrorLease;
  readonly namespaces: Set<string>;
}

/** Maximum number of running mirrors that one operation holds at once. It holds further ones in batches, which divide the work among event-loop turns. */
const maxHeldAtOnce = 256;

/** Milliseconds that a batch may take in one event-loop turn to start mirrors. It starts its remaining mirrors in later turns. */
const maxTurnMs = 4;

/**
 * Holds the mirrors that one operation needs, each once, until the loader is disposed of.
 *
 * A mirror that runs is held at once. All other mirrors that the operation loads in one event-loop turn, for any field, alias or relation, are one
 * batch. The batch starts them together.
 */
export class MirrorLoader implements Disposable {
  readonly #options: MirrorLoaderOptions;
  readonly #held = new Map<string, HeldMirror>();
  // `#held` is the cache. DataLoader's own cache cannot see that a mirror ended, and cannot join the namespaces of several keys.
  readonly #loader = new DataLoader<MirrorKey, MirrorReader | undefined>((keys) => this.#holdAll(keys), { cache: false });
  #isDisposed = false;
  /** The end of the waiting time, by `Clock.monotonic`. Undefined before the first call of `remainingWaitMs`. */
  #waitsUntilMs: number | undefined;

  constructor(options: MirrorLoaderOptions) {
    this.#options = options;
  }

  /** Returns the mirror that the operation holds for this key. It may have ended. Undefined if the operation holds none. */
  heldMirror(key: MirrorKey): MirrorReader | undefined {
    return this.#options.lists?.held(key) ?? this.#held.get(idOf(key))?.lease.mirror;
  }

  /**
   * Holds the mirror and returns it. Starts the mirror if it does not run, and does not wait for its first list.
   * Returns at once if the mirror runs, else with the next batch. So a relation of running mirrors needs no promise, and compiled code can follow it.
   * Undefined if the cluster has not answered yet or does not serve the kind, or if the loader was disposed of.
   */
  load(key: MirrorKey): PromiseOrValue<MirrorReader | undefined> {
    const { mirrors, lists } = this.#options;
    const { cluster, kind, namespaces = [] } = key;
    if (lists?.areOf(cluster.name)) return this.#isDisposed ? undefined : lists.load(key);
    const id = idOf(key);
    const held = this.#held.get(id);
    const running = mirrors.peek(cluster.name, kind);
    const isHeld = held !== undefined && namespaces.every((namespace) => held.namespaces.has(namespace));
    if (isHeld && running === held.lease.mirror) return held.lease.mirror;
    if (this.#isDisposed || mirrors.served(cluster.name, kind) === undefined) return undefined;
    if (running === undefined || (held === undefined && this.#held.size >= maxHeldAtOnce)) return this.#loader.load(key);
    try {
      this.#hold(id, [key]);
    } catch (error) {
      // A bug in starting or holding a mirror rejects, as it does for a batch.
      return Promise.reject(error as Error);
    }
    return this.heldMirror(key);
  }

  /** Loads several keys with `load`. The results are in the order of the keys. Undefined: there is no mirror for that key. */
  loadAll(keys: readonly MirrorKey[]): PromiseOrValue<readonly (MirrorReader | undefined)[]> {
    return allPromiseOrValues(keys.map((key) => this.load(key)));
  }

  /** Stops holding the mirror before the operation ends. */
  release(key: MirrorKey): void {
    const id = idOf(key);
    this.#held.get(id)?.lease[Symbol.dispose]();
    this.#held.delete(id);
  }

  /** Returns the milliseconds that remain of `waitMs`. The first call starts the count. */
  remainingWaitMs(): number {
    const { clock, waitMs = 0 } = this.#options;
    const nowMs = clock.monotonic();
    this.#waitsUntilMs ??= nowMs + waitMs;
    return Math.max(0, this.#waitsUntilMs - nowMs);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#options.lists?.[Symbol.dispose]();
    for (const { lease } of this.#held.values()) lease[Symbol.dispose]();
    this.#held.clear();
  }

  async #holdAll(keys: readonly MirrorKey[]): Promise<readonly (MirrorReader | undefined)[]> {
    const { clock, mirrors } = this.#options;
    let endMs = clock.monotonic() + maxTurnMs;
    const byMirror = Map.groupBy(keys, idOf);
    for (const [id, ofMirror] of byMirror) {
      this.#hold(id, ofMirror);
      if (clock.monotonic() < endMs) continue;
      await setImmediate();
      endMs = clock.monotonic() + maxTurnMs;
    }
    // A mirror that was acquired above may have ended in a later event-loop turn. It is then acquired again.
    for (const [id, ofMirror] of byMirror) {
      const [first] = ofMirror;
      if (first !== undefined && this.heldMirror(first) !== mirrors.peek(first.cluster.name, first.kind)) this.#hold(id, ofMirror);
    }
    return keys.map((key) => this.heldMirror(key));
  }

  /** Acquires the mirror of these keys. If the operation holds it already, this adds namespaces or replaces a mirror that has ended. */
  #hold(id: string, keys: readonly MirrorKey[]): void {
    const [first] = keys;
    if (this.#isDisposed || first === undefined) return;
    const { cluster, kind } = first;
    const { mirrors } = this.#options;
    const before = this.#held.get(id);
    const namespaces = before?.namespaces ?? new Set();
    const added = keys.flatMap((key) => key.namespaces ?? []).filter((namespace) => !namespaces.has(namespace));
    for (const namespace of added) namespaces.add(namespace);
    // A mirror remembers the namespaces that were requested before. A mirror that replaces an ended one does not know them.
    const isSame = before !== undefined && before.lease.mirror === mirrors.peek(cluster.name, kind);
    const lease = mirrors.acquire(cluster.name, kind, { namespaces: isSame ? [...new Set(added)] : [...namespaces] });
    before?.lease[Symbol.dispose]();
    if (lease === undefined) this.#held.delete(id);
    else this.#held.set(id, { lease, namespaces });
  }
}

function idOf({ cluster, kind }: MirrorKey): string {
  return `${cluster.name}/${keyOfKind(kind)}`;
}
