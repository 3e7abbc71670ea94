import type { Members } from '../../changes/members.ts';
import type { ObjectAddress, ObjectCallResult, ObjectClient } from '../../changes/object-client.ts';
import { faultOfFailure } from '../../cluster/cluster-failure.ts';
import { callTyped, type TypedAnswer, type TypedCall } from '../../cluster/typed-api.ts';
import type { Fault } from '../../core/faults.ts';
import { isJsonObject, parseJsonBody } from '../../core/json.ts';
import type { GroupKind, ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { isKubernetesObject, type KubernetesObject } from '../../core/objects.ts';
import { musterGroup, musterVersion } from '../model/propagation.ts';

/** The access to the hub. The cluster is looked up for each request, because it may leave the fleet and join again. */
export interface HubConnection {
  readonly cluster: ClusterName;
  readonly members: Pick<Members, 'api'>;
}

/** The cluster that has Propagations, inventories and revisions. It is used with the gateway's own account. */
export interface Hub extends HubConnection {
  readonly members: Members;
  /** Returns a client for objects of the hub. Undefined while the hub is not in the fleet. */
  readonly client: () => ObjectClient | undefined;
}

/** A kind on the hub, with the API version that Muster writes. */
export interface HubKind extends GroupKind {
  readonly apiVersion: string;
}

const apiVersion = `${musterGroup}/${musterVersion}`;

/** The kinds that Muster keeps on the hub. */
export const hubKinds = {
  propagation: { apiVersion, group: musterGroup, kind: 'Propagation' },
  clusterShare: { apiVersion, group: musterGroup, kind: 'ClusterShare' },
  revision: { apiVersion: 'apps/v1', group: 'apps', kind: 'ControllerRevision' },
} as const satisfies Readonly<Record<string, HubKind>>;

/** The result of one request about an object on the hub. `written` also stands for a successful read. */
export type HubObjectAnswer = { readonly result: 'written'; readonly object: KubernetesObject } | HubRequestFailure;

/** The reasons why a request did not succeed. */
export type HubRequestFailure =
  /**
   * `conflict`: another client has changed the object since it was read, or replaced it by another object of the same name. The caller must
   * read it again. `absent`: the object does not exist. `failed`: the hub did not answer or refused the request, as `fault` says.
   */
  { readonly result: 'conflict' } | { readonly result: 'absent' } | { readonly result: 'failed'; readonly fault: Fault };

/** The namespace and name of an object on the hub. */
export interface HubObjectName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Returns the client and the resource of a kind. Returns a fault if the hub is not in the fleet (`GONE`), has not answered yet
 * (`UNREACHABLE`), or does not serve the kind (`NOT_SERVED`). For Muster's own kinds, the message says what to apply.
 */
export function reachHub(
  hub: Hub,
  kind: HubKind,
): { readonly client: ObjectClient; readonly resource: ServedResource } | { readonly fault: Fault } {
  const resource = hub.members.objects.served(hub.cluster, kind);
  const client = hub.client();
  if (client === undefined) return { fault: hubFault(hub, 'GONE', 'the hub is not a member of the fleet') };
  if (resource === undefined) return { fault: hubFault(hub, 'UNREACHABLE', 'the hub has not answered yet') };
  if (resource === 'absent') return { fault: hubFault(hub, 'NOT_SERVED', unservedMessage(kind)) };
  return { client, resource };
}

/**
 * Sends one request to the hub through an API class of `@kubernetes/client-node`, with the gateway's own account. The fault is `GONE` if
 * the hub is not in the fleet.
 */
export async function callHub<T>({ cluster, members }: HubConnection, call: TypedCall<T>, signal: AbortSignal): Promise<TypedAnswer<T>> {
  const api = members.api(cluster);
  if (api === undefined) return { result: 'failed', fault: hubFault({ cluster }, 'GONE', 'the hub is not a member of the fleet') };
  return callTyped(api, call, { signal });
}

/** Sends one request about one object on the hub: a read or a write. */
export async function requestOnHub(
  hub: Hub,
  { kind, objectName }: { readonly kind: HubKind; readonly objectName: HubObjectName },
  call: (client: ObjectClient, address: ObjectAddress) => Promise<ObjectCallResult>,
): Promise<HubObjectAnswer> {
  const reached = reachHub(hub, kind);
  if ('fault' in reached) return { result: 'failed', fault: reached.fault };
  const { namespace, name } = objectName;
  const answer = await call(reached.client, { resource: reached.resource, namespace, name });
  switch (answer.result) {
    case 'answered':
      return { result: 'written', object: answer.object };
    case 'absent':
      return answer;
    case 'failed':
      return isVersionConflict(answer.fault) ? { result: 'conflict' } : answer;
    default:
      return answer satisfies never;
  }
}

/**
 * True if the fault means that another client changed or replaced the object. If the uid of a patch does not match, API servers report the
 * change of an immutable field instead of a conflict.
 */
function isVersionConflict({ code, status }: Fault): boolean {
  return code === 'CONFLICT' || (code === 'INVALID' && status?.causes.some(({ field }) => field === 'metadata.uid') === true);
}

/** The number of objects per page of a list. A share of 200 entries has about 100 kB. */
const pageSize = 100;

/**
 * Lists the objects of a kind with these labels live from the hub, page by page, in the order of the server. Returns a fault if one page
 * fails.
 */
export async function listOnHub(
  hub: Hub,
  { kind, namespace, labels }: { readonly kind: HubKind; readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<readonly KubernetesObject[] | { readonly fault: Fault }> {
  const reached = reachHub(hub, kind);
  if ('fault' in reached) return reached;
  const api = hub.members.api(hub.cluster);
  if (api === undefined) return { fault: hubFault(hub, 'GONE', 'the hub is not a member of the fleet') };
  const { group, version, resource } = reached.resource;
  const path = ['apis', group, version, 'namespaces', namespace, resource];
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const objects: KubernetesObject[] = [];
  for (let token: string | undefined; ; ) {
    const query = { labelSelector, limit: String(pageSize), ...(token === undefined ? {} : { continue: token }) };
    const answer = await api.send({ method: 'GET', path, query }, signal);
    if (answer.type === 'failed') return { fault: answer.fault };
    const page = objectPageOf(answer.body);
    if (page === undefined) return { fault: hubFault(hub, 'MALFORMED', 'expected a list') };
    objects.push(...page.items);
    if (page.next === undefined) return objects;
    token = page.next;
  }
}

/** Creates a fault of the hub that Muster itself detected. */
export function hubFault({ cluster }: Pick<Hub, 'cluster'>, code: Fault['code'], message: string): Fault {
  return faultOfFailure({ code, message, retry: 'LATER' }, { cluster });
}

function unservedMessage({ group, kind }: HubKind): string {
  const how = group === musterGroup ? ': kubectl apply -f deploy/crds' : '';
  return `the hub does not serve ${kind}.${group}${how}`;
}

function objectPageOf(body: Uint8Array): { readonly items: readonly KubernetesObject[]; readonly next?: string } | undefined {
  const list = parseJsonBody(body);
  if (!isJsonObject(list) || !Array.isArray(list.items)) return undefined;
  const next = isJsonObject(list.metadata) ? list.metadata.continue : undefined;
  return { items: list.items.filter(isKubernetesObject), ...(typeof next === 'string' && next !== '' ? { next } : {}) };
}
