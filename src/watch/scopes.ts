import type { ObjectForm } from '../cluster/cluster-api.ts';
import type { Fault } from '../core/faults.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { MirrorStore } from '../store/mirror-store.ts';
import { createReflector, type Reflector } from './reflector.ts';
import type { ReflectorFacts } from './reflector-facts.ts';
import { grantedNamespaces, mostNamespaces } from './rights.ts';
import type { Report } from './state.ts';
import type { Surroundings } from './surroundings.ts';

const firstRetryMs = 60_000;
const longestRetryMs = 600_000;

export interface ScopesOptions {
  readonly surroundings: Surroundings;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  readonly store: MirrorStore;
  /** Namespaces to try where not all may be listed, the likeliest first. */
  readonly candidates: () => readonly string[];
  /** Whether a first list may be a WatchList now. */
  readonly streaming: () => boolean;
  /** After anything that the getters tell may have changed. */
  readonly onChange: () => void;
  readonly onMissing: () => void;
  readonly onReport: (report: Report) => void;
}

/** The reflectors that fill one store: one for all namespaces, or one for each namespace that may be read (docs/mirror.md 3.4). */
export interface Scopes {
  /** Of the reflectors whose lists make up what is held. */
  facts(): readonly ReflectorFacts[];
  /** Why not all namespaces may be read; undefined while they may. */
  readonly refusal: Fault | undefined;
  /** The namespaces read instead. */
  readonly namespaces: readonly string[];
  /** True while rights are being asked for and nothing is known to be granted. */
  readonly asking: boolean;
  /** Namespaces that somebody wants to see: asked for at once where not all may be read. */
  want(namespaces: readonly string[]): void;
  /** A fresh list of everything, compared by content: the version served, or what is served at one, has changed. */
  relist(resource: ServedResource): void;
  /** Ends all of it at once. */
  stop(): void;
}

/** Begins with all namespaces. */
export function createScopes(options: ScopesOptions): Scopes {
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

class RunningScopes implements Scopes {
  readonly #options: ScopesOptions;
  readonly #life = new AbortController();
  readonly #narrow = new Map<string, Reflector>();
  readonly #wanted = new Set<string>();
  #resource: ServedResource;
  #wide: Reflector | undefined;
  #refusal: Fault | undefined;
  #questions = 0;
  #retryMs = firstRetryMs;

  constructor(options: ScopesOptions) {
    this.#options = options;
    this.#resource = options.resource;
  }

  get refusal(): Fault | undefined {
    return this.#refusal;
  }

  get namespaces(): readonly string[] {
    return [...this.#narrow.keys()];
  }

  get asking(): boolean {
    return this.#questions > 0;
  }

  begin(): void {
    this.#startWide({});
  }

  facts(): readonly ReflectorFacts[] {
    // A reflector that tries all namespaces again counts from its commit on, in which the narrow ones end.
    if (this.#refusal !== undefined) return [...this.#narrow.values()].map((reflector) => reflector.facts());
    return this.#wide === undefined ? [] : [this.#wide.facts()];
  }

  want(namespaces: readonly string[]): void {
    const news = namespaces.filter((namespace) => !this.#wanted.has(namespace));
    for (const namespace of news) {
      if (this.#wanted.size >= mostNamespaces) this.#wanted.delete(this.#wanted.values().next().value ?? '');
      this.#wanted.add(namespace);
    }
    if (this.#refusal !== undefined && news.length > 0) void this.#narrowDown(news);
  }

  relist(resource: ServedResource): void {
    this.#resource = resource;
    const wide = this.#wide;
    if (wide !== undefined) {
      const heir = wide.facts();
      // The old one is not heard any more once the new one has its place.
      this.#startWide(heir.whole ? { heir } : { recent: this.#refusal !== undefined });
      wide.stop();
    }
    for (const [namespace, reflector] of [...this.#narrow]) {
      const heir = reflector.facts();
      this.#startNarrow(namespace, heir.whole ? { heir } : {});
      reflector.stop();
    }
  }

  stop(): void {
    this.#life.abort();
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
    if (facts.phase === 'ended') this.#refused(facts);
    this.#options.onChange();
  }

  /** All namespaces may not be read, or no longer: what was held is dropped, and asked for namespace by namespace. */
  #refused({ whole, fault }: ReflectorFacts): void {
    const { surroundings, store } = this.#options;
    this.#wide = undefined;
    this.#refusal = fault ?? this.#refusal ?? surroundings.breaker.fault;
    if (whole && this.#refusal !== undefined) store.empty(this.#refusal);
    void this.#narrowDown([...this.#wanted, ...this.#options.candidates()]);
    void this.#tryAgain();
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
    this.#refusal = undefined;
    this.#retryMs = firstRetryMs;
    for (const reflector of this.#narrow.values()) reflector.stop();
    this.#narrow.clear();
  }

  async #narrowDown(namespaces: readonly string[]): Promise<void> {
    const { surroundings } = this.#options;
    const { signal } = this.#life;
    const unknown = [...new Set(namespaces)].filter((namespace) => !this.#narrow.has(namespace));
    const room = mostNamespaces - this.#narrow.size;
    if (!this.#resource.namespaced || unknown.length === 0 || room <= 0) return;
    this.#questions++;
    const question = { api: surroundings.api, resource: this.#resource, namespaces: unknown.slice(0, room) };
    const granted = await grantedNamespaces(question, signal);
    this.#questions--;
    if (signal.aborted) return;
    if (this.#refusal !== undefined) {
      for (const namespace of granted) if (!this.#narrow.has(namespace)) this.#startNarrow(namespace, {});
    }
    this.#options.onChange();
  }

  #narrowChanged(namespace: string, reflector: Reflector): void {
    if (this.#narrow.get(namespace) !== reflector || this.#life.signal.aborted) return;
    const facts = reflector.facts();
    if (facts.phase === 'ended') this.#narrowRefused(namespace, facts);
    this.#options.onChange();
  }

  /** A store is emptied as a whole, so that no deletion is told: the scopes that are left list again. */
  #narrowRefused(namespace: string, { whole, fault }: ReflectorFacts): void {
    this.#narrow.delete(namespace);
    if (!whole || fault === undefined) return;
    this.#options.store.empty(fault);
    for (const [other, reflector] of [...this.#narrow]) {
      this.#startNarrow(other, {});
      reflector.stop();
    }
  }
}
