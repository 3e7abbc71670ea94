import { setImmediate } from 'node:timers/promises';
import DataLoader from 'dataloader';
import type { Clock } from '../core/clock.ts';
import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import { allOf, type NowOrLater } from '../core/now-or-later.ts';
import type { MirrorLease, MirrorReader, Mirrors } from '../watch/mirrors.ts';

/** A kind in a scope: one cluster and, if the request names any, namespaces of it. */
export interface MirrorKey {
  readonly cluster: { readonly name: ClusterName };
  readonly kind: GroupKind;
  /** Listed first if the gateway may not list the kind in all namespaces. Default: all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
}

interface MirrorLoaderOptions {
  readonly mirrors: Mirrors;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Milliseconds that all relations of the operation wait for first lists, together. Default: 0. */
  readonly waitMs?: number;
}

interface HeldMirror {
  readonly lease: MirrorLease;
  readonly namespaces: ReadonlySet<string>;
}

/** Milliseconds of one event-loop turn in which a batch starts mirrors. The rest of the batch follows in later turns. */
const pieceMs = 4;

/**
 * The mirrors that one operation holds, each once, until the loader is disposed of.
 *
 * All mirrors that the operation asks for in one tick are one batch, whatever the field, alias or relation. The batch starts them together.
 */
export class MirrorLoader implements Disposable {
  readonly #options: MirrorLoaderOptions;
  readonly #held = new Map<string, HeldMirror>();
  // `#held` is the cache: a mirror may end and start again, and the namespaces of several keys are wanted together.
  readonly #loader = new DataLoader<MirrorKey, MirrorReader | undefined>((keys) => this.#holdAll(keys), { cache: false });
  #isDisposed = false;
  /** By `Clock.monotonic`. Undefined: nothing has been waited for yet. */
  #waitsUntilMs: number | undefined;

  constructor(options: MirrorLoaderOptions) {
    this.#options = options;
  }

  /** The mirror of the kind in the cluster, which may have ended meanwhile. Undefined if the operation does not hold it. */
  held(key: MirrorKey): MirrorReader | undefined {
    return this.#held.get(idOf(key))?.lease.mirror;
  }

  /**
   * Holds the mirror, started if it does not run: at once if the operation holds it already, else with the next batch. Does not wait for its first list.
   * Undefined if the cluster has not answered yet or does not serve the kind, or if the loader was disposed of.
   */
  load(key: MirrorKey): NowOrLater<MirrorReader | undefined> {
    const { mirrors } = this.#options;
    const { cluster, kind, namespaces = [] } = key;
    const held = this.#held.get(idOf(key));
    const isHeld = held !== undefined && namespaces.every((namespace) => held.namespaces.has(namespace));
    if (isHeld && mirrors.peek(cluster.name, kind) === held.lease.mirror) return held.lease.mirror;
    if (this.#isDisposed || mirrors.served(cluster.name, kind) === undefined) return undefined;
    return this.#loader.load(key);
  }

  /** `load` for several keys, in their order. */
  loadAll(keys: readonly MirrorKey[]): NowOrLater<readonly (MirrorReader | undefined)[]> {
    return allOf(keys.map((key) => this.load(key)));
  }

  /** Gives the mirror back before the operation ends. */
  release(key: MirrorKey): void {
    const id = idOf(key);
    this.#held.get(id)?.lease[Symbol.dispose]();
    this.#held.delete(id);
  }

  /** What is left of `waitMs`, counted from the first call on. */
  restMs(): number {
    const { clock, waitMs = 0 } = this.#options;
    const nowMs = clock.monotonic();
    this.#waitsUntilMs ??= nowMs + waitMs;
    return Math.max(0, this.#waitsUntilMs - nowMs);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const { lease } of this.#held.values()) lease[Symbol.dispose]();
    this.#held.clear();
  }

  async #holdAll(keys: readonly MirrorKey[]): Promise<readonly (MirrorReader | undefined)[]> {
    const { clock, mirrors } = this.#options;
    let endMs = clock.monotonic() + pieceMs;
    const byMirror = Map.groupBy(keys, idOf);
    for (const [id, ofMirror] of byMirror) {
      this.#hold(id, ofMirror);
      if (clock.monotonic() < endMs) continue;
      await setImmediate();
      endMs = clock.monotonic() + pieceMs;
    }
    // A mirror may have ended in the turns between.
    for (const [id, ofMirror] of byMirror) {
      const [first] = ofMirror;
      if (first !== undefined && this.held(first) !== mirrors.peek(first.cluster.name, first.kind)) this.#hold(id, ofMirror);
    }
    return keys.map((key) => this.held(key));
  }

  /** A mirror that the operation holds already is acquired once more: for more namespaces, or in place of one that has ended. */
  #hold(id: string, keys: readonly MirrorKey[]): void {
    const [first] = keys;
    if (this.#isDisposed || first === undefined) return;
    const { cluster, kind } = first;
    const before = this.#held.get(id);
    const namespaces = new Set([...(before?.namespaces ?? []), ...keys.flatMap((key) => key.namespaces ?? [])]);
    const lease = this.#options.mirrors.acquire(cluster.name, kind, { namespaces: [...namespaces] });
    before?.lease[Symbol.dispose]();
    if (lease === undefined) this.#held.delete(id);
    else this.#held.set(id, { lease, namespaces });
  }
}

function idOf({ cluster, kind }: MirrorKey): string {
  return `${cluster.name}/${keyOfKind(kind)}`;
}
