import type { ClusterApi } from '../cluster/cluster-api.ts';
import { callTyped } from '../cluster/typed-api.ts';
import type { Clock } from '../core/clock.ts';
import { type Fault, fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';
import { createConcurrencyLimit } from '../core/scheduling/concurrency-limit.ts';
import type { SecretData, SecretName } from './adapters/inventory-adapter.ts';

/** Maximum number of reads of one inventory at a time. More reads would delay the requests of callers to the same cluster. */
const readsAtOnce = 10;

/** Milliseconds until a Secret that could not be read is read again. */
const retryMs = 5_000;

/** One version of a Secret. The version comes from its metadata. */
export interface SecretVersion {
  readonly secretName: SecretName;
  readonly version: string;
}

interface KnownSecret {
  readonly version: string;
  /** `absent`: the Secret no longer existed when it was read. */
  readonly data: SecretData | 'absent';
}

/** The values of Secrets that were read last, by `namespace/name`. An inventory whose settings change keeps them. */
export type KnownSecrets = Map<string, KnownSecret>;

interface FailedRead {
  readonly version: string;
  readonly fault: Fault;
  /** Monotonic milliseconds from which this version is read again. */
  readonly againMs: number;
}

interface SecretReaderOptions {
  readonly holder: ClusterName;
  readonly api: () => ClusterApi | undefined;
  readonly known: KnownSecrets;
  readonly clock: Clock;
  /** Called after each read, and when a failed read is due again. */
  readonly onChange: () => void;
}

/**
 * Reads the values of Secrets: one request for each version of each Secret, at most 10 at a time. Keeps the values of the Secrets that `keep` names,
 * and forgets all others. A version that could not be read is read again after 5 s. Until then the former values stay.
 */
export class SecretReader {
  readonly #options: SecretReaderOptions;
  readonly #signal: AbortSignal;
  readonly #limit = createConcurrencyLimit(readsAtOnce);
  readonly #running = new Map<string, Promise<void>>();
  readonly #failed = new Map<string, FailedRead>();
  #isRetrying = false;

  constructor(options: SecretReaderOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Returns the values that were read last, perhaps of an older version. `absent`: the Secret no longer exists. Undefined: it was never read. */
  dataOf(secretName: SecretName): SecretData | 'absent' | undefined {
    return this.#options.known.get(keyOf(secretName))?.data;
  }

  /** Returns the fault of the last read of the Secret. Undefined: the last read succeeded, or none has ended yet. */
  faultOf(secretName: SecretName): Fault | undefined {
    return this.#failed.get(keyOf(secretName))?.fault;
  }

  /** Returns the fault of any Secret that cannot be read. Undefined: there is none. */
  anyFault(): Fault | undefined {
    return this.#failed.values().next().value?.fault;
  }

  /**
   * Reads each of these Secrets that is new or changed, and forgets all others. Resolves when no read of these Secrets runs any more. Throws nothing.
   */
  async keep(wanted: readonly SecretVersion[]): Promise<void> {
    const used = new Set(wanted.map(({ secretName }) => keyOf(secretName)));
    for (const secrets of [this.#options.known, this.#failed]) for (const key of secrets.keys()) if (!used.has(key)) secrets.delete(key);
    for (const one of wanted) if (this.#isDue(one)) this.#begin(one);
    if (this.#failed.size > 0) this.#retryLater();
    await Promise.all(wanted.map(({ secretName }) => this.#running.get(keyOf(secretName))));
  }

  #isDue({ secretName, version }: SecretVersion): boolean {
    const key = keyOf(secretName);
    if (this.#running.has(key) || this.#options.known.get(key)?.version === version) return false;
    const failed = this.#failed.get(key);
    return failed?.version !== version || failed.againMs <= this.#options.clock.monotonic();
  }

  #begin(secret: SecretVersion): void {
    const key = keyOf(secret.secretName);
    const reading = this.#read(secret).then(() => {
      this.#running.delete(key);
      if (!this.#signal.aborted) this.#options.onChange();
    });
    this.#running.set(key, reading);
  }

  /** Reads the values and stores them, or the fault. The values may be newer than `version`. */
  async #read({ secretName, version }: SecretVersion): Promise<void> {
    const { api, holder, known, clock } = this.#options;
    const key = keyOf(secretName);
    const from = api();
    const gone = {
      result: 'failed',
      fault: fault('UNREACHABLE', 'the cluster is not connected', { cluster: holder, retry: 'LATER' }),
    } as const;
    const answer =
      from === undefined
        ? gone
        : await this.#limit.run(
            () =>
              callTyped(from, ({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespacedSecret(secretName), {
                signal: this.#signal,
              }),
            this.#signal,
          );
    if (answer === undefined || this.#signal.aborted) return;
    if (answer.result === 'failed' && answer.fault.code !== 'NOT_FOUND') {
      this.#failed.set(key, { version, fault: answer.fault, againMs: clock.monotonic() + retryMs });
      return;
    }
    this.#failed.delete(key);
    known.set(key, { version, data: answer.result === 'failed' ? 'absent' : decoded(answer.value.data ?? {}) });
  }

  #retryLater(): void {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    void this.#options.clock.sleep(retryMs, this.#signal).then(() => {
      this.#isRetrying = false;
      if (!this.#signal.aborted) this.#options.onChange();
    });
  }
}

function keyOf({ namespace, name }: SecretName): string {
  return `${namespace}/${name}`;
}

function decoded(data: Readonly<Record<string, string>>): SecretData {
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
}
