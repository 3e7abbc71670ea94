import { hasTrueCondition } from '../../core/conditions.ts';
import { itemsOf } from '../../core/stored.ts';
import type { Node, Pod } from './controller-view.ts';
import { isFinished, isTerminating } from './pods.ts';
import { type World, withCondition } from './world.ts';

const from = 'default-scheduler';

/**
 * Binds each pending Pod after 0.1 to 0.4 s to a node that is ready, schedulable, matches its node selector and is large enough. Chooses
 * the node with the fewest Pods.
 */
export function bindPods(world: World): void {
  const waiting = [...world.view.objects('Pod')].filter((pod) => !pod.spec?.nodeName && !isTerminating(pod));
  if (waiting.length === 0) return;
  const pods = countPods(world);
  for (const pod of waiting) {
    const isKnownUnschedulable = itemsOf(pod.status?.conditions).length > 0;
    if (isKnownUnschedulable && world.isFastForward) continue;
    const [minMs, maxMs] = isKnownUnschedulable ? [15_000, 20_000] : [100, 400];
    if (!world.hasElapsed(`pod ${pod.metadata.uid} binds`, minMs, maxMs)) continue;
    const fitting = [...world.view.objects('Node')].filter((node) => isFitting(node, pod));
    const [node] = fitting.toSorted((a, b) => (pods.get(a.metadata.name) ?? 0) - (pods.get(b.metadata.name) ?? 0));
    if (node === undefined) refuse(world, pod);
    else {
      pods.set(node.metadata.name, (pods.get(node.metadata.name) ?? 0) + 1);
      bind(world, pod, node);
    }
  }
}

function countPods(world: World): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pod of world.view.objects('Pod')) {
    const node = pod.spec?.nodeName;
    if (node !== undefined && !isFinished(pod)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}

function bind(world: World, pod: Pod, node: Node): void {
  const { namespace, name } = pod.metadata;
  const message = `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`;
  world.record({ to: pod, type: 'Normal', reason: 'Scheduled', message, from });
  const conditions = withCondition(itemsOf(pod.status?.conditions), { type: 'PodScheduled', status: 'True' }, world.nowMs);
  world.put({ ...pod, spec: { ...pod.spec, nodeName: node.metadata.name }, status: { ...pod.status, conditions } });
}

function refuse(world: World, pod: Pod): void {
  const count = world.view.count('Node');
  const message = `0/${count} nodes are available: ${count} node(s) didn't match what the pod asks for.`;
  world.record({ to: pod, type: 'Warning', reason: 'FailedScheduling', message, from });
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
  const before = itemsOf(pod.status?.conditions);
  const conditions = withCondition(before, condition, world.nowMs);
  if (conditions !== before) world.put({ ...pod, status: { ...pod.status, conditions } });
}

function isFitting(node: Node, pod: Pod): boolean {
  if (node.spec?.unschedulable === true || !hasTrueCondition(node, 'Ready')) return false;
  const wanted = Object.entries(pod.spec?.nodeSelector ?? {});
  if (wanted.some(([key, value]) => node.metadata.labels?.[key] !== value)) return false;
  const requests = itemsOf(pod.spec?.containers).map((container) => cores(container?.resources?.requests?.cpu));
  return requests.reduce((sum, one) => sum + one, 0) <= cores(node.status?.allocatable?.cpu);
}

function cores(quantity: string | undefined): number {
  if (quantity === undefined) return 0;
  return quantity.endsWith('m') ? Number(quantity.slice(0, -1)) / 1000 : Number(quantity);
}
