import DataLoader from 'dataloader';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Clock } from '../../core/clock.ts';
import { type Fault, fault } from '../../core/faults.ts';
import { parseJsonBody } from '../../core/json.ts';
import type { ServedResource } from '../../core/kinds.ts';
import { isPathSegment, parseResourceVersion } from '../../core/names.ts';
import { isKubernetesObject, type KubernetesObject } from '../../core/objects.ts';
import { createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import type { SyncState } from '../../watch/mirrors.ts';

/** One GET request: the object, and the API server to read it from. */
export interface LiveRead {
  readonly api: ClusterApi;
  readonly resource: ServedResource;
  /** Undefined for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export type LiveResult =
  | { readonly type: 'found'; readonly object: KubernetesObject; readonly sync: SyncState }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly fault: Fault };

/** Maximum number of concurrent reads of one operation. */
const maxInFlight = 16;

/** Reads objects from their API servers for one operation, each object once. A read ends after 10 s with a fault. */
export function createLiveLoader(clock: Clock, signal: AbortSignal): DataLoader<LiveRead, LiveResult, string> {
  const limit = createConcurrencyLimit(maxInFlight);
  return new DataLoader<LiveRead, LiveResult, string>(
    (reads) =>
      Promise.all(
        reads.map(async (read) => {
          const result = await limit.run(() => fetchObject(read, { clock, signal }), signal);
          // The result is undefined if the operation ended before this read started.
          if (result === undefined) throw signal.reason;
          return result;
        }),
      ),
    { cacheKeyFn: keyOf },
  );
}

function keyOf({ api, resource, namespace, name }: LiveRead): string {
  return JSON.stringify([api.cluster, resource.group, resource.version, resource.resource, namespace ?? null, name]);
}

async function fetchObject(
  read: LiveRead,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<LiveResult> {
  const { api, resource, namespace, name } = read;
  if (!isPathSegment(name) || (namespace !== undefined && !isPathSegment(namespace))) return { type: 'absent' };
  const asOfMs = clock.now();
  const answer = await api.send({ method: 'GET', path: pathOf(resource, namespace, name) }, signal);
  if (answer.type === 'failed') return answer.fault.code === 'NOT_FOUND' ? { type: 'absent' } : answer;
  const object = parseJsonBody(answer.body);
  if (!isKubernetesObject(object) || object.metadata.name !== name) return { type: 'failed', fault: malformed(read) };
  const version = parseResourceVersion(object.metadata.resourceVersion);
  return { type: 'found', object, sync: { phase: 'SYNCED', asOfMs, version } };
}

function pathOf({ group, version, resource }: ServedResource, namespace: string | undefined, name: string): readonly string[] {
  const root = group === '' ? ['api', version] : ['apis', group, version];
  return [...root, ...(namespace === undefined ? [] : ['namespaces', namespace]), resource, name];
}

function malformed({ api, resource }: LiveRead): Fault {
  const { group, kind } = resource;
  return fault('MALFORMED', 'expected the requested object, got something else', {
    cluster: api.cluster,
    kind: { group, kind },
    retry: 'LATER',
  });
}
