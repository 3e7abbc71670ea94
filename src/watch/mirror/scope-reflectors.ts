import type { ObjectForm } from '../../cluster/cluster-api.ts';
import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { MirrorStore } from '../../store/mirror-store.ts';
import { createReflector, type Reflector } from '../reflector/reflector.ts';
import type { ReflectorContext } from '../reflector/reflector-context.ts';
import type { ReflectorFacts } from '../reflector/reflector-facts.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';
import { createNamespaceRights, type NamespaceRights, type PendingRights } from './namespace-rights.ts';
import { maxNamespaces, maxTriedNamespaces } from './review-rights.ts';

/** Waits before all namespaces are tried again: 1 minute, doubling to 10 minutes. */
const firstRetryMs = 60_000;
const longestRetryMs = 600_000;

/**
 * Milliseconds before each further review of a new namespace: 5 s, then 25 s more. Its creator often grants rights in it a moment later.
 */
const reviewAgainAfterMs = [5_000, 25_000] as const;

export interface ScopeReflectorsOptions {
  readonly context: ReflectorContext;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  readonly store: MirrorStore;
  /** Returns the namespaces to try if not all may be listed, the most likely first. */
  readonly candidates: () => readonly string[];
  /**
   * Resolves when all candidates are known, when they cannot be known, or when the signal aborts. Returns undefined if they are known
   * already.
   */
  readonly candidatesKnown: (signal: AbortSignal) => Promise<void> | undefined;
  /** Returns true if a first list may be a WatchList now. */
  readonly streaming: () => boolean;
  /** Called after the result of a getter may have changed. */
  readonly onChange: () => void;
  readonly onMissing: () => void;
  readonly onReport: (report: WatchReport) => void;
}

/**
 * The reflectors that fill one store: one for all namespaces, or one for each readable namespace if the kind may not be listed in all
 * (docs/internals/mirror.md 3.4).
 */
export interface ScopeReflectors {
  /** Returns the facts of the reflectors that fill the store now. One that tries all namespaces again counts only after its first list. */
  facts(): readonly ReflectorFacts[];
  /** Monotonic milliseconds of the last activity of any reflector. Undefined before the first. */
  readonly lastActivityMs: number | undefined;
  /** Why the kind may not be listed in all namespaces. Undefined while it may. */
  readonly refusal: Fault | undefined;
  /** The namespaces that have a reflector of their own, because the kind may not be listed in all. */
  readonly namespaces: readonly string[];
  /**
   * The reviews of rights that the mirror waits for. Set while the namespaces to review are unknown, or while an awaited review has no
   * result. Undefined: the mirror waits for none.
   */
  readonly pendingRights: PendingRights | undefined;
  /**
   * Records that a caller reads these namespaces. If the kind may not be listed in all, the rights in these are reviewed at once, and
   * namespaces with the right are mirrored. A right that was refused less than 10 s ago is not reviewed again. At most 400 namespaces are
   * mirrored or reviewed; `unmirrored` returns the others as `leftOut`.
   */
  requestNamespaces(namespaces: readonly string[]): void;
  /**
   * Returns which of these namespaces are not mirrored, if the kind may not be listed in all. Namespaces whose review is awaited are in
   * neither list.
   */
  unmirrored(namespaces: readonly string[]): UnmirroredNamespaces;
  /**
   * Grows when the result of `unmirrored` may have changed for a requested namespace. The mirror compares this number, because `facts` and
   * `pendingRights` may stay the same then.
   */
  readonly verdictCount: number;
  /** Reviews the rights in new namespaces if not all may be listed, and again after 5 and 30 s. */
  namespacesCreated(namespaces: readonly string[]): void;
  /** Lists all scopes again, and compares the whole content of the objects with the store. See `OwnedMirror.relist`. */
  relist(resource: ServedResource): void;
  /** Ends all reflectors at once. */
  stop(): void;
}

/** Namespaces that are not mirrored. Missing objects in them may exist in the cluster. */
interface UnmirroredNamespaces {
  /** The kind may not be read in these namespaces. */
  readonly denied: readonly string[];
  /** Too many namespaces are mirrored or reviewed already. The rights in these are unknown. */
  readonly leftOut: readonly string[];
}

const allMirrored: UnmirroredNamespaces = { denied: [], leftOut: [] };

/** Creates the reflectors, and begins with all namespaces. */
export function createScopeReflectors(options: ScopeReflectorsOptions): ScopeReflectors {
  const reflectors = new AdaptiveReflectors(options);
  reflectors.begin();
  return reflectors;
}

/** The start of a reflector: its scope, the facts of its predecessor, and whether its first list must be the most recent one. */
interface ReflectorStart {
  readonly namespace?: string;
  readonly predecessor?: ReflectorFacts | undefined;
  readonly recent?: boolean;
}

/** The state while not all namespaces may be listed. */
interface PartialAccess {
  fault: Fault;
  readonly rights: NamespaceRights;
  /** Aborted when all namespaces may be listed. */
  readonly life: AbortController;
  /** True while the candidates are unknown. */
  undecided: boolean;
}

class AdaptiveReflectors implements ScopeReflectors {
  readonly #options: ScopeReflectorsOptions;
  readonly #life = new AbortController();
  /** The reflectors of single namespaces. */
  readonly #single = new Map<string, Reflector>();
  readonly #requested = new Set<string>();
  #resource: ServedResource;
  /** The reflector of all namespaces. Undefined after it was refused, until it is tried again. */
  #all: Reflector | undefined;
  #partial: PartialAccess | undefined;
  #retryMs = firstRetryMs;
  /**
   * True after the store was emptied. Readers have seen its former objects, and a list "of any version" might return older ones, so the
   * most recent list is requested.
   */
  #emptied = false;
  #verdictCount = 0;

  constructor(options: ScopeReflectorsOptions) {
    this.#options = options;
    this.#resource = options.resource;
  }

  get refusal(): Fault | undefined {
    return this.#partial?.fault;
  }

  get namespaces(): readonly string[] {
    return [...this.#single.keys()];
  }

  get pendingRights(): PendingRights | undefined {
    if (this.#partial?.undecided === true) return { settled: false };
    return this.#partial?.rights.awaited;
  }

  get verdictCount(): number {
    return this.#verdictCount;
  }

  begin(): void {
    this.#startAll({});
  }

  facts(): readonly ReflectorFacts[] {
    return this.#reflectors().map((reflector) => reflector.facts());
  }

  get lastActivityMs(): number | undefined {
    let latest: number | undefined;
    for (const { syncedMs } of this.#reflectors()) if (syncedMs !== undefined) latest = Math.max(latest ?? syncedMs, syncedMs);
    return latest;
  }

  #reflectors(): readonly Reflector[] {
    // A reflector that tries all namespaces again counts only after its commit, which ends the reflectors of single namespaces.
    if (this.#partial !== undefined) return [...this.#single.values()];
    return this.#all === undefined ? [] : [this.#all];
  }

  requestNamespaces(namespaces: readonly string[]): void {
    for (const namespace of namespaces) {
      this.#requested.delete(namespace);
      this.#requested.add(namespace);
      const [oldest] = this.#requested;
      if (this.#requested.size > maxNamespaces && oldest !== undefined) this.#requested.delete(oldest);
    }
    const { rights } = this.#partial ?? {};
    const open = namespaces.filter((namespace) => !this.#single.has(namespace) && rights?.needsReview(namespace));
    if (open.length === 0) return;
    // Requested namespaces are reviewed even if the gateway has reached its limit of namespaces to try by itself.
    this.#review(open, { how: 'awaited', max: maxNamespaces });
    // A caller that names a namespace with an old refusal waits for the new review, so the old refusal is forgotten.
    for (const namespace of open) {
      if (rights?.isDenied(namespace) === true) this.#verdictCount++;
      rights?.forget(namespace);
    }
    this.#options.onChange();
  }

  unmirrored(namespaces: readonly string[]): UnmirroredNamespaces {
    const { rights } = this.#partial ?? {};
    if (rights === undefined || !this.#resource.namespaced) return allMirrored;
    const missing = namespaces.filter((namespace) => !this.#single.has(namespace) && !rights.isAwaited(namespace));
    return {
      denied: missing.filter((namespace) => rights.isDenied(namespace)),
      leftOut: missing.filter((namespace) => !rights.isDenied(namespace)),
    };
  }

  namespacesCreated(namespaces: readonly string[]): void {
    if (this.#partial === undefined || !this.#resource.namespaced) return;
    this.#review(namespaces, { how: 'unhurried' });
    void this.#reviewAgain(namespaces, this.#partial.life.signal);
  }

  relist(resource: ServedResource): void {
    this.#resource = resource;
    const all = this.#all;
    if (all !== undefined) {
      const predecessor = all.facts();
      // The old reflector's changes are ignored after the new one has taken its place.
      this.#startAll(predecessor.listed ? { predecessor } : { recent: this.#partial !== undefined });
      all.stop();
    }
    for (const [namespace, reflector] of [...this.#single]) {
      const predecessor = reflector.facts();
      this.#startSingle(namespace, predecessor.listed ? { predecessor } : { recent: this.#emptied });
      reflector.stop();
    }
  }

  stop(): void {
    this.#life.abort();
    this.#partial?.life.abort();
    this.#all?.stop();
    for (const reflector of this.#single.values()) reflector.stop();
    this.#single.clear();
    this.#all = undefined;
  }

  #startAll(start: ReflectorStart): void {
    const reflector: Reflector = this.#reflect(start, {
      onChange: () => this.#allChanged(reflector),
      onCommitted: () => this.#allCommitted(),
    });
    this.#all = reflector;
  }

  #startSingle(namespace: string, start: ReflectorStart): void {
    const reflector: Reflector = this.#reflect({ ...start, namespace }, { onChange: () => this.#singleChanged(namespace, reflector) });
    this.#single.set(namespace, reflector);
  }

  #reflect(
    { predecessor, ...start }: ReflectorStart,
    listener: { readonly onChange: () => void; readonly onCommitted?: () => void },
  ): Reflector {
    const { context, form, store, streaming, onMissing, onReport } = this.#options;
    return createReflector({
      context,
      resource: this.#resource,
      form,
      store,
      streaming,
      onMissing,
      onReport,
      ...start,
      predecessor,
      byContent: predecessor !== undefined,
      ...listener,
    });
  }

  #allChanged(reflector: Reflector): void {
    if (this.#all !== reflector || this.#life.signal.aborted) return;
    const facts = reflector.facts();
    if (facts.phase === 'ended') this.#allRefused(facts);
    this.#options.onChange();
  }

  /** Handles a refused list of all namespaces: drops the objects, reviews the rights in each namespace, and later tries all again. */
  #allRefused({ listed, fault }: ReflectorFacts): void {
    this.#all = undefined;
    if (fault === undefined) return;
    if (listed) this.#empty(fault);
    const candidates = [...this.#requested, ...this.#options.candidates()];
    if (this.#partial === undefined) {
      this.#partial = this.#createPartialAccess(fault);
      this.#review([...this.#requested], { how: 'awaited', max: maxNamespaces });
      this.#review(candidates, { how: 'awaited' });
      void this.#awaitCandidates(this.#partial);
    } else {
      const { rights } = this.#partial;
      this.#partial.fault = fault;
      this.#review(rights.sortByRefusalAge([...this.#requested]), { how: 'unhurried', max: maxNamespaces });
      this.#review(rights.sortByRefusalAge(candidates), { how: 'unhurried' });
    }
    void this.#tryAgain();
  }

  #createPartialAccess(fault: Fault): PartialAccess {
    const { context, onChange } = this.#options;
    const life = new AbortController();
    const resource = () => this.#resource;
    const onGranted = (namespace: string) => {
      if (!this.#single.has(namespace)) this.#startSingle(namespace, { recent: this.#emptied });
    };
    const onDenied = (namespace: string, isNews: boolean) => {
      if (isNews && this.#requested.has(namespace)) this.#verdictCount++;
      this.#reviewLeftOut();
    };
    const rights = createNamespaceRights({ context, resource, onGranted, onDenied, onChange }, life.signal);
    return { fault, rights, life, undecided: false };
  }

  async #awaitCandidates(partial: PartialAccess): Promise<void> {
    const { signal } = partial.life;
    const known = this.#resource.namespaced ? this.#options.candidatesKnown(signal) : undefined;
    if (known === undefined) return;
    partial.undecided = true;
    await known;
    if (signal.aborted) return;
    partial.undecided = false;
    this.#review(this.#options.candidates(), { how: 'awaited' });
    this.#options.onChange();
  }

  async #tryAgain(): Promise<void> {
    const { clock } = this.#options.context;
    await clock.sleep(this.#retryMs, this.#life.signal);
    if (this.#life.signal.aborted) return;
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
    // Requests the most recent list, because a list "of any version" may be older than the mirrored namespaces.
    this.#startAll({ recent: true });
  }

  /** Called synchronously after the list of all namespaces was committed. Ends the reflectors of single namespaces. */
  #allCommitted(): void {
    if (this.#partial !== undefined) this.#verdictCount++;
    this.#partial?.life.abort();
    this.#partial = undefined;
    this.#retryMs = firstRetryMs;
    for (const reflector of this.#single.values()) reflector.stop();
    this.#single.clear();
  }

  /** Reviews requested namespaces that were over the limit of namespaces before. */
  #reviewLeftOut(): void {
    const { rights } = this.#partial ?? {};
    const leftOut = this.unmirrored([...this.#requested]).leftOut.filter((namespace) => rights?.pending.has(namespace) === false);
    if (leftOut.length > 0) this.#review(leftOut, { how: 'unhurried', max: maxNamespaces });
  }

  #review(
    namespaces: readonly string[],
    { how, max = maxTriedNamespaces }: { readonly how: 'awaited' | 'unhurried'; readonly max?: number },
  ): void {
    const { rights } = this.#partial ?? {};
    if (rights === undefined || !this.#resource.namespaced) return;
    const candidates = new Set(namespaces.filter((namespace) => !this.#single.has(namespace)));
    const room = Math.max(0, max - this.#single.size - rights.pending.size);
    const isPending = (namespace: string) => rights.pending.has(namespace);
    const fresh = [...candidates].filter((namespace) => !isPending(namespace)).slice(0, room);
    rights.review([...[...candidates].filter(isPending), ...fresh], how);
  }

  async #reviewAgain(namespaces: readonly string[], signal: AbortSignal): Promise<void> {
    for (const ms of reviewAgainAfterMs) {
      await this.#options.context.clock.sleep(ms, signal);
      if (signal.aborted) return;
      this.#review(namespaces, { how: 'unhurried' });
    }
  }

  #singleChanged(namespace: string, reflector: Reflector): void {
    if (this.#single.get(namespace) !== reflector || this.#life.signal.aborted) return;
    const facts = reflector.facts();
    if (facts.phase === 'ended') this.#singleRefused(namespace, facts);
    this.#options.onChange();
  }

  /**
   * Handles a right that was lost in one namespace. The whole store is emptied: removing only a part of it would send delete events,
   * although no object was deleted.
   */
  #singleRefused(namespace: string, { listed, fault }: ReflectorFacts): void {
    this.#single.delete(namespace);
    this.#partial?.rights.deny(namespace);
    this.#reviewLeftOut();
    if (!listed || fault === undefined) return;
    this.#empty(fault);
    for (const [other, reflector] of [...this.#single]) {
      this.#startSingle(other, { recent: true });
      reflector.stop();
    }
  }

  #empty(fault: Fault): void {
    this.#emptied = true;
    this.#options.store.empty(fault);
  }
}
