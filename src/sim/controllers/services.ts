import type { JsonObject } from '../../core/json.ts';
import { itemsOf } from '../../core/stored.ts';
import type { Pod, Service } from './controller-view.ts';
import { isFinished, isReady, isTerminating } from './pods.ts';
import { controllerReference, isSame, suffix, type World } from './world.ts';

const slices = 'EndpointSlice.discovery.k8s.io';

/** Keeps an EndpointSlice for each Service with a selector: it lists the selected Pods. */
export function keepServices(world: World): void {
  for (const service of [...world.view.objects('Service')]) {
    const { type, selector } = service.spec ?? {};
    if (!isTerminating(service) && type !== 'ExternalName' && Object.keys(selector ?? {}).length > 0) keepSlice(world, service);
  }
}

function keepSlice(world: World, service: Service): void {
  const [before] = world.view.owned(slices, service.metadata.uid);
  const content = { addressType: 'IPv4', endpoints: endpointsOf(world, service), ports: portsOf(service) };
  if (before !== undefined) {
    const isTrue = isSame(before.endpoints, content.endpoints) && isSame(before.ports, content.ports);
    if (!isTrue) world.put({ ...before, ...content });
    return;
  }
  const labels = {
    'kubernetes.io/service-name': service.metadata.name,
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  };
  world.put({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${service.metadata.name}-${suffix(world)}`,
      namespace: service.metadata.namespace ?? 'default',
      generateName: `${service.metadata.name}-`,
      creationTimestamp: world.creationTimeFor(service),
      labels: { ...service.metadata.labels, ...labels },
      ownerReferences: [controllerReference(service)],
    },
    ...content,
  });
}

function endpointsOf(world: World, service: Service): JsonObject[] {
  const selector = Object.entries(service.spec?.selector ?? {});
  const pods = [...world.view.objects('Pod')].filter(
    ({ metadata }) =>
      metadata.namespace === service.metadata.namespace && selector.every(([key, value]) => metadata.labels?.[key] === value),
  );
  return pods.filter((pod) => pod.status?.podIP && !isFinished(pod)).map((pod) => endpointOf(world, pod));
}

function endpointOf(world: World, pod: Pod): JsonObject {
  const nodeName = pod.spec?.nodeName ?? '';
  const zone = world.view.find('Node', nodeName)?.metadata.labels?.['topology.kubernetes.io/zone'];
  const { name, namespace, uid } = pod.metadata;
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: { ready: isReady(pod), serving: isReady(pod), terminating: isTerminating(pod) },
    targetRef: { kind: 'Pod', namespace, name, uid },
    nodeName,
    ...(zone === undefined ? {} : { zone }),
  };
}

function portsOf(service: Service): JsonObject[] {
  return itemsOf(service.spec?.ports).map(({ name = '', protocol = 'TCP', port, targetPort }) => ({
    name,
    port: typeof targetPort === 'number' ? targetPort : port,
    protocol,
  }));
}
