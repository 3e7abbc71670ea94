import type { KubernetesObject } from '../../core/objects.ts';
import { type ResourceTranslation, translateResource } from './translate-resource.ts';
import type { UpkeepPass } from './upkeep-pass.ts';

/**
 * Returns the translation of the resource for the fleet as it is now. Cached until the resource or the fleet changes.
 *
 * @param further Names of clusters that count as members of the fleet too. Default: none.
 */
export function translationOf(
  { ports, state, fleet }: UpkeepPass,
  resource: KubernetesObject,
  further: readonly string[] = [],
): ResourceTranslation {
  const { hub, serviceAccount } = ports;
  const clusters = [...fleet, ...further];
  const version = versionOf(resource);
  const known =
    state.translations?.version === version ? state.translations : { version, byClusters: new Map<string, ResourceTranslation>() };
  state.translations = known;
  const key = JSON.stringify(clusters);
  const before = known.byClusters.get(key);
  if (before !== undefined) return before;
  // At most two translations are cached: one for the fleet, and one that includes clusters that left the fleet.
  if (known.byClusters.size >= 2) known.byClusters.clear();
  const translation = translateResource(resource, { clusters, hub: hub.cluster, serviceAccount });
  known.byClusters.set(key, translation);
  return translation;
}

/** Returns a text that changes with the spec. The generation does not change with the status that Muster writes. */
function versionOf({ metadata: { uid, generation, resourceVersion } }: KubernetesObject): string {
  return `${uid}/${generation ?? resourceVersion}`;
}
