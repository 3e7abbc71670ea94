import { afterwards, type NowOrLater } from '../../core/now-or-later.ts';
import type { ModelKind } from '../../model/model.ts';
import { type Ask, holdPart, type OnePartOptions, type Part } from '../parts.ts';
import type { ReadContext } from '../reads.ts';

/** How long one mirror's first list is waited for, and all of an operation together. */
const partWaitMs = 10_000;
const waitMs = 15_000;

/** The parts that one operation has asked for, each once, whose mirrors it holds until it is over. */
export class RelatedParts implements Disposable {
  readonly #options: OnePartOptions;
  readonly #context: ReadContext;
  readonly #leases = new DisposableStack();
  readonly #parts = new Map<string, NowOrLater<Part>>();
  /** By `Clock.monotonic`. Absent: nothing has been waited for yet. */
  #waitsUntilMs: number | undefined;

  constructor(options: OnePartOptions, context: ReadContext) {
    this.#options = options;
    this.#context = context;
  }

  /** One kind of one cluster; of a namespace alone where one is named. */
  part({ cluster, kind, verb, namespace, named }: AskedRelated): NowOrLater<Part> {
    const key = `${verb} ${kind.type} ${cluster.name} ${namespace ?? ''}`;
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    const ask: Ask = { cluster, kind, verb, named, namespaces: namespace === undefined ? undefined : [namespace] };
    const part = afterwards(
      holdPart(this.#options, { ask, waitMs: this.#nextWaitMs(), context: this.#context, leases: this.#leases }),
      (now) => {
        this.#parts.set(key, now);
        return now;
      },
    );
    if (part instanceof Promise) this.#parts.set(key, part);
    return part;
  }

  [Symbol.dispose](): void {
    this.#leases.dispose();
  }

  #nextWaitMs(): number {
    const nowMs = this.#options.clock.monotonic();
    this.#waitsUntilMs ??= nowMs + waitMs;
    return Math.min(partWaitMs, Math.max(0, this.#waitsUntilMs - nowMs));
  }
}

/** Which part. */
export interface AskedRelated extends Pick<Ask, 'cluster' | 'verb' | 'named'> {
  readonly kind: ModelKind;
  readonly namespace: string | undefined;
}
