import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import { deployment, intent, startControllerWorld } from '../../propagate/controller/controller-world.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { createDice, type Dice } from '../migrations/random-fleet.ts';
import type { SeedResult } from '../run-seeds.ts';
import { FailingFleet, failoverClusters } from './failing-fleet.ts';
import { FailoverWatch, sampleMs } from './failover-watch.ts';

/** The random settings of a seed. */
interface FailoverSettings {
  /** True: six replicas over all clusters. False: two replicas in the first of three affinity groups. */
  readonly isDivided: boolean;
  readonly purge: 'GRACEFULLY' | 'DIRECTLY' | 'NEVER';
  readonly returns: 'STAY' | 'BACK';
  readonly unhealthyAfter: string | undefined;
  readonly tolerations: readonly JsonObject[];
  /** True if Pods may crash. */
  readonly isSickly: boolean;
  /** True if another client may take the name of a copy. */
  readonly hasStrangers: boolean;
}

const maintenance = { key: 'maintenance', operator: 'EXISTS' };
const tolerationChoices: readonly (readonly JsonObject[])[] = [
  [],
  [{ ...maintenance, effect: 'NO_EXECUTE', tolerationSeconds: 12 }],
  [maintenance],
];

function settingsOf(dice: Dice): FailoverSettings {
  const isSickly = dice.chance(0.6);
  const purge = dice.pick(['GRACEFULLY', 'GRACEFULLY', 'DIRECTLY', 'NEVER'] as const);
  return {
    isDivided: dice.chance(0.5),
    purge,
    returns: dice.pick(['STAY', 'BACK'] as const),
    unhealthyAfter: dice.chance(0.5) ? '10s' : undefined,
    tolerations: dice.pick(tolerationChoices),
    isSickly,
    // With `purge` Never, Muster may adopt every object of that name.
    hasStrangers: purge !== 'NEVER' && dice.chance(0.4),
  };
}

/**
 * Runs one random schedule of failovers over four embedded clusters and a manual clock: clusters are cut off, freeze and return, several
 * shortly after each other; Pods crash; clusters get taints; the rollout is paused; the hub refuses statuses; gateways are killed; another
 * client takes the name of a copy. Then all faults end. Checks each write (`FailoverWatch`) and the state at rest.
 */
export async function runFailoverSchedule(seed: number): Promise<SeedResult> {
  const dice = createDice(seededRandom(seed));
  const settings = settingsOf(dice);
  await using world = await startControllerWorld(Object.fromEntries(failoverClusters.map((name) => [name, []])), { living: true });
  const schedule = new FailoverSchedule({ dice, settings, fleet: new FailingFleet(world) });
  return await schedule.run();
}

interface ScheduleParts {
  readonly dice: Dice;
  readonly settings: FailoverSettings;
  readonly fleet: FailingFleet;
}

const eventsPerSchedule = 7;

class FailoverSchedule {
  readonly #parts: ScheduleParts;
  readonly #replicas: number;
  readonly #watch: FailoverWatch;
  readonly #records: string[] = [];
  readonly #away = new Map<string, { readonly how: 'cut' | 'frozen'; readonly sinceMs: number; readonly fault: Disposable }>();
  readonly #sick = new Set<string>();
  readonly #tainted = new Set<string>();
  /** The causes for which clusters were left, each with the purge: `Taint GRACEFULLY`. */
  readonly #left = new Set<string>();
  #evictions = '';
  #refusedStatuses: Disposable | undefined;
  #process: { kill(): void };

  constructor(parts: ScheduleParts) {
    const { fleet, settings } = parts;
    this.#parts = parts;
    this.#replicas = settings.isDivided ? 6 : 2;
    this.#watch = new FailoverWatch({ fleet, replicas: this.#replicas, purge: settings.purge, away: this.#away, sick: this.#sick });
    this.#process = fleet.world.startProcess();
  }

  async run(): Promise<SeedResult> {
    const { dice, settings, fleet } = this.#parts;
    this.#record(JSON.stringify(settings));
    await fleet.world.propagate(this.#intent());
    await fleet.world.phase('web', 'Settled');
    for (let count = 0; count < eventsPerSchedule; count += 1) {
      await this.#disturb();
      await this.#pass(dice.pick([2_000, 8_000, 14_000, 14_000, 26_000]));
    }
    this.#endFaults();
    const atRest = await this.#violationsAtRest();
    // Another client, a direct purge and crashing Pods take healthy replicas away, whatever the gateway does.
    const isSteady = !settings.isSickly && !settings.hasStrangers && settings.purge !== 'DIRECTLY';
    const { leastAvailable } = this.#watch;
    const outage =
      isSteady && leastAvailable < this.#replicas ? [`${leastAvailable} replicas were healthy, expected ${this.#replicas} always`] : [];
    const violations = [...this.#watch.violations(), ...outage, ...atRest];
    return { records: this.#records, violations, reached: [...this.#left] };
  }

  #intent() {
    const { isDivided, purge, returns, unhealthyAfter, tolerations } = this.#parts.settings;
    const groups = ['south', 'east', 'hub'].map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));
    const failover = {
      ...{ after: '5s', purge, return: returns, returnAfter: '15s' },
      ...(purge === 'GRACEFULLY' ? { grace: '1h' } : {}),
      ...(unhealthyAfter === undefined ? {} : { unhealthyAfter }),
    };
    const placement = { tolerations, ...(isDivided ? {} : { affinityGroups: groups }) };
    // A released copy is in the way of the next one, unless it is adopted.
    const conflict = purge === 'NEVER' ? { conflict: 'ADOPT' } : {};
    const more = { placement, failover, ...conflict, ...(isDivided ? { replicas: { mode: 'DIVIDED' } } : {}) };
    return intent('web', [deployment('web', this.#replicas)], more as never);
  }

  #record(text: string): void {
    this.#records.push(`${(this.#parts.fleet.nowMs() / 1_000).toFixed(1)} s ${text}`);
  }

  async #disturb(): Promise<void> {
    const { dice, settings } = this.#parts;
    const name = dice.pick(failoverClusters);
    const events = {
      breakOrHeal: () => (this.#away.has(name) ? this.#heal(name) : this.#break(name, dice.chance(0.3) ? 'frozen' : 'cut')),
      breakTakingOver: () => this.#break(dice.pick(['south', 'east']), 'cut'),
      returnAll: () => this.#returnAll(),
      taint: () => this.#taintOrClear(name, dice.pick(['NoExecute', 'NoExecute', 'NoSchedule'])),
      kill: () => this.#restart(dice.chance(0.5) ? {} : { life: 1 + dice.below(12) }),
      refuseStatuses: () => this.#refuseStatuses(1 + dice.below(8)),
      pause: () => this.#setPaused(this.#parts.fleet.propagation()?.metadata.annotations?.[marks.paused] === undefined),
      sicken: () => (settings.isSickly ? this.#sickenOrCure(dice.pick(['hub', 'south', 'east'])) : undefined),
      replace: () => (settings.hasStrangers ? this.#replace(name) : undefined),
    } as const;
    const kinds = Object.keys(events) as (keyof typeof events)[];
    const frequent = ['breakOrHeal', 'breakTakingOver', 'breakTakingOver', 'taint', 'taint', 'sicken', 'sicken'] as const;
    await events[dice.pick([...kinds, ...frequent])]();
  }

  /** Cuts a cluster off, or freezes it. At most two clusters are away at a time. */
  #break(name: string, how: 'cut' | 'frozen'): void {
    if (this.#away.size >= 2 || this.#away.has(name)) return;
    const cluster = this.#parts.fleet.cluster(name);
    this.#record(`${how} ${name}`);
    this.#away.set(name, { how, sinceMs: this.#parts.fleet.nowMs(), fault: how === 'cut' ? cluster.refuse() : cluster.silence() });
    if (how === 'cut') cluster.disconnect();
  }

  #heal(name: string): void {
    this.#record(`${name} is back`);
    this.#away.get(name)?.fault[Symbol.dispose]();
    this.#away.delete(name);
  }

  /** All clusters that are away return shortly after each other. */
  async #returnAll(): Promise<void> {
    for (const name of [...this.#away.keys()]) {
      this.#heal(name);
      await this.#pass(this.#parts.dice.pick([500, 1_500, 4_000]));
    }
  }

  /** Sets a taint, or removes it. At most two clusters have one. */
  #taintOrClear(name: string, effect: string): void {
    const isTainted = this.#tainted.has(name);
    if (!isTainted && this.#tainted.size >= 2) return;
    this.#record(isTainted ? `no taint in ${name}` : `taint ${effect} in ${name}`);
    if (isTainted) this.#tainted.delete(name);
    else this.#tainted.add(name);
    this.#parts.fleet.world.world.redescribe(name, { taints: isTainted ? [] : [{ key: 'maintenance', effect }] });
  }

  #restart(options: { readonly life?: number }): void {
    const { fleet } = this.#parts;
    this.#record(`kill, and start with life ${options.life ?? 'without end'}`);
    this.#process.kill();
    fleet.world.freeLease();
    this.#process = fleet.world.startProcess(options);
  }

  #refuseStatuses(times: number): void {
    this.#record(`the hub refuses ${times} statuses`);
    this.#refusedStatuses?.[Symbol.dispose]();
    const path = '/apis/muster.dev/v1alpha1/namespaces/default/propagations/web/status';
    this.#refusedStatuses = this.#parts.fleet.cluster('hub').answer({ status: 500, times }, { path });
  }

  #setPaused(isPaused: boolean): void {
    const { fleet } = this.#parts;
    const propagation = fleet.propagation();
    if (propagation === undefined) return;
    this.#record(isPaused ? 'pause' : 'resume');
    const { [marks.paused]: _, ...others } = propagation.metadata.annotations ?? {};
    const resumedAt = new Date(fleet.world.world.clock.now()).toISOString();
    const annotations = { ...others, ...(isPaused ? { [marks.paused]: 'true' } : { [marks.resumedAt]: resumedAt }) };
    fleet.cluster('hub').put({ ...propagation, metadata: { ...propagation.metadata, annotations } });
  }

  /** Lets all Pods of the cluster crash, or replaces them by healthy ones. At most one cluster is sick at a time. */
  #sickenOrCure(name: string): void {
    const isSick = this.#sick.delete(name);
    if (!isSick && this.#sick.size > 0) return;
    this.#record(isSick ? `Pods in ${name} are healthy` : `Pods in ${name} crash`);
    if (!isSick) this.#sick.add(name);
    else for (const { metadata } of this.#podsIn(name)) this.#parts.fleet.cluster(name).remove('Pod', metadata.name, 'default');
  }

  #podsIn(name: string): readonly KubernetesObject[] {
    return this.#parts.fleet.cluster(name).objects('Pod');
  }

  /** Another client deletes the copy in a cluster, and creates its own object of that name. */
  #replace(name: string): void {
    const { fleet } = this.#parts;
    if (fleet.copyIn(name)?.owner !== 'muster') return;
    const cluster = fleet.cluster(name);
    cluster.remove('Deployment.apps', 'web', 'default');
    const { apiVersion, kind, metadata, spec } = deployment('web', 1) as unknown as KubernetesObject;
    const object = cluster.put({ apiVersion, kind, metadata: { ...metadata, labels: { of: 'another client' } }, spec } as KubernetesObject);
    fleet.strangers.set(object.metadata.uid ?? '', fleet.copyOf(name, object));
    this.#record(`another client replaces the copy in ${name}`);
  }

  /** Lets this time pass. */
  async #pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += sampleMs) {
      this.#sample();
      await this.#parts.fleet.world.world.pass(sampleMs);
    }
  }

  /** Records the available replicas and the evictions, and lets new Pods of sick clusters crash. */
  #sample(): void {
    this.#watch.sample();
    const evictions = this.#parts.fleet.evictions();
    for (const { cause, to } of evictions) if (to !== undefined) this.#left.add(`${cause} ${this.#parts.settings.purge}`);
    const text = evictions.map(({ cluster, cause, to }) => `${cluster} ${cause} to ${to ?? 'no cluster yet'}`).join('; ');
    if (text !== this.#evictions) this.#record(`evictions: ${text}`);
    this.#evictions = text;
    for (const name of this.#sick) {
      for (const pod of this.#podsIn(name)) {
        if (pod.metadata.annotations?.['sim/outcome'] !== undefined) continue;
        this.#parts.fleet.cluster(name).put({ ...pod, metadata: { ...pod.metadata, annotations: { 'sim/outcome': 'crash' } } });
      }
    }
  }

  /** Ends all faults, makes the decisions of a person, and starts a new gateway. */
  #endFaults(): void {
    const { fleet } = this.#parts;
    for (const name of [...this.#away.keys()]) this.#heal(name);
    for (const name of [...this.#sick]) this.#sickenOrCure(name);
    for (const name of [...this.#tainted]) this.#taintOrClear(name, '');
    this.#refusedStatuses?.[Symbol.dispose]();
    for (const [uid, { cluster }] of fleet.strangers) {
      if (fleet.copyIn(cluster)?.uid !== uid) continue;
      this.#record(`the other client deletes its object in ${cluster}`);
      fleet.cluster(cluster).remove('Deployment.apps', 'web', 'default');
    }
    this.#setPaused(false);
    this.#restart({});
  }

  /**
   * Lets time pass until the Propagation is settled without evictions and the inventory owns exactly the copies that exist. Returns what
   * is wrong after 600 s of the clock.
   */
  async #violationsAtRest(): Promise<readonly string[]> {
    const { world } = this.#parts.fleet.world;
    const isAtRest = () => {
      this.#sample();
      return this.#unsettled().length === 0;
    };
    await world.until(isAtRest, 600_000).catch(() => undefined);
    return this.#unsettled();
  }

  #unsettled(): readonly string[] {
    const { fleet } = this.#parts;
    const copies = fleet.copies();
    const ours = copies.filter(({ owner }) => owner === 'muster');
    const live = ours.map(({ uid }) => uid).toSorted();
    const wanted = ours.reduce((sum, copy) => sum + copy.wanted, 0);
    const recorded = fleet.leftBehindUids();
    const lost = copies.filter(({ owner, uid }) => owner === 'left' && !recorded.includes(uid));
    const { status } = fleet.world.mirrored('web') ?? {};
    return [
      // The mirror of a hub that was away can still have the status from before.
      ...(status?.phase === 'Settled' && fleet.phase() === 'Settled' ? [] : [`expected Settled, got ${fleet.phase()}`]),
      ...fleet.evictions().map((one) => `the eviction of ${one.cluster} lasts: ${JSON.stringify(one)}`),
      ...(wanted === this.#replicas ? [] : [`the copies want ${wanted} replicas, expected ${this.#replicas}`]),
      ...(String(fleet.ownedUids()) === String(live) ? [] : [`the inventory has ${fleet.ownedUids()}, and the clusters have ${live}`]),
      ...lost.map(({ cluster }) => `the copy that was released in ${cluster} is not in leftBehind`),
    ];
  }
}
