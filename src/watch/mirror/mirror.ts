import type { ObjectForm } from '../../cluster/cluster-api.ts';
import { type Fault, type FaultCode, fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../../core/names.ts';
import { Waiters } from '../../core/scheduling/waiters.ts';
import { shortenedList } from '../../core/text.ts';
import type { MirrorStore } from '../../store/mirror-store.ts';
import type { MirrorReader, SyncState } from '../mirrors.ts';
import type { ReflectorContext } from '../reflector/reflector-context.ts';
import type { ReflectorFacts } from '../reflector/reflector-facts.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';
import { maxNamespaces } from './review-rights.ts';
import { createScopeReflectors, type ScopeReflectors } from './scope-reflectors.ts';
import { isScopeSettled, type ScopeSync, syncOfScope, worstSync } from './sync.ts';

/** How a mirror is filled. `reflect`: by list and watch. `withheld`: never. */
export type MirrorPolicy =
  | { readonly fill: 'reflect'; readonly form: ObjectForm }
  /** The kind is never requested. `message` says why. */
  | { readonly fill: 'withheld'; readonly message: string };

interface MirrorOptions {
  readonly context: ReflectorContext;
  readonly resource: ServedResource;
  readonly policy: MirrorPolicy;
  /** An empty store for this mirror alone. */
  readonly store: MirrorStore;
  /** Returns the namespaces to try if not all may be listed. The most likely ones come first. */
  readonly candidates: () => readonly string[];
  readonly candidatesKnown: (signal: AbortSignal) => Promise<void> | undefined;
  readonly streaming: () => boolean;
  /** Called after the phase or its fault changed, or the result of `unmirroredFault`. */
  readonly onSync: (sync: SyncState) => void;
  /** Called when the path of the kind answers 404. */
  readonly onMissing: () => void;
  readonly onReport: (report: WatchReport) => void;
}

/** A mirror for its owner. */
export interface OwnedMirror extends MirrorReader {
  /** Number of objects in first lists that are being received. */
  readonly stagedCount: number;
  /** The monotonic time in milliseconds of the last activity of one of its streams. Undefined: there was none yet. */
  readonly lastActivityMs: number | undefined;
  /** The fault of `sync()`, without computing its other fields. */
  readonly fault: Fault | undefined;
  /** The version up to which each scope is correct. */
  readonly versions: readonly ResourceVersion[];
  /**
   * Records that a caller reads these namespaces. If the kind may not be listed in all namespaces, the rights in these are reviewed, and
   * the namespaces with the right are mirrored.
   */
  requestNamespaces(namespaces: readonly string[]): void;
  /** Reviews the rights in new namespaces, if the kind may not be listed in all. Namespaces with the right are then mirrored. */
  namespacesCreated(namespaces: readonly string[]): void;
  /**
   * Lists all objects again, and compares their whole content with the store. Call this method if equal versions may have another content:
   * after a change of the served version, of the definition of the kind, or of the release of the server.
   */
  relist(resource: ServedResource): void;
  /** Computes the sync again. Call this method after the breaker of the cluster has opened or closed. */
  breakerChanged(): void;
  /** Ends the mirror. Readers receive `gone`, and the objects are freed. */
  end(fault: Fault): void;
}

/** Maximum number of namespaces that a message names. */
const maxNamed = 5;

/** Creates a mirror and starts it. Its reflectors are in `scope-reflectors.ts`. */
export function createMirror(options: MirrorOptions): OwnedMirror {
  const mirror = new ReflectedMirror(options);
  mirror.begin();
  return mirror;
}

class ReflectedMirror implements OwnedMirror {
  readonly #options: MirrorOptions;
  readonly #waiters = new Waiters();
  #resource: ServedResource;
  #reflectors: ScopeReflectors | undefined;
  #ended: Fault | undefined;
  /** The result of the last evaluation, and the fault of the breaker at that time. The mirror is evaluated after each change of its reflectors. */
  #reported: (Pick<SyncState, 'phase' | 'fault'> & { readonly verdictCount: number; readonly breaker: Fault | undefined }) | undefined;
  #timer: AbortController | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#resource = options.resource;
  }

  get cluster(): ClusterName {
    return this.#options.context.cluster;
  }

  get resource(): ServedResource {
    return this.#resource;
  }

  get store(): MirrorStore {
    return this.#options.store;
  }

  get stagedCount(): number {
    return this.#reflectors?.facts().reduce((sum, { stagedCount }) => sum + stagedCount, 0) ?? 0;
  }

  get lastActivityMs(): number | undefined {
    return this.#reflectors?.lastActivityMs;
  }

  get fault(): Fault | undefined {
    if (this.#reflectors === undefined) return this.#ended;
    const known = this.#reported;
    const isCurrent = known !== undefined && known.breaker === this.#options.context.breaker.fault;
    return isCurrent ? known.fault : this.#judge().fault;
  }

  get versions(): readonly ResourceVersion[] {
    return this.#reflectors?.facts().flatMap(({ version }) => (version === undefined ? [] : [version])) ?? [];
  }

  begin(): void {
    const { policy, context, store, candidates, candidatesKnown, streaming, onMissing, onReport } = this.#options;
    if (policy.fill === 'withheld') {
      this.#ended = this.#fault('FORBIDDEN', policy.message);
      return;
    }
    const { form } = policy;
    const onChange = () => this.#evaluate();
    this.#reflectors = createScopeReflectors({
      context,
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
    const { clock } = this.#options.context;
    const { phase, fault } = this.#judge();
    const syncedMs = this.#syncedMs();
    const { version } = this.#options.store;
    return {
      phase,
      asOfMs: syncedMs === undefined || phase === 'MISSING' ? undefined : clock.now() - (clock.monotonic() - syncedMs),
      version: phase === 'MISSING' ? undefined : version,
      fault,
    };
  }

  faults(): readonly Fault[] {
    const refusal = this.#reflectors?.refusal;
    const namespaces = this.#reflectors?.namespaces.length ?? 0;
    if (refusal === undefined || namespaces === 0) return [];
    return [{ ...refusal, message: `${this.#resource.resource} may not be listed in all namespaces; read in ${namespaces} of them` }];
  }

  unmirroredFault(namespaces: readonly string[]): Fault | undefined {
    const { denied, leftOut } = this.#reflectors?.unmirrored(namespaces) ?? { denied: [], leftOut: [] };
    const plural = this.#resource.resource;
    if (denied.length > 0) return this.#fault('FORBIDDEN', `${plural} may not be listed in ${shortenedList(denied, 1)}`);
    if (leftOut.length === 0) return undefined;
    const why = `${plural} may not be listed in all namespaces, and at most ${maxNamespaces} are mirrored one by one`;
    return this.#fault('TOO_LARGE', `${why}, without ${shortenedList(leftOut, 1)}: name fewer, or let the gateway list the kind in all`);
  }

  partialListFault(visible: 'all' | ReadonlySet<string>): Fault | undefined {
    const { refusal, namespaces = [] } = this.#reflectors ?? {};
    if (refusal === undefined || !this.#resource.namespaced) return undefined;
    const shown = visible === 'all' ? namespaces : namespaces.filter((namespace) => visible.has(namespace));
    if (visible !== 'all' && shown.length === visible.size) return undefined;
    const what = shown.length === 0 ? 'nothing is shown' : `only objects in ${shortenedList(shown.toSorted(), maxNamed)} are shown`;
    return this.#fault('FORBIDDEN', `${this.#resource.resource} may not be listed in all namespaces: ${what}`);
  }

  settled(): boolean {
    if (this.#reflectors === undefined) return true;
    const moment = { breaker: this.#options.context.breaker.fault };
    if (this.#reflectors.pendingRights?.settled === false && moment.breaker === undefined) return false;
    return this.#reflectors.facts().every((scope) => isScopeSettled(scope, moment));
  }

  whenSettled(signal: AbortSignal): Promise<void> {
    return this.settled() ? Promise.resolve() : this.#waiters.wait(signal);
  }

  requestNamespaces(namespaces: readonly string[]): void {
    this.#reflectors?.requestNamespaces(namespaces);
  }

  namespacesCreated(namespaces: readonly string[]): void {
    this.#reflectors?.namespacesCreated(namespaces);
  }

  relist(resource: ServedResource): void {
    this.#resource = resource;
    this.#reflectors?.relist(resource);
  }

  breakerChanged(): void {
    if (this.#ended === undefined) this.#evaluate();
  }

  end(fault: Fault): void {
    const reflectors = this.#reflectors;
    this.#reflectors = undefined;
    this.#ended = fault;
    this.#timer?.abort();
    reflectors?.stop();
    this.#options.store.gone(fault);
    this.#waiters.wake();
  }

  #judge(): ScopeSync {
    const reflectors = this.#reflectors;
    if (reflectors === undefined) return { phase: 'MISSING', fault: this.#ended ?? this.#syncing() };
    const { clock, breaker } = this.#options.context;
    const { group, kind } = this.#resource;
    const open = breaker.fault === undefined ? undefined : { ...breaker.fault, kind: { group, kind } };
    const moment = { nowMs: clock.monotonic(), breaker: open, syncing: this.#syncing() };
    const { pendingRights, refusal } = reflectors;
    // Objects in namespaces that are not listed yet are missing, like the objects of an incomplete list. So the mirror counts as `SYNCING`.
    const unlisted: readonly ScopeSync[] =
      pendingRights === undefined ? [] : [{ phase: 'SYNCING', fault: open ?? pendingRights.fault ?? moment.syncing }];
    const worst = worstSync([...reflectors.facts().map((facts) => syncOfScope(facts, moment)), ...unlisted]);
    return worst ?? { phase: 'MISSING', fault: refusal ?? moment.syncing };
  }

  /** Returns the time up to which all scopes are correct: the earliest of their times. Undefined if a scope has no such time yet. */
  #syncedMs(): number | undefined {
    const facts: readonly ReflectorFacts[] = this.#reflectors?.facts() ?? [];
    const times = facts.map(({ syncedMs }) => syncedMs ?? Number.NaN);
    const oldest = Math.min(...times);
    return times.length === 0 || Number.isNaN(oldest) ? undefined : oldest;
  }

  #evaluate(): void {
    if (this.#reflectors === undefined) return;
    const { phase, fault, untilMs } = this.#judge();
    const before = this.#reported;
    const { verdictCount } = this.#reflectors;
    this.#reported = { phase, verdictCount, fault, breaker: this.#options.context.breaker.fault };
    this.#evaluateAgainAt(untilMs);
    if (before?.phase !== phase || before.fault?.code !== fault?.code) {
      this.#notifyReaders(before, { phase, fault });
      this.#options.onSync(this.sync());
    } else if (phase === 'SYNCED' && before.verdictCount !== verdictCount) {
      // The result of `unmirroredFault` has changed.
      this.#options.onSync(this.sync());
    }
    if (this.settled()) this.#waiters.wake();
  }

  #notifyReaders(
    before: Pick<SyncState, 'phase'> | undefined,
    { phase, fault }: Pick<ScopeSync, 'phase'> & { readonly fault: Fault | undefined },
  ): void {
    const { store } = this.#options;
    if (phase === 'STALE' && fault !== undefined) store.failed(fault);
    // The store sends no second `synced` if it is in sync already, as after a list of all namespaces.
    if (phase === 'SYNCED' && before?.phase !== 'SYNCED') store.synced();
  }

  #evaluateAgainAt(untilMs: number | undefined): void {
    this.#timer?.abort();
    this.#timer = undefined;
    if (untilMs === undefined) return;
    const { clock } = this.#options.context;
    const ended = new AbortController();
    this.#timer = ended;
    void clock.sleep(untilMs - clock.monotonic(), ended.signal).then(() => {
      if (!ended.signal.aborted) this.#evaluate();
    });
  }

  #syncing(): Fault {
    return this.#fault('SYNCING', `the first list of ${this.#resource.resource} is not complete yet`);
  }

  #fault(code: FaultCode, message: string): Fault {
    const { group, kind } = this.#resource;
    return fault(code, message, {
      cluster: this.cluster,
      kind: { group, kind },
      retry: code === 'SYNCING' || code === 'TOO_LARGE' ? 'LATER' : 'NEVER',
    });
  }
}
