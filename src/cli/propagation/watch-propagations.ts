import { followSubscriptionField } from '../client/follow-subscription.ts';
import type { Session } from '../client/session.ts';
import { StreamRefused } from '../client/subscription.ts';
import type { PropagationKey } from '../writes/write-targets.ts';
import type { PropagationShow } from './propagation-show.ts';
import { endVerdict, propagationFields, type ShownPropagation } from './propagation-state.ts';

/** A Propagation to follow until it ends. */
export interface FollowedPropagation extends PropagationKey {
  /** States of older generations are ignored. */
  readonly generation: number;
  /** Milliseconds for which a good or bad phase must last before it counts as the end. The controller may be about to change it. */
  readonly patienceMs: { readonly good: number; readonly bad: number };
  /** `settled`: follow until the rollout ends, well or badly. `gone`: follow until the Propagation is deleted. */
  readonly until: 'settled' | 'gone';
}

/** The end with the last state, or `gone`. Undefined if the signal aborted before an end. */
export type PropagationEnd =
  | { readonly result: 'good' | 'bad'; readonly state: ShownPropagation }
  | { readonly result: 'gone' }
  | undefined;

const query = `subscription ($namespace: String!, $name: String!) { propagation(namespace: $namespace, name: $name) { ${propagationFields} } }`;

/**
 * Follows all Propagations at the same time and shows them until they end. Returns the ends in the order of `followed`. A lost stream is
 * opened again.
 *
 * @throws {CommandFailure} if a Propagation cannot be followed.
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
    // If one Propagation cannot be followed, the command fails, so the streams of the others end too.
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
    for await (const event of followSubscriptionField<ShownPropagation>(
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
    // The Propagation existed, and was deleted while the stream was lost.
    if (isKnown && error instanceof StreamRefused) return { result: 'gone' };
    throw error;
  }
  return session.signal.aborted ? undefined : end.result;
}

type EndConditions = Pick<FollowedPropagation, 'generation' | 'patienceMs' | 'until'>;

/** A good or bad phase that has not lasted for `patienceMs` yet, with the latest state. */
interface Candidate {
  readonly result: 'good' | 'bad';
  readonly state: ShownPropagation;
  /** Aborts if the phase becomes open or changes between good and bad in the meantime. */
  readonly passing: AbortController;
}

/**
 * Watches the states of one Propagation for the end of its rollout, good or bad (`endVerdict`). Sets `result` and aborts `signal` once the
 * verdict has stayed the same for `patienceMs`.
 */
class EndWatch {
  readonly #session: Session;
  readonly #ends: EndConditions;
  readonly #over = new AbortController();
  /** Aborts once the end is known, or with the session. */
  readonly signal: AbortSignal;
  #candidate: Candidate | undefined;
  result: PropagationEnd;

  constructor(session: Session, ends: EndConditions) {
    this.#session = session;
    this.#ends = ends;
    this.signal = AbortSignal.any([session.signal, this.#over.signal]);
  }

  see(state: ShownPropagation): void {
    const { generation, until } = this.#ends;
    const result = until === 'gone' || state.generation < generation ? 'open' : endVerdict(state);
    if (result === this.#candidate?.result) {
      // The verdict is the same as before, so the wait (`patienceMs`) goes on. Only the state to report is replaced.
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
