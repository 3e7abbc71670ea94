import type { ObjectForm } from '../../cluster/cluster-api.ts';
import type { Fault, FaultCode } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../../core/names.ts';
import type { MirrorStore } from '../../store/mirror-store.ts';
import type { MirrorReader, SyncState } from '../mirrors.ts';
import type { ReflectorContext } from '../reflector/reflector-context.ts';
import type { ReflectorFacts } from '../reflector/reflector-facts.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';
import { maxNamespaces } from './review-rights.ts';
import { createScopeReflectors, type ScopeReflectors } from './scope-reflectors.ts';
import { isScopeSettled, type ScopeSync, syncOfScope, worstSync } from './sync.ts';

/** Whether the mirror is filled, and how; or why it must not be. */
export type MirrorPolicy =
  | { readonly fill: 'reflect'; readonly form: ObjectForm }
  /** Nothing of the kind is ever asked for. */
  | { readonly fill: 'withheld'; readonly message: string };

interface MirrorOptions {
  readonly surroundings: ReflectorContext;
  readonly resource: ServedResource;
  readonly policy: MirrorPolicy;
  /** Empty, and this mirror's alone. */
  readonly store: MirrorStore;
  /** See `ScopeReflectorsOptions`. */
  readonly candidates: () => readonly string[];
  readonly candidatesKnown: (signal: AbortSignal) => Promise<void> | undefined;
  readonly streaming: () => boolean;
  /** The phase or its fault has changed, or what is `unread`. */
  readonly onSync: (sync: SyncState) => void;
  /** The path answers 404. */
  readonly onMissing: () => void;
  readonly onReport: (report: WatchReport) => void;
}

/** The mirror of one kind in one cluster, for the one who owns it. */
export interface OwnedMirror extends MirrorReader {
  /** Objects of first lists that are not whole yet. */
  readonly stagedCount: number;
  /** The last sign of life of a stream of it, in monotonic milliseconds. */
  readonly lastActivityMs: number | undefined;
  /** `fault` of `sync()`, without the rest of it. */
  readonly fault: Fault | undefined;
  /** Up to where each scope of it is true. */
  readonly versions: readonly ResourceVersion[];
  /** See `ScopeVersions.want`. */
  requestNamespaces(namespaces: readonly string[]): void;
  /** See `ScopeVersions.made`. */
  namespacesCreated(namespaces: readonly string[]): void;
  /** What is served, or at which version, has changed: a fresh list, compared by content. */
  relist(resource: ServedResource): void;
  /** The cluster's breaker has opened or closed. */
  breakerChanged(): void;
  /** Ends it: readers are told `gone`, what was held is freed. */
  end(fault: Fault): void;
}

/** Namespaces shown that a message has by name. */
const mostNamed = 5;

/** Starts at once. */
export function createMirror(options: MirrorOptions): OwnedMirror {
  const mirror = new RunningMirror(options);
  mirror.begin();
  return mirror;
}

class RunningMirror implements OwnedMirror {
  readonly #options: MirrorOptions;
  readonly #waiters = new Set<() => void>();
  #resource: ServedResource;
  #scopes: ScopeReflectors | undefined;
  #ended: Fault | undefined;
  #told: (Pick<SyncState, 'phase' | 'fault'> & { readonly verdicts: number }) | undefined;
  #timer: AbortController | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#resource = options.resource;
  }

  get cluster(): ClusterName {
    return this.#options.surroundings.cluster;
  }

  get resource(): ServedResource {
    return this.#resource;
  }

  get store(): MirrorStore {
    return this.#options.store;
  }

  get stagedCount(): number {
    return this.#scopes?.facts().reduce((sum, { stagedCount: staged }) => sum + staged, 0) ?? 0;
  }

  get lastActivityMs(): number | undefined {
    return this.#scopes?.lastActivityMs;
  }

  get fault(): Fault | undefined {
    return this.#judge().fault;
  }

  get versions(): readonly ResourceVersion[] {
    return this.#scopes?.facts().flatMap(({ version }) => (version === undefined ? [] : [version])) ?? [];
  }

  begin(): void {
    const { policy, surroundings, store, candidates, candidatesKnown, streaming, onMissing, onReport } = this.#options;
    if (policy.fill === 'withheld') {
      this.#ended = this.#fault('FORBIDDEN', policy.message);
      return;
    }
    const { form } = policy;
    const onChange = () => this.#evaluate();
    this.#scopes = createScopeReflectors({
      surroundings,
      resource: this.#resource,
      form,
      store,
      candidates,
      candidatesKnown,
      streaming,
      onMissing,
      onReport,
      onChange,
    });
  }

  sync(): SyncState {
    const { clock } = this.#options.surroundings;
    const { phase, fault } = this.#judge();
    const trueMs = this.#trueMs();
    const { version } = this.#options.store;
    return {
      phase,
      asOfMs: trueMs === undefined || phase === 'MISSING' ? undefined : clock.now() - (clock.monotonic() - trueMs),
      version: phase === 'MISSING' ? undefined : version,
      fault,
    };
  }

  faults(): readonly Fault[] {
    const refusal = this.#scopes?.refusal;
    const namespaces = this.#scopes?.namespaces.length ?? 0;
    if (refusal === undefined || namespaces === 0) return [];
    return [{ ...refusal, message: `${this.#resource.resource} may not be listed in all namespaces; read in ${namespaces} of them` }];
  }

  unmirroredFault(namespaces: readonly string[]): Fault | undefined {
    const { denied, leftOut } = this.#scopes?.unmirrored(namespaces) ?? { denied: [], leftOut: [] };
    const plural = this.#resource.resource;
    if (denied.length > 0) return this.#fault('FORBIDDEN', `${plural} may not be listed in ${someOf(denied, { named: 1 })}`);
    if (leftOut.length === 0) return undefined;
    const why = `${plural} may not be listed in all namespaces, and at most ${maxNamespaces} are mirrored one by one`;
    return this.#fault(
      'TOO_LARGE',
      `${why}, without ${someOf(leftOut, { named: 1 })}: name fewer, or let the gateway list the kind in all`,
    );
  }

  partialListFault(sight: 'all' | ReadonlySet<string>): Fault | undefined {
    const { refusal, namespaces = [] } = this.#scopes ?? {};
    if (refusal === undefined || !this.#resource.namespaced) return undefined;
    const shown = sight === 'all' ? namespaces : namespaces.filter((namespace) => sight.has(namespace));
    if (sight !== 'all' && shown.length === sight.size) return undefined;
    const what = shown.length === 0 ? 'nothing is shown' : `what is shown is of ${someOf(shown.toSorted(), { named: mostNamed })}`;
    return this.#fault('FORBIDDEN', `${this.#resource.resource} may not be listed in all namespaces: ${what}`);
  }

  settled(): boolean {
    if (this.#scopes === undefined) return true;
    const moment = { breaker: this.#options.surroundings.breaker.fault };
    if (this.#scopes.pendingRights?.settled === false && moment.breaker === undefined) return false;
    return this.#scopes.facts().every((scope) => isScopeSettled(scope, moment));
  }

  whenSettled(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.settled()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.#waiters.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#waiters.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  requestNamespaces(namespaces: readonly string[]): void {
    this.#scopes?.requestNamespaces(namespaces);
  }

  namespacesCreated(namespaces: readonly string[]): void {
    this.#scopes?.namespacesCreated(namespaces);
  }

  relist(resource: ServedResource): void {
    this.#resource = resource;
    this.#scopes?.relist(resource);
  }

  breakerChanged(): void {
    if (this.#ended === undefined) this.#evaluate();
  }

  end(fault: Fault): void {
    const scopes = this.#scopes;
    this.#scopes = undefined;
    this.#ended = fault;
    this.#timer?.abort();
    scopes?.stop();
    this.#options.store.gone(fault);
    for (const resolve of [...this.#waiters]) resolve();
  }

  #judge(): ScopeSync {
    const scopes = this.#scopes;
    if (scopes === undefined) return { phase: 'MISSING', fault: this.#ended ?? this.#syncing() };
    const { clock, breaker } = this.#options.surroundings;
    const { group, kind } = this.#resource;
    const open = breaker.fault === undefined ? undefined : { ...breaker.fault, kind: { group, kind } };
    const moment = { nowMs: clock.monotonic(), breaker: open, syncing: this.#syncing() };
    const { pendingRights: asking, refusal } = scopes;
    // What may be in namespaces that are not listed yet is missing as much as what is in a list that is not whole.
    const unlisted: readonly ScopeSync[] =
      asking === undefined ? [] : [{ phase: 'SYNCING', fault: open ?? asking.fault ?? moment.syncing }];
    const worst = worstSync([...scopes.facts().map((facts) => syncOfScope(facts, moment)), ...unlisted]);
    return worst ?? { phase: 'MISSING', fault: refusal ?? moment.syncing };
  }

  /** As old as the oldest part of it. */
  #trueMs(): number | undefined {
    const facts: readonly ReflectorFacts[] = this.#scopes?.facts() ?? [];
    const times = facts.map(({ syncedMs: trueMs }) => trueMs ?? Number.NaN);
    const oldest = Math.min(...times);
    return times.length === 0 || Number.isNaN(oldest) ? undefined : oldest;
  }

  #evaluate(): void {
    if (this.#scopes === undefined) return;
    const { phase, fault, untilMs } = this.#judge();
    const before = this.#told;
    const { verdictCount: verdicts } = this.#scopes;
    this.#told = { phase, verdicts, fault };
    this.#evaluateAgainAt(untilMs);
    if (before?.phase !== phase || before.fault?.code !== fault?.code) {
      this.#tellReaders(before, { phase, fault });
      this.#options.onSync(this.sync());
    } else if (phase === 'SYNCED' && before.verdicts !== verdicts) {
      // What was `unread` is not so any more, or for another reason.
      this.#options.onSync(this.sync());
    }
    if (this.settled()) for (const resolve of [...this.#waiters]) resolve();
  }

  #tellReaders(
    before: Pick<SyncState, 'phase'> | undefined,
    { phase, fault }: Pick<ScopeSync, 'phase'> & { readonly fault: Fault | undefined },
  ): void {
    const { store } = this.#options;
    if (phase === 'STALE' && fault !== undefined) store.failed(fault);
    // Where it is so already, as after a list of all namespaces, the store says nothing twice.
    if (phase === 'SYNCED' && before?.phase !== 'SYNCED') store.synced();
  }

  #evaluateAgainAt(untilMs: number | undefined): void {
    this.#timer?.abort();
    this.#timer = undefined;
    if (untilMs === undefined) return;
    const { clock } = this.#options.surroundings;
    const ended = new AbortController();
    this.#timer = ended;
    void clock.sleep(untilMs - clock.monotonic(), ended.signal).then(() => {
      if (!ended.signal.aborted) this.#evaluate();
    });
  }

  #syncing(): Fault {
    return this.#fault('SYNCING', `the first list of ${this.#resource.resource} is not whole yet`);
  }

  #fault(code: FaultCode, message: string): Fault {
    const { group, kind } = this.#resource;
    return {
      code,
      cluster: this.cluster,
      kind: { group, kind },
      message,
      retry: code === 'SYNCING' || code === 'TOO_LARGE' ? 'LATER' : 'NEVER',
    };
  }
}

/** Namespaces in words: so many by name. */
function someOf(namespaces: readonly string[], { named }: { readonly named: number }): string {
  const names = namespaces.slice(0, named).join(', ');
  const others = namespaces.length - named;
  return others > 0 ? `${names} and ${others} more` : names;
}
