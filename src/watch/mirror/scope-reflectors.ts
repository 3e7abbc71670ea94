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

const firstRetryMs = 60_000;
const longestRetryMs = 600_000;

/** Who makes a namespace often gives the rights in it a moment later. */
const newAgainAfterMs = [5_000, 25_000] as const;

export interface ScopeReflectorsOptions {
  readonly surroundings: ReflectorContext;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  readonly store: MirrorStore;
  /** Namespaces to try where not all may be listed, the likeliest first. */
  readonly candidates: () => readonly string[];
  /** Resolves when all candidates are known, or cannot be, or when the signal aborts. Undefined if there is nothing to wait for. */
  readonly candidatesKnown: (signal: AbortSignal) => Promise<void> | undefined;
  /** Whether a first list may be a WatchList now. */
  readonly streaming: () => boolean;
  /** After anything that the getters tell may have changed. */
  readonly onChange: () => void;
  readonly onMissing: () => void;
  readonly onReport: (report: WatchReport) => void;
}

/** The reflectors that fill one store: one for all namespaces, or one for each namespace that may be read (docs/internals/mirror.md 3.4). */
export interface ScopeReflectors {
  /** Of the reflectors whose lists make up what is held. */
  facts(): readonly ReflectorFacts[];
  /** The last sign of life among them: monotonic milliseconds. Undefined before the first. */
  readonly lastActivityMs: number | undefined;
  /** Why not all namespaces may be read; undefined while they may. */
  readonly refusal: Fault | undefined;
  /** The namespaces read instead. */
  readonly namespaces: readonly string[];
  /** While it is not known in which namespaces the kind may be read, or not in all that somebody wants to see. */
  readonly pendingRights: PendingRights | undefined;
  /**
   * Namespaces that somebody wants to see: asked for at once where not all may be read, again if the last refusal is older than 10 s. Not beyond
   * the bound of 400 that are read or asked for: see `unread`.
   */
  requestNamespaces(namespaces: readonly string[]): void;
  /** Those of the namespaces that are not read, where not all may be: without those of which the answer is awaited. */
  unmirrored(namespaces: readonly string[]): UnmirroredNamespaces;
  /** Another number as soon as `unread` says something else of what was wanted, though neither `facts` nor `asking` do. */
  readonly verdictCount: number;
  /** Namespaces that were just made: rights in them are asked for where not all may be read, again after 5 and 30 s. */
  namespacesCreated(namespaces: readonly string[]): void;
  /** A fresh list of everything, compared by content: the version served, or what is served at one, has changed. */
  relist(resource: ServedResource): void;
  /** Ends all of it at once. */
  stop(): void;
}

/** Namespaces of which nothing is held, so that there are no objects in them says nothing. */
interface UnmirroredNamespaces {
  /** They may not be read. */
  readonly denied: readonly string[];
  /** There was no room for them: it is not known whether they may be. */
  readonly leftOut: readonly string[];
}

const nothingUnread: UnmirroredNamespaces = { denied: [], leftOut: [] };

/** Begins with all namespaces. */
export function createScopeReflectors(options: ScopeReflectorsOptions): ScopeReflectors {
  const scopes = new RunningScopes(options);
  scopes.begin();
  return scopes;
}

/** How a reflector begins. */
interface Beginning {
  readonly namespace?: string;
  readonly heir?: ReflectorFacts;
  readonly recent?: boolean;
}

/** While not all namespaces may be read. */
interface Refused {
  fault: Fault;
  readonly grants: NamespaceRights;
  /** Ends when all may be read. */
  readonly life: AbortController;
  /** The candidates are not known yet. */
  undecided: boolean;
}

class RunningScopes implements ScopeReflectors {
  readonly #options: ScopeReflectorsOptions;
  readonly #life = new AbortController();
  readonly #narrow = new Map<string, Reflector>();
  readonly #wanted = new Set<string>();
  #resource: ServedResource;
  #wide: Reflector | undefined;
  #refused: Refused | undefined;
  #retryMs = firstRetryMs;
  /** Readers have seen what is held no more: a list "of any version" might bring back what is older. */
  #emptied = false;
  #verdicts = 0;

  constructor(options: ScopeReflectorsOptions) {
    this.#options = options;
    this.#resource = options.resource;
  }

  get refusal(): Fault | undefined {
    return this.#refused?.fault;
  }

  get namespaces(): readonly string[] {
    return [...this.#narrow.keys()];
  }

  get pendingRights(): PendingRights | undefined {
    if (this.#refused?.undecided === true) return { settled: false };
    return this.#refused?.grants.awaited;
  }

  get verdictCount(): number {
    return this.#verdicts;
  }

  begin(): void {
    this.#startWide({});
  }

  facts(): readonly ReflectorFacts[] {
    return this.#reflectors().map((reflector) => reflector.facts());
  }

  get lastActivityMs(): number | undefined {
    let latest: number | undefined;
    for (const { syncedMs: trueMs } of this.#reflectors()) if (trueMs !== undefined) latest = Math.max(latest ?? trueMs, trueMs);
    return latest;
  }

  #reflectors(): readonly Reflector[] {
    // A reflector that tries all namespaces again counts from its commit on, in which the narrow ones end.
    if (this.#refused !== undefined) return [...this.#narrow.values()];
    return this.#wide === undefined ? [] : [this.#wide];
  }

  requestNamespaces(namespaces: readonly string[]): void {
    for (const namespace of namespaces) {
      this.#wanted.delete(namespace);
      this.#wanted.add(namespace);
      const [oldest] = this.#wanted;
      if (this.#wanted.size > maxNamespaces && oldest !== undefined) this.#wanted.delete(oldest);
    }
    const { grants } = this.#refused ?? {};
    const open = namespaces.filter((namespace) => !this.#narrow.has(namespace) && grants?.needsReview(namespace));
    if (open.length === 0) return;
    // Whoever names a namespace is answered, also where those tried for nobody's sake fill the bound.
    this.#ask(open, { how: 'awaited', most: maxNamespaces });
    // A refusal that is worth another question is no answer to whoever names it now.
    for (const namespace of open) {
      if (grants?.isDenied(namespace) === true) this.#verdicts++;
      grants?.forget(namespace);
    }
    this.#options.onChange();
  }

  unmirrored(namespaces: readonly string[]): UnmirroredNamespaces {
    const { grants } = this.#refused ?? {};
    if (grants === undefined || !this.#resource.namespaced) return nothingUnread;
    const missing = namespaces.filter((namespace) => !this.#narrow.has(namespace) && !grants.isAwaited(namespace));
    return {
      denied: missing.filter((namespace) => grants.isDenied(namespace)),
      leftOut: missing.filter((namespace) => !grants.isDenied(namespace)),
    };
  }

  namespacesCreated(namespaces: readonly string[]): void {
    if (this.#refused === undefined || !this.#resource.namespaced) return;
    this.#ask(namespaces, { how: 'unhurried' });
    void this.#askAgain(namespaces, this.#refused.life.signal);
  }

  relist(resource: ServedResource): void {
    this.#resource = resource;
    const wide = this.#wide;
    if (wide !== undefined) {
      const heir = wide.facts();
      // The old one is not heard any more once the new one has its place.
      this.#startWide(heir.listed ? { heir } : { recent: this.#refused !== undefined });
      wide.stop();
    }
    for (const [namespace, reflector] of [...this.#narrow]) {
      const heir = reflector.facts();
      this.#startNarrow(namespace, heir.listed ? { heir } : { recent: this.#emptied });
      reflector.stop();
    }
  }

  stop(): void {
    this.#life.abort();
    this.#refused?.life.abort();
    this.#wide?.stop();
    for (const reflector of this.#narrow.values()) reflector.stop();
    this.#narrow.clear();
    this.#wide = undefined;
  }

  #startWide(beginning: Beginning): void {
    const reflector: Reflector = this.#reflect(beginning, {
      onChange: () => this.#wideChanged(reflector),
      onCommitted: () => this.#widened(),
    });
    this.#wide = reflector;
  }

  #startNarrow(namespace: string, beginning: Beginning): void {
    const reflector: Reflector = this.#reflect({ ...beginning, namespace }, { onChange: () => this.#narrowChanged(namespace, reflector) });
    this.#narrow.set(namespace, reflector);
  }

  #reflect({ heir, ...beginning }: Beginning, listener: { readonly onChange: () => void; readonly onCommitted?: () => void }): Reflector {
    const { surroundings, form, store, streaming, onMissing, onReport } = this.#options;
    return createReflector({
      surroundings,
      resource: this.#resource,
      form,
      store,
      streaming,
      onMissing,
      onReport,
      ...beginning,
      ...(heir === undefined ? {} : { heir, byContent: true }),
      ...listener,
    });
  }

  #wideChanged(reflector: Reflector): void {
    if (this.#wide !== reflector || this.#life.signal.aborted) return;
    const facts = reflector.facts();
    if (facts.phase === 'ended') this.#wideRefused(facts);
    this.#options.onChange();
  }

  /** All namespaces may not be read, or no longer: what was held is dropped, and asked for namespace by namespace. */
  #wideRefused({ listed: whole, fault }: ReflectorFacts): void {
    this.#wide = undefined;
    if (fault === undefined) return;
    if (whole) this.#empty(fault);
    const candidates = [...this.#wanted, ...this.#options.candidates()];
    if (this.#refused === undefined) {
      this.#refused = this.#beginRefused(fault);
      this.#ask([...this.#wanted], { how: 'awaited', most: maxNamespaces });
      this.#ask(candidates, { how: 'awaited' });
      void this.#awaitCandidates(this.#refused);
    } else {
      const { grants } = this.#refused;
      this.#refused.fault = fault;
      this.#ask(grants.sortByRefusalAge([...this.#wanted]), { how: 'unhurried', most: maxNamespaces });
      this.#ask(grants.sortByRefusalAge(candidates), { how: 'unhurried' });
    }
    void this.#tryAgain();
  }

  #beginRefused(fault: Fault): Refused {
    const { surroundings, onChange } = this.#options;
    const life = new AbortController();
    const resource = () => this.#resource;
    const onGranted = (namespace: string) => {
      if (!this.#narrow.has(namespace)) this.#startNarrow(namespace, { recent: this.#emptied });
    };
    const onDenied = (namespace: string, isNews: boolean) => {
      if (isNews && this.#wanted.has(namespace)) this.#verdicts++;
      this.#askLeftOut();
    };
    const grants = createNamespaceRights({ surroundings, resource, onGranted, onDenied, onChange }, life.signal);
    return { fault, grants, life, undecided: false };
  }

  async #awaitCandidates(refused: Refused): Promise<void> {
    const { signal } = refused.life;
    const known = this.#resource.namespaced ? this.#options.candidatesKnown(signal) : undefined;
    if (known === undefined) return;
    refused.undecided = true;
    await known;
    if (signal.aborted) return;
    refused.undecided = false;
    this.#ask(this.#options.candidates(), { how: 'awaited' });
    this.#options.onChange();
  }

  async #tryAgain(): Promise<void> {
    const { clock } = this.#options.surroundings;
    await clock.sleep(this.#retryMs, this.#life.signal);
    if (this.#life.signal.aborted) return;
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
    // What the narrow scopes hold may be newer than what a list "of any version" would bring.
    this.#startWide({ recent: true });
  }

  /** The list of all namespaces is whole: in the same turn the narrow scopes end. */
  #widened(): void {
    if (this.#refused !== undefined) this.#verdicts++;
    this.#refused?.life.abort();
    this.#refused = undefined;
    this.#retryMs = firstRetryMs;
    for (const reflector of this.#narrow.values()) reflector.stop();
    this.#narrow.clear();
  }

  /** There may be room now for what somebody wanted to see when there was none. */
  #askLeftOut(): void {
    const { grants } = this.#refused ?? {};
    const leftOut = this.unmirrored([...this.#wanted]).leftOut.filter((namespace) => grants?.pending.has(namespace) === false);
    if (leftOut.length > 0) this.#ask(leftOut, { how: 'unhurried', most: maxNamespaces });
  }

  #ask(
    namespaces: readonly string[],
    { how, most = maxTriedNamespaces }: { readonly how: 'awaited' | 'unhurried'; readonly most?: number },
  ): void {
    const { grants } = this.#refused ?? {};
    if (grants === undefined || !this.#resource.namespaced) return;
    const asked = new Set(namespaces.filter((namespace) => !this.#narrow.has(namespace)));
    const room = Math.max(0, most - this.#narrow.size - grants.pending.size);
    const isPending = (namespace: string) => grants.pending.has(namespace);
    const fresh = [...asked].filter((namespace) => !isPending(namespace)).slice(0, room);
    grants.review([...[...asked].filter(isPending), ...fresh], how);
  }

  async #askAgain(namespaces: readonly string[], signal: AbortSignal): Promise<void> {
    for (const ms of newAgainAfterMs) {
      await this.#options.surroundings.clock.sleep(ms, signal);
      if (signal.aborted) return;
      this.#ask(namespaces, { how: 'unhurried' });
    }
  }

  #narrowChanged(namespace: string, reflector: Reflector): void {
    if (this.#narrow.get(namespace) !== reflector || this.#life.signal.aborted) return;
    const facts = reflector.facts();
    if (facts.phase === 'ended') this.#narrowRefused(namespace, facts);
    this.#options.onChange();
  }

  /** A store is emptied as a whole, so that no deletion is told: the scopes that are left list again. */
  #narrowRefused(namespace: string, { listed: whole, fault }: ReflectorFacts): void {
    this.#narrow.delete(namespace);
    this.#refused?.grants.deny(namespace);
    this.#askLeftOut();
    if (!whole || fault === undefined) return;
    this.#empty(fault);
    for (const [other, reflector] of [...this.#narrow]) {
      this.#startNarrow(other, { recent: true });
      reflector.stop();
    }
  }

  #empty(fault: Fault): void {
    this.#emptied = true;
    this.#options.store.empty(fault);
  }
}
