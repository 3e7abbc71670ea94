import type { Fault } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ObjectAddress, ObjectAnswer, ObjectClient } from '../object-client.ts';

/** What a call came to; `stopped`: it was not made, and none after it will be: we lead no more, or were told to stop. */
export type DoorAnswer = ObjectAnswer | { readonly result: 'stopped' };

/** The calls of one cluster's work. Reads and writes end together: once stopped, or once the cluster does not answer. */
export interface CopyDoor {
  readonly cluster: ClusterName;
  readonly isStopped: boolean;
  /** Somebody else acts: no call is made any more. */
  stop(): void;
  get(address: ObjectAddress): Promise<DoorAnswer>;
  write(call: (client: ObjectClient, signal: AbortSignal) => Promise<ObjectAnswer>): Promise<DoorAnswer>;
}

interface DoorOptions {
  readonly client: ObjectClient;
  readonly mayWrite: () => boolean;
}

/** So many calls that nobody answered within their time mean that the cluster hangs: one alone may hang on a webhook. */
const mostSilent = 2;

/**
 * Opens it. `mayWrite` is asked before each write, and after one that failed: it may have waited for its turn. A cluster that is not there is asked no
 * more: all else fails with the same fault at once.
 */
export function openDoor({ client, mayWrite }: DoorOptions, signal: AbortSignal): CopyDoor {
  const guarded = askingFirst(client, mayWrite);
  let isStopped = false;
  let silent = 0;
  let broken: Fault | undefined;

  function told(answer: ObjectAnswer): DoorAnswer {
    if (signal.aborted) isStopped = true;
    if (isStopped) return { result: 'stopped' };
    if (answer.result === 'failed') {
      const { code, status } = answer.fault;
      if (code === 'TIMED_OUT' && status === undefined) silent += 1;
      if (code === 'UNREACHABLE' || code === 'GONE' || silent >= mostSilent) broken ??= answer.fault;
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
      return told(await client.get(address, signal));
    },
    async write(call) {
      if (signal.aborted || !mayWrite()) isStopped = true;
      if (isStopped) return { result: 'stopped' };
      if (broken !== undefined) return { result: 'failed', fault: broken };
      const answer = await call(guarded, signal);
      if (answer.result === 'failed' && !mayWrite()) isStopped = true;
      return told(answer);
    },
  };
}

/** The same client, whose writes ask once more when they have waited for their turn: a process may have stood still meanwhile. */
function askingFirst(client: ObjectClient, mayWrite: () => boolean): ObjectClient {
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
