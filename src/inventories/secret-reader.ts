import type { ClusterApi } from '../cluster/cluster-api.ts';
import { callTyped } from '../cluster/typed-api.ts';
import type { Fault } from '../core/faults.ts';
import { createConcurrencyLimit } from '../core/scheduling/concurrency-limit.ts';
import type { SecretData, SecretPlace } from './adapters/inventory-adapter.ts';

/** The values of a Secret that does not exist any more. */
const absent = Symbol('absent');

/** Reads of one inventory at a time. A fleet of hundreds of clusters must not crowd the requests of callers out of the cluster. */
const readsAtOnce = 10;

interface KnownSecret {
  readonly version: string;
  readonly data: SecretData | typeof absent;
}

/**
 * Reads the values of Secrets, one request for each version of each Secret. It keeps the values of Secrets that are in use, and forgets the
 * others.
 */
export class SecretReader {
  readonly #api: () => ClusterApi | undefined;
  readonly #limit = createConcurrencyLimit(readsAtOnce);
  readonly #known = new Map<string, KnownSecret>();

  constructor(api: () => ClusterApi | undefined) {
    this.#api = api;
  }

  /** Returns the last values that were read. They may be of an older version. Undefined: nothing was read yet, or the Secret is absent. */
  dataOf(place: SecretPlace): SecretData | undefined {
    const known = this.#known.get(keyOf(place))?.data;
    return known === absent ? undefined : known;
  }

  /** True if the values of this version were read. */
  isRead(place: SecretPlace, version: string): boolean {
    return this.#known.get(keyOf(place))?.version === version;
  }

  /** Forgets all Secrets but these. */
  keepOnly(places: readonly SecretPlace[]): void {
    const used = new Set(places.map(keyOf));
    for (const key of this.#known.keys()) if (!used.has(key)) this.#known.delete(key);
  }

  /**
   * Reads the values from the cluster, at most 10 Secrets at a time.
   *
   * @param version The version that the metadata shows. The values may be newer.
   * @returns Why the Secret could not be read; the former values stay then. Undefined: it was read, or it does not exist.
   */
  async read(place: SecretPlace, version: string, signal: AbortSignal): Promise<Fault | undefined> {
    const api = this.#api();
    if (api === undefined) return undefined;
    const answer = await this.#limit.run(
      () => callTyped(api, ({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespacedSecret(place), { signal }),
      signal,
    );
    if (answer === undefined || signal.aborted) return undefined;
    if (answer.result === 'failed' && answer.fault.code !== 'NOT_FOUND') return answer.fault;
    const data = answer.result === 'failed' ? absent : decoded(answer.value.data ?? {});
    this.#known.set(keyOf(place), { version, data });
    return undefined;
  }
}

function keyOf({ namespace, name }: SecretPlace): string {
  return `${namespace}/${name}`;
}

function decoded(data: Readonly<Record<string, string>>): SecretData {
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
}
