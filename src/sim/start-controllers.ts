import type { Clock } from '../core/clock.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { controlledKindOf, createControllerView } from './controllers/controller-view.ts';
import { startCronJobs } from './controllers/cron-jobs.ts';
import { keepDaemonSets } from './controllers/daemon-sets.ts';
import { keepDeployments } from './controllers/deployments.ts';
import { createEventLog } from './controllers/events.ts';
import { runJobs } from './controllers/jobs.ts';
import { runPods } from './controllers/kubelet.ts';
import { reportNodes } from './controllers/nodes.ts';
import { isTerminating } from './controllers/pods.ts';
import { keepReplicaSets } from './controllers/replica-sets.ts';
import { bindPods } from './controllers/scheduler.ts';
import { keepServices } from './controllers/services.ts';
import { keepStatefulSets } from './controllers/stateful-sets.ts';
import { createWorld, type World, type WorldControl } from './controllers/world.ts';
import type { EmbeddedCluster } from './kinds/embedded-cluster.ts';

export interface SimControllerOptions {
  readonly clock: Clock;
  /** Milliseconds between two rounds. A round does nothing unless an object has changed or a timer has elapsed. Default: 250. */
  readonly roundMs?: number;
  /**
   * Objects to apply first. Default: none. If a controller works on the kind of an object, the object is written once, in the state that it
   * would have reached by now.
   */
  readonly objects?: readonly KubernetesObject[];
}

const controllers = [
  keepNamespaceDefaults,
  reportNodes,
  startCronJobs,
  runJobs,
  keepDeployments,
  keepReplicaSets,
  keepStatefulSets,
  keepDaemonSets,
  bindPods,
  runPods,
  keepServices,
] as const;

/** The largest number of rounds in fast forward. Ordinary clusters need about eight. */
const maxPastRounds = 40;

/**
 * Runs the controllers, the scheduler and the kubelets of an embedded cluster, without its network.
 *
 * Deployments roll out, Jobs end, nodes report, Events expire, and Services find their Pods. The annotation `sim/outcome` of a Pod
 * template decides how its Pods end: `failed` or `forever` for Jobs, `crash` or `no-image` for all Pods (see `runPods`).
 *
 * Before the function returns, it simulates the past, so that objects have the state and age of a running cluster. Then it works in rounds
 * until the signal aborts, and leaves no timer behind.
 */
export function startControllers(
  cluster: EmbeddedCluster,
  { clock, roundMs = 250, objects = [] }: SimControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const view = createControllerView(cluster);
  const log = createEventLog();
  const world = createWorld({ cluster, view, clock, record: (event, at) => log.record(event, at) });
  const round = () => {
    world.begin();
    for (const control of controllers) control(world);
    log.prune(world);
    world.end();
  };
  simulatePast(world, objects, round);
  for (const object of objects) if (controlledKindOf(object) === undefined) cluster.put(object);
  // The first round outside of fast forward starts the timers of everything that takes time.
  round();
  return runRounds();

  async function runRounds(): Promise<void> {
    try {
      while (!signal.aborted) {
        if (view.consumeChanged() || world.isDue()) round();
        await clock.sleep(roundMs, signal);
      }
    } finally {
      view[Symbol.dispose]();
    }
  }
}

function simulatePast(world: WorldControl, objects: readonly KubernetesObject[], round: () => void): void {
  world.isFastForward = true;
  for (const object of objects) if (controlledKindOf(object) !== undefined) world.put(object);
  for (let rounds = 0; rounds < maxPastRounds && world.view.consumeChanged(); rounds++) round();
  world.isFastForward = false;
  world.view.flush();
}

/** Gives each namespace the objects of every real one: the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`. */
function keepNamespaceDefaults(world: World): void {
  for (const namespace of [...world.view.objects('Namespace')]) {
    if (isTerminating(namespace)) continue;
    const { name } = namespace.metadata;
    const creationTimestamp = world.creationTimeFor(namespace);
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

const certificate = '-----BEGIN CERTIFICATE-----\n(an embedded cluster has no certificate authority)\n-----END CERTIFICATE-----\n';
