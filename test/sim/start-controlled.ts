import { onTestFinished } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { startControllers } from '../../src/sim/start-controllers.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

export interface Living {
  readonly cluster: SimCluster;
  readonly clock: ManualClock;
  /** Stops the controllers, and resolves when none of them runs. */
  end(): Promise<void>;
}

/** Starts a cluster with controllers, two nodes and these objects. */
export async function startLiving(...objects: readonly KubernetesObject[]): Promise<Living> {
  const clock = createManualClock({ random: seededRandom(7) });
  const cluster = await startSimCluster({ name: 'living', clock });
  onTestFinished(() => cluster[Symbol.asyncDispose]());
  for (const name of ['node-a', 'node-b']) cluster.put({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  for (const object of objects) cluster.put(object);
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const life = startControllers(cluster, { clock }, end.signal);
  await clock.advance(0);
  return {
    cluster,
    clock,
    end() {
      end.abort();
      return life;
    },
  };
}
