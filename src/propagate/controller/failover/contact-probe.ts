import type { Members } from '../../../changes/members.ts';
import type { Clock } from '../../../core/clock.ts';
import type { ClusterName } from '../../../core/names.ts';

/** Asks clusters live whether they answer, for all Propagations of a term. */
export interface ContactProbe {
  /**
   * Resolves with true if the cluster answers a request now, whatever the answer is. Takes at most 2 s. A result counts for 5 s: until then,
   * no further request is sent.
   */
  answers(cluster: ClusterName): Promise<boolean>;
}

interface ProbePorts {
  readonly members: Pick<Members, 'api'>;
  readonly clock: Clock;
}

const deadlineMs = 2_000;

/** The milliseconds for which a result of `ContactProbe` counts. */
export const probeValidMs = 5_000;

/** Creates a probe without results. Its requests end when the signal aborts. */
export function createContactProbe({ members, clock }: ProbePorts, signal: AbortSignal): ContactProbe {
  const results = new Map<ClusterName, { readonly sinceMs: number; readonly answers: Promise<boolean> }>();

  async function send(cluster: ClusterName): Promise<boolean> {
    const ended = new AbortController();
    const until = AbortSignal.any([signal, ended.signal]);
    const request = members.api(cluster)?.send({ method: 'GET', path: ['version'] }, until);
    const answer = await Promise.race([request, clock.sleep(deadlineMs, until).then(() => undefined)]);
    ended.abort();
    if (answer === undefined) return false;
    return answer.type === 'answered' || (answer.fault.code !== 'UNREACHABLE' && answer.fault.code !== 'TIMED_OUT');
  }

  return {
    answers(cluster) {
      const known = results.get(cluster);
      const nowMs = clock.monotonic();
      if (known !== undefined && nowMs < known.sinceMs + probeValidMs) return known.answers;
      const answers = send(cluster);
      results.set(cluster, { sinceMs: nowMs, answers });
      return answers;
    },
  };
}
