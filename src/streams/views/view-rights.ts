import type { Access, Caller, Visibility } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ModelKind } from '../../model/model.ts';
import { compareVisibility, type WatchScope, watchVisibility } from './watch-scope.ts';

/** A source whose rights are checked. */
interface WatchedSource {
  readonly cluster: { readonly name: ClusterName };
  readonly kind: ModelKind;
}

interface ViewRightsOptions {
  readonly access: Access;
  /** The scope of the view: what each of its callers could watch when their streams began. */
  readonly scope: WatchScope;
  /** Returns what a caller may watch of the query of the view now. */
  readonly scopeFor: (caller: Caller, signal: AbortSignal) => WatchScope | Promise<WatchScope>;
}

/** The result of a check of rights. `kept`: the scope is the same. `lost`: the caller may see less. `gained`: the caller may see more. */
export type RightsVerdict = { readonly type: 'kept' } | { readonly type: 'lost' } | { readonly type: 'gained'; readonly scope: WatchScope };

/** The callers of a view, and checks of their rights. */
export class ViewRights {
  readonly #options: ViewRightsOptions;
  readonly #signal: AbortSignal;
  readonly #callers = new Map<string, { readonly caller: Caller; readers: number }>();

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
    if (known === undefined) this.#callers.set(caller.key, { caller, readers: 1 });
    else known.readers += 1;
  }

  remove({ key }: Caller): void {
    const known = this.#callers.get(key);
    if (known === undefined) return;
    known.readers -= 1;
    if (known.readers === 0) this.#callers.delete(key);
  }

  /** Returns the keys of callers that may no longer see all of these sources. Checks only rights that are known at once. */
  callersWithout(sources: readonly WatchedSource[]): ReadonlySet<string> {
    const lost = new Set<string>();
    for (const { caller } of this.#callers.values()) if (sources.some((one) => this.#hasLost(caller, one))) lost.add(caller.key);
    return lost;
  }

  /**
   * Checks again what each caller may watch. Calls `judge` once, when all answers are known. The call is synchronous if all answers are
   * known at once. There is no call after the signal has aborted.
   *
   * @param isMember False for a cluster that has left. A cluster that has left is no lost right.
   */
  check(
    sources: readonly WatchedSource[],
    isMember: (cluster: ClusterName) => boolean,
    judge: (verdicts: ReadonlyMap<string, RightsVerdict>) => void,
  ): void {
    const callers = [...this.#callers.values()].map(({ caller }) => caller);
    const scopes = callers.map((caller) => this.#options.scopeFor(caller, this.#signal));
    const settle = (known: readonly WatchScope[]): void => {
      if (this.#signal.aborted) return;
      const still = sources.filter(({ cluster }) => isMember(cluster.name));
      const verdicts = callers.flatMap(({ key }, index) => {
        const scope = known[index];
        return scope === undefined ? [] : [[key, this.#verdictOn(scope, still)] as const];
      });
      judge(new Map(verdicts));
    };
    if (scopes.some((scope) => scope instanceof Promise)) void Promise.all(scopes).then(settle);
    else settle(scopes as readonly WatchScope[]);
  }

  #verdictOn(now: WatchScope, sources: readonly WatchedSource[]): RightsVerdict {
    const { scope } = this.#options;
    const isLess = ({ cluster, kind }: WatchedSource) =>
      compareVisibility(scope.sightOf(cluster.name, kind), now.sightOf(cluster.name, kind)) === 'less';
    if (now.digest === scope.digest) return { type: 'kept' };
    return sources.some(isLess) ? { type: 'lost' } : { type: 'gained', scope: now };
  }

  #hasLost(caller: Caller, { cluster, kind }: WatchedSource): boolean {
    const now: Visibility | Promise<Visibility> = watchVisibility(
      this.#options.access,
      { caller, cluster: cluster.name, kind },
      this.#signal,
    );
    return !(now instanceof Promise) && compareVisibility(this.#options.scope.sightOf(cluster.name, kind), now) === 'less';
  }
}

/** Returns the reason with which streams end when their caller has lost a right. */
export function lostRightError(): MusterError {
  return new MusterError('FORBIDDEN', 'the caller has lost the right to watch some of the requested kinds');
}

/** Returns the reason with which streams end when their view has a bug. */
export function failedViewError(): MusterError {
  return new MusterError('UNAVAILABLE', 'this stream has failed: resume with `after`');
}
