import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MirrorStore } from '../../store/mirror-store.ts';
import { createReflector, type Reflector } from '../reflector/reflector.ts';
import type { ReflectorContext } from '../reflector/reflector-context.ts';

/** Milliseconds until a refused list is tried again. */
const retryMs = 60_000;

/** Secrets as every cluster serves them. */
export const secretsResource: ServedResource = {
  group: '',
  version: 'v1',
  versions: ['v1'],
  kind: 'Secret',
  resource: 'secrets',
  singular: 'secret',
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  shortNames: [],
  categories: [],
};

/**
 * The metadata of the Secrets in one namespace, or in all, for the gateway itself. It does not depend on the Secrets policy of the cluster,
 * and callers never see it.
 */
export interface OwnSecrets {
  /** Returns the metadata, in no promised order. Undefined before the first list. After a failure, the last known metadata. */
  all(): readonly KubernetesObject[] | undefined;
  /** Returns the metadata of one Secret. Undefined if it is not known, or does not exist. */
  get(namespace: string, name: string): KubernetesObject | undefined;
  /** True after the cluster has left, or the signal has aborted. The last metadata stays, and nothing changes any more. */
  isEnded(): boolean;
  /** Why the metadata is missing or old. Undefined: it is current. */
  fault(): Fault | undefined;
}

interface OwnSecretsOptions {
  readonly context: ReflectorContext;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** Creates an empty store for metadata. */
  readonly createStore: () => MirrorStore;
  readonly streaming: () => boolean;
  /** Called after a result of `all` or `fault` may have changed. */
  readonly onChange: () => void;
}

/**
 * Follows the metadata of the Secrets in `namespace`, or in all namespaces, until the signal aborts. If the API server refuses the list, it is
 * requested again after 60 s.
 */
export function followOwnSecrets(options: OwnSecretsOptions, signal: AbortSignal): OwnSecrets {
  const { context, namespace, onChange } = options;
  let listed: MirrorStore | undefined;
  let current: Reflector | undefined;
  let life = new AbortController();

  function reflect(): void {
    life = new AbortController();
    const store = options.createStore();
    const reflector: Reflector = createReflector({
      ...{ context, resource: secretsResource, form: 'metadata', store, streaming: options.streaming },
      ...(namespace === undefined ? {} : { namespace }),
      onChange: () => {
        if (signal.aborted || current !== reflector) return;
        if (reflector.facts().phase === 'ended') void tryAgain();
        onChange();
      },
      onCommitted: () => {
        listed = store;
        onChange();
      },
      onMissing: () => undefined,
      onReport: () => undefined,
    });
    current = reflector;
    store.followChanges(onChange, AbortSignal.any([signal, life.signal]));
  }

  async function tryAgain(): Promise<void> {
    await context.clock.sleep(retryMs, signal);
    life.abort();
    if (!signal.aborted) reflect();
  }

  reflect();
  signal.addEventListener('abort', () => current?.stop(), { once: true });
  return {
    all: () => listed && [...listed.objects()],
    get: (namespace, name) => listed?.get(namespace, name),
    isEnded: () => signal.aborted,
    fault: () => context.breaker.fault ?? current?.facts().fault,
  };
}
