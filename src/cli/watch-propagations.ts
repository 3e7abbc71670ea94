import { follow } from './follow.ts';
import { tellLoss } from './follow-logs.ts';
import { StreamRefused } from './open-stream.ts';
import type { PropagationShow } from './propagation-show.ts';
import { endOf, type PropagationState, stateFields } from './propagation-state.ts';
import type { Session } from './session.ts';

/** A Propagation to be followed to its end. */
export interface FollowedPropagation {
  readonly namespace: string;
  readonly name: string;
  /** States of older ones say nothing. */
  readonly generation: number;
  /** What is wrong with it counts once it has been so for so long: the controller may be about to mend it. */
  readonly graceMs: number;
  /** `settled`: nothing is left to do. `gone`: it was deleted. */
  readonly until: 'settled' | 'gone';
}

/** How it ended: with its last state, or it is no more. Undefined if the signal aborted before. */
export type PropagationEnd =
  | { readonly result: 'good' | 'bad'; readonly state: PropagationState }
  | { readonly result: 'gone' }
  | undefined;

const query = `subscription ($namespace: String!, $name: String!) { propagation(namespace: $namespace, name: $name) { ${stateFields} } }`;

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
  const { open, clock, terminal, gateway } = session;
  const end = new EndWatch(session, ends);
  const variables = () => ({ namespace, name });
  let isKnown = ends.until === 'gone';
  try {
    for await (const event of follow({ open, clock, query, variables, url: gateway.address.url }, end.signal)) {
      if (event.type === 'lost' && event.code === 'GONE') return { result: 'gone' };
      if (event.type !== 'message') {
        tellLoss(terminal, event);
        continue;
      }
      const state = (event.answer.data as { readonly propagation: PropagationState } | null | undefined)?.propagation;
      if (state === undefined) continue;
      isKnown = true;
      await show.take(state);
      end.see(state);
    }
  } catch (error) {
    // One that was there, and is refused when the stream is opened again.
    if (isKnown && error instanceof StreamRefused) return { result: 'gone' };
    throw error;
  }
  return session.signal.aborted ? undefined : end.result;
}

/** Aborts its signal once what it has seen is an end. */
class EndWatch {
  readonly #session: Session;
  readonly #ends: Pick<FollowedPropagation, 'generation' | 'graceMs' | 'until'>;
  readonly #over = new AbortController();
  /** Aborts at the end, or with the session. */
  readonly signal: AbortSignal;
  #bad: { readonly state: PropagationState; readonly passing: AbortController } | undefined;
  result: PropagationEnd;

  constructor(session: Session, ends: Pick<FollowedPropagation, 'generation' | 'graceMs' | 'until'>) {
    this.#session = session;
    this.#ends = ends;
    this.signal = AbortSignal.any([session.signal, this.#over.signal]);
  }

  see(state: PropagationState): void {
    const { generation, until } = this.#ends;
    const how = until === 'gone' || state.generation < generation ? 'open' : endOf(state);
    if (how === 'bad') {
      this.#doubt(state);
      return;
    }
    this.#bad?.passing.abort();
    this.#bad = undefined;
    if (how === 'good') this.#finish({ result: 'good', state });
  }

  #doubt(state: PropagationState): void {
    const { graceMs } = this.#ends;
    if (this.#bad !== undefined) {
      this.#bad = { ...this.#bad, state };
      return;
    }
    const passing = new AbortController();
    this.#bad = { state, passing };
    const { clock, signal } = this.#session;
    // Without a wait: at once, in the order of the messages.
    const waited = graceMs === 0 ? Promise.resolve() : clock.sleep(graceMs, AbortSignal.any([passing.signal, signal]));
    void waited.then(() => {
      if (this.#bad?.passing === passing && !signal.aborted) this.#finish({ result: 'bad', state: this.#bad.state });
    });
  }

  #finish(end: PropagationEnd): void {
    this.result = end;
    this.#over.abort();
  }
}
