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

/** What the built-in kinds mean, in the words of the newest cluster. */
interface KindDescriptions {
  /** Of all documents read so far. Empty until a cluster was asked. */
  now(): ModelDescriptions;
  /** Begins to ask, once: until then clusters have better things to answer. */
  begin(): void;
}

interface KindDescriptionsOptions {
  readonly mirrors: Mirrors;
  /** The built-in kinds: nothing else is asked about, and nothing else kept. */
  readonly baseline: Model;
  readonly fetchDocument: FetchDocument;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when `now` says something else: once for all documents of a cluster. */
  readonly onDescribed: () => void;
}

/** After the first answers, and after the changes of a fleet in which an upgrade shows. */
const quietMs = 3_000;
const atMostMs = 30_000;

/** What did not answer is asked again after so long. */
const retryMs = 600_000;

/**
 * Asks the newest cluster that serves OpenAPI, in the background, one document after the other; and again when a cluster of a newer release comes,
 * then only for what has another hash. A document that it does not give is asked for in the others of its release and then, if nothing is known of
 * it, in older ones. What is said stays when that cluster leaves. Until the signal aborts.
 */
export function createKindDescriptions(options: KindDescriptionsOptions, signal: AbortSignal): KindDescriptions {
  const { mirrors, clock, onDescribed } = options;
  const known = new Map<string, DescribedDocument>();
  let descriptions: ModelDescriptions = new Map();
  /** The release that has said all it had to. */
  let release: string | undefined;
  /** Who is being asked, or has not answered. */
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

  /** True if all that the newest release has to say is said. */
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

  /** Those of its documents that are wanted (all, by default) and have another address than before. Returns what is wanted and was not said. */
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
      options.log.warn({ cluster, reason: error.message }, 'what a cluster says of its kinds cannot be understood');
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
  /** With the hash of what stands there. */
  readonly address: string;
  readonly said: ModelDescriptions;
}

/** Clusters that answer, the newest release first; of one release by name. */
function newestFirst(mirrors: Mirrors): readonly ClusterStatus[] {
  return mirrors
    .clusters()
    .filter(({ phase, resources }) => phase !== 'UNREACHABLE' && resources !== undefined)
    .toSorted((a, b) => compareReleases(b.version, a.version));
}

/** Changes when another cluster is to be asked. */
function keyOf(clusters: readonly ClusterStatus[]): string {
  return clusters.map(({ name, version }) => `${name} ${version ?? ''}`).join();
}

/** `v1.36.3` against `v1.33.13-eks-1`: by their numbers. */
function compareReleases(a: string | undefined, b: string | undefined): number {
  const [left, right] = [numbersIn(a), numbersIn(b)];
  const place = left.findIndex((number, index) => number !== right[index]);
  return place < 0 ? 0 : (left[place] ?? 0) - (right[place] ?? 0);
}

function numbersIn(version: string | undefined): readonly number[] {
  const [, ...numbers] = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version ?? '') ?? [];
  return [0, 1, 2].map((index) => Number(numbers[index] ?? 0));
}

/** The built-in kinds that a cluster serves, by their group versions, in order of these. */
function builtInsOf({ resources = [] }: ClusterStatus, baseline: Model): readonly (readonly [string, readonly ServedResource[]])[] {
  const builtIn = resources.filter((resource) => baseline.kinds.has(keyOfKind(resource)));
  return [...Map.groupBy(builtIn, apiVersionOf)].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Where each document stands, by its path; the hash is part of the address. */
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
