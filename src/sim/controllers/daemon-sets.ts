import type { DaemonSet, Pod } from './controller-view.ts';
import { counted } from './deployments.ts';
import { isReady, isTerminating, podOf } from './pods.ts';
import { changedStatus, controlEach, hashOf, suffix, type World } from './world.ts';

const from = 'daemonset-controller';
const revisionLabel = 'controller-revision-hash';

/** Keeps a Pod of each DaemonSet on every node that its node selector allows. Updates one node after the other. */
export const keepDaemonSets = controlEach('DaemonSet.apps', reconcile);

function reconcile(world: World, set: DaemonSet): void {
  const revision = hashOf(set.spec?.template);
  const selector = Object.entries(set.spec?.template?.spec?.nodeSelector ?? {});
  const nodes = [...world.view.objects('Node')].filter((node) => selector.every(([key, value]) => node.metadata.labels?.[key] === value));
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const pods = world.view.owned('Pod', set.metadata.uid);
  const covered = new Set(pods.map(nodeOf));
  for (const name of names) if (!covered.has(name)) create(world, set, { node: name, revision });
  for (const pod of pods) if (!names.has(nodeOf(pod))) world.terminate(pod);
  const stale = pods.find((pod) => pod.metadata.labels?.[revisionLabel] !== revision && !isTerminating(pod));
  if (stale !== undefined && pods.length === names.size && pods.every(isReady)) world.terminate(stale);
  report(world, set, { wanted: names.size, revision });
}

function create(world: World, set: DaemonSet, { node, revision }: { readonly node: string; readonly revision: string }): void {
  const name = `${set.metadata.name}-${suffix(world)}`;
  world.put(podOf(set, { name, labels: { [revisionLabel]: revision, 'pod-template-generation': '1' }, nodeName: node }, world));
  world.record({ to: set, type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}`, from });
}

function report(world: World, set: DaemonSet, { wanted, revision }: { readonly wanted: number; readonly revision: string }): void {
  const pods = world.view.owned('Pod', set.metadata.uid).filter((pod) => !isTerminating(pod));
  const ready = pods.filter(isReady).length;
  const next = changedStatus(set, {
    currentNumberScheduled: pods.length,
    numberMisscheduled: 0,
    desiredNumberScheduled: wanted,
    numberReady: ready,
    observedGeneration: set.metadata.generation,
    ...counted({ updatedNumberScheduled: pods.filter((pod) => pod.metadata.labels?.[revisionLabel] === revision).length }),
    ...counted({ numberAvailable: ready, numberUnavailable: wanted - ready }),
  });
  if (next !== undefined) world.put(next);
}

function nodeOf(pod: Pod): string {
  return pod.spec?.nodeName ?? '';
}
