import { breakage, faultOf } from '../cluster/classify.ts';
import type { ClusterApi, LiveAnswer, LiveRequest } from '../cluster/cluster-api.ts';
import type { Impersonation } from '../cluster/endpoint.ts';
import { callTyped } from '../cluster/typed-api.ts';
import type { Fault } from '../core/faults.ts';
import { isJsonObject, type Json, type JsonObject, jsonIn } from '../core/json.ts';
import { objectAt, textAt, valueAt } from '../core/json-at.ts';
import { apiVersionOf } from '../core/kinds.ts';
import { isKubernetesObject, type KubernetesObject } from '../core/objects.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '../core/scheduling/concurrency-limit.ts';
import {
  type DeleteRequest,
  fieldManager,
  type ObjectAddress,
  type ObjectAnswer,
  type ObjectClient,
  type PatchRequest,
  type Preconditions,
  type Run,
  type WriteTerms,
} from './object-client.ts';
import type { Manifest } from './spec.ts';

/** etcd takes no larger request by default (its `--max-request-bytes`): the object would be refused, and only after it had crossed the network. */
const maxObjectBytes = 1.5 * 1024 * 1024;

const patchTypes: Readonly<Record<PatchRequest['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/**
 * The objects of one API server, as one identity.
 *
 * Writes of all clients of a cluster stand in one row: 10 in flight, 256 over all clusters; dry runs are writes. An
 * object above 1.5 MiB is `TOO_LARGE` without a call. Integers beyond 2⁵³−1 are read and written exactly. Answers carry `managedFields`. An abort ends the
 * call upstream; what is answered then is a fault that nobody reads.
 *
 * @param identity For whom. Absent: the cluster's own credentials.
 */
export function createObjectClient(api: ClusterApi, identity?: Impersonation): ObjectClient {
  const limit = writeGateOf(api);
  const fault = (code: Fault['code'], message: string): Fault => faultOf(breakage(code, message, 'NEVER'), { cluster: api.cluster });
  const failed = (code: Fault['code'], message: string): ObjectAnswer => ({ result: 'failed', fault: fault(code, message) });

  const send = (request: LiveRequest, signal: AbortSignal): Promise<LiveAnswer> =>
    api.send(identity === undefined ? request : { ...request, as: identity }, signal);

  const ask = async ({ address, request, beneath }: Call, signal: AbortSignal): Promise<ObjectAnswer> => {
    const path = [...pathOf(address), ...(beneath === undefined ? [] : [beneath])];
    const answer = await send({ ...request, path }, signal);
    if (answer.type === 'failed') return failureOf(answer.fault, address);
    return objectIn(answer, address) ?? failed('MALFORMED', 'expected an object');
  };

  const write = async (call: Call, mayWrite: WriteTerms['mayWrite'], signal: AbortSignal): Promise<ObjectAnswer> => {
    if (call.request.body !== undefined && isTooLarge(call.request.body))
      return failed('TOO_LARGE', `expected an object of at most ${maxObjectBytes / 1024 / 1024} MiB`);
    const unsent = failed('TIMED_OUT', 'given up before it was sent');
    return (await limit.run(async () => (mayWrite?.() === false ? unsent : await ask(call, signal)), signal)) ?? unsent;
  };

  return {
    cluster: api.cluster,
    get: (address, signal) => ask({ address, request: { method: 'GET' } }, signal),
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
      return write({ address, request, beneath: subresource }, mayWrite, signal);
    },
    delete({ preconditions, cascade, run, mayWrite, ...address }, signal) {
      const request = { method: 'DELETE', body: deleteOptions({ preconditions, cascade, run }) } as const;
      return write({ address, request }, mayWrite, signal);
    },
    async serves({ apiVersion, kind }, signal) {
      const answer = await send({ method: 'GET', path: [apiVersion.includes('/') ? 'apis' : 'api', ...apiVersion.split('/')] }, signal);
      if (answer.type === 'failed') return isNotFound(answer.fault) ? false : { fault: answer.fault };
      const listed = valueAt(jsonIn(answer.body), 'resources');
      if (!Array.isArray(listed)) return { fault: fault('MALFORMED', 'expected a list of resources') };
      return listed.some((resource) => textAt(resource, 'kind') === kind && textAt(resource, 'name')?.includes('/') === false);
    },
    async may({ resource: { group, version, resource }, namespace, verb }, signal) {
      const attributes = { group, version, resource, verb, ...(namespace === undefined ? {} : { namespace }) };
      const body = { spec: { resourceAttributes: attributes } };
      const answer = await callTyped(
        api,
        ({ AuthorizationV1Api }, transport) => new AuthorizationV1Api(transport).createSelfSubjectAccessReview({ body }),
        { signal, as: identity },
      );
      if (answer.result === 'failed') return { fault: answer.fault };
      return answer.value.status?.allowed ?? { fault: fault('MALFORMED', 'expected a review of access') };
    },
  };
}

/** One request about one object, or about what stands beneath it. */
interface Call {
  readonly address: ObjectAddress;
  readonly request: Omit<LiveRequest, 'path'>;
  readonly beneath?: string | undefined;
}

/** `/apis/apps/v1/namespaces/default/deployments/web`; an empty name is refused where the path is built. */
function pathOf({ resource, namespace, name }: ObjectAddress): readonly string[] {
  const base = resource.group === '' ? ['api', resource.version] : ['apis', resource.group, resource.version];
  return [...base, ...(resource.namespaced ? ['namespaces', namespace ?? ''] : []), resource.resource, name];
}

/** Strict when dry: what a plan shows must not leave out what the write would drop with a warning. */
function queryOf(run: Run): Readonly<Record<string, string>> {
  const dry = { fieldValidation: 'Strict', dryRun: 'All' };
  return { fieldManager, ...(run === 'dry' ? dry : {}) };
}

function guarded(manifest: Manifest, { uid, resourceVersion }: Preconditions): JsonObject {
  const guards = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  return { ...manifest, metadata: { ...manifest.metadata, ...guards } };
}

function deleteOptions({ preconditions, cascade, run }: Pick<DeleteRequest, 'preconditions' | 'cascade' | 'run'>): JsonObject {
  const { uid, resourceVersion } = preconditions;
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: cascade,
    preconditions: { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    ...(run === 'dry' ? { dryRun: ['All'] } : {}),
  };
}

/** An API server answers 404 both for an absent object and, to a write, for an absent namespace. Only the message tells them apart. */
function failureOf(fault: Fault, { resource }: ObjectAddress): ObjectAnswer {
  const isOfNamespace = resource.namespaced && fault.status?.message.startsWith('namespaces "') === true;
  return fault.code === 'NOT_FOUND' && !isOfNamespace ? { result: 'absent' } : { result: 'failed', fault };
}

/** Of a path: told with a Status or, as nothing serves it, without one. */
function isNotFound({ code }: Fault): boolean {
  return code === 'NOT_SERVED' || code === 'NOT_FOUND';
}

function isTooLarge(body: Json): boolean {
  // Counted in characters first: most objects are far below, and their bytes need not be counted.
  const text = JSON.stringify(body);
  return text.length > maxObjectBytes / 3 && Buffer.byteLength(text) > maxObjectBytes;
}

function objectIn(answer: Extract<LiveAnswer, { type: 'answered' }>, address: ObjectAddress): ObjectAnswer | undefined {
  const value = jsonIn(answer.body);
  const object = isKubernetesObject(value) ? value : isStatusOf(value) ? goneObject(value, address) : undefined;
  if (object === undefined) return undefined;
  return { result: 'answered', object, isNew: answer.status === 201, warnings: answer.warnings ?? [] };
}

function isStatusOf(value: Json | undefined): value is JsonObject {
  return isJsonObject(value) && value.kind === 'Status' && value.status === 'Success';
}

/** A deletion is answered by the object, or by a Status that has no more of it than its uid. */
function goneObject(status: JsonObject, { resource, namespace, name }: ObjectAddress): KubernetesObject {
  const uid = textAt(objectAt(status, 'details'), 'uid');
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) },
  };
}

/** Writes in flight in one cluster, and in all together (docs/internals/propagation.md 5.1). */
const mostPerCluster = 10;
const mostInAll = 256;

const everywhere = createConcurrencyLimit(mostInAll);
// By the door itself: whoever writes to a cluster, in whatever part of this process, stands in one row.
const ofClusters = new WeakMap<ClusterApi, ConcurrencyLimit>();

/** The row in which writes to this cluster stand, whoever writes: 10 at a time, 256 in all clusters of this process. */
function writeGateOf(api: ClusterApi): ConcurrencyLimit {
  const held = ofClusters.get(api) ?? createConcurrencyLimit(mostPerCluster);
  ofClusters.set(api, held);
  // The cluster's own row first: a cluster that hangs keeps 10 of the places, not all.
  return { run: (work, signal) => held.run(() => everywhere.run(work, signal), signal) };
}
