import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { apiVersionOf, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { Model } from '../../model/model.ts';
import { descriptionsIn, type ModelDescriptions } from '../../model/model-descriptions.ts';
import type { ClusterStatus, Mirrors } from '../../watch/mirrors.ts';
import { debounce } from './debounce.ts';
import { type FetchDocument, pathOfGroupVersion } from './unknown-kinds.ts';

/** The descriptions of the built-in kinds. Each document is read from a cluster of the newest release that serves it. */
interface KindDescriptions {
  /** Returns the descriptions from all documents that were read. Empty until the first document was read. */
  now(): ModelDescriptions;
  /** Starts to request documents, some seconds later. Called once, after the more important requests at the start of the gateway. */
  begin(): void;
}

interface KindDescriptionsOptions {
  readonly mirrors: Mirrors;
  /** The built-in kinds. Only their documents are requested, and only their descriptions are kept. */
  readonly baseline: Model;
  readonly fetchDocument: FetchDocument;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when `now` has changed: once for all documents of a cluster. */
  readonly onDescribed: () => void;
}

/**
 * Milliseconds without a change of the fleet before documents are requested, and the maximum wait. During an upgrade, clusters change
 * often.
 */
const quietMs = 3_000;
const atMostMs = 30_000;

/** Milliseconds after which a document without an answer is requested again. */
const retryMs = 600_000;

/**
 * Creates the descriptions. After `begin`, it requests OpenAPI documents in the background, one after the other, until the signal aborts.
 * The cluster with the newest release comes first.
 *
 * When a cluster with a newer release joins, only documents with another hash are requested. A document that the cluster does not serve is
 * requested from other clusters of its release. If none of these clusters serves it and no descriptions from it are known, it is requested
 * from clusters of older releases.
 *
 * Descriptions stay when their cluster leaves.
 */
export function createKindDescriptions(options: KindDescriptionsOptions, signal: AbortSignal): KindDescriptions {
  return new DescriptionReader(options, signal);
}

class DescriptionReader implements KindDescriptions {
  readonly #options: KindDescriptionsOptions;
  readonly #signal: AbortSignal;
  /** Starts `#readNewest` after a pause. */
  readonly #changed: () => void;
  readonly #known = new Map<string, DescribedDocument>();
  #descriptions: ModelDescriptions = new Map();
  /** The release whose documents were all read. Undefined: there is none yet. */
  #release: string | undefined;
  /**
   * The `keyOf` of the clusters from which documents were last requested. While a document is missing, the same clusters are requested
   * again only after `retryMs`. Empty if no document is missing.
   */
  #requested = '';
  #hasBegun = false;
  #isBusy = false;
  #isRetrying = false;

  constructor(options: KindDescriptionsOptions, signal: AbortSignal) {
    const { mirrors, clock } = options;
    this.#options = options;
    this.#signal = signal;
    this.#changed = debounce({ clock, quietMs, atMostMs, run: () => void this.#readNewest() }, signal);
    // Whether there are new candidates is checked after the pause: it takes the state of every cluster, and a fleet that starts sends many changes.
    mirrors.onChange(({ type }) => {
      if (this.#hasBegun && type !== 'mirrored') this.#changed();
    }, signal);
  }

  now(): ModelDescriptions {
    return this.#descriptions;
  }

  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#changed();
  }

  /** Returns the clusters with a newer release than the one whose documents were read. */
  #candidates(): readonly ClusterStatus[] {
    const release = this.#release;
    return newestFirst(this.#options.mirrors).filter(({ version }) => release === undefined || compareReleases(version, release) > 0);
  }

  #hasNewCandidates(): boolean {
    return keyOf(this.#candidates()) !== this.#requested;
  }

  async #readNewest(): Promise<void> {
    if (this.#isBusy || !this.#hasNewCandidates()) return;
    this.#isBusy = true;
    const clusters = this.#candidates();
    this.#requested = keyOf(clusters);
    const isComplete = clusters.length === 0 || (await this.#readRelease(clusters));
    this.#isBusy = false;
    if (this.#signal.aborted) return;
    if (isComplete) this.#requested = '';
    else void this.#retryLater();
    if (this.#hasNewCandidates()) this.#changed();
  }

  async #retryLater(): Promise<void> {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    await this.#options.clock.sleep(retryMs, this.#signal);
    this.#isRetrying = false;
    this.#requested = '';
    this.#changed();
  }

  /**
   * Reads the documents of the newest release from its clusters, and the missing ones from clusters of older releases. Returns true if the
   * clusters of the newest release had all documents.
   */
  async #readRelease(clusters: readonly ClusterStatus[]): Promise<boolean> {
    let first: ClusterStatus | undefined;
    let unread: readonly string[] = [];
    for (const cluster of clusters) {
      const isOlder = first !== undefined && compareReleases(cluster.version, first.version) < 0;
      const wanted = isOlder ? unread.filter((apiVersion) => !this.#known.has(apiVersion)) : unread;
      if (first !== undefined && wanted.length === 0) break;
      const index = addressesIn(await this.#options.fetchDocument(cluster.name, [], this.#signal));
      if (this.#signal.aborted) return false;
      if (index.size === 0) continue;
      const left = await this.#readDocuments(cluster, index, first && wanted);
      if (this.#signal.aborted) return false;
      if (!isOlder) unread = left;
      first ??= cluster;
    }
    if (first === undefined || unread.length > 0) return false;
    this.#release = first.version;
    return true;
  }

  /**
   * Reads the wanted documents (by default all) whose address has changed, and calls `onDescribed` if one of them was read. Returns the
   * wanted documents that were not read.
   */
  async #readDocuments(cluster: ClusterStatus, index: ReadonlyMap<string, string>, wanted?: readonly string[]): Promise<readonly string[]> {
    const { baseline, fetchDocument, onDescribed } = this.#options;
    const unread = new Set(wanted);
    let hasChanged = false;
    for (const [apiVersion, resources] of builtInsOf(cluster, baseline)) {
      if (wanted !== undefined && !unread.has(apiVersion)) continue;
      const path = pathOfGroupVersion(apiVersion);
      const address = index.get(path.join('/'));
      if (address === undefined) continue;
      unread.delete(apiVersion);
      if (this.#known.get(apiVersion)?.address === address) continue;
      const document = await fetchDocument(cluster.name, path, this.#signal);
      if (this.#signal.aborted) break;
      const descriptions = document === undefined ? undefined : this.#parse(document, resources, cluster.name);
      if (descriptions === undefined) unread.add(apiVersion);
      else {
        this.#known.set(apiVersion, { address, descriptions });
        hasChanged = true;
      }
    }
    if (hasChanged && !this.#signal.aborted) {
      this.#descriptions = new Map([...this.#known.values()].flatMap(({ descriptions }) => [...descriptions]));
      onDescribed();
    }
    return [...unread];
  }

  #parse(document: Json, resources: readonly ServedResource[], cluster: ClusterName): ModelDescriptions | undefined {
    try {
      return descriptionsIn(document, resources, this.#options.baseline);
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      this.#options.log.warn({ cluster, reason: error.message }, 'the OpenAPI document of a cluster cannot be read');
      return undefined;
    }
  }
}

interface DescribedDocument {
  /** The address of the document. It contains a hash, so it changes with the document. */
  readonly address: string;
  readonly descriptions: ModelDescriptions;
}

/** Returns the clusters that answer, newest release first, then by name. */
function newestFirst(mirrors: Mirrors): readonly ClusterStatus[] {
  return mirrors
    .clusters()
    .filter(({ phase, resources }) => phase !== 'UNREACHABLE' && resources !== undefined)
    .toSorted((a, b) => compareReleases(b.version, a.version));
}

/** Returns the names and releases of these clusters as one text. Documents are requested again when the text changes. */
function keyOf(clusters: readonly ClusterStatus[]): string {
  return clusters.map(({ name, version }) => `${name} ${version ?? ''}`).join();
}

/** Compares releases such as `v1.36.3` and `v1.33.13-eks-1` by their numbers. */
function compareReleases(a: string | undefined, b: string | undefined): number {
  const [left, right] = [numbersIn(a), numbersIn(b)];
  const place = left.findIndex((number, index) => number !== right[index]);
  return place < 0 ? 0 : (left[place] ?? 0) - (right[place] ?? 0);
}

function numbersIn(version: string | undefined): readonly number[] {
  const [, ...numbers] = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version ?? '') ?? [];
  return [0, 1, 2].map((index) => Number(numbers[index] ?? 0));
}

/** Returns the built-in kinds that a cluster serves, by group version, in the order of group versions. */
function builtInsOf({ resources = [] }: ClusterStatus, baseline: Model): readonly (readonly [string, readonly ServedResource[]])[] {
  const builtIn = resources.filter((resource) => baseline.kinds.has(keyOfKind(resource)));
  return [...Map.groupBy(builtIn, apiVersionOf)].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the address of each document, by its path. The hash is part of the address. */
function addressesIn(index: Json | undefined): ReadonlyMap<string, string> {
  const paths = index !== undefined && isJsonObject(index) ? index.paths : undefined;
  if (paths === undefined || !isJsonObject(paths)) return new Map();
  return new Map(
    Object.entries(paths).flatMap(([path, entry]): [string, string][] => {
      const address = entry !== undefined && isJsonObject(entry) ? entry.serverRelativeURL : undefined;
      return typeof address === 'string' ? [[path, address.slice(0, 1_024)]] : [];
    }),
  );
}
