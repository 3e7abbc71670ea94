import { expect, test } from 'vitest';
import { numberAt, textAt } from '../../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import type { SimWrite } from '../../../support/sim/sim-cluster.ts';
import { type ControllerWorld, deployment, intent, startControllerWorld } from '../controller-world.ts';

const names = ['hub', 'south', 'east', 'west'];

/**
 * Milliseconds after which the gateway must know that a cluster is away, or that a copy is not healthy any more. A copy that was healthy a
 * moment ago may still count.
 */
const knownAfterMs = 5_000;

/** Milliseconds of the clock between two samples. */
const sampleMs = 500;

const copyIn = ({ world }: ControllerWorld, cluster: string) => world.cluster(cluster).get('Deployment.apps', 'web', 'default');
const availableOf = (copy: KubernetesObject | undefined) => (copy && numberAt(copy, 'status', 'availableReplicas')) ?? 0;

/** The uids of all copies in the clusters, and those that the inventory owns. */
function uidsIn({ world }: ControllerWorld) {
  const live = names.flatMap((cluster) => world.cluster(cluster).get('Deployment.apps', 'web', 'default')?.metadata.uid ?? []);
  const shares = world.cluster('hub').objects('ClusterShare.muster.dev');
  const owned = shares.flatMap((share) => (share.objects as never as object[]).map((one) => textAt(one as never, 'uid')));
  return { live: live.toSorted(), owned: owned.toSorted() };
}

/** The replicas that the copies in all clusters want. */
const wantedIn = (fleet: ControllerWorld) =>
  names.reduce((sum, name) => sum + (numberAt(copyIn(fleet, name) ?? {}, 'spec', 'replicas') ?? 0), 0);

/**
 * Lets time pass until the Propagation is settled without evictions, and its inventory owns exactly the copies that exist.
 *
 * @throws {Error} With the status, the copies and the shares after 600 s of the clock.
 */
async function untilAtRest(fleet: ControllerWorld, troubled: TroubledFleet, replicas: number): Promise<void> {
  const { world } = fleet;
  try {
    await world.until(() => {
      troubled.sample();
      const status = fleet.mirrored('web')?.status;
      const { live, owned } = uidsIn(fleet);
      // The mirror of a hub that was away can still have the status from before.
      return (
        status?.phase === 'Settled' && status.evictions === undefined && wantedIn(fleet) === replicas && String(owned) === String(live)
      );
    }, 600_000);
  } catch (error) {
    const clusters = names.map((name) => {
      const copy = copyIn(fleet, name);
      const pods = world
        .cluster(name)
        .objects('Pod')
        .map(({ metadata, status }) => ({ name: metadata.name, status }));
      return {
        name,
        member: world.members.get(name),
        copy: copy && { metadata: copy.metadata, spec: copy.spec, status: copy.status },
        pods,
      };
    });
    const [stored] = world.cluster('hub').objects('Propagation.muster.dev');
    const shares = world
      .cluster('hub')
      .objects('ClusterShare.muster.dev')
      .map(({ metadata, objects }) => ({ name: metadata.name, objects }));
    const facts = { at: world.clock.now(), wanted: wantedIn(fleet), mirrored: fleet.mirrored('web')?.status, stored, shares, clusters };
    throw new Error(`expected the fleet to be at rest, got ${JSON.stringify(facts, null, 1)}`, { cause: error });
  }
}

/** Clusters that go away or whose Pods crash, and the losses of healthy copies that the gateway causes meanwhile. */
class TroubledFleet {
  readonly #fleet: ControllerWorld;
  readonly #replicas: number;
  readonly #cuts = new Map<string, { readonly sinceMs: number; readonly refused: Disposable }>();
  readonly #sick = new Set<string>();
  /** The available replicas of the last `knownAfterMs`, for each cluster. The newest is last. */
  readonly #samples = new Map<string, number[]>();
  /** One sentence per write that gave up healthy copies too early. */
  readonly losses: string[] = [];
  /** The smallest number of available replicas in all clusters so far, also in those that are away. */
  leastAvailable = Number.POSITIVE_INFINITY;

  constructor(fleet: ControllerWorld, replicas: number) {
    this.#fleet = fleet;
    this.#replicas = replicas;
    for (const name of names) {
      fleet.world.cluster(name).onWrite((write) => {
        const loss = this.#lossOf(name, write);
        if (loss !== undefined) this.losses.push(loss);
        return undefined;
      });
    }
  }

  /** Cuts the cluster off, or brings it back. At most two clusters are away at a time. */
  cutOrHeal(name: string): void {
    const cut = this.#cuts.get(name);
    if (cut !== undefined) {
      cut.refused[Symbol.dispose]();
      this.#cuts.delete(name);
    } else if (this.#cuts.size < 2) {
      const cluster = this.#fleet.world.cluster(name);
      this.#cuts.set(name, { sinceMs: this.#fleet.world.clock.monotonic(), refused: cluster.refuse() });
      cluster.disconnect();
    }
  }

  /** Lets all Pods of the cluster crash, or replaces them by healthy ones. At most one cluster is sick at a time. */
  sickenOrCure(name: string): void {
    if (this.#sick.delete(name)) {
      const cluster = this.#fleet.world.cluster(name);
      for (const { metadata } of cluster.objects('Pod')) cluster.remove('Pod', metadata.name, 'default');
    } else if (this.#sick.size === 0) this.#sick.add(name);
  }

  healAll(): void {
    for (const name of this.#cuts.keys()) this.cutOrHeal(name);
    for (const name of this.#sick) this.sickenOrCure(name);
  }

  /** Lets this time pass. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += sampleMs) {
      this.sample();
      await this.#fleet.world.pass(sampleMs);
    }
  }

  /** Records the available replicas, and lets new Pods of sick clusters crash. */
  sample(): void {
    const counts = names.map((name) => ({ name, count: availableOf(copyIn(this.#fleet, name)) }));
    for (const { name, count } of counts) {
      this.#samples.set(name, [...(this.#samples.get(name) ?? []), count].slice(-knownAfterMs / sampleMs));
    }
    this.leastAvailable = Math.min(
      this.leastAvailable,
      counts.reduce((sum, { count }) => sum + count, 0),
    );
    for (const name of this.#sick) {
      const cluster = this.#fleet.world.cluster(name);
      for (const pod of cluster.objects('Pod')) {
        if (pod.metadata.annotations?.['sim/outcome'] !== undefined) continue;
        cluster.put({ ...pod, metadata: { ...pod.metadata, annotations: { 'sim/outcome': 'crash' } } });
      }
    }
  }

  /** Returns why the write gave up healthy copies too early. Undefined if it was allowed. */
  #lossOf(cluster: string, { kind, name, manager, isDry, result, object }: SimWrite): string | undefined {
    if (kind !== 'Deployment' || name !== 'web' || manager !== 'muster' || isDry) return undefined;
    const before = availableOf(object);
    const isGone = result === 'deleted' || result === 'marked';
    const after = isGone ? 0 : Math.min(before, numberAt(object, 'spec', 'replicas') ?? 0);
    const lost = before - after;
    if (lost === 0) return undefined;
    const elsewhere = names.filter((other) => other !== cluster).map((other) => this.#availableIn(other));
    const left = after + elsewhere.reduce((sum, count) => sum + count, 0);
    const wanted = Math.min(this.#replicas, left + lost);
    if (left >= wanted || this.#areReplacementsHealthy(cluster)) return undefined;
    const atMs = Math.round(this.#fleet.world.clock.monotonic());
    const away = [...this.#cuts].map(([one, { sinceMs }]) => `${one} since ${Math.round(sinceMs)}`);
    return `at ${atMs} ${cluster} lost ${lost} of ${before} healthy replicas (${result}); elsewhere ${elsewhere}; away: ${away}; sick: ${[...this.#sick]}`;
  }

  /** True if other clusters took over the share of this cluster, and have all their replicas. A third cluster may be sick meanwhile. */
  #areReplacementsHealthy(cluster: string): boolean {
    const to = this.#fleet.mirrored('web')?.status.evictions?.find((eviction) => eviction.cluster === cluster)?.to ?? [];
    const isWhole = (name: string) => {
      const wanted = numberAt(copyIn(this.#fleet, name) ?? {}, 'spec', 'replicas') ?? 0;
      return wanted > 0 && this.#availableIn(name) >= wanted;
    };
    return to.length > 0 && to.every(isWhole);
  }

  #availableIn(name: string): number {
    const cut = this.#cuts.get(name);
    if (cut !== undefined && this.#fleet.world.clock.monotonic() - cut.sinceMs > knownAfterMs) return 0;
    return Math.max(availableOf(copyIn(this.#fleet, name)), ...(this.#samples.get(name) ?? []));
  }
}

test.each(Array.from({ length: 20 }, (_, index) => index + 1))(
  'M5: moves copies only to healthy ones, while clusters go away, Pods crash and gateways die: seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    const below = (most: number) => Math.floor(random() * most);
    const nameAt = (index: number) => names[index] ?? '';
    await using fleet = await startControllerWorld(Object.fromEntries(names.map((name) => [name, []])), { living: true });
    const isDivided = seed % 4 < 2;
    const mayCrash = seed % 3 > 0;
    const replicas = isDivided ? 6 : 2;
    const groups = ['south', 'east', 'hub'].map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));
    const placing = isDivided ? { replicas: { mode: 'DIVIDED' } } : { placement: { affinityGroups: groups } };
    const failover = { after: '5s', return: seed % 2 === 0 ? 'BACK' : 'STAY', returnAfter: '15s', grace: '1h' };
    let process = fleet.startProcess();
    await fleet.propagate(intent('web', [deployment('web', replicas)], { ...placing, failover } as never));
    await fleet.phase('web', 'Settled');
    const troubled = new TroubledFleet(fleet, replicas);
    for (let step = 0; step < 6; step += 1) {
      const event = below(5);
      if (event <= 1) troubled.cutOrHeal(nameAt(below(4)));
      if (event === 2) troubled.cutOrHeal(nameAt(1 + below(2)));
      if (event === 3 && mayCrash) troubled.sickenOrCure(nameAt(below(3)));
      if (event === 4) {
        process.kill();
        fleet.freeLease();
        process = fleet.startProcess(below(2) === 0 ? {} : { life: 1 + below(12) });
      }
      await troubled.pass(1_000 * (2 + below(25)));
    }
    troubled.healAll();
    process.kill();
    fleet.freeLease();
    fleet.startProcess();
    await untilAtRest(fleet, troubled, replicas);
    expect(troubled.losses).toEqual([]);
    if (!mayCrash) expect(troubled.leastAvailable).toBeGreaterThanOrEqual(replicas);
  },
  120_000,
);
