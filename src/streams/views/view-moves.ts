import type { Clock } from '../../core/clock.ts';
import type { ChangesMessage } from '../messages/changes-message.ts';
import type { ViewReader } from '../readers/view-reader.ts';
import type { RightsVerdict } from './view-rights.ts';
import type { WatchScope } from './watch-scope.ts';

/** A view that readers may go on in. */
export interface MoveTarget {
  /** It has all its sources; else it is told to make them. */
  areSourcesReady(): boolean;
  /** Ends it if it has no readers. */
  endUnread(): void;
}

interface ViewMovesOptions<Target extends MoveTarget> {
  readonly clock: Clock;
  /** The view of the same question for another scope. */
  readonly viewFor: (scope: WatchScope) => Target;
}

/** In one piece of work. */
const pieceMs = 2;

/** Who may see more than the view they are in shows, and goes on in another one: one after the other, as there is time. */
export class ViewMoves<Message extends ChangesMessage, Target extends MoveTarget> {
  readonly #options: ViewMovesOptions<Target>;
  /** By caller. */
  readonly #scopes = new Map<string, WatchScope>();
  readonly #targets = new Set<Target>();

  constructor(options: ViewMovesOptions<Target>) {
    this.#options = options;
  }

  get areDone(): boolean {
    return this.#scopes.size === 0;
  }

  /** The last verdict on a caller counts. */
  applyVerdicts(verdicts: ReadonlyMap<string, RightsVerdict>): void {
    for (const [caller, verdict] of verdicts) {
      if (verdict.type === 'gained') this.#scopes.set(caller, verdict.scope);
      else this.#scopes.delete(caller);
    }
  }

  /** Moves some of these. They are all there are. */
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

  /** Nobody moves any more. A view to which nobody came in the end, as who was to come has ended, ends too. */
  end(): void {
    this.#scopes.clear();
    for (const target of this.#targets) target.endUnread();
    this.#targets.clear();
  }
}
