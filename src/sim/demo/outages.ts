import { demoOutages, stoppedCluster } from '../../config/demo-outages.ts';
import { labelsAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { EmbeddedCluster, StoppableCluster } from '../kinds/embedded-cluster.ts';

/**
 * Creates the ConfigMap `demoOutages` in the hub, and stops and starts the other clusters as it says, until the result is disposed of. The
 * hub itself is never stopped, because the ConfigMap could not be changed then.
 */
export function followOutages(hub: EmbeddedCluster, clusters: readonly StoppableCluster[]): Disposable {
  const { apiVersion, kind, namespace, name } = demoOutages;
  const follow = (outages: KubernetesObject | undefined) => {
    const states = labelsAt(outages, 'data');
    for (const cluster of clusters) {
      if (states[cluster.name] === stoppedCluster) cluster.stop();
      else cluster.start();
    }
  };
  hub.put({ apiVersion, kind, metadata: { namespace, name }, data: {} });
  return hub.observe(({ type, kind: changed, object }) => {
    const { metadata } = object;
    if (changed.kind !== kind || metadata.name !== name || metadata.namespace !== namespace) return;
    follow(type === 'DELETED' ? undefined : object);
  });
}
