import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Fault } from '../core/faults.ts';
import { isJsonObject, type Json, parseJsonBody } from '../core/json.ts';
import { keyOfKind, kindsByKey, type ServedResource } from '../core/kinds.ts';
import { createConcurrencyLimit } from '../core/scheduling/concurrency-limit.ts';
import type { ClusterApi, LiveRequest } from './cluster-api.ts';
import { clusterFailure, faultOfFailure } from './cluster-failure.ts';
import {
  aggregatedVersionsIn,
  type GroupVersionResources,
  objectItemsIn,
  resourcesIn,
  servedResources,
  textItemsIn,
  textOr,
} from './served-resources.ts';

export type DiscoveryResult =
  | {
      readonly type: 'discovered';
      /**
       * The kinds that can be listed, each once: at the first version in the server's order of preference that can list the kind. Clusters that
       * answer with equal documents usually share one list.
       */
      readonly resources: readonly ServedResource[];
      /**
       * A fault for each group version whose server did not answer. For these, `resources` has the resources of the last discovery
       * (`known`).
       */
      readonly partial: readonly Fault[];
      /** An opaque tag for the next discovery. Undefined if the server sends none, and while `partial` is not empty. */
      readonly etag?: string;
    }
  /** The tag of the server still equals `etag` of the options, so the last result is still correct. */
  | { readonly type: 'unchanged' }
  | { readonly type: 'failed'; readonly fault: Fault };

export interface DiscoveryOptions {
  readonly etag?: string | undefined;
  /** The result of the last discovery. Undefined before the first one. It is kept for groups whose server does not answer now. */
  readonly known?: readonly ServedResource[] | undefined;
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const accept = `${aggregated},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json`;
const roots = ['api', 'apis'] as const;

/**
 * Discovers which kinds the API server serves.
 *
 * Aggregated discovery takes one request for the core group and one for all others. Servers before 1.26 do not have it. They get one
 * request per group version, ten at a time.
 */
export async function discover(api: ClusterApi, options: DiscoveryOptions, signal: AbortSignal): Promise<DiscoveryResult> {
  const tags = parseTags(options.etag);
  const answers = await Promise.all(roots.map((root, index) => requestRoot(api, root, { ifNoneMatch: tags[index], signal })));
  if (answers.every((answer) => answer.type === 'unchanged')) return { type: 'unchanged' };
  // At least one of the two documents has changed. Both are needed, so the unchanged one is requested again without its tag.
  const whole = await Promise.all(
    answers.map((answer, index) =>
      answer.type === 'unchanged' ? requestRoot(api, roots[index] ?? 'api', { ifNoneMatch: undefined, signal }) : answer,
    ),
  );
  const failed = whole.find((answer) => answer.type === 'failed');
  if (failed !== undefined) return failed;
  const documents = whole.flatMap((answer) => (answer.type === 'answered' ? [answer] : []));
  const halves = await Promise.all(documents.map(({ document }) => readVersions(api, document, signal)));
  const fresh = servedResourcesOf(
    documents.map(({ document }) => document),
    halves.flat(),
  );
  const etag = joinTags(documents.map((answer) => answer.etag));
  return combineVersions(api, { found: halves.flat(), fresh }, { known: options.known ?? [], etag });
}

/** `/api` or `/apis`: the resources of each version, or from servers without aggregated discovery only the names of the versions. */
type RootDocument =
  | { readonly type: 'aggregated'; readonly versions: readonly GroupVersionResources[] }
  | { readonly type: 'legacy'; readonly versions: readonly { readonly group: string; readonly version: string }[] };

type RootAnswer =
  /** The answer is 304, which is only possible if `ifNoneMatch` was sent. */
  | { readonly type: 'unchanged' }
  | { readonly type: 'answered'; readonly document: RootDocument; readonly etag?: string }
  | { readonly type: 'failed'; readonly fault: Fault };

async function requestRoot(
  api: ClusterApi,
  root: string,
  { ifNoneMatch, signal }: { readonly ifNoneMatch: string | undefined; readonly signal: AbortSignal },
): Promise<RootAnswer> {
  const request: LiveRequest = { method: 'GET', path: [root], accept, ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }) };
  const answer = await api.send(request, signal);
  if (answer.type === 'failed') return answer;
  if (answer.status === 304) return { type: 'unchanged' };
  const document = parseRoot(answer.body);
  if (document === undefined) return { type: 'failed', fault: notJson(api) };
  return { type: 'answered', document, ...(answer.etag === undefined ? {} : { etag: answer.etag }) };
}

/**
 * The documents that were parsed last, by the hash of their bytes. The clusters of one release send equal bytes, so hundreds of clusters that join share
 * one document. A document of more than 1 MiB is parsed each time.
 */
const recentRoots = new LRUCache<string, RootDocument>({ max: 8 });
const maxRecentBytes = 1 << 20;

/** Parses the document. Undefined if it is not JSON. */
function parseRoot(body: Uint8Array): RootDocument | undefined {
  if (body.length > maxRecentBytes) return rootDocumentIn(parseJsonBody(body));
  const key = hash('sha256', body, 'base64url');
  const document = recentRoots.get(key) ?? rootDocumentIn(parseJsonBody(body));
  if (document !== undefined) recentRoots.set(key, document);
  return document;
}

function rootDocumentIn(value: Json | undefined): RootDocument | undefined {
  if (value === undefined) return undefined;
  const aggregated = aggregatedVersionsIn(value);
  return aggregated === undefined ? { type: 'legacy', versions: legacyVersionsIn(value) } : { type: 'aggregated', versions: aggregated };
}

type FoundVersion = GroupVersionResources & { readonly fault?: Fault };

async function readVersions(api: ClusterApi, document: RootDocument, signal: AbortSignal): Promise<readonly FoundVersion[]> {
  if (document.type === 'aggregated') return document.versions;
  const limit = createConcurrencyLimit(10);
  const asked = document.versions.map((at) => limit.run(() => readLegacy(api, at, signal), signal));
  return (await Promise.all(asked)).filter((found) => found !== undefined);
}

/** Returns the versions in `APIVersions` (from /api) or `APIGroupList` (from /apis), the preferred version of each group first. */
function legacyVersionsIn(document: Json): readonly { readonly group: string; readonly version: string }[] {
  if (!isJsonObject(document)) return [];
  if (document.kind === 'APIVersions') return textItemsIn(document.versions).map((version) => ({ group: '', version }));
  return objectItemsIn(document.groups).flatMap((group) => {
    const preferred = isJsonObject(group.preferredVersion) ? textOr(group.preferredVersion.version, '') : '';
    const versions = objectItemsIn(group.versions).map((version) => textOr(version.version, ''));
    return [...new Set([preferred, ...versions])]
      .filter((version) => version !== '')
      .map((version) => ({ group: textOr(group.name, ''), version }));
  });
}

async function readLegacy(
  api: ClusterApi,
  at: { readonly group: string; readonly version: string },
  signal: AbortSignal,
): Promise<FoundVersion> {
  const path = at.group === '' ? ['api', at.version] : ['apis', at.group, at.version];
  const answer = await requestJson(api, { method: 'GET', path }, signal);
  if (answer.type === 'answered') return { ...at, resources: resourcesIn(answer.value, at), stale: false };
  return { ...at, resources: [], stale: true, ...(answer.type === 'failed' ? { fault: answer.fault } : {}) };
}

/** The resources of two documents, by `/api` and then by `/apis`. */
const resourcesOfRoots = new WeakMap<RootDocument, WeakMap<RootDocument, readonly ServedResource[]>>();

/** Returns the resources of the versions. Of aggregated documents that are shared, all clusters share the resources too. */
function servedResourcesOf(documents: readonly RootDocument[], versions: readonly FoundVersion[]): readonly ServedResource[] {
  const [core, others] = documents;
  if (core?.type !== 'aggregated' || others?.type !== 'aggregated') return servedResources(versions);
  const known = resourcesOfRoots.get(core)?.get(others);
  if (known !== undefined) return known;
  const resources = servedResources(versions);
  resourcesOfRoots.set(core, (resourcesOfRoots.get(core) ?? new WeakMap()).set(others, resources));
  return resources;
}

function combineVersions(
  { cluster }: ClusterApi,
  { found, fresh }: { readonly found: readonly FoundVersion[]; readonly fresh: readonly ServedResource[] },
  { known, etag }: { readonly known: readonly ServedResource[]; readonly etag: string | undefined },
): DiscoveryResult {
  const stale = found.filter((version) => version.stale);
  const kinds = kindsByKey(fresh);
  const kept = known.filter((kind) => stale.some((version) => version.group === kind.group) && !kinds.has(keyOfKind(kind)));
  const partial = stale.map(({ group, version, fault }) => {
    const message = `discovery of ${group === '' ? version : `${group}/${version}`} failed: its known kinds stay`;
    return faultOfFailure({ ...(fault ?? clusterFailure('SERVER_ERROR', message)), message }, { cluster });
  });
  return {
    type: 'discovered',
    resources: kept.length === 0 ? fresh : [...fresh, ...kept],
    partial,
    ...(etag === undefined || partial.length > 0 ? {} : { etag }),
  };
}

/** Joins the tags of both documents with a line break, which no tag contains. Undefined if a document has no tag. */
function joinTags(tags: readonly (string | undefined)[]): string | undefined {
  return tags.length === roots.length && tags.every((tag) => tag !== undefined) ? tags.join('\n') : undefined;
}

function parseTags(etag: string | undefined): readonly (string | undefined)[] {
  const tags = etag?.split('\n') ?? [];
  return tags.length === roots.length ? tags : [];
}

type JsonAnswer = { readonly type: 'answered'; readonly value: Json } | { readonly type: 'failed'; readonly fault: Fault };

/** Sends a live request and parses the answer. An answer that is not JSON is `MALFORMED`. */
async function requestJson(api: ClusterApi, request: LiveRequest, signal: AbortSignal): Promise<JsonAnswer> {
  const answer = await api.send(request, signal);
  if (answer.type === 'failed') return answer;
  const value = parseJsonBody(answer.body);
  return value === undefined ? { type: 'failed', fault: notJson(api) } : { type: 'answered', value };
}

function notJson({ cluster }: ClusterApi): Fault {
  return faultOfFailure(clusterFailure('MALFORMED', 'expected JSON, got something else'), { cluster });
}
