import { keyOfKind, type ServedResource } from '../../src/core/kinds.ts';
import type { Log } from '../../src/core/log.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { StoreEvent, StoreReader } from '../../src/store/mirror-store.ts';
import { createMirrors, type EngagedCluster, type MirrorRegistry, type MirrorsOptions } from '../../src/watch/clusters/registry.ts';
import type { MirrorLease, MirrorsChange } from '../../src/watch/mirrors.ts';
import type { WatchReport } from '../../src/watch/reflector/reflector-state.ts';
import { FakeCluster } from '../support/cluster/fake-cluster.ts';
import { servedKind } from '../support/cluster/fake-discovery.ts';
import { createManualClock, type ManualClock, turns } from '../support/manual-clock.ts';

export const pods = servedKind({ group: '', kind: 'Pod', version: 'v1', resource: 'pods' });
export const secrets = servedKind({ group: '', kind: 'Secret', version: 'v1', resource: 'secrets' });
export const widgets = servedKind({ group: 'example.com', kind: 'Widget', version: 'v1', resource: 'widgets' });
const clusterScoped = [
  servedKind({ group: '', kind: 'Namespace', version: 'v1', resource: 'namespaces', namespaced: false }),
  servedKind({ group: '', kind: 'Node', version: 'v1', resource: 'nodes', namespaced: false }),
  servedKind({
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    version: 'v1',
    resource: 'customresourcedefinitions',
    namespaced: false,
  }),
];

/** The kinds that a fake serves by default: the warm kinds, Pods and Secrets. */
export const usualKinds: readonly ServedResource[] = [...clusterScoped, pods, secrets];

/** The result of `keyOfKind` for definitions. */
export const definitionsKey = 'CustomResourceDefinition.apiextensions.k8s.io';

export interface Watching extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly mirrors: MirrorRegistry;
  readonly changes: readonly MirrorsChange[];
  readonly reports: readonly WatchReport[];
  readonly errors: readonly unknown[];
  /** Engages the cluster until the returned controller aborts. */
  engage(fake: FakeCluster, settings?: Partial<EngagedCluster>): AbortController;
  fake(name: string, kinds?: readonly ServedResource[]): FakeCluster;
  /** Fails if the kind is not served. */
  hold(fake: FakeCluster, kind: ServedResource, namespaces?: readonly string[]): MirrorLease;
}

/** Starts mirrors over fakes, with a clock of the test's own. */
export function startWatching(options: Partial<MirrorsOptions> & { readonly random?: () => number } = {}): Watching {
  const { random, ...rest } = options;
  const clock = createManualClock(random === undefined ? {} : { random });
  const changes: MirrorsChange[] = [];
  const reports: WatchReport[] = [];
  const errors: unknown[] = [];
  const log: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (fields) => errors.push(fields) };
  const mirrors = createMirrors({ clock, log, onReport: (_cluster, report) => reports.push(report), ...rest });
  const life = new AbortController();
  mirrors.onChange((change) => changes.push(change), life.signal);
  return {
    clock,
    mirrors,
    changes,
    reports,
    errors,
    fake: (name, kinds = usualKinds) => new FakeCluster(name, clock, kinds),
    engage(fake, settings) {
      const member = new AbortController();
      // `settings` is read again each time, as its values may change.
      const engaged: EngagedCluster = {
        name: fake.name,
        api: settings?.api ?? fake.api,
        get namespaces() {
          return settings?.namespaces ?? [];
        },
        get secrets() {
          return settings?.secrets ?? 'live';
        },
      };
      mirrors.engage(engaged, member.signal);
      return member;
    },
    hold(fake, kind, namespaces) {
      const lease = mirrors.acquire(fake.name, kind, namespaces === undefined ? {} : { namespaces });
      if (lease === undefined) throw new Error(`${keyOfKind(kind)} is not served`);
      return lease;
    },
    async [Symbol.asyncDispose]() {
      await mirrors[Symbol.asyncDispose]();
      life.abort();
      await turns();
    },
  };
}

/** A minimal Pod. */
export function pod(name: string, value = '0', namespace = 'default'): KubernetesObject {
  return { metadata: { name, namespace, labels: { value } }, spec: { value } };
}

/** An established definition of the kind. */
export function definitionFor({ group, kind, resource }: ServedResource, generation = 1): KubernetesObject {
  return {
    metadata: { name: `${resource}.${group}`, generation },
    spec: { group, names: { kind, plural: resource } },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  };
}

/** The comparable content of a mirror or server: each object with uid and version, by key. */
export function contentOf(objects: Iterable<KubernetesObject>): Readonly<Record<string, unknown>> {
  const entries = Array.from(objects, ({ kind: _, apiVersion: __, ...object }) => [
    `${object.metadata.namespace ?? ''}/${object.metadata.name}`,
    object,
  ]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** Follows a store's feed as a reader must: folds the events, and remembers them. */
export interface Follower {
  readonly events: readonly StoreEvent[];
  /** The content of the store according to the received events. */
  content(): Readonly<Record<string, unknown>>;
}

export function followStore(store: StoreReader, signal: AbortSignal): Follower {
  const events: StoreEvent[] = [];
  const believed = new Map<string, KubernetesObject>();
  const keyOf = ({ metadata }: KubernetesObject) => `${metadata.namespace ?? ''}/${metadata.name}`;
  const takeAll = (objects: Iterable<KubernetesObject>) => {
    believed.clear();
    for (const object of objects) believed.set(keyOf(object), object);
  };
  const { snapshot } = store.follow((batch) => {
    for (const event of batch) {
      events.push(event);
      if (event.type === 'applied') believed.set(keyOf(event.object), event.object);
      if (event.type === 'deleted') believed.delete(keyOf(event.object));
      if (event.type === 'reset') takeAll(store.objects());
    }
  }, signal);
  takeAll(snapshot);
  return { events, content: () => contentOf(believed.values()) };
}
