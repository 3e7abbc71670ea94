import { textAt } from '../../core/json-at.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { areNamesAccepted } from '../../model/convert-definition.ts';
import type { ModelKind } from '../../model/model.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import { definitionKind } from '../catalog/definitions.ts';

/** A custom kind in one cluster. */
export interface KindInCluster {
  readonly cluster: ClusterName;
  readonly kind: ModelKind;
}

/**
 * True if the cluster defines the kind, but its known discovery does not list it yet. This is so in the first second after a
 * CustomResourceDefinition was applied. Reads then report the kind as `SYNCING`, so that an empty result does not look final.
 */
export function isKindAnnounced(mirrors: Mirrors, { cluster, kind }: KindInCluster): boolean {
  if (kind.source !== 'CUSTOM' || mirrors.served(cluster, kind) !== undefined) return false;
  const definition = definitionOf(mirrors, { cluster, kind });
  return definition !== undefined && definition.metadata.deletionTimestamp === undefined && areNamesAccepted(definition);
}

/** Resolves when discovery lists the announced kind, when the kind is no longer announced, or when the signal aborts. */
export function whenServed(mirrors: Mirrors, announced: KindInCluster, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settled = new AbortController();
    const end = (): void => {
      settled.abort();
      signal.removeEventListener('abort', end);
      resolve();
    };
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
    mirrors.onChange(({ cluster }) => {
      if (cluster === announced.cluster && !isKindAnnounced(mirrors, announced)) end();
    }, settled.signal);
  });
}

/**
 * Returns the definition of a kind in a cluster, or undefined if the mirror does not have it. Its name is `<plural>.<group>`. The plural
 * may differ in this cluster, so all definitions are searched if the name is not found.
 */
function definitionOf(mirrors: Mirrors, { cluster, kind }: KindInCluster): KubernetesObject | undefined {
  const store = mirrors.peek(cluster, definitionKind)?.store;
  const named = store?.get('', `${kind.plural}.${kind.group}`);
  if (named !== undefined || store === undefined) return named;
  for (const definition of store.objects()) {
    if (textAt(definition, 'spec', 'group') === kind.group && textAt(definition, 'spec', 'names', 'kind') === kind.kind) return definition;
  }
  return undefined;
}
