import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { migrationMarks } from '../../../src/migrate/model/migration.ts';
import type { MigratedApp } from '../../../src/migrate/model/migration-status-definition.ts';
import { type MigrationWorld, startMigrationWorld } from '../../migrate/steps/migration-world.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { SeedResult } from '../run-seeds.ts';
import { violationsOfEnd } from './final-phase.ts';
import { type MoveOutcome, violationsAtRest } from './final-state.ts';
import { createMoveHook, type MoveHook } from './move-hook.ts';
import { watchMoves } from './move-watch.ts';
import {
  availableIn,
  clusterNames,
  contentOf,
  hasServiceIn,
  keyOf,
  type MovingFleet,
  migrationOnHub,
  type Stranger,
  statusOf,
} from './moving-fleet.ts';
import { createDice, createRandomFleet, type Dice, movingLabels, type RandomFleet } from './random-fleet.ts';

/** The steps at which a schedule ends the move, in turn. `Never`: it is left alone. */
const ends = ['Never', 'Preflight', 'Surge', 'Health', 'Traffic', 'Soak', 'Drain', 'Remove', 'Done'] as const;

const name = 'move';

/** A write may follow a read that was answered this long before. */
const maxReadMs = 1_000;

/**
 * Runs one random schedule over four embedded clusters and a manual clock. Kills the leader after any write, suspends it, cuts clusters off
 * and freezes them, loses answers, creates strangers, and undoes or deletes the Migration as soon as an application is at a step. Then all
 * faults end, and a person decides what waits for a person. Checks the invariants of `watchMoves`, `violationsAtRest` and the hook.
 */
export async function runMigrationSchedule(seed: number): Promise<SeedResult> {
  const dice = createDice(seededRandom(seed));
  const fleet = createRandomFleet(dice);
  await using hook = await createMoveHook(dice);
  await using world = await startMigrationWorld({
    objects: fleet.south,
    others: { east: fleet.east, west: [] },
    hook: hook.configured,
  });
  const schedule = new MigrationSchedule({ seed, dice, fleet, hook, world });
  return await schedule.run();
}

interface ScheduleParts {
  readonly seed: number;
  readonly dice: Dice;
  readonly fleet: RandomFleet;
  readonly hook: MoveHook;
  readonly world: MigrationWorld;
}

class MigrationSchedule {
  readonly #parts: ScheduleParts;
  readonly #moving: MovingFleet;
  readonly #records: string[] = [];
  readonly #undoneFrom = new Set<string>();
  readonly #faults = new Map<string, Disposable>();
  /** The time at which each cluster was cut off or frozen, as monotonic milliseconds of the clock. */
  readonly #awaySince = new Map<string, number>();
  readonly #strangers = new Map<string, Stranger>();
  readonly #needed = new Map<string, number>();
  #process: ReturnType<MigrationWorld['controller']['startProcess']>;
  #isLossy = false;

  constructor(parts: ScheduleParts) {
    const { controller } = parts.world;
    this.#parts = parts;
    this.#moving = {
      apps: parts.fleet.apps,
      needed: this.#needed,
      strangers: this.#strangers,
      cluster: (cluster) => controller.world.cluster(cluster),
      isAway: (cluster) => controller.world.clock.monotonic() - (this.#awaySince.get(cluster) ?? Number.POSITIVE_INFINITY) > maxReadMs,
    };
    this.#process = controller.startProcess();
  }

  async run(): Promise<SeedResult> {
    const { seed, hook, world } = this.#parts;
    await this.#settleFleet();
    const south = contentOf(this.#moving.cluster('south'));
    const east = contentOf(this.#moving.cluster('east'));
    for (const object of this.#parts.fleet.east) {
      const live = east.get(keyOf(object));
      if (live !== undefined) this.#strangers.set(live.metadata.uid ?? '', { cluster: 'east', object: live });
    }
    const document = this.#document();
    const copies = (document.copies as number | undefined) ?? 1;
    this.#setNeeded(copies);
    hook.check(this.#moving);
    using watch = watchMoves(this.#moving);
    using _loss = this.#loseAnswers();
    const end = ends[seed % ends.length] ?? 'Never';
    const isDeleted = Math.floor(seed / ends.length) % 3 === 2;
    using _end = this.#endAt(end, isDeleted);
    this.#record(`migrate ${JSON.stringify(document)}; ${isDeleted ? 'delete' : 'undo'} at ${end}`);
    await world.migrate(name, document);
    for (let step = 0; step < 10; step += 1) await this.#disturb();
    this.#heal();
    const steps = await this.#finish();
    const outcome: MoveOutcome = { before: { south, east }, steps, copies };
    this.#record(`ended: ${JSON.stringify([...steps])}`);
    const violations = [
      ...watch.violations(),
      ...hook.violations(),
      ...violationsOfEnd(migrationOnHub(this.#moving, name), steps),
      ...violationsAtRest(this.#moving, outcome),
    ];
    return { records: this.#records, violations, reached: [...this.#undoneFrom].map((step) => `undo from ${step}`) };
  }

  #record(text: string): void {
    this.#records.push(`${(this.#parts.world.controller.world.clock.monotonic() / 1_000).toFixed(1)} s ${text}`);
  }

  /** Propagates what is propagated, and waits until all applications are healthy. */
  async #settleFleet(): Promise<void> {
    const { fleet, world } = this.#parts;
    const propagations = fleet.apps.flatMap(({ propagation }) => propagation ?? []);
    for (const propagation of propagations) await world.controller.propagate(propagation);
    for (const { name } of propagations) await world.controller.phase(name as string, 'Settled', 120_000);
    await world.controller.world.until(() =>
      fleet.apps.every(({ workload, propagation }) => propagation !== undefined || this.#available(workload) >= replicasOf(workload)),
    );
    await world.controller.world.pass(2_000);
  }

  #available(workload: KubernetesObject): number {
    return clusterNames.reduce((sum, cluster) => sum + availableIn(this.#moving, cluster, workload), 0);
  }

  #setNeeded(copies: number): void {
    for (const { name: app, workload, isSelected, propagation } of this.#moving.apps) {
      const now = this.#available(workload);
      const isReduced = isSelected && propagation === undefined;
      this.#needed.set(app, isReduced ? Math.max(1, Math.ceil(now * copies)) : now);
    }
  }

  #document(): JsonObject {
    const { dice } = this.#parts;
    return {
      labels: { matchLabels: movingLabels },
      onFailure: dice.pick(['Pause', 'Continue', 'Rollback']),
      ...(dice.chance(0.4) ? { deadline: '60s' } : {}),
      ...(dice.chance(0.7) ? { soak: dice.pick(['2s', '5s']) } : {}),
      ...(dice.chance(0.4) ? { maxConcurrency: 1 + dice.below(2) } : {}),
      ...(dice.chance(0.6) ? { traffic: 'upstreams' } : {}),
      ...(dice.chance(0.2) ? { copies: 0.5 } : {}),
    };
  }

  /** Requests the undo, or the deletion, at the moment at which the hub has an application at this step. */
  #endAt(step: (typeof ends)[number], isDeleted: boolean): Disposable {
    let isOver = step === 'Never';
    return this.#moving.cluster('north').onWrite(({ kind }) => {
      if (isOver || kind !== 'Migration') return undefined;
      const migration = migrationOnHub(this.#moving, name);
      if (migration === undefined || statusOf(migration).apps?.some((app) => app.step === step) !== true) return undefined;
      isOver = true;
      this.#requestEnd(migration, isDeleted);
      return undefined;
    });
  }

  #requestEnd(migration: KubernetesObject, isDeleted: boolean): void {
    const at = new Date(this.#parts.world.controller.world.clock.now()).toISOString();
    const steps = statusOf(migration).apps?.map(({ key, step }) => `${key.name} ${step}`) ?? [];
    for (const { step } of statusOf(migration).apps ?? []) this.#undoneFrom.add(step);
    this.#record(`${isDeleted ? 'delete' : 'undo'}: ${steps.join(', ')}`);
    const { metadata } = migration;
    const annotations = { ...metadata.annotations, [migrationMarks.undo]: at };
    const changed = isDeleted ? { ...metadata, deletionTimestamp: at } : { ...metadata, annotations };
    this.#moving.cluster('north').put({ ...migration, metadata: changed } as KubernetesObject);
  }

  /** While the fleet is lossy, every fourth answer to a write of the gateway is lost. */
  #loseAnswers(): Disposable {
    const { dice } = this.#parts;
    const stack = new DisposableStack();
    for (const cluster of clusterNames)
      stack.use(
        this.#moving
          .cluster(cluster)
          .onWrite(({ manager, kind }) =>
            this.#isLossy && manager === 'muster' && kind !== 'Lease' && dice.chance(0.25) ? 'lost' : undefined,
          ),
      );
    return stack;
  }

  async #disturb(): Promise<void> {
    const { dice, world } = this.#parts;
    const disturbances = {
      kill: () => this.#restart({ life: 1 + dice.below(10) }),
      suspend: () => this.#suspend(),
      cut: () => this.#breakCluster('cut', dice.pick(['south', 'east', 'east', 'south', 'north', 'west'])),
      freeze: () => this.#breakCluster('freeze', dice.pick(['south', 'east'])),
      stall: () => this.#breakCluster('stall', dice.pick(['south', 'east', 'north'])),
      heal: () => this.#heal(),
      lossy: () => {
        this.#isLossy = !this.#isLossy;
        this.#record(this.#isLossy ? 'lossy' : 'lossless');
      },
      stranger: () => this.#makeStranger(),
      replace: () => this.#replace(),
      cordon: () => this.#cordon(),
      loseSource: () => this.#loseSource(),
      refuse: () => {
        this.#moving.cluster('east').refuseWrites({ type: dice.pick(['quota', 'webhookTimeout'] as const) }, { times: 2 });
        this.#record('admission in east refuses two writes');
      },
      resume: () => this.#resume(),
      nothing: () => undefined,
    } as const;
    const kinds = Object.keys(disturbances) as (keyof typeof disturbances)[];
    const kind = dice.pick([...kinds, 'kill', 'kill', 'heal', 'loseSource', 'loseSource', 'loseSource'] as const);
    await disturbances[kind]();
    await world.controller.world.pass(dice.pick([300, 1_000, 2_500, 6_000, 15_000]));
  }

  #restart(options: { readonly life?: number } = {}): void {
    const { controller } = this.#parts.world;
    this.#process.kill();
    controller.freeLease();
    this.#process = controller.startProcess(options);
    this.#record(`kill, and start with life ${options.life ?? 'without end'}`);
  }

  /** Suspends the leader past its Lease. Another process takes over, and the first one continues. */
  async #suspend(): Promise<void> {
    const { world } = this.#parts.world.controller;
    const suspended = this.#process;
    this.#record('suspend the leader');
    suspended.stand();
    this.#process = this.#parts.world.controller.startProcess();
    await world.pass(20_000);
    suspended.resume();
    await world.pass(1_000);
    suspended.kill();
  }

  #breakCluster(how: 'cut' | 'freeze' | 'stall', cluster: string): void {
    if (this.#faults.has(cluster)) return;
    this.#record(`${how} ${cluster}`);
    const broken = this.#moving.cluster(cluster);
    if (how !== 'stall') this.#awaySince.set(cluster, this.#parts.world.controller.world.clock.monotonic());
    if (how === 'freeze') this.#faults.set(cluster, broken.silence());
    else if (how === 'stall') this.#faults.set(cluster, broken.stall({ verb: 'watch' }));
    else {
      this.#faults.set(cluster, broken.refuse());
      broken.disconnect();
    }
  }

  /** Keeps new Pods in east pending. */
  #cordon(): void {
    const cluster = this.#moving.cluster('east');
    if (this.#faults.has('node of east')) return;
    const set = (unschedulable: boolean) => {
      const node = cluster.get('Node', 'node-east');
      if (node !== undefined) cluster.put({ ...node, spec: { ...(node.spec as JsonObject), unschedulable } });
    };
    set(true);
    this.#faults.set('node of east', { [Symbol.dispose]: () => set(false) });
    this.#record('cordon the node of east');
  }

  /** Another client deletes a workload of the source, or scales it to 0, while the target has all replicas that are needed. */
  #loseSource(): void {
    const { dice } = this.#parts;
    const movable = this.#moving.apps.filter(({ name: app, workload, parts, propagation, isSelected }) => {
      const needed = this.#needed.get(app) ?? 0;
      const hasService = parts.some((part) => part.kind === 'Service' && part.metadata.name === app);
      const isMoved =
        availableIn(this.#moving, 'east', workload) >= needed && (!hasService || hasServiceIn(this.#moving, 'east', workload));
      return propagation === undefined && isSelected && isMoved && availableIn(this.#moving, 'south', workload) > 0;
    });
    if (movable.length === 0) return;
    const { workload } = dice.pick(movable);
    const south = this.#moving.cluster('south');
    const live = south.get(kindNameOf(workload), workload.metadata.name, 'default');
    if (live === undefined) return;
    const isDeleted = dice.chance(0.5);
    if (isDeleted) south.remove(kindNameOf(workload), workload.metadata.name, 'default');
    else south.put({ ...live, spec: { ...(live.spec as JsonObject), replicas: 0 } } as KubernetesObject);
    this.#record(`another client ${isDeleted ? 'deletes' : 'scales to 0'} ${workload.metadata.name} in south`);
  }

  #heal(): void {
    this.#record('heal');
    this.#isLossy = false;
    for (const fault of this.#faults.values()) fault[Symbol.dispose]();
    this.#faults.clear();
    this.#awaySince.clear();
  }

  /** Creates an object with the name of an object of an application, where there is none now. */
  #makeStranger(): void {
    const { dice } = this.#parts;
    const cluster = dice.pick(['east', 'east', 'south'] as const);
    const app = dice.pick(this.#moving.apps.filter(({ propagation }) => propagation === undefined));
    const { kind, apiVersion, metadata } = dice.pick([app.workload, ...app.parts]);
    if (['Deployment', 'StatefulSet', 'PersistentVolumeClaim'].includes(kind ?? '')) return;
    if (contentOf(this.#moving.cluster(cluster)).has(keyOf({ kind, metadata } as KubernetesObject))) return;
    const { name, namespace } = metadata;
    const object = this.#moving
      .cluster(cluster)
      .put({ apiVersion, kind, metadata: { name, namespace, labels: { of: 'stranger' } } } as never);
    this.#strangers.set(object.metadata.uid ?? '', { cluster, object: { ...object, apiVersion, kind } as KubernetesObject });
    this.#record(`stranger ${kind} ${name} in ${cluster}`);
  }

  /** Another client deletes an object of an application, and creates its own one of that name. */
  #replace(): void {
    const { dice } = this.#parts;
    const cluster = dice.pick(['east', 'east', 'south'] as const);
    const kinds = ['ConfigMap', 'ServiceAccount', 'PodDisruptionBudget', 'Ingress'];
    const parts = this.#moving.apps.flatMap((app) => (app.propagation === undefined ? app.parts : []));
    const replaceable = parts.filter(({ kind, metadata }) => kinds.includes(kind ?? '') && metadata.name !== 'shared');
    if (replaceable.length === 0) return;
    const part = dice.pick(replaceable);
    const live = contentOf(this.#moving.cluster(cluster)).get(keyOf(part));
    if (live === undefined || this.#strangers.has(live.metadata.uid ?? '')) return;
    const { kind, apiVersion, metadata } = part;
    this.#moving.cluster(cluster).remove(kindNameOf(part), metadata.name, 'default');
    const { name, namespace } = metadata;
    const object = this.#moving
      .cluster(cluster)
      .put({ apiVersion, kind, metadata: { name, namespace, labels: { of: 'another client' } } } as never);
    this.#strangers.set(object.metadata.uid ?? '', { cluster, object: { ...object, apiVersion, kind } as KubernetesObject });
    this.#record(`replace ${kind} ${name} in ${cluster}`);
  }

  #resume(): void {
    const migration = migrationOnHub(this.#moving, name);
    if (migration === undefined || statusOf(migration).phase !== 'Paused') return;
    const resumedAt = new Date(this.#parts.world.controller.world.clock.now()).toISOString();
    const annotations = { ...migration.metadata.annotations, [migrationMarks.resumedAt]: resumedAt };
    this.#moving.cluster('north').put({ ...migration, metadata: { ...migration.metadata, annotations } });
    this.#record(`resume: ${statusOf(migration).apps?.map(({ key, step, message }) => `${key.name} ${step} ${message ?? ''}`)}`);
  }

  /** Makes the decisions of a person until the migration has ended, or has had the time for it. Returns the last steps. */
  async #finish(): Promise<ReadonlyMap<string, MigratedApp['step']>> {
    const { world, hook } = this.#parts;
    hook.heal();
    this.#restart();
    let last = new Map<string, MigratedApp['step']>();
    const isSettled = () => {
      const migration = migrationOnHub(this.#moving, name);
      const { phase, apps } = statusOf(migration);
      if (apps !== undefined) last = new Map(apps.map((app) => [app.key.name, app.step]));
      return migration === undefined || ['Settled', 'Degraded', 'Failed', 'Held', 'Paused'].includes(phase ?? '');
    };
    for (let round = 0; round < 6; round += 1) {
      await world.controller.world.until(isSettled, 120_000).catch(() => undefined);
      await world.controller.world.pass(3_000);
      const status = statusOf(migrationOnHub(this.#moving, name));
      const isOver = status.apps?.every(({ step }) => ['Done', 'Undone', 'Skipped'].includes(step)) ?? true;
      if (isSettled() && isOver) break;
      this.#record(
        `not ended: ${JSON.stringify(status.apps?.map(({ key, step, reason, message, fault }) => [key.name, step, reason, message, fault]))}`,
      );
      this.#removeLateStrangers();
      // The person takes back an application that failed with `Continue`, or that has another object in the source than its copy.
      const migration = migrationOnHub(this.#moving, name);
      const isEdited = status.apps?.some(({ message }) => message?.includes('was edited in south')) === true;
      if ((status.phase === 'Degraded' || isEdited) && migration !== undefined) this.#requestEnd(migration, false);
      else this.#resume();
    }
    if (migrationOnHub(this.#moving, name) === undefined)
      for (const [app, step] of last) last.set(app, step === 'Done' ? 'Done' : 'Undone');
    await this.#settlePropagations();
    return last;
  }

  /** A person removes strangers that stand in the way. */
  #removeLateStrangers(): void {
    for (const [uid, { cluster, object }] of this.#strangers) {
      const { labels, name: of, namespace } = object.metadata;
      if (labels?.of !== 'stranger') continue;
      this.#moving.cluster(cluster).remove(kindNameOf(object), of, namespace);
      this.#strangers.delete(uid);
      this.#record(`remove the stranger ${object.kind} ${of}`);
    }
  }

  async #settlePropagations(): Promise<void> {
    const { controller } = this.#parts.world;
    const names = this.#moving.apps.flatMap(({ name: app, propagation }) => (propagation === undefined ? [] : [app]));
    const isSettled = (app: string) => {
      const status = controller.mirrored(app)?.status;
      return status?.phase === 'Settled' && status.evictions === undefined;
    };
    await controller.world.until(() => names.every(isSettled), 300_000).catch(() => this.#record('a Propagation did not settle'));
  }
}

function replicasOf({ spec }: KubernetesObject): number {
  return (spec as { readonly replicas?: number }).replicas ?? 1;
}

function kindNameOf({ apiVersion = '', kind = '' }: KubernetesObject): string {
  return apiVersion.includes('/') ? `${kind}.${apiVersion.split('/')[0]}` : kind;
}
