import { isTerminating } from './pods.ts';
import type { World } from './world.ts';

/** Gives each namespace what every real one has: the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`. */
export function furnishNamespaces(world: World): void {
  for (const namespace of [...world.view.objects('Namespace')]) {
    if (isTerminating(namespace)) continue;
    const { name } = namespace.metadata;
    const creationTimestamp = world.birthOf(namespace);
    if (world.view.find('ServiceAccount', 'default', name) === undefined) {
      world.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name, creationTimestamp } });
    }
    if (world.view.find('ConfigMap', 'kube-root-ca.crt', name) === undefined) {
      const annotations = { 'kubernetes.io/description': 'Contains a CA bundle that can be used to verify the kube-apiserver.' };
      const metadata = { name: 'kube-root-ca.crt', namespace: name, creationTimestamp, annotations };
      world.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': certificate } });
    }
  }
}

const certificate = '-----BEGIN CERTIFICATE-----\n(an embedded cluster has none to give)\n-----END CERTIFICATE-----\n';
