import type { Access, Caller, Visibility } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ModelKind } from '../../model/model.ts';
import { compareVisibility, type WatchScope, watchVisibility } from './watch-scope.ts';

/** One kind of one cluster that is about to be told of. */
interface ToldOf {
  readonly cluster: { readonly name: ClusterName };
  readonly kind: ModelKind;
}

interface ViewRightsOptions {
  readonly access: Access;
  /** What each of the callers could watch when they came. */
  readonly scope: WatchScope;
  /** What a caller may watch of the view's question now. */
  readonly scopeFor: (caller: Caller, signal: AbortSignal) => WatchScope | Promise<WatchScope>;
}

/** What has become of a caller's rights: they are the scope's still, some have gone, or there are more. */
export type RightsVerdict = { readonly type: 'kept' } | { readonly type: 'lost' } | { readonly type: 'gained'; readonly scope: WatchScope };

/** Whose rights a view goes by, and what has become of them. */
export class ViewRights {
  readonly #options: ViewRightsOptions;
  readonly #signal: AbortSignal;
  readonly #callers = new Map<string, { readonly caller: Caller; readers: number }>();

  /** @param signal What is still asked when it aborts is asked for nobody. */
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

  /** The keys of callers who may no longer see all that was in sight of these; only those of whom it is known at once. */
  callersWithout(told: readonly ToldOf[]): ReadonlySet<string> {
    const lost = new Set<string>();
    for (const { caller } of this.#callers.values()) if (told.some((one) => this.#hasLost(caller, one))) lost.add(caller.key);
    return lost;
  }

  /**
   * Asks again what each caller may watch. `judge` is called for each once all are known, in one turn, and in this one where nothing has to be
   * asked; not at all after the signal has aborted.
   *
   * @param isMember False for a cluster that has left: that it is not seen any more is no lost right.
   */
  check(
    told: readonly ToldOf[],
    isMember: (cluster: ClusterName) => boolean,
    judge: (verdicts: ReadonlyMap<string, RightsVerdict>) => void,
  ): void {
    const callers = [...this.#callers.values()].map(({ caller }) => caller);
    const scopes = callers.map((caller) => this.#options.scopeFor(caller, this.#signal));
    const settle = (known: readonly WatchScope[]): void => {
      if (this.#signal.aborted) return;
      const still = told.filter(({ cluster }) => isMember(cluster.name));
      const verdicts = callers.flatMap(({ key }, index) => {
        const scope = known[index];
        return scope === undefined ? [] : [[key, this.#verdictOn(scope, still)] as const];
      });
      judge(new Map(verdicts));
    };
    if (scopes.some((scope) => scope instanceof Promise)) void Promise.all(scopes).then(settle);
    else settle(scopes as readonly WatchScope[]);
  }

  #verdictOn(now: WatchScope, told: readonly ToldOf[]): RightsVerdict {
    const { scope } = this.#options;
    const isLess = ({ cluster, kind }: ToldOf) =>
      compareVisibility(scope.sightOf(cluster.name, kind), now.sightOf(cluster.name, kind)) === 'less';
    if (now.digest === scope.digest) return { type: 'kept' };
    return told.some(isLess) ? { type: 'lost' } : { type: 'gained', scope: now };
  }

  #hasLost(caller: Caller, { cluster, kind }: ToldOf): boolean {
    const now: Visibility | Promise<Visibility> = watchVisibility(
      this.#options.access,
      { caller, cluster: cluster.name, kind },
      this.#signal,
    );
    return !(now instanceof Promise) && compareVisibility(this.#options.scope.sightOf(cluster.name, kind), now) === 'less';
  }
}

/** Why the streams of whoever has lost a right end. */
export function lostRightError(): MusterError {
  return new MusterError('FORBIDDEN', 'the right to watch some of what is streamed has been lost');
}

/** Why a stream ends whose view has a bug. */
export function failedViewError(): MusterError {
  return new MusterError('UNAVAILABLE', 'this stream has failed: go on with after');
}
