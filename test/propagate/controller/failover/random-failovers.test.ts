import { expect, test } from 'vitest';
import { numberAt, textAt } from '../../../../src/core/json-at.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { type ControllerWorld, deployment, intent, startControllerWorld } from '../controller-world.ts';

const names = ['hub', 'south', 'east', 'west'];
const replicas = 6;

const figure = ({ world }: ControllerWorld, cluster: string, ...path: readonly string[]) => {
  const copy = world.cluster(cluster).get('Deployment.apps', 'web', 'default');
  return copy === undefined ? 0 : (numberAt(copy, ...path) ?? 0);
};
const sumOf = (fleet: ControllerWorld, ...path: readonly string[]) =>
  names.reduce((sum, cluster) => sum + figure(fleet, cluster, ...path), 0);

/** The uids of all copies in the clusters, and those that the inventory owns. */
function uidsIn({ world }: ControllerWorld) {
  const live = names.flatMap((cluster) => world.cluster(cluster).get('Deployment.apps', 'web', 'default')?.metadata.uid ?? []);
  const shares = world.cluster('hub').objects('ClusterShare.muster.dev');
  const owned = shares.flatMap((share) => (share.objects as never as object[]).map((one) => textAt(one as never, 'uid')));
  return { live: live.toSorted(), owned: owned.toSorted() };
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'M5: survives lost clusters and dead gateways in any order: seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    const below = (most: number) => Math.floor(random() * most);
    await using fleet = await startControllerWorld(Object.fromEntries(names.map((name) => [name, []])), { living: true });
    let process = fleet.startProcess();
    const failover = { after: '5s', return: seed % 2 === 0 ? 'BACK' : 'STAY', returnAfter: '15s' };
    await fleet.propagate(intent('web', [deployment('web', replicas)], { replicas: { mode: 'DIVIDED' }, failover } as never));
    await fleet.phase('web', 'Settled');
    let cut: { readonly cluster: string; readonly refused: Disposable } | undefined;
    let least = Number.POSITIVE_INFINITY;
    const watch = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        await fleet.world.pass(500);
        least = Math.min(least, sumOf(fleet, 'status', 'availableReplicas'));
      }
    };
    const heal = () => {
      cut?.refused[Symbol.dispose]();
      cut = undefined;
    };
    for (let step = 0; step < 8; step += 1) {
      const event = below(3);
      if (event === 0) heal();
      if (event === 1 && cut === undefined) {
        const cluster = names[1 + below(3)] ?? '';
        cut = { cluster, refused: fleet.world.cluster(cluster).refuse() };
        fleet.world.cluster(cluster).disconnect();
      }
      if (event === 2) {
        process.kill();
        fleet.freeLease();
        process = fleet.startProcess(below(2) === 0 ? {} : { life: 1 + below(12) });
      }
      await watch(1_000 * (1 + below(25)));
    }
    heal();
    process.kill();
    fleet.freeLease();
    fleet.startProcess();
    await fleet.world.until(() => {
      least = Math.min(least, sumOf(fleet, 'status', 'availableReplicas'));
      const status = fleet.mirrored('web')?.status;
      return status?.phase === 'Settled' && status.evictions === undefined;
    }, 300_000);
    const { live, owned } = uidsIn(fleet);
    expect([sumOf(fleet, 'spec', 'replicas'), owned]).toEqual([replicas, live]);
    expect(least).toBeGreaterThanOrEqual(replicas);
  },
  60_000,
);
