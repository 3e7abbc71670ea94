import type { ObjectAddress, ObjectCallResult, ObjectClient } from '../../changes/object-client.ts';
import type { Fault } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';

/**
 * The answer to one call. `stopped`: the gateway has lost the leadership, the signal has aborted, or `stop` was called. The caller must
 * ignore what the cluster answered, and no later call is sent.
 */
export type GuardedAnswer = ObjectCallResult | { readonly result: 'stopped' };

/** Sends the calls of the work in one cluster. After a stop, or once the cluster does not answer, it sends no more reads and writes. */
export interface GuardedClient {
  readonly cluster: ClusterName;
  readonly isStopped: boolean;
  /** Makes all running and later calls answer `stopped`. Used when another process works on the same share. */
  stop(): void;
  get(address: ObjectAddress): Promise<GuardedAnswer>;
  write(call: (client: ObjectClient, signal: AbortSignal) => Promise<ObjectCallResult>): Promise<GuardedAnswer>;
}

interface GuardedClientOptions {
  readonly client: ObjectClient;
  readonly mayWrite: () => boolean;
}

/**
 * Number of timed-out calls after which the cluster counts as hanging. A single timeout proves nothing, because a slow webhook causes one
 * too.
 */
const maxTimeouts = 2;

/**
 * Creates the guarded client for the work in one cluster.
 *
 * It calls `mayWrite` before each write, and once more after a failed write, because the gateway may have lost the leadership while the
 * write waited in the request queue of the cluster. Once the cluster is unreachable, no more calls are sent: every later call fails at once
 * with the same fault.
 */
export function createGuardedClient({ client, mayWrite }: GuardedClientOptions, signal: AbortSignal): GuardedClient {
  const guarded = withLeaderCheck(client, mayWrite);
  let isStopped = false;
  let timeouts = 0;
  let broken: Fault | undefined;

  function checked(answer: ObjectCallResult): GuardedAnswer {
    if (signal.aborted) isStopped = true;
    if (isStopped) return { result: 'stopped' };
    if (answer.result === 'failed') {
      const { code, status } = answer.fault;
      if (code === 'TIMED_OUT' && status === undefined) timeouts += 1;
      if (code === 'UNREACHABLE' || code === 'GONE' || timeouts >= maxTimeouts) broken ??= answer.fault;
    }
    return answer;
  }

  return {
    cluster: client.cluster,
    get isStopped() {
      return isStopped;
    },
    stop() {
      isStopped = true;
    },
    async get(address) {
      if (signal.aborted) isStopped = true;
      if (isStopped) return { result: 'stopped' };
      if (broken !== undefined) return { result: 'failed', fault: broken };
      return checked(await client.get(address, signal));
    },
    async write(call) {
      if (signal.aborted || !mayWrite()) isStopped = true;
      if (isStopped) return { result: 'stopped' };
      if (broken !== undefined) return { result: 'failed', fault: broken };
      const answer = await call(guarded, signal);
      if (answer.result === 'failed' && !mayWrite()) isStopped = true;
      return checked(answer);
    },
  };
}

/**
 * Returns a client whose writes check `mayWrite` again after they have waited in the request queue of the cluster. The process may have
 * been suspended meanwhile.
 */
function withLeaderCheck(client: ObjectClient, mayWrite: () => boolean): ObjectClient {
  return {
    cluster: client.cluster,
    get: (address, signal) => client.get(address, signal),
    serves: (kind, signal) => client.serves(kind, signal),
    may: (review, signal) => client.may(review, signal),
    apply: (request, signal) => client.apply({ ...request, mayWrite }, signal),
    replace: (request, signal) => client.replace({ ...request, mayWrite }, signal),
    patch: (request, signal) => client.patch({ ...request, mayWrite }, signal),
    delete: (request, signal) => client.delete({ ...request, mayWrite }, signal),
  };
}
