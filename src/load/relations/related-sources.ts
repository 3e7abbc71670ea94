import type { ClusterName } from '../../core/names.ts';
import { mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { ModelKind } from '../../model/model.ts';
import { loadReadSource, type ReadSource, type ReadSourceOptions, type SourceRequest } from '../reads/read-sources.ts';
import type { ReadContext } from '../reads/reads.ts';

/** Milliseconds to wait for the first list of one mirror. */
const firstListWaitMs = 10_000;

/** The sources that the relations of one operation, or of one message, have requested. Each source stays as it was when it was first available. */
export class RelatedSources {
  readonly #options: ReadSourceOptions;
  readonly #context: ReadContext;
  readonly #sources = new Map<
    number,
    Map<SourceRequest['verb'], Map<ModelKind, Map<ClusterName, Map<string, PromiseOrValue<ReadSource>>>>>
  >();

  constructor(options: ReadSourceOptions, context: ReadContext) {
    this.#options = options;
    this.#context = context;
  }

  /**
   * Returns the source of one kind in one cluster. With a namespace, only that namespace is requested. With a name, the right to that object
   * counts too. Equal requests of one operation share one source, so they also share the review of a right.
   */
  source(wanted: RelatedSourceRequest): PromiseOrValue<ReadSource> {
    const places = this.#placesOf(wanted);
    const { cluster, kind, verb, namespace, isNamed, name } = wanted;
    // A namespace has no slash, so an object and a namespace never have the same key.
    const place = name === undefined ? (namespace ?? '') : `${namespace ?? ''}/${name}`;
    const known = places.get(place);
    if (known !== undefined) return known;
    const namespaces = namespace === undefined ? undefined : [namespace];
    const about = name === undefined ? {} : { object: { namespace, name }, onlyIfBound: true };
    const request: SourceRequest = { cluster, kind, verb, isNamed, namespaces, ...about };
    const found = loadReadSource(this.#options, { request, waitMs: this.nextWaitMs(wanted.waitMs), context: this.#context });
    const source = mapPromiseOrValue(found, (now) => {
      places.set(place, now);
      return now;
    });
    if (source instanceof Promise) places.set(place, source);
    return source;
  }

  /**
   * Returns the requested sources of one kind in one cluster, by namespace. The maps are nested, because this runs for each relation of each
   * object, and building a text key would take longer.
   */
  #placesOf({ cluster, kind, verb, waitMs = firstListWaitMs }: RelatedSourceRequest): Map<string, PromiseOrValue<ReadSource>> {
    const ofVerb = innerMapOf(innerMapOf(this.#sources, waitMs), verb);
    return innerMapOf(innerMapOf(ofVerb, kind), cluster.name);
  }

  /** Returns the milliseconds that a request may wait now: at most the given time and the remaining time of the operation. */
  nextWaitMs(askedMs = firstListWaitMs): number {
    return Math.min(askedMs, firstListWaitMs, this.#context.loaders.mirrors.remainingWaitMs());
  }
}

/** A request for a source that a relation reads: one kind of one cluster, in one namespace or in all. */
export interface RelatedSourceRequest extends Pick<SourceRequest, 'cluster' | 'verb' | 'isNamed'> {
  readonly kind: ModelKind;
  readonly namespace: string | undefined;
  /** The one object to get. Default: only the rights to the kind count. */
  readonly name?: string;
  /** Milliseconds to wait for the first list. Default and maximum: 10 s. */
  readonly waitMs: number | undefined;
}

/** Returns the inner map of a key. Creates it if there is none. */
export function innerMapOf<Key, Inner, Value>(map: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Map<Inner, Value>();
  map.set(key, made);
  return made;
}
