import type { ClusterName } from '../../core/names.ts';
import { afterwards, type NowOrLater } from '../../core/now-or-later.ts';
import type { ModelKind } from '../../model/model.ts';
import { type Ask, holdPart, type OnePartOptions, type Part } from '../parts.ts';
import type { ReadContext } from '../reads.ts';
import type { KeptMirrors } from './kept-mirrors.ts';

/** How long one mirror's first list is waited for, and all of an operation together. */
const partWaitMs = 10_000;
const waitMs = 15_000;

/** The parts that one operation has asked for, each once, whose mirrors it holds until it is over. */
export class RelatedParts implements Disposable {
  readonly #options: OnePartOptions;
  readonly #context: ReadContext;
  readonly #leases = new DisposableStack();
  /** Absent: the operation has one answer. */
  readonly #kept: KeptMirrors | undefined;
  readonly #parts = new Map<number, Map<Ask['verb'], Map<ModelKind, Map<ClusterName, Map<string, NowOrLater<Part>>>>>>();
  /** By `Clock.monotonic`. Absent: nothing has been waited for yet. */
  #waitsUntilMs: number | undefined;

  /** @param kept Of the stream, for what one of its messages leads to: then hardly anything is waited for, as others stand behind it. */
  constructor(options: OnePartOptions, context: ReadContext, kept: KeptMirrors | undefined) {
    this.#options = options;
    this.#context = context;
    this.#kept = kept;
  }

  /** One kind of one cluster; of a namespace alone where one is named. */
  part(asked: AskedRelated): NowOrLater<Part> {
    const places = this.#placesOf(asked);
    const place = asked.namespace ?? '';
    const known = places.get(place);
    if (known !== undefined) return known;
    const { cluster, kind, verb, namespace, named } = asked;
    const ask: Ask = { cluster, kind, verb, named, namespaces: namespace === undefined ? undefined : [namespace] };
    const held = holdPart(this.#options, { ask, waitMs: this.nextWaitMs(asked.waitMs), context: this.#context, leases: this.#leases });
    const part = afterwards(held, (now) => {
      places.set(place, now);
      if (now.type === 'held') this.#kept?.keep(now.mirror);
      return now;
    });
    if (part instanceof Promise) places.set(place, part);
    return part;
  }

  /** By namespace. Asked for each relation of each object: so it goes from map to map, without making keys. */
  #placesOf({ cluster, kind, verb, waitMs = partWaitMs }: AskedRelated): Map<string, NowOrLater<Part>> {
    const ofVerb = memberOf(memberOf(this.#parts, waitMs), verb);
    return memberOf(memberOf(ofVerb, kind), cluster.name);
  }

  [Symbol.dispose](): void {
    this.#leases.dispose();
  }

  /** How long what is asked now may wait: no longer than it would. */
  nextWaitMs(askedMs = partWaitMs): number {
    const nowMs = this.#options.clock.monotonic();
    if (this.#kept !== undefined) return Math.min(askedMs, this.#kept.restMs(nowMs));
    this.#waitsUntilMs ??= nowMs + waitMs;
    return Math.min(askedMs, partWaitMs, Math.max(0, this.#waitsUntilMs - nowMs));
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
