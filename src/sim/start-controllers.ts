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
  /** Milliseconds between two looks at the cluster: 250 by default. Nothing is done in a look when nothing has changed or fallen due. */
  readonly roundMs?: number;
  /** What is applied before life begins. An object of a kind that a controller works on is written once then, as it would stand by now. */
  readonly objects?: readonly KubernetesObject[];
}

const controllers = [
  furnishNamespaces,
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

/** How often the made-up past may change the cluster before it is left to the present. Ordinary clusters need about eight. */
const maxSettlingRounds = 40;

/**
 * Gives an embedded cluster its controllers, scheduler and kubelets: Deployments roll out, Jobs run and end, nodes report, Events come and
 * go, Services find their pods. A pod template's annotation `sim/outcome` says what its pods do: `failed` and `forever` for Jobs as in
 * tools for real clusters, `crash` and `no-image` for all.
 *
 * Before it returns it brings what is there to where it would be by now, with ages that fit. From then on it looks at the cluster in rounds
 * until the signal aborts: then nothing of it is left. Works on the cluster itself, without its network.
 */
export function startControllers(
  cluster: EmbeddedCluster,
  { clock, roundMs = 250, objects = [] }: SimControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const view = createControllerView(cluster);
  const log = createEventLog();
  const world = createWorld({ cluster, view, clock, record: (happening, at) => log.record(happening, at) });
  const round = () => {
    world.begin();
    for (const control of controllers) control(world);
    log.prune(world);
    world.end();
  };
  settle(world, objects, round);
  for (const object of objects) if (controlledKindOf(object) === undefined) cluster.put(object);
  // What takes time begins to wait now.
  round();
  return live();

  async function live(): Promise<void> {
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

function settle(world: WorldControl, objects: readonly KubernetesObject[], round: () => void): void {
  world.isFastForward = true;
  for (const object of objects) if (controlledKindOf(object) !== undefined) world.put(object);
  for (let rounds = 0; rounds < maxSettlingRounds && world.view.consumeChanged(); rounds++) round();
  world.isFastForward = false;
  world.view.flush();
}

/** Gives each namespace what every real one has: the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`. */
function furnishNamespaces(world: World): void {
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

const certificate = '-----BEGIN CERTIFICATE-----\n(an embedded cluster has none to give)\n-----END CERTIFICATE-----\n';
