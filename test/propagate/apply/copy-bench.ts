import { createObjectClient } from '../../../src/changes/create-object-client.ts';
import type { ObjectAddress, ObjectClient } from '../../../src/changes/object-client.ts';
import type { ClusterApi } from '../../../src/cluster/cluster-api.ts';
import { connectCluster } from '../../../src/cluster/requests/connect-cluster.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { sha256Of } from '../../../src/core/json/canonical-json.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { keyOfKind, type ServedResource } from '../../../src/core/kinds.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { listRulesIn } from '../../../src/manifests/list-rules.ts';
import { liveHashOf } from '../../../src/manifests/live-hash.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest } from '../../../src/manifests/object-key.ts';
import type { OldValues } from '../../../src/propagate/model/inventory.ts';
import type { RenderedObject } from '../../../src/propagate/model/plan.ts';
import type { CopyWork } from '../../../src/propagate/plan/copies/copy-work.ts';
import { endpointFor, never, resourceOf } from '../../support/cluster/transport.ts';
import { definitionsServed, loadBaseline, servedAs } from '../../support/kubernetes-objects.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { createMemoryShares, type MemoryShares, owner } from './memory-shares.ts';

/** The address and credentials of an API server: the embedded one or a real one. */
export interface BenchServer {
  readonly url: string;
  readonly caPem: string;
  readonly token?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}

/** One API server, one share, and the inputs of copy work. Each test has a namespace of its own. */
export interface CopyBench extends Disposable {
  readonly api: ClusterApi;
  readonly client: ObjectClient;
  readonly shares: MemoryShares;
  readonly clock: ManualClock;
  readonly namespace: string;
  /** The old values that were stored with the revision. */
  readonly oldValues: OldValues[];
  /** The log entries. */
  readonly logged: readonly JsonObject[];
  /** Makes the input for work on the current share. Defaults: generation 1, conflict mode `Abort`. */
  work(more?: Partial<CopyWork> & { readonly conflict?: CopyWork['spec']['conflict'] }): CopyWork;
  /** Renders the manifest like the planner, with the existing object as a mirror holds it. */
  rendered(manifest: Manifest, more?: Partial<RenderedObject>): Promise<RenderedObject>;
  addressOf(manifest: Manifest): ObjectAddress;
  live(manifest: Manifest): Promise<KubernetesObject | undefined>;
  /** Writes as another field manager. Default: `kubectl`. */
  writeAsOther(
    manifest: Manifest,
    how?: { readonly manager?: string; readonly verb?: 'create' | 'apply' | 'merge' | 'delete' },
  ): Promise<KubernetesObject>;
}

const model = loadBaseline();
const kinds = ['ConfigMap', 'Secret', 'Namespace', 'Service', 'Deployment.apps', 'Job.batch', 'ServiceAccount'];
const served: ReadonlyMap<string, ServedResource> = new Map([
  ...kinds.map((key): [string, ServedResource] => [key, servedAs(model, key)]),
  [keyOfKind(definitionsServed), definitionsServed],
]);

let benches = 0;

export async function createCopyBench(server: BenchServer): Promise<CopyBench> {
  const life = new AbortController();
  const api = connectCluster(
    {
      ...endpointFor(server),
      ...(server.certPem === undefined || server.keyPem === undefined
        ? {}
        : { clientCertificate: { certificate: dataOf(server.certPem), key: dataOf(server.keyPem) } }),
    },
    { clock: systemClock, log: silentLog, signal: life.signal },
  );
  benches += 1;
  const namespace = `copies-${benches}-${process.pid}`;
  await send(api, 'POST', {
    path: ['api', 'v1', 'namespaces'],
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  });
  const client = createObjectClient(api);
  const shares = createMemoryShares();
  const clock = createManualClock();
  const logged: JsonObject[] = [];
  const old: OldValues[] = [];
  const addressOf = (manifest: Manifest) => addressIn(manifest);
  const live = async (manifest: Manifest) => {
    const answer = await client.get(addressOf(manifest), never);
    if (answer.result === 'failed' && answer.fault.code === 'NOT_SERVED') return undefined;
    if (answer.result === 'failed') throw new Error(JSON.stringify(answer.fault));
    return answer.result === 'answered' ? answer.object : undefined;
  };
  return {
    ...{ api, client, shares, clock, namespace, oldValues: old, logged, addressOf, live },
    work: ({ conflict = 'Abort', ...more } = {}) => ({
      ...{ client, shares, owner, clock, generation: 1, revision: more.generation ?? 1, share: shares.current(), mayWrite: () => true },
      spec: { conflict, write: 'Apply', deletion: { policy: 'Delete', cascade: 'Background' } },
      served: (kind) => served.get(keyOfKind(groupKindOfKey(kind))) ?? 'absent',
      sourceOf: () => client,
      async storeOldValues(values) {
        old.push(...values);
        return { result: 'written' };
      },
      sensitiveKinds: new Set<never>(),
      listRulesOf: listRulesIn(() => model),
      log: logTo(logged),
      ...more,
    }),
    async rendered(manifest, more = {}) {
      const object = await live(manifest);
      const seen = object === undefined ? {} : mirrored(object);
      const key = keyOfManifest(manifest);
      return { key, action: 'UPDATE', desired: manifest, desiredHash: sha256Of(manifest), predicted: false, ...seen, ...more };
    },
    async writeAsOther(manifest, { manager = 'kubectl', verb = 'create' } = {}) {
      const { resource, name } = addressOf(manifest);
      const base = resource.group === '' ? ['api', resource.version] : ['apis', resource.group, resource.version];
      const collection = [...base, ...(resource.namespaced ? ['namespaces', manifest.metadata.namespace ?? ''] : []), resource.resource];
      if (verb === 'create') return await send(api, 'POST', { path: collection, query: { fieldManager: manager }, body: manifest });
      if (verb === 'delete') return await send(api, 'DELETE', { path: [...collection, name] });
      const contentType = verb === 'apply' ? 'application/apply-patch+yaml' : 'application/merge-patch+json';
      const query = { fieldManager: manager, ...(verb === 'apply' ? { force: 'true' } : {}) };
      return await send(api, 'PATCH', { path: [...collection, name], query, contentType, body: manifest });
    },
    [Symbol.dispose]: () => life.abort(),
  };
}

function addressIn({ apiVersion, kind, metadata: { namespace, name } }: Manifest): ObjectAddress {
  const key = keyOfKind(groupKindOfKey({ apiVersion, kind }));
  const resource = served.get(key) ?? widgetKind;
  return { resource, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** A kind that no server serves until its CustomResourceDefinition exists. */
export const widgetKind = resourceOf('Widget', 'widgets', { group: 'example.com' });

/** Returns the object as a mirror holds it: without `managedFields`. */
function mirrored(object: KubernetesObject): Pick<RenderedObject, 'live' | 'liveUid' | 'liveHash'> {
  const { managedFields: _fields, ...metadata } = object.metadata;
  const held = { ...object, metadata };
  return { live: held, liveHash: liveHashOf(held), ...(metadata.uid === undefined ? {} : { liveUid: metadata.uid }) };
}

async function send(api: ClusterApi, method: 'POST' | 'PATCH' | 'DELETE', request: Omit<Parameters<ClusterApi['send']>[0], 'method'>) {
  const answer = await api.send({ ...request, method }, never);
  if (answer.type === 'failed') throw new Error(JSON.stringify(answer.fault));
  return JSON.parse(Buffer.from(answer.body).toString('utf8')) as KubernetesObject;
}

function dataOf(pem: string) {
  return { type: 'data', data: Buffer.from(pem) } as const;
}

function logTo(logged: JsonObject[]): Log {
  const tell: Log['info'] = (fields, message) => void logged.push({ ...(fields as Readonly<Record<string, Json>>), message });
  return { ...silentLog, info: tell, warn: tell };
}
