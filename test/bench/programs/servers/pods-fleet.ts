// Runs embedded clusters with pods in a separate process. Prints the path of their kubeconfig.
//   pods-fleet.ts CLUSTERS PODS [ENV]
// ENV: number of environment variables in each pod. Default: 3.
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { kubeconfigOf } from '../../../../src/sim/start-demo-fleet.ts';
import type { SimCluster } from '../../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../../support/sim/start-sim-cluster.ts';
import { podOf, podWithEnvironment } from '../../pods.ts';
import { writeKubeconfigText } from '../../support/bench-kubeconfig.ts';

const [clusterCount = '10', podCount = '2000', values] = process.argv.slice(2);
const clusters: SimCluster[] = [];
for (let index = 0; index < Number(clusterCount); index += 1) {
  const cluster = await startSimCluster({ name: `cluster-${index}` });
  for (let pod = 0; pod < Number(podCount); pod += 1)
    cluster.put({ ...madeOf(index * Number(podCount) + pod), apiVersion: 'v1', kind: 'Pod' });
  clusters.push(cluster);
}
process.stdout.write(`${JSON.stringify({ kubeconfig: writeKubeconfigText(kubeconfigOf(clusters)) })}\n`);

function madeOf(index: number): KubernetesObject {
  return (values === undefined ? podOf(index) : podWithEnvironment(index, Number(values))) as KubernetesObject;
}
