import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { ProcessEnvironment } from '../cluster/kubeconfig/proxy-choice.ts';
import type { Clock } from '../core/clock.ts';
import type { Fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { TimeSliceScheduler } from '../core/scheduling/operation-scheduler.ts';
import { matchesLabelSelector, parseLabelSelector } from '../core/selectors.ts';
import { compareText } from '../core/text.ts';
import type { ClusterListing } from '../fleet/cluster-source.ts';
import type { MemberObjects } from '../store/member-objects.ts';
import type { OwnSecrets } from '../watch/clusters/own-secrets.ts';
import { namespaceKind } from '../watch/clusters/warm-kinds.ts';
import type { AdapterContext, InventoryAdapter, InventorySettings, SecretName } from './adapters/inventory-adapter.ts';
import { CandidateMaker, type InventoryMemory, objectKeyOf, type SecretState } from './candidate-maker.ts';
import { faultOfInventory, isForbiddenInventory, isSecretKind } from './inventory-faults.ts';
import { SecretReader } from './secret-reader.ts';

/** Milliseconds between a change and the next reading. One reading covers all changes in this time. */
const settleMs = 50;

/** The access to the cluster that holds a cluster inventory, with the gateway's own account. */
export interface HolderPorts {
  readonly objects: MemberObjects;
  readonly api: (cluster: ClusterName) => ClusterApi | undefined;
  /** The method `MirrorRegistry.followSecrets`. */
  readonly followSecrets: (
    cluster: ClusterName,
    namespace: string | undefined,
    onChange: () => void,
    signal: AbortSignal,
  ) => OwnSecrets | undefined;
  /** The environment variables of the gateway: proxies, and `PATH` and `HOME` for credential plugins. */
  readonly environment: ProcessEnvironment;
  readonly clock: Clock;
}

/** The options of `followInventory`. */
export interface InventoryOptions extends HolderPorts {
  readonly adapter: InventoryAdapter;
  readonly inventory: InventorySettings;
  readonly holder: ClusterName;
  readonly systemNamespace: string;
  readonly allowPrivate: readonly string[];
  /**
   * The position in the config, for faults, such as `inventories[0]`. Undefined for registered clusters: it is no fault if a hub does not serve them.
   */
  readonly where: string | undefined;
  /** The memory of this inventory. No other running inventory uses it. */
  readonly memory: InventoryMemory;
  /** Called with the whole set of clusters after each reading. Never called after the signal has aborted. */
  readonly onSet: (set: ClusterListing) => void;
}

/** One object that describes clusters, and the name and version of its Secret. `version` is undefined if the Secret does not exist. */
interface Description {
  readonly object: KubernetesObject;
  /** `unknown`: labels of its namespace are not known. */
  readonly secretName: SecretName | 'unknown' | undefined;
  readonly version: string | undefined;
}

/**
 * Follows one inventory until the signal aborts: its objects, and the Secrets that they name. Calls `onSet` with each new set of clusters.
 *
 * While the holder does not answer, or the Secrets cannot be listed, the last set stays. If the description of a cluster becomes invalid, the cluster
 * keeps its last valid access and also shows the problem. The credentials of a cluster are forgotten when its Secret or its object is deleted.
 */
export function followInventory(options: InventoryOptions, signal: AbortSignal): void {
  new Inventory(options, signal).begin();
}

class Inventory {
  readonly #options: InventoryOptions;
  readonly #signal: AbortSignal;
  readonly #reader: SecretReader;
  readonly #maker: CandidateMaker;
  /** The followed Secrets by namespace. The key undefined stands for all namespaces. */
  readonly #secrets = new Map<string | undefined, OwnSecrets | undefined>();
  readonly #scheduler: TimeSliceScheduler;
  #hasPublished = false;
  /** True if the last reading needed labels of a namespace that are not known. */
  #lacksNamespaces = false;
  /** True while a reading waits for the end of `settleMs`. */
  #isScheduled = false;
  #isReading = false;
  /** True if a change came after the current reading began. */
  #hasChanged = false;

  constructor(options: InventoryOptions, signal: AbortSignal) {
    const { adapter, environment, memory, where, holder, clock } = options;
    this.#options = options;
    this.#signal = signal;
    this.#scheduler = new TimeSliceScheduler(clock);
    const api = () => options.api(holder);
    this.#reader = new SecretReader({ holder, api, known: memory.secrets, clock, onChange: () => this.#readSoon() }, signal);
    const found = where === undefined ? 'registered' : 'listed';
    this.#maker = new CandidateMaker({ adapter, context: this.#context(() => []), found, environment, memory });
  }

  begin(): void {
    const { objects, holder, adapter } = this.#options;
    if (!isSecretKind(adapter.kind)) objects.hold(holder, adapter.kind, this.#signal);
    objects.hold(holder, namespaceKind, this.#signal);
    objects.onChange((changes) => {
      if (changes.some(({ type, cluster }) => type === 'cluster' && cluster === holder)) this.#followSecrets();
      if (changes.some((change) => change.cluster === holder && (change.type === 'cluster' || this.#concerns(change.kind))))
        this.#readSoon();
    }, this.#signal);
    this.#followSecrets();
    this.#readSoon();
  }

  #concerns(kind: { readonly group: string; readonly kind: string }): boolean {
    return [this.#options.adapter.kind, namespaceKind].some((own) => own.group === kind.group && own.kind === kind.kind);
  }

  /**
   * Starts to follow the Secrets of each namespace that is not followed now. Called again after each change of the holder, because following ends
   * when the holder leaves the fleet.
   */
  #followSecrets(): void {
    const { followSecrets, holder, inventory, adapter, systemNamespace } = this.#options;
    const namespaces = inventory.namespaces ?? adapter.namespaces?.({ systemNamespace }) ?? [undefined];
    for (const namespace of namespaces) {
      const followed = this.#secrets.get(namespace);
      if (followed === undefined || followed.isEnded())
        this.#secrets.set(namespace, followSecrets(holder, namespace, () => this.#readSoon(), this.#signal) ?? followed);
    }
  }

  /** Starts a reading in 50 ms, unless one is waiting already. Called after each change. */
  #readSoon(): void {
    if (this.#isScheduled || this.#signal.aborted) return;
    this.#isScheduled = true;
    void this.#options.clock.sleep(settleMs, this.#signal).then(() => {
      this.#isScheduled = false;
      void this.#readAlone();
    });
  }

  /** Reads the whole inventory. If a change comes in the meantime, reads it again. Only one reading runs at a time. */
  async #readAlone(): Promise<void> {
    this.#hasChanged = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#hasChanged && !this.#signal.aborted) {
      this.#hasChanged = false;
      await this.#read();
    }
    this.#isReading = false;
  }

  /**
   * Publishes the clusters as they are known now, and starts to read new Secrets. Each read triggers another publication, so one slow Secret does not
   * delay the other clusters. Only the first publication waits for all reads, because the whole set decides which cluster takes precedence.
   */
  async #read(): Promise<void> {
    const described = this.#descriptions();
    if (described === undefined) return;
    const reads = this.#reader.keep(
      described.flatMap(({ secretName, version }) => (isSecretName(secretName) && version ? [{ secretName, version }] : [])),
    );
    if (!this.#hasPublished) await reads;
    if (!this.#signal.aborted) await this.#publish(described);
  }

  /**
   * Returns the objects that describe clusters, the oldest first. Undefined while the objects or the Secrets cannot be listed; it then publishes the
   * last set if there is a fault, or if they may not be listed.
   */
  #descriptions(): readonly Description[] | undefined {
    const { adapter, inventory } = this.#options;
    const objects = isSecretKind(adapter.kind) ? this.#allSecrets() : this.#objects();
    // If the cluster does not serve the kind, it lists no clusters, and their credentials are forgotten.
    if (objects === 'absent') return [];
    const secrets = this.#allSecrets();
    if (objects === undefined || secrets === undefined) {
      const problem = this.#problem();
      const { published } = this.#options.memory;
      if (problem !== undefined || this.#isForbidden())
        this.#options.onSet({ candidates: published.map(({ candidate }) => candidate), faults: problem === undefined ? [] : [problem] });
      return undefined;
    }
    const { requiredLabel } = adapter;
    const selector = parseLabelSelector(inventory.labels ?? '');
    const byNamespace = Map.groupBy(secrets, ({ metadata }) => metadata.namespace ?? '');
    const versions = new Map(secrets.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion]));
    const context = this.#context((namespace) => byNamespace.get(namespace) ?? []);
    return objects
      .filter(({ metadata: { namespace = '', labels } }) => {
        const hasLabel = requiredLabel === undefined || labels?.[requiredLabel.key] === requiredLabel.value;
        const isInside = inventory.namespaces === undefined || namespace === '' || inventory.namespaces.includes(namespace);
        return hasLabel && isInside && matchesLabelSelector(selector, labels ?? undefined);
      })
      .toSorted(byAge)
      .map((object) => {
        const secretName = adapter.secretNameOf(object, context);
        return {
          object,
          secretName,
          version: isSecretName(secretName) ? versions.get(`${secretName.namespace}/${secretName.name}`) : undefined,
        };
      });
  }

  #objects(): readonly KubernetesObject[] | 'absent' | undefined {
    const { objects, holder, adapter } = this.#options;
    if (objects.served(holder, adapter.kind) === 'absent') return 'absent';
    return objects.all(holder, adapter.kind);
  }

  /** Returns the metadata of the Secrets in all followed namespaces. Undefined while the list of one namespace is missing. */
  #allSecrets(): readonly KubernetesObject[] | undefined {
    const lists = [...this.#secrets.values()].map((followed) => followed?.all());
    return lists.length === 0 || lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
  }

  #lists(): readonly { readonly namespace: string | undefined; readonly fault: Fault | undefined }[] {
    return [...this.#secrets].map(([namespace, followed]) => ({ namespace, fault: followed?.fault() }));
  }

  #isForbidden(): boolean {
    const { objects, holder, adapter } = this.#options;
    return isForbiddenInventory({ objects, holder, kind: adapter.kind, lists: this.#lists() });
  }

  #problem(): Fault | undefined {
    const { where, objects, holder, adapter } = this.#options;
    return faultOfInventory({
      where,
      objects,
      holder,
      kind: adapter.kind,
      lists: this.#lists(),
      unread: this.#reader.anyFault(),
      lacksNamespaces: this.#lacksNamespaces,
    });
  }

  /** Makes the candidates and publishes them. Works in time slices, because checking the certificates of hundreds of clusters takes long. */
  async #publish(described: readonly Description[]): Promise<void> {
    const slices = this.#scheduler.createSlices(() => undefined);
    const made = [];
    for (const description of described) {
      made.push(this.#maker.make(description.object, this.#secretOf(description)));
      await slices.pause();
      if (this.#signal.aborted) return;
    }
    this.#hasPublished = true;
    this.#lacksNamespaces = described.some(({ secretName }) => secretName === 'unknown');
    const published = this.#maker.keepOnly(made);
    const problem = this.#problem();
    this.#options.onSet({ candidates: published.map(({ candidate }) => candidate), faults: problem === undefined ? [] : [problem] });
  }

  #secretOf({ secretName, version }: Description): SecretState {
    if (secretName === 'unknown') return { state: 'unread', fault: undefined };
    if (secretName === undefined || version === undefined) return { state: 'known', data: undefined };
    const data = this.#reader.dataOf(secretName);
    if (data === undefined) return { state: 'unread', fault: this.#reader.faultOf(secretName) };
    return { state: 'known', data: data === 'absent' ? undefined : data };
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
        if (read.result === 'unread') return undefined;
        return read.result === 'held' ? (read.object.metadata.labels ?? {}) : {};
      },
    };
  }
}

function isSecretName(secretName: Description['secretName']): secretName is SecretName {
  return secretName !== undefined && secretName !== 'unknown';
}

/**
 * Compares by time of creation, then by namespace and name. The author of an object can choose its name but not its time of creation, so a later
 * object cannot take precedence.
 */
function byAge(a: KubernetesObject, b: KubernetesObject): number {
  const createdAt = ({ metadata }: KubernetesObject) => String(metadata.creationTimestamp ?? '');
  return compareText(createdAt(a), createdAt(b)) || compareText(objectKeyOf(a), objectKeyOf(b));
}
