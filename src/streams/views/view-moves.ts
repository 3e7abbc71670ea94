import type { Clock } from '../../core/clock.ts';
import type { ChangesMessage } from '../messages/changes-message.ts';
import type { ViewReader } from '../readers/view-reader.ts';
import type { RightsVerdict } from './view-rights.ts';
import type { WatchScope } from './watch-scope.ts';

/** A view to which readers may move. */
export interface MoveTarget {
  /** Returns true if the view has all its sources. If not, the call also makes the view create them soon. */
  areSourcesReady(): boolean;
  /** Ends the view if it has no readers. */
  endUnread(): void;
}

interface ViewMovesOptions<Target extends MoveTarget> {
  readonly clock: Clock;
  /** Returns the view of the same query for another scope. */
  readonly viewFor: (scope: WatchScope) => Target;
}

/** Milliseconds after which one call of `proceed` stops. */
const pieceMs = 2;

/** Moves readers whose rights have grown. Each gets the view of its new scope, one reader after the other, in pieces of 2 ms. */
export class ViewMoves<Message extends ChangesMessage, Target extends MoveTarget> {
  readonly #options: ViewMovesOptions<Target>;
  /** The new scopes, by key of the caller. */
  readonly #scopes = new Map<string, WatchScope>();
  readonly #targets = new Set<Target>();

  constructor(options: ViewMovesOptions<Target>) {
    this.#options = options;
  }

  get areDone(): boolean {
    return this.#scopes.size === 0;
  }

  /** Plans moves: `gained` plans the move of a caller, and any other verdict cancels it. The last verdict on a caller counts. */
  applyVerdicts(verdicts: ReadonlyMap<string, RightsVerdict>): void {
    for (const [caller, verdict] of verdicts) {
      if (verdict.type === 'gained') this.#scopes.set(caller, verdict.scope);
      else this.#scopes.delete(caller);
    }
  }

  /**
   * Moves readers to the views of their new scopes, for at most 2 ms. Stops earlier if such a view does not have all its sources yet. Call this
   * method again until `areDone`.
   *
   * @param readers All readers of the current view. Readers without a planned move are skipped.
   */
  proceed(readers: Iterable<ViewReader<Message>>, move: (reader: ViewReader<Message>, target: Target) => void): void {
    const { clock, viewFor } = this.#options;
    const endMs = clock.monotonic() + pieceMs;
    for (const reader of readers) {
      const scope = this.#scopes.get(reader.caller.key);
      if (scope === undefined || reader.ended) continue;
      const target = viewFor(scope);
      this.#targets.add(target);
      if (!target.areSourcesReady()) return;
      move(reader, target);
      if (clock.monotonic() > endMs) return;
    }
    this.end();
  }

  /** Drops all pending moves. Ends the target views that have no readers. */
  end(): void {
    this.#scopes.clear();
    for (const target of this.#targets) target.endUnread();
    this.#targets.clear();
  }
}
