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

/** How the hub is reached. It may leave the fleet and join again: it is looked up for each request. */
export interface HubConnection {
  readonly cluster: ClusterName;
  readonly members: Pick<Members, 'api'>;
}

/** The cluster that holds intents, inventories and revisions, as the gateway's own account sees it. */
export interface Hub extends HubConnection {
  readonly members: Members;
  /** Undefined while the hub is no member. */
  readonly client: () => ObjectClient | undefined;
}

/** A kind on the hub, in the version that we write. */
export interface HubKind extends GroupKind {
  readonly apiVersion: string;
}

const apiVersion = `${musterGroup}/${musterVersion}`;

/** What we keep on the hub. */
export const hubKinds = {
  propagation: { apiVersion, group: musterGroup, kind: 'Propagation' },
  clusterShare: { apiVersion, group: musterGroup, kind: 'ClusterShare' },
  revision: { apiVersion: 'apps/v1', group: 'apps', kind: 'ControllerRevision' },
} as const satisfies Readonly<Record<string, HubKind>>;

/** What came of one write on the hub. */
export type HubObjectAnswer = { readonly result: 'written'; readonly object: KubernetesObject } | HubRequestFailure;

/** Why a write was none. */
export type HubRequestFailure =
  /** Somebody else wrote it since it was read, or it is another one of the same name: read again. */
  { readonly result: 'conflict' } | { readonly result: 'absent' } | { readonly result: 'failed'; readonly fault: Fault };

/** Where on the hub. */
export interface HubObjectName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The client, and where the object stands. A fault instead while the hub is no member (`GONE`), has not answered yet (`UNREACHABLE`), or does not
 * serve the kind (`NOT_SERVED`): for kinds of ours the message says what to apply.
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

/** One request to the hub through an API class of client-node, as the gateway's own account. `GONE` while the hub is no member. */
export async function callHub<T>({ cluster, members }: HubConnection, call: TypedCall<T>, signal: AbortSignal): Promise<TypedAnswer<T>> {
  const api = members.api(cluster);
  if (api === undefined) return { result: 'failed', fault: hubFault({ cluster }, 'GONE', 'the hub is not a member of the fleet') };
  return callTyped(api, call, { signal });
}

/** One call about one object on the hub. */
export async function requestOnHub(
  hub: Hub,
  { kind, place }: { readonly kind: HubKind; readonly place: HubObjectName },
  call: (client: ObjectClient, address: ObjectAddress) => Promise<ObjectCallResult>,
): Promise<HubObjectAnswer> {
  const reached = reachHub(hub, kind);
  if ('fault' in reached) return { result: 'failed', fault: reached.fault };
  const { namespace, name } = place;
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

/** A patch under a uid that is another's by now is told as a change of an immutable field. */
function isVersionConflict({ code, status }: Fault): boolean {
  return code === 'CONFLICT' || (code === 'INVALID' && status?.causes.some(({ field }) => field === 'metadata.uid') === true);
}

/** So many objects per page: a share of 200 entries has some 100 kB. */
const pageSize = 100;

/** All objects of a kind with these labels, live, page by page; a fault instead if one page fails. In the order of the server. */
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

/** A fault of the hub that we tell ourselves. */
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
