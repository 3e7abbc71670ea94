import type { ClusterName } from '../../core/names.ts';
import { mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { ModelKind } from '../../model/model.ts';
import { type Ask, type Part, type PartOptions, partOfOne } from '../reads/read-sources.ts';
import type { ReadContext } from '../reads/reads.ts';

/** How long one mirror's first list is waited for. */
const partWaitMs = 10_000;

/** The parts that the relations of one operation, or of one message, have asked for, each as of the moment when it was there first. */
export class RelatedParts {
  readonly #options: PartOptions;
  readonly #context: ReadContext;
  readonly #parts = new Map<number, Map<Ask['verb'], Map<ModelKind, Map<ClusterName, Map<string, PromiseOrValue<Part>>>>>>();

  constructor(options: PartOptions, context: ReadContext) {
    this.#options = options;
    this.#context = context;
  }

  /** One kind of one cluster; of a namespace alone where one is named. */
  part(asked: AskedRelated): PromiseOrValue<Part> {
    const places = this.#placesOf(asked);
    const place = asked.namespace ?? '';
    const known = places.get(place);
    if (known !== undefined) return known;
    const { cluster, kind, verb, namespace, named } = asked;
    const ask: Ask = { cluster, kind, verb, named, namespaces: namespace === undefined ? undefined : [namespace] };
    const found = partOfOne(this.#options, { ask, waitMs: this.nextWaitMs(asked.waitMs), context: this.#context });
    const part = mapPromiseOrValue(found, (now) => {
      places.set(place, now);
      return now;
    });
    if (part instanceof Promise) places.set(place, part);
    return part;
  }

  /** By namespace. Asked for each relation of each object: so it goes from map to map, without making keys. */
  #placesOf({ cluster, kind, verb, waitMs = partWaitMs }: AskedRelated): Map<string, PromiseOrValue<Part>> {
    const ofVerb = memberOf(memberOf(this.#parts, waitMs), verb);
    return memberOf(memberOf(ofVerb, kind), cluster.name);
  }

  /** How long what is asked now may wait: no longer than it would. */
  nextWaitMs(askedMs = partWaitMs): number {
    return Math.min(askedMs, partWaitMs, this.#context.loaders.mirrors.restMs());
  }
}

/** Which part. */
export interface AskedRelated extends Pick<Ask, 'cluster' | 'verb' | 'named'> {
  readonly kind: ModelKind;
  readonly namespace: string | undefined;
  /** As in `Row`. */
  readonly waitMs: number | undefined;
}

/** The map in the map: made where there is none. */
export function memberOf<Key, Inner, Value>(map: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Map<Inner, Value>();
  map.set(key, made);
  return made;
}
