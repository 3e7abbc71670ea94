import { followSubscriptionField } from '../client/follow-subscription.ts';
import { StreamRefused } from '../client/open-stream.ts';
import type { Session } from '../client/session.ts';
import type { PropagationKey } from '../writes/write-targets.ts';
import type { PropagationShow } from './propagation-show.ts';
import { endVerdict, type PropagationState, propagationFields } from './propagation-state.ts';

/** A Propagation to be followed to its end. */
export interface FollowedPropagation extends PropagationKey {
  /** States of older ones say nothing. */
  readonly generation: number;
  /** How long an end must last to count: the controller may be about to look at it, and to mend it. */
  readonly patienceMs: { readonly good: number; readonly bad: number };
  /** `settled`: nothing is left to do. `gone`: it was deleted. */
  readonly until: 'settled' | 'gone';
}

/** How it ended: with its last state, or it is no more. Undefined if the signal aborted before. */
export type PropagationEnd =
  | { readonly result: 'good' | 'bad'; readonly state: PropagationState }
  | { readonly result: 'gone' }
  | undefined;

const query = `subscription ($namespace: String!, $name: String!) { propagation(namespace: $namespace, name: $name) { ${propagationFields} } }`;

/**
 * Shows each until nothing is left to do for it: all side by side; how each ended, in their order. A stream that is lost is opened again.
 *
 * @throws {CommandFailure} if one of them cannot be followed.
 */
export async function watchPropagations(
  session: Session,
  followed: readonly FollowedPropagation[],
  show: PropagationShow,
): Promise<readonly PropagationEnd[]> {
  const life = new AbortController();
  const signal = AbortSignal.any([session.signal, life.signal]);
  try {
    return await Promise.all(followed.map((one) => watchOne({ ...session, signal }, one, show)));
  } finally {
    // Where one fails the others are of no use any more.
    life.abort();
    show.end();
  }
}

async function watchOne(
  session: Session,
  { namespace, name, ...ends }: FollowedPropagation,
  show: PropagationShow,
): Promise<PropagationEnd> {
  const end = new EndWatch(session, ends);
  const variables = () => ({ namespace, name });
  let isKnown = ends.until === 'gone';
  try {
    for await (const event of followSubscriptionField<PropagationState>(
      { ...session, signal: end.signal },
      { query, field: 'propagation', variables },
    )) {
      if (event.type === 'lost' && event.code === 'GONE') return { result: 'gone' };
      if (event.type !== 'message') continue;
      isKnown = true;
      await show.show(event.message);
      end.see(event.message);
    }
  } catch (error) {
    // One that was there, and is refused when the stream is opened again.
    if (isKnown && error instanceof StreamRefused) return { result: 'gone' };
    throw error;
  }
  return session.signal.aborted ? undefined : end.result;
}

type Ends = Pick<FollowedPropagation, 'generation' | 'patienceMs' | 'until'>;

/** An end that has to last yet. */
interface Candidate {
  readonly result: 'good' | 'bad';
  readonly state: PropagationState;
  /** Aborts if it does not. */
  readonly passing: AbortController;
}

/** Aborts its signal once what it has seen is an end. */
class EndWatch {
  readonly #session: Session;
  readonly #ends: Ends;
  readonly #over = new AbortController();
  /** Aborts at the end, or with the session. */
  readonly signal: AbortSignal;
  #candidate: Candidate | undefined;
  result: PropagationEnd;

  constructor(session: Session, ends: Ends) {
    this.#session = session;
    this.#ends = ends;
    this.signal = AbortSignal.any([session.signal, this.#over.signal]);
  }

  see(state: PropagationState): void {
    const { generation, until } = this.#ends;
    const result = until === 'gone' || state.generation < generation ? 'open' : endVerdict(state);
    if (result === this.#candidate?.result) {
      // No younger for what else has changed.
      this.#candidate = { ...this.#candidate, state };
      return;
    }
    this.#candidate?.passing.abort();
    this.#candidate = undefined;
    if (result !== 'open') this.#wait({ result, state, passing: new AbortController() });
  }

  #wait(candidate: Candidate): void {
    this.#candidate = candidate;
    const { result, passing } = candidate;
    const { clock, signal } = this.#session;
    const waitMs = this.#ends.patienceMs[result];
    const waited = waitMs === 0 ? Promise.resolve() : clock.sleep(waitMs, AbortSignal.any([passing.signal, signal]));
    void waited.then(() => {
      const last = this.#candidate;
      if (last?.passing !== passing || signal.aborted) return;
      this.result = { result, state: last.state };
      this.#over.abort();
    });
  }
}
