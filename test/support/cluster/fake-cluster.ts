import type {
  ClusterApi,
  ListPageRequest,
  ListPart,
  LiveAnswer,
  LiveRequest,
  WatchPart,
  WatchRequest,
} from '../../../src/cluster/cluster-api.ts';
import type { Clock } from '../../../src/core/clock.ts';
import type { Fault, FaultCode } from '../../../src/core/faults.ts';
import type { Json } from '../../../src/core/json.ts';
import { keyOfKind, type ServedResource } from '../../../src/core/kinds.ts';
import { type ClusterName, clusterName, parseResourceVersion, type ResourceVersion } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { discoveryDocument } from './fake-discovery.ts';
import { FakeLogs } from './fake-logs.ts';

/** The kinds of requests that a fake answers. */
export type Verb = 'list' | 'watch' | 'send';

/** A request that the fake received. */
export interface SeenRequest {
  readonly verb: Verb;
  /** `keyOfKind`. For live requests, the path. */
  readonly of: string;
  readonly atMs: number;
  readonly page?: ListPageRequest;
  readonly start?: WatchRequest;
}

/** A rule for the next matching requests. */
export interface Rule {
  readonly verb?: Verb;
  /** `keyOfKind`, or the path of a live request. Default: any. */
  readonly of?: string;
  readonly namespace?: string | 'all';
  /** True: the request fails midway: after half of the items of a list, or just before the end of a WatchList. */
  readonly midway?: boolean;
  /** Number of matching requests to skip first. Default: 0. */
  skip?: number;
  /** Number of requests that the rule applies to. Default: all, until the rule is disposed of. */
  times?: number;
  readonly fault: Fault;
}

interface Change {
  readonly kind: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubernetesObject;
  readonly version: number;
}

interface Watcher {
  readonly start: WatchRequest;
  readonly push: (part: WatchPart) => void;
}

interface Snapshot {
  readonly left: readonly KubernetesObject[];
  readonly version: number;
}

const encoder = new TextEncoder();

/** Encodes text as the bytes of a frame. */
function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Makes a fault as the transport would. */
export function faultOf(
  cluster: ClusterName,
  code: FaultCode,
  status?: { readonly code: number; readonly retryAfterSeconds?: number; readonly cause?: string },
): Fault {
  if (status === undefined) return { code, cluster, message: code, retry: 'LATER' };
  const { cause, ...said } = status;
  return {
    code,
    cluster,
    message: code,
    retry: 'LATER',
    status: { ...said, reason: '', message: '', causes: cause === undefined ? [] : [{ reason: cause }] },
  };
}

/** A simple API server behind the interface `ClusterApi`, without a network. Tests compare mirrors with it. Its methods cause failures. */
export class FakeCluster {
  readonly name: ClusterName;
  readonly seen: SeenRequest[] = [];
  readonly api: ClusterApi;
  readonly logs: FakeLogs;
  readonly #clock: Clock;
  readonly #resources = new Map<string, ServedResource>();
  readonly #objects = new Map<string, Map<string, KubernetesObject>>();
  readonly #watchers = new Set<Watcher>();
  readonly #rules = new Set<Rule>();
  readonly #pages = new Map<string, Snapshot>();
  readonly #hanging = new Set<(part: { readonly type: 'failed'; readonly fault: Fault }) => void>();
  #changes: Change[] = [];
  #compactedAt = 0;
  #version = 100;
  #nextUid = 1;
  #silentSinceMs: number | undefined;
  #cached: Snapshot | undefined;
  gitVersion = 'v1.36.3';
  /** Kinds whose WatchLists send no end bookmark. */
  readonly endless = new Set<string>();
  /** Namespaces that may be read. Undefined: all of them, and lists over all namespaces. */
  permitted: ReadonlySet<string> | undefined;

  constructor(name: string, clock: Clock, resources: readonly ServedResource[]) {
    this.name = clusterName(name);
    this.#clock = clock;
    for (const resource of resources) this.serve(resource);
    this.logs = new FakeLogs(this.name, clock);
    this.put('Namespace', { metadata: { name: 'kube-system' } });
    this.api = {
      cluster: this.name,
      connectionFaults: [],
      list: (page, signal) => this.#list(page, signal),
      watch: (start, signal) => this.#watch(start, signal),
      logs: (request, signal) => this.logs.logs(request, signal),
      send: (request, signal) => this.#send(request, signal),
    };
  }

  get version(): number {
    return this.#version;
  }

  get openWatches(): readonly WatchRequest[] {
    return [...this.#watchers].map(({ start }) => start);
  }

  requests(verb: Verb, of: string): readonly SeenRequest[] {
    return this.seen.filter((request) => request.verb === verb && request.of === of);
  }

  objects(kind: string): readonly KubernetesObject[] {
    return [...(this.#objects.get(kind)?.values() ?? [])];
  }

  /** Adds a resource to discovery. */
  serve(resource: ServedResource): void {
    const key = keyOfKind(resource);
    this.#resources.set(key, resource);
    if (!this.#objects.has(key)) this.#objects.set(key, new Map());
  }

  /** Deletes the objects of a kind, then its path. */
  withdraw(kind: string): void {
    for (const { metadata } of this.objects(kind)) this.remove(kind, metadata.namespace ?? '', metadata.name);
    this.#resources.delete(kind);
    this.closeWatches(kind);
  }

  /** Creates or replaces an object. `recreate` gives it another uid. */
  put(kind: string, object: KubernetesObject, how: 'update' | 'recreate' = 'update'): KubernetesObject {
    const { namespace = '', name } = object.metadata;
    const shelf = this.#objects.get(kind) ?? new Map<string, KubernetesObject>();
    this.#objects.set(kind, shelf);
    const before = shelf.get(`${namespace}/${name}`);
    if (before !== undefined && how === 'recreate') {
      this.remove(kind, namespace, name);
      return this.put(kind, object);
    }
    const version = ++this.#version;
    const uid = before?.metadata.uid ?? `uid-${this.#nextUid++}`;
    const { name: _, namespace: __, ...rest } = object.metadata;
    const ordered = { name, ...(namespace === '' ? {} : { namespace }), uid, resourceVersion: `${version}`, ...rest };
    const stored: KubernetesObject = { ...object, metadata: ordered };
    shelf.set(`${namespace}/${name}`, stored);
    this.#tell({ kind, type: before === undefined ? 'ADDED' : 'MODIFIED', object: stored, version });
    return stored;
  }

  /** Changes the served objects without a new version, as an upgrade that adds a default does. */
  rewrite(kind: string, change: (object: KubernetesObject) => KubernetesObject): void {
    const shelf = this.#objects.get(kind);
    for (const [key, object] of shelf ?? []) shelf?.set(key, change(object));
  }

  remove(kind: string, namespace: string, name: string): void {
    const shelf = this.#objects.get(kind);
    const before = shelf?.get(`${namespace}/${name}`);
    if (before === undefined) return;
    shelf?.delete(`${namespace}/${name}`);
    const version = ++this.#version;
    this.#tell({ kind, type: 'DELETED', object: { ...before, metadata: { ...before.metadata, resourceVersion: `${version}` } }, version });
  }

  /** Makes the next matching requests fail. Disposing of the result ends the rule. */
  fail(rule: Rule): Disposable {
    this.#rules.add(rule);
    return { [Symbol.dispose]: () => this.#rules.delete(rule) };
  }

  /** Forgets the history: older watches and tokens get 410. */
  compact(): void {
    this.#compactedAt = this.#version;
    this.#changes = [];
    this.#cached = undefined;
    this.#pages.clear();
  }

  /** Replaces the history, as when etcd is restored: all writes since `to` are undone, and versions go back. */
  restore(to: { readonly version: number; readonly objects: ReadonlyMap<string, readonly KubernetesObject[]> }): void {
    for (const [kind, objects] of to.objects) {
      this.#objects.set(kind, new Map(objects.map((object) => [`${object.metadata.namespace ?? ''}/${object.metadata.name}`, object])));
    }
    this.#version = to.version;
    this.compact();
    this.breakWatches({ fault: this.fault('UNREACHABLE') });
  }

  /** Returns the state for `restore`. */
  backup(): { readonly version: number; readonly objects: ReadonlyMap<string, readonly KubernetesObject[]> } {
    return { version: this.#version, objects: new Map([...this.#objects].map(([kind, shelf]) => [kind, [...shelf.values()]])) };
  }

  fault(code: FaultCode, status?: Parameters<typeof faultOf>[2]): Fault {
    return faultOf(this.name, code, status);
  }

  /** Freezes lists of "any version" at this moment, as a lagging cache would, until the next compaction. */
  lag(kind: string): void {
    this.#cached = { left: this.objects(kind), version: this.#version };
  }

  /** Makes open watches fail. */
  breakWatches({ kind, fault }: { readonly kind?: string; readonly fault: Fault }): void {
    for (const watcher of this.#of(kind)) this.#end(watcher, { type: 'failed', fault });
  }

  /** Ends open watches cleanly. */
  closeWatches(kind?: string): void {
    for (const watcher of this.#of(kind)) this.#end(watcher, { type: 'closed' });
  }

  /** Sends a line to open watches, unchanged. */
  emit(kind: string, line: string): void {
    for (const { push } of this.#of(kind)) push({ type: 'frames', frames: [bytesOf(line)] });
  }

  bookmark(kind: string, version: string | undefined = `${this.#version}`): void {
    const metadata = version === undefined ? {} : { resourceVersion: version };
    this.emit(kind, JSON.stringify({ type: 'BOOKMARK', object: { metadata } }));
  }

  error(kind: string, code: number): void {
    this.emit(kind, JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code, reason: '', message: `error ${code}` } }));
  }

  /** Stops answering. Connections stay open. */
  freeze(): void {
    this.#silentSinceMs = this.#clock.monotonic();
  }

  /** Simulates that the transport notices a dead server: all open requests fail, and new ones fail at once. */
  die(): Disposable {
    const fault = this.fault('UNREACHABLE');
    const refused = this.fail({ fault });
    this.breakWatches({ fault });
    for (const end of [...this.#hanging]) end({ type: 'failed', fault });
    return refused;
  }

  thaw(): void {
    this.#silentSinceMs = undefined;
  }

  #of(kind: string | undefined): readonly Watcher[] {
    return [...this.#watchers].filter(({ start }) => kind === undefined || keyOfKind(start.resource) === kind);
  }

  #end(watcher: Watcher, part: WatchPart): void {
    this.#watchers.delete(watcher);
    watcher.push(part);
  }

  #tell(change: Change): void {
    this.#changes.push(change);
    if (this.#silentSinceMs !== undefined) return;
    for (const watcher of this.#of(change.kind)) {
      if (concerns(watcher.start, change)) watcher.push({ type: 'frames', frames: [frameOf(change, watcher.start)] });
    }
  }

  /** Returns the rule that makes the request fail, if there is one. */
  #judge(request: SeenRequest, namespace: string | undefined): Pick<Rule, 'fault' | 'midway'> | undefined {
    this.seen.push(request);
    for (const rule of this.#rules) {
      if (rule.verb !== undefined && rule.verb !== request.verb) continue;
      if (rule.of !== undefined && rule.of !== request.of) continue;
      if (rule.namespace !== undefined && rule.namespace !== (namespace ?? 'all')) continue;
      if (rule.skip !== undefined && rule.skip-- > 0) continue;
      if (rule.times !== undefined && --rule.times <= 0) this.#rules.delete(rule);
      return rule;
    }
    if (request.verb === 'send') return undefined;
    if (!this.#resources.has(request.of)) return { fault: this.fault('NOT_SERVED', { code: 404 }) };
    const namespaced = this.#resources.get(request.of)?.namespaced === true;
    if (namespaced && this.permitted !== undefined && !this.permitted.has(namespace ?? ''))
      return { fault: this.fault('FORBIDDEN', { code: 403 }) };
    return undefined;
  }

  async *#list(page: ListPageRequest, signal: AbortSignal): AsyncGenerator<ListPart, void> {
    const of = keyOfKind(page.resource);
    const rule = this.#judge({ verb: 'list', of, atMs: this.#clock.monotonic(), page }, page.namespace);
    const failed = (rule?.midway === true ? undefined : rule?.fault) ?? (await this.#whileSilent(signal));
    if (signal.aborted) return;
    if (failed !== undefined) return yield { type: 'failed', fault: failed };
    const snapshot = this.#snapshotFor(page);
    if (snapshot === undefined) return yield { type: 'failed', fault: this.fault('EXPIRED', { code: 410 }) };
    const count = page.limit ?? snapshot.left.length;
    const now = snapshot.left.slice(0, count);
    const half = Math.ceil(now.length / 2);
    yield { type: 'items', items: now.slice(0, half).map((object) => itemOf(object, page)) };
    await Promise.resolve();
    if (signal.aborted) return;
    if (rule !== undefined) return yield { type: 'failed', fault: rule.fault };
    yield { type: 'items', items: now.slice(half).map((object) => itemOf(object, page)) };
    if (signal.aborted) return;
    const left = snapshot.left.slice(count);
    const version = versionOf(snapshot.version);
    if (left.length === 0) return yield { type: 'pageEnded', version };
    const token = `token-${this.seen.length}`;
    this.#pages.set(token, { left, version: snapshot.version });
    yield { type: 'pageEnded', version, continue: token, remaining: left.length };
  }

  #snapshotFor({ continue: token, version, resource, namespace }: ListPageRequest): Snapshot | undefined {
    if (token !== undefined) return this.#pages.get(token);
    if (version !== undefined && version !== '' && version !== '0' && Number(version) > this.#version) return undefined;
    const lags = this.#cached !== undefined && version !== '' && version !== undefined && Number(version) <= this.#cached.version;
    const { left, version: at } =
      lags && this.#cached !== undefined ? this.#cached : { left: this.objects(keyOfKind(resource)), version: this.#version };
    return { left: left.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace), version: at };
  }

  async *#watch(start: WatchRequest, signal: AbortSignal): AsyncGenerator<WatchPart, void> {
    const of = keyOfKind(start.resource);
    const rule = this.#judge({ verb: 'watch', of, atMs: this.#clock.monotonic(), start }, start.namespace);
    const midway = rule?.midway === true && start.initialEvents;
    const failed = (midway ? undefined : rule?.fault) ?? (await this.#whileSilent(signal));
    if (signal.aborted) return;
    if (failed !== undefined) return yield { type: 'failed', fault: failed };
    const parts: WatchPart[] = [];
    let wake: () => void = ignore;
    const watcher: Watcher = {
      start,
      push: (part) => {
        parts.push(part);
        wake();
      },
    };
    this.#begin(watcher, midway ? rule?.fault : undefined);
    const aborted = () => {
      this.#watchers.delete(watcher);
      wake();
    };
    signal.addEventListener('abort', aborted, { once: true });
    while (!signal.aborted) {
      const part = parts.shift();
      if (part === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else {
        yield part;
        if (part.type === 'closed' || part.type === 'failed') return signal.removeEventListener('abort', aborted);
      }
    }
  }

  #begin(watcher: Watcher, failing: Fault | undefined): void {
    const { start, push } = watcher;
    const from = start.version === '' ? this.#version : Number(start.version);
    // As on a real server, a watch from a future version is silent until that version, and a WatchList fails.
    if ((from > this.#version && start.initialEvents) || (from < this.#compactedAt && !start.initialEvents)) {
      push({ type: 'failed', fault: this.fault('EXPIRED', { code: 410 }) });
      return;
    }
    this.#watchers.add(watcher);
    push({ type: 'opened', lastReceivedMs: () => this.#silentSinceMs ?? this.#clock.monotonic() });
    if (start.initialEvents) this.#pushInitial(watcher, failing);
    else {
      const missed = this.#changes.filter((change) => change.version > from && concerns(start, change));
      if (missed.length > 0) push({ type: 'frames', frames: missed.map((change) => frameOf(change, start)) });
    }
  }

  #pushInitial(watcher: Watcher, failing: Fault | undefined): void {
    const { start, push } = watcher;
    const kind = keyOfKind(start.resource);
    const objects = this.objects(kind).filter(({ metadata }) => start.namespace === undefined || metadata.namespace === start.namespace);
    push({ type: 'frames', frames: objects.map((object) => frameOf({ kind, type: 'ADDED', object, version: 0 }, start)) });
    if (failing !== undefined) this.#end(watcher, { type: 'failed', fault: failing });
    if (failing !== undefined || this.endless.has(kind)) return;
    const metadata = { resourceVersion: `${this.#version}`, annotations: { 'k8s.io/initial-events-end': 'true' } };
    push({ type: 'frames', frames: [bytesOf(JSON.stringify({ type: 'BOOKMARK', object: { metadata } }))] });
  }

  async #send({ path, body }: LiveRequest, signal: AbortSignal): Promise<LiveAnswer> {
    const of = path.join('/');
    const rule = this.#judge({ verb: 'send', of, atMs: this.#clock.monotonic() }, undefined);
    const fault = rule?.fault ?? (await this.#whileSilent(signal));
    if (fault !== undefined) return { type: 'failed', fault };
    const answer = this.#answer(of, body);
    if (answer === undefined) return { type: 'failed', fault: this.fault('NOT_FOUND', { code: 404 }) };
    return { type: 'answered', status: 200, body: bytesOf(JSON.stringify(answer)) };
  }

  #answer(path: string, body: Json | undefined): Json | undefined {
    if (path === 'version') return { gitVersion: this.gitVersion };
    if (path === 'api' || path === 'apis') return discoveryDocument([...this.#resources.values()], path);
    if (path === 'api/v1/namespaces') {
      const items = this.objects('Namespace').filter(({ metadata }) => metadata.name === 'kube-system');
      return { metadata: { resourceVersion: `${this.#version}` }, items };
    }
    if (path === 'api/v1/namespaces/kube-system') return this.#objects.get('Namespace')?.get('/kube-system');
    if (!path.endsWith('selfsubjectaccessreviews')) return undefined;
    const { spec } = body as { readonly spec: { readonly resourceAttributes: { readonly namespace: string } } };
    return { status: { allowed: this.permitted?.has(spec.resourceAttributes.namespace) ?? true } };
  }

  /** Resolves at once unless the fake is frozen. If it is frozen, resolves with the fault when the fake dies, or at the abort. */
  #whileSilent(signal: AbortSignal): Promise<Fault | undefined> {
    if (this.#silentSinceMs === undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const end = (part?: { readonly fault: Fault }) => {
        this.#hanging.delete(end);
        signal.removeEventListener('abort', aborted);
        resolve(part?.fault);
      };
      const aborted = () => end();
      this.#hanging.add(end);
      signal.addEventListener('abort', aborted, { once: true });
    });
  }
}

function ignore(): void {
  // No request waits yet.
}

function concerns({ resource, namespace }: WatchRequest, { kind, object }: Change): boolean {
  return keyOfKind(resource) === kind && (namespace === undefined || object.metadata.namespace === namespace);
}

function itemOf(object: KubernetesObject, { form, resource }: Pick<ListPageRequest, 'form' | 'resource'>): Uint8Array {
  return bytesOf(JSON.stringify(form === 'metadata' ? { metadata: object.metadata } : withKind(object, resource)));
}

function frameOf({ type, object }: Change, { form, resource }: WatchRequest): Uint8Array {
  return bytesOf(
    JSON.stringify({
      type,
      object: form === 'metadata' ? { kind: 'PartialObjectMetadata', metadata: object.metadata } : withKind(object, resource),
    }),
  );
}

function withKind(object: KubernetesObject, { kind }: ServedResource): KubernetesObject {
  return { kind, ...object };
}

function versionOf(number: number): ResourceVersion {
  const version = parseResourceVersion(`${number}`);
  if (version === undefined) throw new Error('a number is a version');
  return version;
}
