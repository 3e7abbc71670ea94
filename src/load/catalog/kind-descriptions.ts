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

/** The descriptions of the built-in kinds, from the cluster with the newest release. */
interface KindDescriptions {
  /** The descriptions from all documents that were read. Empty until a cluster was asked. */
  now(): ModelDescriptions;
  /** Starts the requests. Called once, after the clusters have answered more important ones. */
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

/** Milliseconds to wait after the first answers, and after changes of the fleet that may be an upgrade. */
const quietMs = 3_000;
const atMostMs = 30_000;

/** Milliseconds after which a document without an answer is requested again. */
const retryMs = 600_000;

/**
 * Requests the documents from the newest cluster that serves OpenAPI, in the background, one after the other, until the signal aborts.
 *
 * When a cluster with a newer release joins, only documents with another hash are requested. A document that the cluster does not serve is
 * requested from other clusters of its release. If nothing is known about it then, older releases are asked.
 *
 * Descriptions stay when their cluster leaves.
 */
export function createKindDescriptions(options: KindDescriptionsOptions, signal: AbortSignal): KindDescriptions {
  const { mirrors, clock, onDescribed } = options;
  const known = new Map<string, DescribedDocument>();
  let descriptions: ModelDescriptions = new Map();
  /** The release whose documents were all read. */
  let release: string | undefined;
  /** The clusters that are being asked, or have not answered. */
  let asked = '';
  let hasBegun = false;
  let isBusy = false;
  let isRetrying = false;

  const changed = debounce({ clock, quietMs, atMostMs, run: () => void look() }, signal);
  const candidates = () => newestFirst(mirrors).filter(({ version }) => release === undefined || compareReleases(version, release) > 0);
  const isNews = () => keyOf(candidates()) !== asked;
  mirrors.onChange(({ type }) => {
    if (hasBegun && type !== 'mirrored' && isNews()) changed();
  }, signal);

  async function look(): Promise<void> {
    if (isBusy || !isNews()) return;
    isBusy = true;
    const clusters = candidates();
    asked = keyOf(clusters);
    const isWhole = clusters.length === 0 || (await describeByFirst(clusters));
    isBusy = false;
    if (signal.aborted) return;
    if (isWhole) asked = '';
    else void retryLater();
    if (isNews()) changed();
  }

  async function retryLater(): Promise<void> {
    if (isRetrying) return;
    isRetrying = true;
    await clock.sleep(retryMs, signal);
    isRetrying = false;
    asked = '';
    changed();
  }

  /** True if all documents of the newest release were read. */
  async function describeByFirst(clusters: readonly ClusterStatus[]): Promise<boolean> {
    let first: ClusterStatus | undefined;
    let unknownLocation: readonly string[] = [];
    for (const cluster of clusters) {
      const isOlder = first !== undefined && compareReleases(cluster.version, first.version) < 0;
      const wanted = isOlder ? unknownLocation.filter((apiVersion) => !known.has(apiVersion)) : unknownLocation;
      if (first !== undefined && wanted.length === 0) break;
      const index = addressesIn(await options.fetchDocument(cluster.name, [], signal));
      if (signal.aborted) return false;
      if (index.size === 0) continue;
      const left = await readDocuments(cluster, index, first && wanted);
      if (signal.aborted) return false;
      if (!isOlder) unknownLocation = left;
      first ??= cluster;
    }
    if (first === undefined || unknownLocation.length > 0) return false;
    release = first.version;
    return true;
  }

  /** Reads the wanted documents (by default all) whose address has changed. Returns the wanted documents that were not read. */
  async function readDocuments(
    cluster: ClusterStatus,
    index: ReadonlyMap<string, string>,
    wanted?: readonly string[],
  ): Promise<readonly string[]> {
    const unknownLocation = new Set(wanted);
    let isOther = false;
    for (const [apiVersion, resources] of builtInsOf(cluster, options.baseline)) {
      if (wanted !== undefined && !unknownLocation.has(apiVersion)) continue;
      const path = pathOfGroupVersion(apiVersion);
      const address = index.get(path.join('/'));
      if (address === undefined) continue;
      unknownLocation.delete(apiVersion);
      if (known.get(apiVersion)?.address === address) continue;
      const document = await options.fetchDocument(cluster.name, path, signal);
      if (signal.aborted) break;
      const said = document === undefined ? undefined : understood(document, resources, cluster.name);
      if (said === undefined) unknownLocation.add(apiVersion);
      else {
        known.set(apiVersion, { address, said });
        isOther = true;
      }
    }
    if (isOther && !signal.aborted) {
      descriptions = new Map([...known.values()].flatMap(({ said }) => [...said]));
      onDescribed();
    }
    return [...unknownLocation];
  }

  function understood(document: Json, resources: readonly ServedResource[], cluster: ClusterName): ModelDescriptions | undefined {
    try {
      return descriptionsIn(document, resources, options.baseline);
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      options.log.warn({ cluster, reason: error.message }, 'the OpenAPI document of a cluster cannot be read');
      return undefined;
    }
  }

  return {
    now: () => descriptions,
    begin() {
      if (hasBegun) return;
      hasBegun = true;
      changed();
    },
  };
}

interface DescribedDocument {
  /** The address with the hash of the document. */
  readonly address: string;
  readonly said: ModelDescriptions;
}

/** Returns the clusters that answer, newest release first, then by name. */
function newestFirst(mirrors: Mirrors): readonly ClusterStatus[] {
  return mirrors
    .clusters()
    .filter(({ phase, resources }) => phase !== 'UNREACHABLE' && resources !== undefined)
    .toSorted((a, b) => compareReleases(b.version, a.version));
}

/** Returns a text that changes when other clusters must be asked. */
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
