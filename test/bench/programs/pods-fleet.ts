// Embedded clusters with pods in a process of their own. Prints where their kubeconfig is.
//   pods-fleet.ts CLUSTERS PODS
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { kubeconfigOf } from '../../../src/sim/kubeconfig-of.ts';
import type { SimCluster } from '../../../src/sim/sim-cluster.ts';
import { startSimCluster } from '../../../src/sim/start-sim-cluster.ts';
import { podOf } from '../pods.ts';
import { writeKubeconfigText } from './bench-kubeconfig.ts';

const [clusterCount = '10', podCount = '2000'] = process.argv.slice(2);
const clusters: SimCluster[] = [];
for (let index = 0; index < Number(clusterCount); index += 1) {
  const cluster = await startSimCluster({ name: `cluster-${index}` });
  for (let pod = 0; pod < Number(podCount); pod += 1)
    cluster.put({ ...(podOf(index * Number(podCount) + pod) as KubernetesObject), apiVersion: 'v1', kind: 'Pod' });
  clusters.push(cluster);
}
process.stdout.write(`${JSON.stringify({ kubeconfig: writeKubeconfigText(kubeconfigOf(clusters)) })}\n`);
