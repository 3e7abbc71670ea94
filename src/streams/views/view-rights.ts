import { type Access, type Caller, isUnchecked, type Visibility } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ModelKind } from '../../model/model.ts';
import { compareVisibility, type WatchScope, watchVisibility } from './watch-scope.ts';

/** Milliseconds between two checks of the rights of a view. A cached decision may be 30 s old, and a lost right must end a stream within 60 s. */
const checkEveryMs = 25_000;

/** Milliseconds for which a stream continues while its rights cannot be checked. After that, it ends as soon as there is something to send. */
const uncheckedMs = 60_000;

interface FollowRightsOptions {
  readonly access: Access;
  readonly clock: Clock;
  /** True for a cluster that the view has requested. */
  readonly concerns: (cluster: ClusterName) => boolean;
  readonly onCheck: () => void;
}

/** Calls `onCheck` every 25 s, and after rights in a requested cluster may have changed, until the signal aborts. */
export function followRights({ access, clock, concerns, onCheck }: FollowRightsOptions, signal: AbortSignal): void {
  access.onChange((cluster) => {
    if (concerns(cluster)) onCheck();
  }, signal);
  const checkRegularly = async () => {
    for (;;) {
      await clock.sleep(checkEveryMs, signal);
      if (signal.aborted) return;
      onCheck();
    }
  };
  void checkRegularly();
}

/** A source whose rights are checked. */
interface WatchedSource {
  readonly cluster: { readonly name: ClusterName };
  readonly kind: ModelKind;
}

interface ViewRightsOptions {
  readonly access: Access;
  readonly clock: Clock;
  readonly query: { readonly conditions: { readonly namespaces?: readonly string[] | undefined } };
  /** The scope of the view: what each of its callers could watch when their streams began. */
  readonly scope: WatchScope;
  /** Returns what a caller may watch of the query of the view now. */
  readonly scopeFor: (caller: Caller, signal: AbortSignal) => WatchScope | Promise<WatchScope>;
}

/**
 * The result of a check of rights. `kept`: the scope is the same, or a cluster did not answer. `lost`: the caller may see less. `gained`: the
 * caller may see more, and `scope` is the new one.
 */
export type RightsVerdict = { readonly type: 'kept' } | { readonly type: 'lost' } | { readonly type: 'gained'; readonly scope: WatchScope };

interface WatchingCaller {
  readonly caller: Caller;
  readers: number;
  /** The monotonic time since which a cluster has not answered what the caller may watch. Undefined: all have answered. */
  uncheckedSinceMs: number | undefined;
}

/** The callers of a view, and checks of their rights. */
export class ViewRights {
  readonly #options: ViewRightsOptions;
  readonly #signal: AbortSignal;
  readonly #callers = new Map<string, WatchingCaller>();

  /**
   * Creates the rights of a view without callers.
   *
   * @param signal Ends the checks: after its abort no verdict is reported.
   */
  constructor(options: ViewRightsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  add(caller: Caller): void {
    const known = this.#callers.get(caller.key);
    if (known === undefined) this.#callers.set(caller.key, { caller, readers: 1, uncheckedSinceMs: undefined });
    else known.readers += 1;
  }

  remove({ key }: Caller): void {
    const known = this.#callers.get(key);
    if (known === undefined) return;
    known.readers -= 1;
    if (known.readers === 0) this.#callers.delete(key);
  }

  /**
   * Returns the keys of callers that may no longer see all of these sources, or whose rights could not be checked for 60 s. Checks only
   * rights that are known at once.
   */
  callersWithout(sources: readonly WatchedSource[]): ReadonlySet<string> {
    const lost = new Set<string>();
    for (const one of this.#callers.values()) if (sources.some((source) => this.#hasLost(one, source))) lost.add(one.caller.key);
    return lost;
  }

  /**
   * Checks again what each caller may watch. Calls `judge` once, when all answers are known. The call is synchronous if all answers are known
   * at once. There is no call after the signal has aborted.
   *
   * @param isMember Returns false for a cluster that has left. Its sources are not checked, because no right was lost.
   */
  check(
    sources: readonly WatchedSource[],
    isMember: (cluster: ClusterName) => boolean,
    judge: (verdicts: ReadonlyMap<string, RightsVerdict>) => void,
  ): void {
    const callers = [...this.#callers.values()];
    const scopes = callers.map(({ caller }) => this.#options.scopeFor(caller, this.#signal));
    const settle = (known: readonly WatchScope[]): void => {
      if (this.#signal.aborted) return;
      const still = sources.filter(({ cluster }) => isMember(cluster.name));
      const verdicts = callers.flatMap((one, index) => {
        const scope = known[index];
        return scope === undefined ? [] : [[one.caller.key, this.#verdictOn(one, scope, still)] as const];
      });
      judge(new Map(verdicts));
    };
    if (scopes.some((scope) => scope instanceof Promise)) void Promise.all(scopes).then(settle);
    else settle(scopes as readonly WatchScope[]);
  }

  #verdictOn(watching: WatchingCaller, now: WatchScope, sources: readonly WatchedSource[]): RightsVerdict {
    const { scope, clock } = this.#options;
    const lost = sources.filter(({ cluster, kind }) =>
      isLess(scope.visibilityOf(cluster.name, kind), now.visibilityOf(cluster.name, kind)),
    );
    const unchecked = lost.filter(({ cluster, kind }) => isUnchecked(now.visibilityOf(cluster.name, kind)));
    if (unchecked.length === 0) watching.uncheckedSinceMs = undefined;
    else watching.uncheckedSinceMs ??= clock.monotonic();
    if (lost.length > unchecked.length) return { type: 'lost' };
    return now.digest === scope.digest || unchecked.length > 0 ? { type: 'kept' } : { type: 'gained', scope: now };
  }

  #hasLost({ caller, uncheckedSinceMs }: WatchingCaller, { cluster, kind }: WatchedSource): boolean {
    const { access, clock, query, scope } = this.#options;
    const { namespaces } = query.conditions;
    const now = watchVisibility(access, { caller, cluster: cluster.name, kind, namespaces }, this.#signal);
    if (now instanceof Promise || !isLess(scope.visibilityOf(cluster.name, kind), now)) return false;
    return !isUnchecked(now) || (uncheckedSinceMs !== undefined && clock.monotonic() - uncheckedSinceMs >= uncheckedMs);
  }
}

function isLess(before: Visibility | undefined, now: Visibility | undefined): boolean {
  return compareVisibility(before, now) === 'less';
}

/** Returns the reason with which streams end when their caller has lost a right. */
export function lostRightError(): MusterError {
  return new MusterError('FORBIDDEN', 'the caller has lost the right to watch some of the requested kinds');
}

/** Returns the reason with which streams end when their view has a bug. */
export function failedViewError(): MusterError {
  return new MusterError('UNAVAILABLE', 'this stream has failed: resume with `after`');
}
