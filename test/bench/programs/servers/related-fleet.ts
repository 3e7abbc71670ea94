// Runs an embedded cluster in a separate process, with pods and their related objects. Prints the path of its kubeconfig.
//   related-fleet.ts PODS
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { kubeconfigOf } from '../../../../src/sim/start-demo-fleet.ts';
import { startSimCluster } from '../../../support/sim/start-sim-cluster.ts';
import { podOf } from '../../pods.ts';
import { writeKubeconfigText } from '../../support/bench-kubeconfig.ts';

const pods = Array.from({ length: Number(process.argv[2] ?? '10000') }, (_, index) => podOf(index) as KubernetesObject);
const cluster = await startSimCluster({ name: 'bench' });
const put = (apiVersion: string, kind: string, object: KubernetesObject) => cluster.put({ ...object, apiVersion, kind });
for (const name of new Set(pods.map(({ spec }) => (spec as { readonly nodeName: string }).nodeName)))
  put('v1', 'Node', { metadata: { name } });
const deployments = new Set<string>();
for (const pod of pods) {
  put('v1', 'Pod', pod);
  const { namespace = '', labels, ownerReferences = [] } = pod.metadata;
  const [owner] = ownerReferences;
  const { app = '' } = labels ?? {};
  if (owner?.uid === undefined || deployments.has(owner.uid)) continue;
  deployments.add(owner.uid);
  const spec = { selector: { matchLabels: { app } } };
  put('v1', 'Service', { metadata: { name: app, namespace }, spec: { selector: { app } } });
  put('apps/v1', 'Deployment', { metadata: { name: app, namespace, uid: `of-${owner.uid}` }, spec });
  const controller = { apiVersion: 'apps/v1', kind: 'Deployment', name: app, uid: `of-${owner.uid}`, controller: true };
  put('apps/v1', 'ReplicaSet', { metadata: { name: `${owner.name}`, namespace, uid: owner.uid, ownerReferences: [controller] }, spec });
}
process.stdout.write(`${JSON.stringify({ kubeconfig: writeKubeconfigText(kubeconfigOf([cluster])) })}\n`);
