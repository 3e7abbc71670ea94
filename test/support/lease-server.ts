import type { Clock } from '../../src/core/clock.ts';
import type { Fault } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { ObjectAnswer, ObjectClient } from '../../src/propagate/object-client.ts';

const cluster = clusterName('hub');

/** What happens to one call: `slow` is written at once and answered after 4 s; `lost` is written, but the answer never comes. */
export type CallFate = 'answered' | 'refused' | 'slow' | 'hangs' | 'lost';

/** One Lease on one server whose row of other writes never moves, and clients of it whose calls can be made to fail. */
export interface LeaseServer {
  /** @param fate Asked at each call; absent: answered. */
  client(fate?: () => CallFate): ObjectClient;
  readonly object: KubernetesObject | undefined;
  /** Holders in the order in which they were written; '' is a release. */
  readonly holders: readonly string[];
}

export function createLeaseServer(clock: Clock): LeaseServer {
  let object: KubernetesObject | undefined;
  let version = 0;
  const holders: string[] = [];

  function put(next: KubernetesObject): ObjectAnswer {
    version += 1;
    object = { ...next, metadata: { ...next.metadata, resourceVersion: String(version) } };
    const { holderIdentity } = next.spec as { holderIdentity: string };
    if (holders.at(-1) !== holderIdentity) holders.push(holderIdentity);
    return { result: 'answered', object, isNew: false, warnings: [] };
  }

  function client(fate: () => CallFate = () => 'answered'): ObjectClient {
    const call = async (signal: AbortSignal, act: () => ObjectAnswer, isFirst = true): Promise<ObjectAnswer> => {
      const fated = isFirst ? fate() : 'hangs';
      if (fated === 'refused') return failed('SERVER_ERROR', '503');
      const answer = fated === 'hangs' ? undefined : act();
      if (fated === 'slow') await clock.sleep(4_000, signal);
      if ((fated === 'answered' || fated === 'slow') && answer !== undefined) return answer;
      // As every call of an ObjectClient, it ends by itself after 10 s.
      await clock.sleep(10_000, signal);
      return failed('TIMED_OUT', 'no answer within 10 s');
    };
    const never = () => Promise.reject(new Error('nobody asks this of a Lease'));
    return {
      cluster,
      get: (_address, signal) =>
        call(signal, () => (object === undefined ? { result: 'absent' } : { result: 'answered', object, isNew: false, warnings: [] })),
      apply: ({ manifest, isFirst = false }, signal) => {
        const make = () => (object === undefined ? put(manifest as unknown as KubernetesObject) : failed('CONFLICT', 'modified'));
        return call(signal, make, isFirst);
      },
      replace: ({ object: next, isFirst = false }, signal) => {
        const renew = () => (next.metadata.resourceVersion === String(version) ? put(next) : failed('CONFLICT', 'modified'));
        return call(signal, renew, isFirst);
      },
      patch: never,
      delete: never,
      serves: never,
      may: never,
    };
  }

  return {
    client,
    holders,
    get object() {
      return object;
    },
  };
}

function failed(code: Fault['code'], message: string): ObjectAnswer {
  return { result: 'failed', fault: { code, cluster, message, retry: 'LATER' } };
}
