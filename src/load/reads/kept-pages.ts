import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ServedResource } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ModelKind } from '../../model/model.ts';
import type { StoreReader } from '../../store/mirror-store.ts';
import type { QueryVisibility } from '../../store/query-source.ts';

/** The objects of a page, and the other results of its query. They are the same as long as no object of its sources changes. */
export interface KeptPage {
  readonly objects: readonly KubernetesObject[];
  /** For each object the index of its source, in the order of the sources. */
  readonly sourceIndexes: readonly number[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** The number of reads that the query reported. A request that gets the kept page reports as many. */
  readonly reads: number;
}

/** The parts of a source that decide the objects of a page, and the kind and resource that answers show. */
export interface KeptSource {
  readonly store: StoreReader;
  readonly visibility: QueryVisibility;
  readonly kind: ModelKind;
  readonly resource: ServedResource;
}

/** A source at one moment. */
interface SourceState extends KeptSource {
  readonly revision: number;
}

interface StoredPage {
  readonly page: KeptPage;
  readonly sources: readonly SourceState[];
}

/**
 * Maximum number of objects and sources in all pages together. An object that has changed or is gone stays in memory as long as a page has it, and takes
 * about 2 kB. A page of many kinds in many clusters has more sources than objects.
 */
const maxSize = 32_768;

/** Maximum number of pages. */
const maxPages = 1_024;

/** Number of characters of a digest of visibilities: 96 bits. */
const digestLength = 16;

/** Maximum number of characters of a key, with its digest. A list may name thousands of namespaces. */
const maxKeyLength = 4_096;

/**
 * Keeps pages of lists until an object of their sources changes. A later request for the same page needs no walk through the mirrors, and its JSON can be
 * found by the identity of the page.
 *
 * Pages depend on no caller: a page is found only with sources of the same visibility. So callers with equal visibility share one page, and others have
 * pages of their own. Above the bounds, the page that was used least recently goes.
 */
export class KeptPages {
  readonly #pages = new LRUCache<string, StoredPage>({
    max: maxPages,
    maxSize,
    sizeCalculation: ({ page, sources }) => Math.max(page.objects.length + sources.length, 1),
  });
  /** The digests of sets of namespaces. Callers with equal rights share a set. */
  readonly #digests = new WeakMap<ReadonlySet<string>, string>();

  /** Returns the page of this key. Undefined if a source, its objects or its visibility has changed since `keep`. */
  find(key: string, sources: readonly KeptSource[]): KeptPage | undefined {
    const fullKey = this.#keyFor(key, sources);
    const entry = this.#pages.get(fullKey);
    if (entry === undefined) return undefined;
    if (isCurrent(entry, sources)) return entry.page;
    this.#pages.delete(fullKey);
    return undefined;
  }

  /**
   * Keeps a page.
   *
   * @param key A text that is equal only for lists of the same kinds, conditions and position (`after`). Pages of long keys are not kept.
   * @param sources The sources as `sourceStateOf` has returned them before the query.
   */
  keep(key: string, sources: readonly SourceState[], page: KeptPage): void {
    const fullKey = this.#keyFor(key, sources);
    if (fullKey.length <= maxKeyLength) this.#pages.set(fullKey, { page, sources });
  }

  /** Returns the key with a digest of the visibilities of all sources. Its length does not grow with the number of clusters. */
  #keyFor(key: string, sources: readonly KeptSource[]): string {
    return `${key} ${digestOf(sources.map(({ visibility }) => this.#textOf(visibility)).join(' '))}`;
  }

  /** Returns a text that is equal only for equal visibilities. It is short, because a caller may see thousands of namespaces. */
  #textOf(visibility: QueryVisibility): string {
    if (visibility.type === 'all') return '*';
    const { namespaces } = visibility;
    const known = this.#digests.get(namespaces);
    if (known !== undefined) return known;
    const digest = digestOf(JSON.stringify([...namespaces].sort()));
    this.#digests.set(namespaces, digest);
    return digest;
  }
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, digestLength);
}

/** Returns the state of a source now. */
export function sourceStateOf({ store, visibility, kind, resource }: KeptSource): SourceState {
  return { store, visibility, kind, resource, revision: store.revision };
}

function isCurrent({ sources: before }: StoredPage, sources: readonly KeptSource[]): boolean {
  if (before.length !== sources.length) return false;
  return sources.every((source, index) => {
    const known = before[index];
    return (
      known !== undefined &&
      known.store === source.store &&
      known.revision === source.store.revision &&
      known.kind === source.kind &&
      known.resource === source.resource &&
      isSameVisibility(known.visibility, source.visibility)
    );
  });
}

function isSameVisibility(a: QueryVisibility, b: QueryVisibility): boolean {
  if (a.type === 'all' || b.type === 'all') return a.type === b.type;
  return a.namespaces === b.namespaces || (a.namespaces.size === b.namespaces.size && a.namespaces.isSubsetOf(b.namespaces));
}
