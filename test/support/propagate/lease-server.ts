import type { ClusterApi, LiveAnswer, LiveRequest } from '../../../src/cluster/cluster-api.ts';
import type { Clock } from '../../../src/core/clock.ts';
import type { Fault } from '../../../src/core/faults.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { HubConnection } from '../../../src/propagate/hub/hub.ts';

const cluster = clusterName('hub');

/**
 * The fate of one call. `slow`: the write happens at once, and the answer comes after 4 s. `lost`: the write happens, and no answer
 * comes. `hangs`: no write happens, and no answer comes.
 */
export type CallFate = 'answered' | 'refused' | 'slow' | 'hangs' | 'lost';

/** A Lease as it is sent. */
interface StoredLease {
  readonly kind?: string;
  readonly metadata: JsonObject;
  readonly spec: { readonly holderIdentity: string } & JsonObject;
}

/** One Lease on one server, and connections to it whose calls can fail. */
export interface LeaseServer {
  /** @param fate Called for each call. Default: answered. */
  hub(fate?: () => CallFate): HubConnection;
  /** Writes the Lease as another client does, over any state. */
  put(lease: StoredLease): void;
  readonly object: StoredLease | undefined;
  /** Holders in the order of writes. `''` is a release. */
  readonly holders: readonly string[];
}

export function createLeaseServer(clock: Clock): LeaseServer {
  let object: StoredLease | undefined;
  let version = 0;
  const holders: string[] = [];

  function put(next: StoredLease): void {
    version += 1;
    object = { ...next, kind: 'Lease', metadata: { ...next.metadata, resourceVersion: String(version) } };
    if (holders.at(-1) !== next.spec.holderIdentity) holders.push(next.spec.holderIdentity);
  }

  function act({ method, body }: LiveRequest): LiveAnswer {
    if (method === 'GET' && object === undefined) return failed('NOT_FOUND', 'there is none');
    const next = body as unknown as StoredLease;
    if (method === 'POST' && object !== undefined) return failed('CONFLICT', 'it exists');
    if (method === 'PUT' && next.metadata.resourceVersion !== String(version)) return failed('CONFLICT', 'modified');
    if (method !== 'GET') put(next);
    return { type: 'answered', status: 200, body: Buffer.from(JSON.stringify(object)) };
  }

  function hub(fate: () => CallFate = () => 'answered'): HubConnection {
    const send = async (request: LiveRequest, signal: AbortSignal): Promise<LiveAnswer> => {
      const fated = fate();
      if (fated === 'refused') return failed('SERVER_ERROR', '503');
      const answer = fated === 'hangs' ? undefined : act(request);
      if (fated === 'slow') await clock.sleep(4_000, signal);
      if ((fated === 'answered' || fated === 'slow') && answer !== undefined) return answer;
      // Like every live request, it ends by itself after 10 s.
      await clock.sleep(10_000, signal);
      return failed('TIMED_OUT', 'no answer within 10 s');
    };
    const api = { cluster, send } as unknown as ClusterApi;
    return { cluster, members: { api: () => api } };
  }

  return {
    hub,
    put,
    holders,
    get object() {
      return object;
    },
  };
}

function failed(code: Fault['code'], message: string): LiveAnswer {
  return { type: 'failed', fault: { code, cluster, message, retry: 'LATER' } };
}
