import { actFor } from '../access/act-for.ts';
import type { ClusterApi, LiveAnswer, LiveRequest } from '../cluster/cluster-api.ts';
import { clusterFailure, faultOfFailure } from '../cluster/cluster-failure.ts';
import type { ActingFor } from '../cluster/endpoint.ts';
import { callTyped } from '../cluster/typed-api.ts';
import type { Fault } from '../core/faults.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonBody } from '../core/json.ts';
import { objectAt, textAt, valueAt } from '../core/json-at.ts';
import { apiVersionOf } from '../core/kinds.ts';
import { isKubernetesObject, type KubernetesObject } from '../core/objects.ts';
import { FairSemaphore } from '../core/scheduling/fair-semaphore.ts';
import type { Manifest } from '../manifests/manifest.ts';
import {
  type AccessReview,
  type DeleteObjectRequest,
  fieldManager,
  type ObjectAddress,
  type ObjectCallResult,
  type ObjectClient,
  type ObjectWriteOptions,
  type PatchObjectRequest,
  type Preconditions,
  type RunMode,
} from './object-client.ts';

/**
 * Maximum size of a request. etcd refuses larger requests by default (its `--max-request-bytes`), but only after they have crossed the
 * network.
 */
const maxObjectBytes = 1.5 * 1024 * 1024;

const patchTypes: Readonly<Record<PatchObjectRequest['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/**
 * Creates a client for the objects of one API server, with one identity.
 *
 * All clients of a cluster share one write queue: 10 writes in flight per cluster, 256 in all clusters. Dry runs count as writes. Users take turns,
 * and one user has at most 8 of the 10 and 192 of the 256. An object above 1.5 MiB is `TOO_LARGE` without a call. Integers beyond 2⁵³−1 are read and
 * written exactly. Answers contain `managedFields`.
 *
 * An abort cancels the request. The promise then resolves to a fault, which the aborted caller ignores.
 *
 * @param acting The user to impersonate, and the operation. Default: the cluster's own credentials.
 */
export function createObjectClient(api: ClusterApi, acting: ActingFor = {}): ObjectClient {
  const inTurn = writeTurnsOf(api, acting);
  const failed = (code: Fault['code'], message: string): ObjectCallResult => ({ result: 'failed', fault: faultOf(api, code, message) });

  const actor = actFor(api, acting);

  const sendCall = async ({ address, request, subresource }: Call, signal: AbortSignal): Promise<ObjectCallResult> => {
    const path = [...pathOf(address), ...(subresource === undefined ? [] : [subresource])];
    const answer = await actor.send({ ...request, path }, signal);
    if (answer.type === 'failed') return failureOf(answer.fault, address);
    return objectIn(answer, address) ?? failed('MALFORMED', 'expected an object');
  };

  const write = async (call: Call, mayWrite: ObjectWriteOptions['mayWrite'], signal: AbortSignal): Promise<ObjectCallResult> => {
    if (call.request.body !== undefined && isTooLarge(call.request.body))
      return failed('TOO_LARGE', `expected an object of at most ${maxObjectBytes / 1024 / 1024} MiB`);
    const unsent = failed('TIMED_OUT', 'the write was cancelled before it was sent');
    return (await inTurn(async () => (mayWrite?.() === false ? unsent : await sendCall(call, signal)), signal)) ?? unsent;
  };

  return {
    cluster: api.cluster,
    get: (address, signal) => sendCall({ address, request: { method: 'GET' } }, signal),
    apply({ manifest, preconditions, force, run, mayWrite, ...address }, signal) {
      const query = { ...queryOf(run), force: String(force) };
      const request = { method: 'PATCH', contentType: patchTypes.apply, query, body: guarded(manifest, preconditions) } as const;
      return write({ address, request }, mayWrite, signal);
    },
    replace({ object, run, mayWrite, ...address }, signal) {
      return write({ address, request: { method: 'PUT', query: queryOf(run), body: object } }, mayWrite, signal);
    },
    patch({ type, patch, subresource, force = false, run, mayWrite, ...address }, signal) {
      const query = { ...queryOf(run), ...(type === 'apply' ? { force: String(force) } : {}) };
      const request = { method: 'PATCH', contentType: patchTypes[type], query, body: patch } as const;
      return write({ address, request, subresource }, mayWrite, signal);
    },
    delete({ preconditions, cascade, run, mayWrite, ...address }, signal) {
      const request = { method: 'DELETE', body: deleteOptions({ preconditions, cascade, run }) } as const;
      return write({ address, request }, mayWrite, signal);
    },
    async serves({ apiVersion, kind }, signal) {
      const answer = await actor.send(
        { method: 'GET', path: [apiVersion.includes('/') ? 'apis' : 'api', ...apiVersion.split('/')] },
        signal,
      );
      if (answer.type === 'failed') return isNotFound(answer.fault) ? false : { fault: answer.fault };
      const listed = valueAt(parseJsonBody(answer.body), 'resources');
      if (!Array.isArray(listed)) return { fault: faultOf(api, 'MALFORMED', 'expected a list of resources') };
      return listed.some((resource) => textAt(resource, 'kind') === kind && textAt(resource, 'name')?.includes('/') === false);
    },
    may: (review, signal) => reviewAccess(actor, { ...review, signal }),
  };
}

async function reviewAccess(
  api: ClusterApi,
  { resource: { group, version, resource }, namespace, verb, signal }: AccessReview & { readonly signal: AbortSignal },
): ReturnType<ObjectClient['may']> {
  const attributes = { group, version, resource, verb, ...(namespace === undefined ? {} : { namespace }) };
  const body = { spec: { resourceAttributes: attributes } };
  const answer = await callTyped(
    api,
    ({ AuthorizationV1Api }, transport) => new AuthorizationV1Api(transport).createSelfSubjectAccessReview({ body }),
    { signal },
  );
  if (answer.result === 'failed') return { fault: answer.fault };
  return answer.value.status?.allowed ?? { fault: faultOf(api, 'MALFORMED', 'expected a SelfSubjectAccessReview') };
}

function faultOf({ cluster }: ClusterApi, code: Fault['code'], message: string): Fault {
  return faultOfFailure(clusterFailure(code, message, 'NEVER'), { cluster });
}

/** One request about one object or one of its subresources. */
interface Call {
  readonly address: ObjectAddress;
  readonly request: Omit<LiveRequest, 'path'>;
  readonly subresource?: string | undefined;
}

/** Returns the path of an object: `/apis/apps/v1/namespaces/default/deployments/web`. The transport refuses an empty name. */
function pathOf({ resource, namespace, name }: ObjectAddress): readonly string[] {
  const base = resource.group === '' ? ['api', resource.version] : ['apis', resource.group, resource.version];
  return [...base, ...(resource.namespaced ? ['namespaces', namespace ?? ''] : []), resource.resource, name];
}

/**
 * Returns the query parameters of a write. A dry run uses strict field validation: a plan must report the fields that a real write would
 * drop with a warning.
 */
function queryOf(run: RunMode): Readonly<Record<string, string>> {
  const dry = { fieldValidation: 'Strict', dryRun: 'All' };
  return { fieldManager, ...(run === 'dry' ? dry : {}) };
}

function guarded(manifest: Manifest, { uid, resourceVersion }: Preconditions): JsonObject {
  const guards = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  return { ...manifest, metadata: { ...manifest.metadata, ...guards } };
}

function deleteOptions({ preconditions, cascade, run }: Pick<DeleteObjectRequest, 'preconditions' | 'cascade' | 'run'>): JsonObject {
  const { uid, resourceVersion } = preconditions;
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: cascade,
    preconditions: { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    ...(run === 'dry' ? { dryRun: ['All'] } : {}),
  };
}

/**
 * Returns the result of a failed call: `absent` for a missing object, else `failed`. A missing namespace is `failed`. API servers answer
 * 404 in both cases, and only the message distinguishes them.
 */
function failureOf(fault: Fault, { resource }: ObjectAddress): ObjectCallResult {
  const isOfNamespace = resource.namespaced && fault.status?.message.startsWith('namespaces "') === true;
  return fault.code === 'NOT_FOUND' && !isOfNamespace ? { result: 'absent' } : { result: 'failed', fault };
}

/**
 * True if the API server answered 404: it does not serve the path. The code of the fault is `NOT_FOUND` if the answer names an object, else
 * `NOT_SERVED`.
 */
function isNotFound({ code }: Fault): boolean {
  return code === 'NOT_SERVED' || code === 'NOT_FOUND';
}

function isTooLarge(body: Json): boolean {
  // Characters are counted first, because one takes at most 3 bytes of UTF-8. So the bytes of small objects need not be counted.
  const text = JSON.stringify(body);
  return text.length > maxObjectBytes / 3 && Buffer.byteLength(text) > maxObjectBytes;
}

function objectIn(answer: Extract<LiveAnswer, { type: 'answered' }>, address: ObjectAddress): ObjectCallResult | undefined {
  const value = parseJsonBody(answer.body);
  const object = isKubernetesObject(value) ? value : isStatusOf(value) ? goneObject(value, address) : undefined;
  if (object === undefined) return undefined;
  return { result: 'answered', object, isNew: answer.status === 201, warnings: answer.warnings ?? [] };
}

function isStatusOf(value: Json | undefined): value is JsonObject {
  return isJsonObject(value) && value.kind === 'Status' && value.status === 'Success';
}

/** Builds the deleted object if the server answered the deletion with a Status, which has only the name and uid of the object. */
function goneObject(status: JsonObject, { resource, namespace, name }: ObjectAddress): KubernetesObject {
  const uid = textAt(objectAt(status, 'details'), 'uid');
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) },
  };
}

/**
 * Maximum writes in flight: in one cluster, and in all clusters (docs/internals/propagation.md 5.1). One user may have fewer, so that permits are left
 * for others.
 */
const inCluster = { permits: 10, permitsPerUser: 8, exemptUser: '' };
const inAll = { permits: 256, permitsPerUser: 192, exemptUser: '' };

const allWrites = new FairSemaphore(inAll);
// The key is the API of the cluster, so all writers of this process share one queue per cluster.
const writesOfClusters = new WeakMap<ClusterApi, FairSemaphore>();

/**
 * Returns the write queue of a cluster for one user, and creates it at the first call. All writers of this process share it: 10 writes at a
 * time, 256 in all clusters. The gateway itself is a user too, and may hold all permits.
 */
function writeTurnsOf(api: ClusterApi, { as }: ActingFor) {
  const ofCluster = writesOfClusters.get(api) ?? new FairSemaphore(inCluster);
  writesOfClusters.set(api, ofCluster);
  const user = as?.user ?? '';
  // The queue of the cluster comes first. So a cluster that hangs occupies at most 10 of the 256 writes in flight.
  return async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
    const ran = await ofCluster.run(user, () => allWrites.run(user, work, signal), signal);
    return ran.result === 'done' && ran.value.result === 'done' ? ran.value.value : undefined;
  };
}
