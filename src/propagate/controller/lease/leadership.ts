import type { Clock } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { PropagationStore } from '../../hub/propagation-store.ts';
import type { Propagation, StatusCondition } from '../../model/propagation.ts';

/** The leader, as found by one attempt to get the Lease: this process, another one, or none for the reason `why`. */
export type LeaderStatus = { readonly leader: 'self' | 'other' } | { readonly leader: 'nobody'; readonly why: string };

/** Reports whether any gateway keeps Propagations in sync, as far as this process knows. */
export interface Leadership {
  /** True while this process leads. */
  leadsHere(): boolean;
  /** Seconds since a gateway was last known to lead. 0 while one leads. */
  leaderlessSeconds(): number;
  /** Returns the reason why no gateway has led for longer than 30 s. Undefined if a gateway leads, or has led within the last 30 s. */
  problem(): string | undefined;
}

export interface LeadershipOptions {
  readonly propagations: Pick<PropagationStore, 'all' | 'patchStatus'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Time for which no gateway may lead before this counts as a problem. A new leader takes over within 15 s, and a restart of the gateway
 * takes a few seconds.
 */
const patienceMs = 30_000;

/**
 * Records whether some gateway leads. After 30 s without a leader it logs an error once, and writes the condition `Led` to every
 * Propagation. The next leader removes the condition with its first status.
 */
export class LeadershipWatch implements Leadership {
  readonly #options: LeadershipOptions;
  readonly #signal: AbortSignal;
  /** When a gateway was last known to lead, in milliseconds of the monotonic clock. */
  #lastLedMs: number;
  #lastLedAt: string;
  #found: LeaderStatus = { leader: 'nobody', why: 'this gateway has just started' };
  #isLogged = false;
  #isWriting = false;

  constructor(options: LeadershipOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#lastLedMs = options.clock.monotonic();
    this.#lastLedAt = new Date(options.clock.now()).toISOString();
  }

  /**
   * Records the result of one attempt to get the Lease. If no gateway has led for 30 s, logs an error and writes the conditions. Called
   * every 2 s.
   */
  recordTry(leader: LeaderStatus): void {
    const { clock, log } = this.#options;
    if (this.#found.leader !== 'nobody') {
      this.#lastLedMs = clock.monotonic();
      this.#lastLedAt = new Date(clock.now()).toISOString();
      this.#isLogged = false;
    }
    this.#found = leader;
    if (leader.leader !== 'nobody') return;
    const problem = this.problem();
    if (problem === undefined || this.#signal.aborted) return;
    if (!this.#isLogged) log.error({ since: this.#lastLedAt, reason: leader.why }, 'no gateway leads: Propagations are not kept in sync');
    this.#isLogged = true;
    if (!this.#isWriting) void this.#writeConditions(problem);
  }

  leadsHere(): boolean {
    return this.#found.leader === 'self';
  }

  leaderlessSeconds(): number {
    return this.#found.leader === 'nobody' ? (this.#options.clock.monotonic() - this.#lastLedMs) / 1_000 : 0;
  }

  problem(): string | undefined {
    if (this.#found.leader !== 'nobody' || this.leaderlessSeconds() * 1_000 <= patienceMs) return undefined;
    return `no gateway has led since ${this.#lastLedAt}: ${this.#found.why}`;
  }

  /** Writes the condition to one Propagation after the other, until the hub refuses a write. The next call of `recordTry` tries again. */
  async #writeConditions(message: string): Promise<void> {
    const { propagations } = this.#options;
    this.#isWriting = true;
    try {
      for (const propagation of propagations.all() ?? []) {
        if (this.#found.leader !== 'nobody' || this.#signal.aborted) return;
        const { status } = propagation;
        if (status.conditions?.some(({ type }) => type === 'Led') === true) continue;
        const conditions = [...(status.conditions ?? []), this.#condition(propagation, message)];
        const written = await propagations.patchStatus(propagation, { ...status, conditions }, this.#signal);
        if (written.result === 'failed') return;
      }
    } finally {
      this.#isWriting = false;
    }
  }

  #condition({ metadata }: Propagation, message: string): StatusCondition {
    return {
      ...{ type: 'Led', status: 'False', reason: 'NoLeader', message },
      lastTransitionTime: this.#lastLedAt,
      observedGeneration: metadata.generation,
    };
  }
}
