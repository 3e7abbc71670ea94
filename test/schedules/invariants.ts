import { isDeepStrictEqual } from 'node:util';
import type { LiveObject } from './member-cluster.ts';

/** An object that the gateway must not change: a foreign object with a copy's name, one with copied marks, or the source of a template. */
export interface UntouchableObject {
  readonly cluster: string;
  readonly name: string;
  readonly uid: string;
  /** The data as the schedule last wrote it. */
  readonly data: Readonly<Record<string, string>>;
}

/** The input of the invariants, read directly from the clusters at rest. */
export interface FleetState {
  readonly propagations: readonly LiveObject[];
  readonly shares: readonly ClusterShareObject[];
  /** ConfigMaps, Deployments and Jobs of the namespace, by cluster. */
  readonly objects: ReadonlyMap<string, readonly LiveObject[]>;
  readonly untouchables: readonly UntouchableObject[];
  readonly podsOfJobs: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;
}

/** The inventory of one Propagation in one cluster, as stored on the hub. */
export type ClusterShareObject = LiveObject & {
  readonly cluster: string;
  readonly objects: readonly { readonly kind: string; readonly name: string; readonly state: string; readonly uid?: string }[];
};

/** The spec fields that the schedules use. */
export interface ScheduledSpec {
  readonly template: readonly { readonly json?: ScheduledManifest; readonly ref?: { readonly cluster: string; readonly name: string } }[];
  readonly placement: { readonly clusters: readonly string[] };
  readonly replicas?: { readonly mode?: string; readonly total?: number };
  readonly overrides?: readonly { readonly set?: ScheduledSet; readonly merge?: { readonly data: Data } }[];
  readonly rollout?: { readonly waves?: readonly { readonly set?: ScheduledSet }[] };
}

interface ScheduledSet {
  readonly clusters?: readonly string[];
}

interface ScheduledManifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Data;
  readonly spec?: Readonly<Record<string, unknown>>;
}

type Data = Readonly<Record<string, string>>;

const propagationLabel = 'muster.dev/propagation';

/**
 * Returns one sentence per violation. A model much simpler than the gateway's computes the wanted state from the recorded spec alone.
 * An empty list means: live objects equal the wanted ones, foreign objects are unchanged, each copy has an owner, the inventory matches
 * the clusters, each Job has one Pod, and only a settled intent has the phase SETTLED.
 */
export function violationsIn(state: FleetState): readonly string[] {
  return [
    ...state.propagations.flatMap((propagation) => violationsOfPropagation(propagation, state)),
    ...touchedObjects(state),
    ...copiesWithoutOwner(state),
    ...inventoryDifferences(state),
    ...jobsRunTwice(state),
  ];
}

/**
 * Compares the objects that one Propagation wants with those in the clusters. A copy that a foreign object blocks may be missing.
 * If that blocks a wave, the clusters of later waves may keep their old objects.
 */
export function violationsOfPropagation(propagation: LiveObject, state: FleetState): readonly string[] {
  const spec = propagation.spec as unknown as ScheduledSpec;
  const { name, uid } = propagation.metadata;
  const wanted = spec.template.flatMap((template) => manifestOf(template, state) ?? []);
  const clusters = clustersWithShare(spec, wanted, state).filter((cluster) => !isHeldUp(cluster, spec, wanted, state));
  const differences = clusters.flatMap((cluster) =>
    wanted.flatMap((manifest) => {
      if (untouchableAt(state, cluster, manifest.metadata.name)) return [];
      const live = find(state, cluster, manifest.kind, manifest.metadata.name);
      if (live === undefined) return [`${name}: ${cluster} lacks ${manifest.kind} ${manifest.metadata.name}`];
      return differencesOf(live, dataFor(manifest, spec, cluster), uid).map(
        (difference) => `${name}: ${cluster}/${manifest.kind}/${manifest.metadata.name}: ${difference}`,
      );
    }),
  );
  return [...differences, ...dividedWrongly(name, spec, wanted, state), ...phaseViolations(propagation, spec, wanted, state)];
}

/** Returns the clusters that must hold copies. A cluster to which a division gives no replicas gets no object of the intent. */
function clustersWithShare(spec: ScheduledSpec, wanted: readonly ScheduledManifest[], state: FleetState): readonly string[] {
  const workload = wanted.find(({ kind }) => kind === 'Deployment');
  if (spec.replicas?.mode !== 'Divided' || workload === undefined) return spec.placement.clusters;
  return spec.placement.clusters.filter((cluster) => find(state, cluster, 'Deployment', workload.metadata.name) !== undefined);
}

/** True if a foreign object blocks an earlier wave. That wave cannot end, so the cluster keeps its old objects. */
function isHeldUp(cluster: string, spec: ScheduledSpec, wanted: readonly ScheduledManifest[], state: FleetState): boolean {
  const waves = spec.rollout?.waves?.map(({ set }) => set?.clusters ?? []) ?? [];
  const own = waves.findIndex((wave) => wave.includes(cluster));
  const before = waves.slice(0, own < 0 ? waves.length : own).flat();
  return before.some((other) => isInTheWay(other, spec, wanted, state));
}

/** True if a foreign object has the name of a copy. The source of a template does not count. */
function isInTheWay(
  cluster: string,
  { placement, template }: ScheduledSpec,
  wanted: readonly ScheduledManifest[],
  state: FleetState,
): boolean {
  if (!placement.clusters.includes(cluster)) return false;
  return wanted.some(({ metadata }, index) => template[index]?.ref === undefined && untouchableAt(state, cluster, metadata.name));
}

function manifestOf(
  { json, ref }: ScheduledSpec['template'][number],
  { untouchables }: Pick<FleetState, 'untouchables'>,
): ScheduledManifest | undefined {
  if (json !== undefined) return json;
  const source = untouchables.find(({ cluster, name }) => cluster === ref?.cluster && name === ref.name);
  return source === undefined ? undefined : { kind: 'ConfigMap', metadata: { name: source.name }, data: source.data };
}

function dataFor({ data }: ScheduledManifest, { overrides = [] }: ScheduledSpec, cluster: string): Data | undefined {
  if (data === undefined) return undefined;
  const applying = overrides.filter(({ set }) => set?.clusters?.includes(cluster) ?? true);
  return Object.assign({}, data, ...applying.map(({ merge }) => merge?.data)) as Data;
}

function differencesOf(live: LiveObject, data: Data | undefined, uid: string): readonly string[] {
  const owner = live.metadata.labels?.[propagationLabel];
  return [
    ...(owner === uid ? [] : [`expected the label of ${uid}, got ${owner}`]),
    ...(data === undefined || isDeepStrictEqual(live.data, data)
      ? []
      : [`expected data ${JSON.stringify(data)}, got ${JSON.stringify(live.data)}`]),
  ];
}

function dividedWrongly(name: string, spec: ScheduledSpec, wanted: readonly ScheduledManifest[], state: FleetState): readonly string[] {
  if (spec.replicas?.mode !== 'Divided') return [];
  return wanted
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ metadata }) => {
      const counts = spec.placement.clusters.map((cluster) =>
        Number(find(state, cluster, 'Deployment', metadata.name)?.spec?.replicas ?? 0),
      );
      const sum = counts.reduce((total, count) => total + count, 0);
      return sum === spec.replicas?.total ? [] : [`${name}: expected ${spec.replicas?.total} replicas in all, got ${counts.join(' + ')}`];
    });
}

/** At rest, a Propagation is Settled exactly if no foreign object blocks its copies. */
function phaseViolations(
  { metadata, status }: LiveObject,
  spec: ScheduledSpec,
  wanted: readonly ScheduledManifest[],
  state: FleetState,
): readonly string[] {
  const isBeside = spec.placement.clusters.some((cluster) => isInTheWay(cluster, spec, wanted, state));
  const isSettled = status?.phase === 'Settled';
  if (isSettled !== isBeside) return [];
  const reasons = JSON.stringify(status?.clusters ?? []);
  return [`${metadata.name}: expected ${isBeside ? 'a conflict' : 'Settled'}, got ${String(status?.phase)} ${reasons}`];
}

function touchedObjects({ untouchables, objects }: FleetState): readonly string[] {
  return untouchables.flatMap(({ cluster, name, uid, data }) => {
    const live = objects.get(cluster)?.find((object) => object.kind === 'ConfigMap' && object.metadata.name === name);
    if (live === undefined) return [`${cluster}/ConfigMap/${name}, which is not ours, is gone`];
    if (live.metadata.uid !== uid) return [`${cluster}/ConfigMap/${name}, which is not ours, was recreated`];
    return isDeepStrictEqual(live.data, data)
      ? []
      : [`${cluster}/ConfigMap/${name}, which is not ours: expected ${JSON.stringify(data)}, got ${JSON.stringify(live.data)}`];
  });
}

function copiesWithoutOwner({ propagations, objects, untouchables }: FleetState): readonly string[] {
  const owners = new Map(propagations.map((propagation) => [propagation.metadata.uid, propagation]));
  return [...objects].flatMap(([cluster, held]) =>
    held.flatMap(({ kind, metadata }) => {
      const label = metadata.labels?.[propagationLabel];
      if (label === undefined || untouchables.some((other) => other.cluster === cluster && other.uid === metadata.uid)) return [];
      const spec = owners.get(label)?.spec as unknown as ScheduledSpec | undefined;
      if (spec === undefined) return [`${cluster}/${kind}/${metadata.name}: its Propagation ${label} does not exist`];
      const names = spec.template.map(({ json, ref }) => json?.metadata.name ?? ref?.name);
      const isWanted = spec.placement.clusters.includes(cluster) && names.includes(metadata.name);
      return isWanted ? [] : [`${cluster}/${kind}/${metadata.name}: its Propagation does not want it there`];
    }),
  );
}

function inventoryDifferences(state: FleetState): readonly string[] {
  const recorded = state.shares.flatMap(({ cluster, objects }) =>
    objects.filter(({ uid }) => uid !== undefined).map(({ kind, name, uid }) => ({ cluster, kind, name, uid })),
  );
  const isRecorded = new Set(recorded.map(({ uid }) => uid));
  const strangers = new Set(state.untouchables.map(({ uid }) => uid));
  return [
    ...recorded.flatMap(({ cluster, kind, name, uid }) => {
      const live = find(state, cluster, kind, name);
      return live?.metadata.uid === uid
        ? []
        : [`the inventory of ${cluster} has ${kind} ${name} as ${uid}, the cluster as ${live?.metadata.uid}`];
    }),
    ...[...state.objects].flatMap(([cluster, held]) =>
      held
        .filter(({ metadata: { uid, labels } }) => labels?.[propagationLabel] !== undefined && !isRecorded.has(uid) && !strangers.has(uid))
        .map(({ kind, metadata }) => `${cluster}/${kind}/${metadata.name} is a copy that no inventory has`),
    ),
  ];
}

function jobsRunTwice({ podsOfJobs }: FleetState): readonly string[] {
  return [...podsOfJobs].flatMap(([cluster, jobs]) =>
    [...jobs].filter(([, pods]) => pods.size > 1).map(([job, pods]) => `${cluster}: Job ${job} had ${pods.size} Pods`),
  );
}

function find(state: FleetState, cluster: string, kind: string, name: string): LiveObject | undefined {
  return state.objects.get(cluster)?.find((object) => object.kind === kind && object.metadata.name === name);
}

function untouchableAt({ untouchables }: Pick<FleetState, 'untouchables'>, cluster: string, name: string): boolean {
  return untouchables.some((other) => other.cluster === cluster && other.name === name);
}
