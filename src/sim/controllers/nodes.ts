import type { V1Condition } from '@kubernetes/client-node';
import { hasTrueCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';
import type { Node } from './controller-view.ts';
import { kubernetesTime, type World, withCondition } from './world.ts';

/** The annotation `sim/ready: "false"` makes a node unreachable. */
export const readyAnnotation = 'sim/ready';

const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** Renews the Lease of each ready node about every 10 s, and its conditions every 30 s. Reports a change of readiness at once. */
export function reportNodes(world: World): void {
  for (const node of [...world.view.objects('Node')]) {
    const isReady = node.metadata.annotations?.[readyAnnotation] !== 'false';
    const conditions = itemsOf(node.status?.conditions);
    const isReported = conditions.length > 0 && hasTrueCondition(node, 'Ready') === isReady;
    const isDue = world.hasElapsed(`node ${node.metadata.uid} reports`, 30_000, 33_000);
    if (!isReported || (isDue && isReady)) world.put({ ...node, status: statusOf(world, node) });
    if (!isReported && conditions.length > 0) {
      const reason = isReady ? 'NodeReady' : 'NodeNotReady';
      const message = `Node ${node.metadata.name} status is now: ${reason}`;
      world.record({ to: node, type: 'Normal', reason, message, from: isReady ? 'kubelet' : 'node-controller' });
    }
    if (isReady && world.hasElapsed(`node ${node.metadata.uid} beats`, 10_000, 11_000)) renewLease(world, node);
  }
}

function statusOf(world: World, node: Node): JsonObject {
  const before = node.status;
  const isReady = node.metadata.annotations?.[readyAnnotation] !== 'false';
  let conditions: readonly Stored<V1Condition>[] = itemsOf(before?.conditions);
  for (const type of pressures) {
    const isPressed = hasTrueCondition(node, type);
    const reason = isPressed ? `KubeletHas${type.replace('Pressure', '')}Pressure` : `KubeletHasNo${type.replace('Pressure', '')}Pressure`;
    conditions = withCondition(conditions, { type, status: isPressed ? 'True' : 'False', reason }, world.nowMs);
  }
  const ready = isReady
    ? ({ status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' } as const)
    : ({ status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' } as const);
  conditions = withCondition(conditions, { type: 'Ready', ...ready }, world.nowMs);
  const updated = conditions.map((condition) => ({ ...condition, lastHeartbeatTime: kubernetesTime(world.nowMs) }));
  return { ...defaultsOf(node), ...before, conditions: updated };
}

function defaultsOf({ metadata }: KubernetesObject): JsonObject {
  const capacity = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  return {
    addresses: [
      { type: 'InternalIP', address: `10.0.${metadata.name.length}.${1 + (metadata.name.charCodeAt(metadata.name.length - 1) % 250)}` },
      { type: 'Hostname', address: metadata.name },
    ],
    capacity,
    allocatable: capacity,
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
  };
}

function renewLease(world: World, node: Node): void {
  const { name } = node.metadata;
  const before = world.view.find('Lease.coordination.k8s.io', name, 'kube-node-lease');
  const renewTime = new Date(world.nowMs).toISOString().replace('Z', '000Z');
  if (before?.spec?.renewTime === renewTime) return;
  const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' };
  world.put({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: before?.metadata ?? { name, namespace: 'kube-node-lease', ownerReferences: [owner] },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  });
}
