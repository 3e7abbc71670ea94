import type { ClusterName } from '../../core/names.ts';
import { mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { ModelKind } from '../../model/model.ts';
import { loadReadSource, type ReadSource, type ReadSourceOptions, type SourceRequest } from '../reads/read-sources.ts';
import type { ReadContext } from '../reads/reads.ts';

/** How long one mirror's first list is waited for. */
const firstListWaitMs = 10_000;

/** The parts that the relations of one operation, or of one message, have asked for, each as of the moment when it was there first. */
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

  /** One kind of one cluster; of a namespace alone where one is named. */
  source(asked: RelatedSourceRequest): PromiseOrValue<ReadSource> {
    const places = this.#placesOf(asked);
    const place = asked.namespace ?? '';
    const known = places.get(place);
    if (known !== undefined) return known;
    const { cluster, kind, verb, namespace, isNamed } = asked;
    const request: SourceRequest = { cluster, kind, verb, isNamed, namespaces: namespace === undefined ? undefined : [namespace] };
    const found = loadReadSource(this.#options, { request, waitMs: this.nextWaitMs(asked.waitMs), context: this.#context });
    const source = mapPromiseOrValue(found, (now) => {
      places.set(place, now);
      return now;
    });
    if (source instanceof Promise) places.set(place, source);
    return source;
  }

  /** By namespace. Asked for each relation of each object: so it goes from map to map, without making keys. */
  #placesOf({ cluster, kind, verb, waitMs = firstListWaitMs }: RelatedSourceRequest): Map<string, PromiseOrValue<ReadSource>> {
    const ofVerb = innerMapOf(innerMapOf(this.#sources, waitMs), verb);
    return innerMapOf(innerMapOf(ofVerb, kind), cluster.name);
  }

  /** How long what is asked now may wait: no longer than it would. */
  nextWaitMs(askedMs = firstListWaitMs): number {
    return Math.min(askedMs, firstListWaitMs, this.#context.loaders.mirrors.remainingWaitMs());
  }
}

/** Which part. */
export interface RelatedSourceRequest extends Pick<SourceRequest, 'cluster' | 'verb' | 'isNamed'> {
  readonly kind: ModelKind;
  readonly namespace: string | undefined;
  /** As in `Row`. */
  readonly waitMs: number | undefined;
}

/** The map in the map: made where there is none. */
export function innerMapOf<Key, Inner, Value>(map: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Map<Inner, Value>();
  map.set(key, made);
  return made;
}
