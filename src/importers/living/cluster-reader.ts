import type { ClusterApi, LiveAnswer, LiveRequest } from '../../cluster/cluster-api.ts';
import { acceptHeader } from '../../cluster/requests/request-paths.ts';
import { resourcesIn, type VersionedResource } from '../../cluster/served-resources.ts';
import { type Fault, fault } from '../../core/faults.ts';
import { type Json, type JsonObject, parseJsonBody } from '../../core/json.ts';
import { listAt, textAt } from '../../core/json-at.ts';
import { apiVersionOf, groupOfApiVersion, versionOfApiVersion } from '../../core/kinds.ts';
import { isKubernetesObject } from '../../core/objects.ts';
import { createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import type { TimeSlices } from '../../core/scheduling/operation-scheduler.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import { withoutMembers } from '../../manifests/json-edits.ts';

/** Maximum number of objects that one import reads, and maximum size of all answers in bytes. */
const maxObjects = 20_000;
const maxBytes = 64 * 1024 * 1024;

/** Objects per page. Policies and workloads have a few kB each, so a page has less than 1 MB. */
const pageSize = 100;

/** Maximum number of requests at the same time. */
const maxRequests = 4;

/** The objects to list. */
export interface LivingList {
  readonly kind: VersionedResource;
  /** The namespaces to list. Default: all namespaces. Not used for a cluster-scoped kind. */
  readonly namespaces?: readonly string[] | undefined;
  /** The namespace to list if the caller may not list the kind in all namespaces. Default: none. */
  readonly ownNamespace?: string;
  /** Only objects with these values of fields, such as `metadata.name=web`. Default: all objects. */
  readonly fieldSelector?: string;
  /** True: reads only metadata. Default: true for sensitive kinds. */
  readonly isMetadataOnly?: boolean;
  /** True: a failed request is no fault, because no Propagation depends on the objects. Default: false. */
  readonly isOptional?: boolean;
}

/** The listed objects, in the order of the server. `isComplete` is false if a request failed. */
export interface ListedObjects {
  readonly objects: readonly JsonObject[];
  readonly isComplete: boolean;
}

interface ReaderOptions {
  /** The API server, with the rights of the caller. */
  readonly api: ClusterApi;
  readonly sensitiveKinds: SensitiveKinds;
  readonly timeSlices: TimeSlices;
}

/**
 * Reads the objects of one API server for one import, live and without a mirror.
 *
 * A kind or group that the server does not serve has no objects. Every other failure becomes a fault, and the reader goes on with the next
 * list. One reader reads at most 20,000 objects and 64 MiB. A list beyond that is `TOO_LARGE` and has no objects. Of sensitive kinds, only
 * metadata is read.
 */
export class ClusterReader {
  readonly #options: ReaderOptions;
  readonly #signal: AbortSignal;
  readonly #limit = createConcurrencyLimit(maxRequests);
  readonly #kinds = new Map<string, Promise<readonly VersionedResource[]>>();
  readonly #faults = new Map<string, Fault>();
  #objects = 0;
  #bytes = 0;
  /** The fault of a server that does not even answer discovery. Further requests would wait as long, and are not sent. */
  #silence: Fault | undefined;

  constructor(options: ReaderOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** The failures so far, each once. */
  get faults(): readonly Fault[] {
    return [...this.#faults.values()];
  }

  /** Returns the kinds of a group that can be listed, at its preferred version. Empty if the server does not serve the group. */
  async kindsIn(group: string): Promise<readonly VersionedResource[]> {
    const found = await this.#discover(['apis', group]);
    const version = textAt(found, 'preferredVersion', 'version');
    return version === undefined ? [] : await this.#kindsAt(apiVersionOf({ group, version }));
  }

  /** Returns the kind. Undefined if the server does not serve it in this version, or if it cannot be listed. */
  async kindOf(apiVersion: string, kind: string): Promise<VersionedResource | undefined> {
    return (await this.#kindsAt(apiVersion)).find((one) => one.kind === kind);
  }

  /**
   * Lists objects page by page, without their `managedFields`. A namespace that cannot be listed is left out, and its fault is recorded.
   */
  async list(list: LivingList): Promise<ListedObjects> {
    const { kind, ownNamespace } = list;
    const namespaces = kind.namespaced ? (list.namespaces ?? [undefined]) : [undefined];
    const read = await Promise.all(namespaces.map((namespace) => this.#listIn(namespace, list)));
    const faults = read.flatMap((one) => ('fault' in one ? [one.fault] : []));
    if (ownNamespace !== undefined && list.namespaces === undefined && faults.some(({ code }) => code === 'FORBIDDEN'))
      return await this.list({ ...list, namespaces: [ownNamespace] });
    for (const one of list.isOptional === true ? [] : faults) this.#keepFault({ ...one, kind: { group: kind.group, kind: kind.kind } });
    return { objects: read.flatMap((one) => ('fault' in one ? [] : one.objects)), isComplete: faults.length === 0 };
  }

  #kindsAt(apiVersion: string): Promise<readonly VersionedResource[]> {
    const known = this.#kinds.get(apiVersion) ?? this.#readKinds(apiVersion);
    this.#kinds.set(apiVersion, known);
    return known;
  }

  async #readKinds(apiVersion: string): Promise<readonly VersionedResource[]> {
    const at = { group: groupOfApiVersion(apiVersion), version: versionOfApiVersion(apiVersion) };
    const found = await this.#discover(rootOf(at));
    return found === undefined
      ? []
      : resourcesIn(found, at).filter(({ resource, verbs }) => !resource.includes('/') && verbs.includes('list'));
  }

  /** Reads a document of the discovery. Undefined if it does not exist or cannot be read. A failure is recorded as a fault. */
  async #discover(path: readonly string[]): Promise<Json | undefined> {
    const answer = await this.#request({ path });
    if ('value' in answer) return answer.value;
    this.#keepFault(answer.fault);
    if (answer.fault.code === 'UNREACHABLE' || answer.fault.code === 'TIMED_OUT') this.#silence = answer.fault;
    return undefined;
  }

  async #listIn(namespace: string | undefined, { kind, fieldSelector = '', isMetadataOnly }: LivingList): Promise<ObjectsOrFault> {
    const objects: JsonObject[] = [];
    const accept = acceptHeader((isMetadataOnly ?? this.#options.sensitiveKinds.has(kind)) ? 'metadata' : 'object', 'list');
    const path = [...rootOf(kind), ...(namespace === undefined ? [] : ['namespaces', namespace]), kind.resource];
    for (let token = ''; ; ) {
      if (this.#objects >= maxObjects || this.#bytes >= maxBytes) return { fault: this.#tooLarge() };
      const query = {
        limit: String(pageSize),
        ...(fieldSelector === '' ? {} : { fieldSelector }),
        ...(token === '' ? {} : { continue: token }),
      };
      const answer = await this.#request({ path, query, accept });
      if ('fault' in answer) return answer;
      const items = listAt(answer.value, 'items');
      this.#objects += items.length;
      for (const item of items) if (isKubernetesObject(item)) objects.push(objectOfKind(item, kind));
      token = textAt(answer.value, 'metadata', 'continue') ?? '';
      if (token === '') return { objects };
      await this.#options.timeSlices.pause();
    }
  }

  async #request(request: Omit<LiveRequest, 'method'>): Promise<{ readonly value: Json } | { readonly fault: Fault }> {
    const { api } = this.#options;
    const send = async (): Promise<LiveAnswer> =>
      this.#silence === undefined ? await api.send({ method: 'GET', ...request }, this.#signal) : { type: 'failed', fault: this.#silence };
    const answer = await this.#limit.run(send, this.#signal);
    this.#signal.throwIfAborted();
    if (answer?.type !== 'answered') return answer ?? { fault: this.#fault('TIMED_OUT', 'the import was cancelled') };
    this.#bytes += answer.body.length;
    const value = parseJsonBody(answer.body);
    return value === undefined ? { fault: this.#fault('MALFORMED', 'expected JSON, got something else') } : { value };
  }

  /** Records a fault, unless it is a 404. An API server answers 404 for a group or version that it does not serve, which is no fault. */
  #keepFault(one: Fault): void {
    if (one.code === 'NOT_SERVED' || one.code === 'NOT_FOUND') return;
    this.#faults.set(JSON.stringify([one.code, one.kind, one.message]), one);
  }

  #tooLarge(): Fault {
    const limit = `${maxObjects} objects and ${maxBytes / 1024 / 1024} MiB`;
    return this.#fault('TOO_LARGE', `expected at most ${limit} in one import: name the kinds or the namespaces to import`);
  }

  #fault(code: Fault['code'], message: string): Fault {
    return fault(code, message, { cluster: this.#options.api.cluster, retry: code === 'TOO_LARGE' ? 'NEVER' : 'LATER' });
  }
}

type ObjectsOrFault = { readonly objects: readonly JsonObject[] } | { readonly fault: Fault };

function rootOf({ group, version }: { readonly group: string; readonly version: string }): readonly string[] {
  return group === '' ? ['api', version] : ['apis', group, version];
}

/** Adds the kind, which items of lists do not have, and removes `managedFields`, which take half of the memory of an object. */
function objectOfKind(item: JsonObject & { readonly metadata: JsonObject }, kind: VersionedResource): JsonObject {
  return { ...item, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: withoutMembers(item.metadata, ['managedFields']) };
}
