import type { ClusterFailure } from '../cluster/cluster-failure.ts';
import { type ProcessEnvironment, proxyFor } from '../cluster/kubeconfig/proxy-choice.ts';
import { isForbiddenAddress } from '../cluster/transport/public-addresses.ts';
import type { Fault } from '../core/faults.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { type ClusterCandidate, shownName } from '../fleet/cluster-source.ts';
import type { MemberSettings } from '../fleet/member.ts';
import { isFailure } from './adapters/found.ts';
import type { AdapterContext, FoundCluster, InventoryAdapter, SecretData } from './adapters/inventory-adapter.ts';
import type { CheckedEndpoint } from './endpoints/checked-endpoint.ts';
import type { KnownSecrets } from './secret-reader.ts';

/** A candidate for membership in the fleet, with a key that identifies it within its inventory. */
export interface ListedCandidate {
  /** The namespace and name of the object, and the name that the object gives to the cluster. */
  readonly key: string;
  readonly candidate: ClusterCandidate;
}

/** The memory of an inventory about its clusters. It survives a change of the settings: the inventory that is started with the new settings gets it. */
export interface InventoryMemory {
  readonly secrets: KnownSecrets;
  /** The last valid access of each cluster, by the key of its candidate. */
  readonly lastGood: Map<string, CheckedEndpoint>;
  /** The candidates of the last complete set, in their order. */
  published: readonly ListedCandidate[];
}

/** Creates an empty memory. */
export function createInventoryMemory(): InventoryMemory {
  return { secrets: new Map(), lastGood: new Map(), published: [] };
}

/** The state of the Secret that an object names. */
export type SecretState =
  /** `data` is undefined if the Secret does not exist, or if the object names none. */
  | { readonly state: 'known'; readonly data: SecretData | undefined }
  /** The Secret exists but was never read. `fault` is the fault of the last read. Undefined: the first read still runs. */
  | { readonly state: 'unread'; readonly fault: Fault | undefined };

/** The candidates of one object, with the object and Secret from which they were made. */
interface MadeCandidates {
  readonly object: KubernetesObject;
  readonly secret: SecretState;
  readonly listed: readonly ListedCandidate[];
}

interface CandidateMakerOptions {
  readonly adapter: InventoryAdapter;
  readonly context: AdapterContext;
  /** `registered`: the candidates come from Clusters on the hub. `listed`: from an inventory of the config. */
  readonly found: 'registered' | 'listed';
  /** The environment variables with the proxies, such as `HTTPS_PROXY`. */
  readonly environment: ProcessEnvironment;
  readonly memory: InventoryMemory;
}

/**
 * Makes candidates from objects and their Secrets. If neither the object nor the Secret has changed, the same candidates are returned as before.
 * `InventoryAdapter.isSame` decides whether an object has changed.
 */
export class CandidateMaker {
  readonly #options: CandidateMakerOptions;
  #made = new Map<string, MadeCandidates>();

  constructor(options: CandidateMakerOptions) {
    this.#options = options;
  }

  /**
   * Returns the candidates of one object. While its Secret is unread, returns those that were made before, if there are any. If a cluster's
   * description becomes invalid, its candidate keeps the last valid access and also shows the problem.
   */
  make(object: KubernetesObject, secret: SecretState): MadeCandidates {
    const before = this.#made.get(objectKeyOf(object));
    if (before !== undefined && secret.state === 'unread' && (secret.fault === undefined || hasData(before.secret))) return before;
    if (before !== undefined && this.#isSame(before.object, object) && isSameSecret(before.secret, secret)) return before;
    const listed = this.#foundIn(object, secret).map((found) => {
      const key = `${objectKeyOf(object)}/${found.name}`;
      return { key, candidate: this.#candidateOf(found, { object, key }) };
    });
    return { object, secret, listed };
  }

  #isSame(before: KubernetesObject, now: KubernetesObject): boolean {
    return before === now || (this.#options.adapter.isSame?.(before, now) ?? false);
  }

  /** Publishes these candidates and forgets all others. Returns them in their order of precedence. */
  keepOnly(made: readonly MadeCandidates[]): readonly ListedCandidate[] {
    const { memory, found } = this.#options;
    this.#made = new Map(made.map((one) => [objectKeyOf(one.object), one]));
    const listed = made.flatMap((one) => one.listed);
    const used = new Set(listed.map(({ key }) => key));
    for (const key of memory.lastGood.keys()) if (!used.has(key)) memory.lastGood.delete(key);
    memory.published = found === 'registered' ? listed : this.#afterPublished(listed);
    return memory.published;
  }

  /**
   * Sorts clusters that were published before to the front, in their former order. If two clusters have the same name or uid, the first one becomes
   * the member. So a user cannot replace a member by creating another Secret with its name.
   */
  #afterPublished(listed: readonly ListedCandidate[]): readonly ListedCandidate[] {
    const { published } = this.#options.memory;
    const positions = new Map(published.map(({ key }, position) => [key, position]));
    const positionOf = ({ key }: ListedCandidate) => positions.get(key) ?? positions.size;
    return listed.toSorted((a, b) => positionOf(a) - positionOf(b));
  }

  #foundIn(object: KubernetesObject, secret: SecretState): readonly FoundCluster[] {
    const { adapter, context } = this.#options;
    if (secret.state === 'unread') return secret.fault === undefined ? [] : (adapter.unreadable?.(object, secret.fault) ?? []);
    const { requiredLabel } = adapter;
    return adapter.clustersOf(object, secret.data, context).map((found) => {
      if (requiredLabel === undefined) return found;
      const { [requiredLabel.key]: _, ...labels } = found.settings.labels ?? {};
      return { ...found, settings: { ...found.settings, labels } };
    });
  }

  #candidateOf(
    { name, settings: own, access }: FoundCluster,
    { object, key }: { readonly object: KubernetesObject; readonly key: string },
  ): ClusterCandidate {
    const { context, environment, found } = this.#options;
    const { nameAs, secrets } = context.inventory;
    const { namespace: space = '', generation } = object.metadata;
    const member = shownName(nameAs.replaceAll('{namespace}', () => space).replaceAll('{name}', () => name));
    const { access: usable, problems } = this.#usable(access, key);
    const settings: MemberSettings = { labels: {}, namespaces: [], secrets, authorization: 'sar', ...own };
    const facts = { found, name: member, generation };
    if (usable === undefined) return { ...facts, result: 'broken', settings, problem: problems[0] };
    const { namespace } = usable;
    const namespaces = namespace === undefined ? settings.namespaces : [...new Set([namespace, ...settings.namespaces])];
    const proxyUrl = proxyFor(new URL(usable.server), environment);
    const endpoint = { ...usable, name: member, compression: 'auto', ...(proxyUrl === undefined ? {} : { proxyUrl }) } as const;
    return { ...facts, result: 'usable', settings: { ...settings, namespaces }, endpoint, problems };
  }

  /**
   * Returns the access if it is valid, and remembers it. Otherwise returns the last valid access with the problem, or only the problem if there is
   * none. If the Secret is gone, the last valid access is forgotten.
   */
  #usable(
    access: CheckedEndpoint | ClusterFailure,
    key: string,
  ):
    | { readonly access: CheckedEndpoint; readonly problems: readonly ClusterFailure[] }
    | { readonly access: undefined; readonly problems: readonly [ClusterFailure] } {
    const { lastGood } = this.#options.memory;
    if (!isFailure(access)) {
      lastGood.set(key, access);
      return { access, problems: [] };
    }
    if (access.code === 'NOT_FOUND') lastGood.delete(key);
    const before = this.#allowed(lastGood.get(key));
    return before === undefined ? { access: undefined, problems: [access] } : { access: before, problems: [access] };
  }

  /** Returns an earlier access with the private networks that are allowed now. Undefined: the address of its server is no longer allowed. */
  #allowed(before: CheckedEndpoint | undefined): CheckedEndpoint | undefined {
    if (before?.addressRule === undefined) return before;
    const addressRule = { ...before.addressRule, allowPrivate: this.#options.context.allowPrivate };
    const host = new URL(before.server).hostname.replace(/^\[|\]$/g, '');
    return isForbiddenAddress(host, addressRule) ? undefined : { ...before, addressRule };
  }
}

/** Returns a text that identifies an object among those of its kind. */
export function objectKeyOf({ metadata }: KubernetesObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function hasData(secret: SecretState): boolean {
  return secret.state === 'known' && secret.data !== undefined;
}

function isSameSecret(a: SecretState, b: SecretState): boolean {
  if (a.state === 'known') return b.state === 'known' && a.data === b.data;
  return b.state === 'unread' && a.fault === b.fault;
}
