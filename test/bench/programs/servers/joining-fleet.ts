// Runs a hub and embedded clusters in a separate process. The hub has the definition of Cluster. Prints the kubeconfig of all.
//   joining-fleet.ts CLUSTERS

import { clusterDefinition } from '../../../../src/registration/cluster-resource.ts';
import { kubeconfigOf } from '../../../../src/sim/start-demo-fleet.ts';
import { startSimCluster } from '../../../support/sim/start-sim-cluster.ts';
import { writeKubeconfigText } from '../../support/bench-kubeconfig.ts';

const [count = '200'] = process.argv.slice(2);
const hub = await startSimCluster({ name: 'hub' });
hub.define(clusterDefinition());
const clusters = [hub];
for (let index = 0; index < Number(count); index += 1) {
  const cluster = await startSimCluster({ name: `cluster-${index}` });
  cluster.fill('ConfigMap', 500, { metadata: { name: 'settings' }, data: { key: `value of ${index}` } });
  clusters.push(cluster);
}
process.stdout.write(`${JSON.stringify({ kubeconfig: writeKubeconfigText(kubeconfigOf(clusters)) })}\n`);
