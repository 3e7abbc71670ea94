import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { ClusterFailure } from '../cluster/cluster-failure.ts';
import { type ProcessEnvironment, proxyFor } from '../cluster/kubeconfig/proxy-choice.ts';
import type { ConfiguredInventory } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { type Fault, fault } from '../core/faults.ts';
import { keyOfKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { TimeSliceScheduler } from '../core/scheduling/operation-scheduler.ts';
import { matchesLabelSelector, parseLabelSelector } from '../core/selectors.ts';
import { compareText } from '../core/text.ts';
import { type ClusterCandidate, type ClusterListing, shownName } from '../fleet/cluster-source.ts';
import type { MemberSettings } from '../fleet/member.ts';
import type { MemberObjects } from '../store/member-objects.ts';
import type { OwnSecrets } from '../watch/clusters/own-secrets.ts';
import { isFailure } from './adapters/found.ts';
import type { AdapterContext, FoundCluster, InventoryAdapter, SecretData, SecretPlace } from './adapters/inventory-adapter.ts';
import type { GivenAccess } from './given/given-access.ts';
import { SecretReader } from './secret-reader.ts';

/** Milliseconds between a change and the next reading. Changes within this time are read together. */
const settleMs = 50;

/** Milliseconds until a Secret that could not be read is read again. */
const retryMs = 5_000;

/** The access to the cluster that holds a cluster inventory, with the gateway's own account. */
export interface HolderPorts {
  readonly objects: MemberObjects;
  readonly api: (cluster: ClusterName) => ClusterApi | undefined;
  /** As `MirrorRegistry.followSecrets`. */
  readonly followSecrets: (
    cluster: ClusterName,
    namespace: string | undefined,
    onChange: () => void,
    signal: AbortSignal,
  ) => OwnSecrets | undefined;
  /** For proxies, and for `PATH` and `HOME` of credential plugins. */
  readonly environment: ProcessEnvironment;
  readonly clock: Clock;
}

export interface InventoryOptions extends HolderPorts {
  readonly adapter: InventoryAdapter;
  readonly inventory: ConfiguredInventory;
  readonly holder: ClusterName;
  readonly systemNamespace: string;
  readonly allowPrivate: readonly string[];
  /** The position in the config, for faults: `inventories[0]`. Undefined for registered clusters, whose absence is no fault. */
  readonly where: string | undefined;
  /** Called with each whole set, and never after the signal has aborted. */
  readonly onSet: (set: ClusterListing) => void;
}

/** One description of clusters, and its Secret if it names one that exists. */
interface Description {
  readonly object: KubernetesObject;
  readonly place: SecretPlace | undefined;
  readonly version: string | undefined;
}

/** The candidates of one object, and what they were made from. */
interface MadeCandidates {
  readonly object: KubernetesObject;
  readonly data: SecretData | undefined;
  /** The keys of `#lastGood`. */
  readonly keys: readonly string[];
  readonly candidates: readonly ClusterCandidate[];
}

/**
 * Follows one inventory until the signal aborts: its objects, and the Secrets that they name.
 *
 * While the holder does not answer, or the Secrets cannot be listed, the last set stays. A cluster whose description breaks keeps its last
 * good access, and shows the problem beside it. Credentials of a cluster are forgotten when its Secret or its object is deleted.
 */
export function followInventory(options: InventoryOptions, signal: AbortSignal): void {
  new Inventory(options, signal).begin();
}

const namespaceKind = { group: '', kind: 'Namespace' };

class Inventory {
  readonly #options: InventoryOptions;
  readonly #signal: AbortSignal;
  readonly #reader: SecretReader;
  readonly #secrets = new Map<string | undefined, OwnSecrets | undefined>();
  readonly #lastGood = new Map<string, GivenAccess>();
  readonly #readFaults = new Map<string, Fault>();
  #published: readonly ClusterCandidate[] = [];
  /** The candidates by their object. They are made again only if the object or its Secret changes. */
  #made = new Map<string, MadeCandidates>();
  readonly #scheduler: TimeSliceScheduler;
  #waiting = false;
  #reading = false;
  #changed = false;
  #isRetrying = false;

  constructor(options: InventoryOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#scheduler = new TimeSliceScheduler(options.clock);
    this.#reader = new SecretReader(() => options.api(options.holder));
  }

  begin(): void {
    const { objects, holder, adapter } = this.#options;
    if (!this.#isSecretKind) objects.hold(holder, adapter.kind, this.#signal);
    objects.onChange((changes) => {
      if (changes.some(({ type, cluster }) => type === 'cluster' && cluster === holder)) this.#followSecrets();
      if (changes.some((change) => change.cluster === holder && (change.type === 'cluster' || this.#concerns(change.kind)))) this.#soon();
    }, this.#signal);
    this.#followSecrets();
    this.#soon();
  }

  get #isSecretKind(): boolean {
    const { group, kind } = this.#options.adapter.kind;
    return group === '' && kind === 'Secret';
  }

  #concerns(kind: { readonly group: string; readonly kind: string }): boolean {
    return [this.#options.adapter.kind, namespaceKind].some((own) => own.group === kind.group && own.kind === kind.kind);
  }

  /**
   * Follows the Secrets of each namespace that is not followed now. Following ends when the holder leaves the fleet, so this runs again after
   * each change of the holder.
   */
  #followSecrets(): void {
    const { followSecrets, holder, inventory, adapter, systemNamespace } = this.#options;
    const namespaces = inventory.namespaces ?? adapter.namespaces?.({ systemNamespace }) ?? [undefined];
    for (const namespace of namespaces) {
      const followed = this.#secrets.get(namespace);
      if (followed === undefined || followed.isEnded())
        this.#secrets.set(namespace, followSecrets(holder, namespace, () => this.#soon(), this.#signal) ?? followed);
    }
  }

  /** Reads everything again within 50 ms. Call this method after any change. */
  #soon(): void {
    if (this.#waiting || this.#signal.aborted) return;
    this.#waiting = true;
    void this.#options.clock.sleep(settleMs, this.#signal).then(() => {
      this.#waiting = false;
      void this.#readAlone();
    });
  }

  /** Reads everything, once more if a change came meanwhile. Only one reading runs at a time. */
  async #readAlone(): Promise<void> {
    this.#changed = true;
    if (this.#reading) return;
    this.#reading = true;
    while (this.#changed && !this.#signal.aborted) {
      this.#changed = false;
      await this.#read();
    }
    this.#reading = false;
  }

  async #read(): Promise<void> {
    const described = this.#descriptions();
    if (described === undefined) return;
    const unread = described.filter(({ place, version }) => place && version && !this.#reader.isRead(place, version));
    if (unread.length > 0) await this.#readSecrets(unread);
    if (this.#signal.aborted) return;
    await this.#publish(described);
    this.#reader.keepOnly(described.flatMap(({ place, version }) => (place && version ? [place] : [])));
  }

  /** Reads Secrets whose version is new. A Secret that cannot be read keeps its former values, and is tried again after 5 s. */
  async #readSecrets(unread: readonly Description[]): Promise<void> {
    const { clock } = this.#options;
    const results = await Promise.all(
      unread.map(async ({ place, version }) => {
        if (place === undefined || version === undefined) return undefined;
        const failed = await this.#reader.read(place, version, this.#signal);
        const key = `${place.namespace}/${place.name}`;
        if (failed === undefined) this.#readFaults.delete(key);
        else this.#readFaults.set(key, failed);
        return failed;
      }),
    );
    if (this.#isRetrying || results.every((failed) => failed === undefined)) return;
    this.#isRetrying = true;
    void clock.sleep(retryMs, this.#signal).then(() => {
      this.#isRetrying = false;
      this.#soon();
    });
  }

  /** Returns the objects that describe clusters, in order. Undefined while they or their Secrets are not known. */
  #descriptions(): readonly Description[] | undefined {
    const { adapter, inventory } = this.#options;
    const problem = this.#problem();
    const objects = this.#isSecretKind ? this.#allSecrets() : this.#objects();
    if (objects === 'absent') {
      this.#options.onSet({ candidates: [], faults: problem === undefined ? [] : [problem] });
      return undefined;
    }
    const secrets = this.#allSecrets();
    if (objects === undefined || secrets === undefined) {
      if (problem !== undefined) this.#tellOf(problem);
      return undefined;
    }
    const selector = parseLabelSelector(inventory.labels ?? '');
    const byNamespace = Map.groupBy(secrets, ({ metadata }) => metadata.namespace ?? '');
    const versions = new Map(secrets.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion]));
    const context = this.#context((namespace) => byNamespace.get(namespace) ?? []);
    return objects
      .filter(({ metadata: { namespace = '', labels } }) => {
        const isMarked = adapter.mark === undefined || labels?.[adapter.mark.key] === adapter.mark.value;
        const isInside = inventory.namespaces === undefined || namespace === '' || inventory.namespaces.includes(namespace);
        return isMarked && isInside && matchesLabelSelector(selector, labels ?? undefined);
      })
      .toSorted(this.#options.where === undefined ? byAge : byName)
      .map((object) => {
        const place = adapter.placeOf(object, context);
        return { object, place, version: place && versions.get(`${place.namespace}/${place.name}`) };
      });
  }

  #objects(): readonly KubernetesObject[] | 'absent' | undefined {
    const { objects, holder, adapter } = this.#options;
    if (objects.served(holder, adapter.kind) === 'absent') return 'absent';
    return objects.all(holder, adapter.kind);
  }

  /** Returns the metadata of all followed Secrets. Undefined while a list of them is missing. */
  #allSecrets(): readonly KubernetesObject[] | undefined {
    const lists = [...this.#secrets.values()].map((followed) => followed?.all());
    return lists.length === 0 || lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
  }

  /** Returns why the inventory cannot be read, as a fault of its holder. Undefined: it can be read, or the holder has not answered yet. */
  #problem(): Fault | undefined {
    const { where, objects, holder, adapter } = this.#options;
    const about = { cluster: holder, retry: 'LATER' } as const;
    if (!this.#isSecretKind && objects.served(holder, adapter.kind) === 'absent')
      return where === undefined
        ? undefined
        : fault('NOT_SERVED', `${where}: the cluster does not serve ${keyOfKind(adapter.kind)}`, about);
    const read = this.#isSecretKind ? undefined : objects.read(holder, adapter.kind, { namespace: '', name: 'x' });
    const ofObjects = read?.result === 'unread' && read.fault.code === 'FORBIDDEN' ? keyOfKind(adapter.kind) : undefined;
    const ofSecrets = [...this.#secrets].find(([, followed]) => followed?.fault()?.code === 'FORBIDDEN');
    const isUsed = where !== undefined || (objects.all(holder, adapter.kind) ?? []).length > 0;
    if (ofObjects !== undefined && where !== undefined) return fault('FORBIDDEN', `${where}: ${ofObjects} may not be listed`, about);
    const name = where ?? 'registered clusters';
    const forbiddenIn = ofSecrets?.[0] === undefined ? 'all namespaces' : `namespace ${ofSecrets[0]}`;
    if (ofSecrets !== undefined && isUsed) return fault('FORBIDDEN', `${name}: Secrets of ${forbiddenIn} may not be listed`, about);
    const [unread] = this.#readFaults.values();
    return unread && fault(unread.code, `${name}: a Secret cannot be read`, about);
  }

  /** Publishes the last set again, with this fault. */
  #tellOf(problem: Fault): void {
    this.#options.onSet({ candidates: this.#published, faults: [problem] });
  }

  /** Makes the candidates and publishes them. Works in slices, because certificates of hundreds of clusters take long. */
  async #publish(described: readonly Description[]): Promise<void> {
    const slices = this.#scheduler.createSlices(() => undefined);
    const made: MadeCandidates[] = [];
    for (const description of described) {
      made.push(this.#makeCandidates(description));
      await slices.pause();
      if (this.#signal.aborted) return;
    }
    this.#made = new Map(made.map((one) => [placeKeyOf(one.object), one]));
    const used = new Set(made.flatMap(({ keys }) => keys));
    for (const key of this.#lastGood.keys()) if (!used.has(key)) this.#lastGood.delete(key);
    const candidates = made.flatMap((one) => one.candidates);
    this.#published = candidates;
    const problem = this.#problem();
    this.#options.onSet({ candidates, faults: problem === undefined ? [] : [problem] });
  }

  #makeCandidates({ object, place, version }: Description): MadeCandidates {
    const data = place && version ? this.#reader.dataOf(place) : undefined;
    const before = this.#made.get(placeKeyOf(object));
    if (before !== undefined && before.object === object && before.data === data) return before;
    const keys: string[] = [];
    const candidates = this.#clustersOf(
      object,
      data,
      this.#context(() => []),
    ).map((found) => {
      const key = `${placeKeyOf(object)}/${found.name}`;
      keys.push(key);
      return this.#candidateOf(found, { object, key });
    });
    return { object, data, keys, candidates };
  }

  #clustersOf(object: KubernetesObject, data: SecretData | undefined, context: AdapterContext): readonly FoundCluster[] {
    const { mark } = this.#options.adapter;
    return this.#options.adapter.clustersOf(object, data, context).map((found) => {
      if (mark === undefined) return found;
      const { [mark.key]: _, ...labels } = found.settings.labels ?? {};
      return { ...found, settings: { ...found.settings, labels } };
    });
  }

  #candidateOf(
    { name, settings: own, access }: FoundCluster,
    { object, key }: { readonly object: KubernetesObject; readonly key: string },
  ): ClusterCandidate {
    const { inventory, environment } = this.#options;
    const member = shownName(
      inventory.nameAs.replaceAll('{namespace}', () => object.metadata.namespace ?? '').replaceAll('{name}', () => name),
    );
    const { access: usable, problems } = this.#usable(access, key);
    const settings: MemberSettings = { labels: {}, namespaces: [], secrets: inventory.secrets, authorization: 'sar', ...own };
    if (usable === undefined) return { result: 'broken', found: true, name: member, settings, problem: problems[0] };
    const { namespace } = usable;
    const namespaces = namespace === undefined ? settings.namespaces : [...new Set([namespace, ...settings.namespaces])];
    const proxyUrl = proxyFor(new URL(usable.server), environment);
    const endpoint = { ...usable, name: member, compression: 'auto', ...(proxyUrl === undefined ? {} : { proxyUrl }) } as const;
    return { result: 'usable', found: true, name: member, settings: { ...settings, namespaces }, endpoint, problems };
  }

  /** Returns the access, else the last good one with the problem beside it, unless the Secret is gone. */
  #usable(
    access: GivenAccess | ClusterFailure,
    key: string,
  ):
    | { readonly access: GivenAccess; readonly problems: readonly ClusterFailure[] }
    | { readonly access: undefined; readonly problems: readonly [ClusterFailure] } {
    if (!isFailure(access)) {
      this.#lastGood.set(key, access);
      return { access, problems: [] };
    }
    if (access.code === 'NOT_FOUND') this.#lastGood.delete(key);
    const before = this.#lastGood.get(key);
    return before === undefined ? { access: undefined, problems: [access] } : { access: before, problems: [access] };
  }

  #context(secretsIn: AdapterContext['secretsIn']): AdapterContext {
    const { inventory, systemNamespace, allowPrivate, environment, objects, holder } = this.#options;
    const { PATH, HOME } = environment;
    return {
      ...{ inventory, systemNamespace, allowPrivate },
      pluginEnvironment: { ...(PATH === undefined ? {} : { PATH }), ...(HOME === undefined ? {} : { HOME }) },
      secretsIn,
      labelsOfNamespace: (namespace) => {
        const read = objects.read(holder, namespaceKind, { namespace: '', name: namespace });
        return read.result === 'held' ? (read.object.metadata.labels ?? {}) : {};
      },
    };
  }
}

function placeKeyOf({ metadata }: KubernetesObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function byName(a: KubernetesObject, b: KubernetesObject): number {
  return compareText(a.metadata.namespace ?? '', b.metadata.namespace ?? '') || compareText(a.metadata.name, b.metadata.name);
}

function byAge(a: KubernetesObject, b: KubernetesObject): number {
  const createdAt = ({ metadata }: KubernetesObject) => String(metadata.creationTimestamp ?? '');
  return compareText(createdAt(a), createdAt(b)) || compareText(a.metadata.name, b.metadata.name);
}
