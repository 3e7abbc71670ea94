import type { MemberCluster, Members } from '../../../changes/members.ts';
import { MusterError } from '../../../core/errors.ts';
import { type GroupKind, keyOfKind } from '../../../core/kinds.ts';
import type { ClusterName } from '../../../core/names.ts';
import { compareText } from '../../../core/text.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, namespacedNameOf, textOfKey } from '../../../manifests/object-key.ts';
import type { MirroredObject } from '../../../store/member-objects.ts';
import { hubKinds } from '../../hub/hub.ts';
import type { ClusterShare } from '../../model/inventory.ts';
import type { Note } from '../../model/notes.ts';
import type { ClusterLine } from '../../model/propagation.ts';
import { isDividedAsKubeFed, type Placement } from '../../model/spec.ts';
import { dependsOnUnknown, matchesSet } from '../placing/cluster-set.ts';
import { locationFieldsIn, placementSetsIn } from '../placing/sets-in.ts';
import { membersWithLocations, whenLocationsAreRead } from './cluster-locations.ts';
import { changedSourceNotes, frozenSourcesOf, isForOneGeneration, withPinnedSecret } from './frozen-sources.ts';
import { hideObjects, listablePodsIn, visibleAutoscaledIn } from './hide-objects.ts';
import { isRoomHidden } from './hide-room.ts';
import { capacitiesIn, capacityKinds, isCapacityKind, type TemplateWorkloads } from './member-workloads.ts';
import type { ExistingPropagation, PlannerPorts, PlanRequest } from './plan-request.ts';
import { maxMirrorWaitMs } from './read-dependencies.ts';
import { type ReadTemplates, readTemplates } from './read-templates.ts';
import { runningReplicasIn } from './running-replicas.ts';
import type { PlanSnapshot, PreviousDecision, SnapshotCluster, TemplateObject } from './snapshot.ts';
import { clustersOfMakers } from './sources.ts';
import { createdKindOf, creationsOf, type TemplateCreations } from './template-creations.ts';

/**
 * Gathers the snapshot from which the plan of this request is made. Next: `renderPlan` (render-plan.ts) renders the plan from it.
 *
 * The snapshot has objects from the mirrors of clusters that may be chosen or that have copies. Nodes are read where the intent depends on
 * the location of clusters. Templates given as references are read live. The function waits for mirrors that were never read before, and
 * for the Nodes and Pods of clusters that have just returned, at most 10 s for all together.
 *
 * @throws {MusterError} `UNAVAILABLE` if the inventory must be read from the hub, and the hub does not answer.
 */
export async function gatherSnapshot(ports: PlannerPorts, request: PlanRequest): Promise<PlanSnapshot> {
  const { members, clock } = ports;
  const { spec, existing, signal } = request;
  const [read, shares] = await Promise.all([readTemplates(ports, request), sharesOf(ports, request)]);
  const isFrozen = isForOneGeneration(ports.accounts ?? 'one', spec);
  const pinned = isFrozen ? read.objects.map(withPinnedSecret) : read.objects;
  const objects = await Promise.all(pinned.map((object) => withMakers(ports, request, object)));
  signal.throwIfAborted();
  const templates = { ...read, objects };
  const untilMs = clock.monotonic() + maxMirrorWaitMs;
  const fields = locationFieldsIn(spec);
  await whenLocationsAreRead(members, { fields, waitMs: maxMirrorWaitMs }, signal);
  const reads = planReads({
    members: membersWithLocations(members, { fields, shares }),
    objects: templates.objects,
    request,
    served: members.objects,
    shares,
  });
  const wanted = reads.flatMap(({ cluster, kinds }) =>
    kinds.map((kind) => ({ cluster: cluster.name, kind, inSync: isCapacityKind(kind) })),
  );
  await members.objects.whenRead(wanted, untilMs - clock.monotonic(), signal);
  signal.throwIfAborted();
  const workloads = { spec, manifests: templates.objects.map(({ manifest }) => manifest) };
  const clusters = await Promise.all(reads.map((read) => readVisible(ports, request, { read, workloads })));
  // A cluster that leaves the fleet during the wait stays in `clusters`. So its share is not added to `sharesOutsideFleet` too.
  const readClusters = new Set(reads.map(({ cluster }) => cluster.name));
  const sharesOutsideFleet = shares.filter(({ cluster }) => !readClusters.has(cluster));
  return {
    namespace: request.namespace,
    name: request.name,
    spec,
    purpose: request.purpose,
    templates: templates.objects,
    missing: templates.missing,
    notes: [...templates.notes, ...notMovedNotes(ports, request), ...frozenNotes(request, templates)],
    faults: templates.faults,
    clusters,
    sharesOutsideFleet: sharesOutsideFleet.toSorted((a, b) => compareText(a.cluster, b.cluster)),
    ...(existing === undefined ? {} : { previous: previousDecisionOf(existing, request), ...evictionFactsOf(existing, request) }),
    ...(request.replaced === undefined ? {} : { replaced: request.replaced }),
    sources: templates.sources,
    ...(isFrozen ? { contents: frozenSourcesOf(templates.objects) } : {}),
    asOfMs: oldestSyncMs(clusters, clock.now()),
    nowMs: clock.now(),
  };
}

/** Returns the notes about changed sources. Empty if the template could not be read: its own notes say why. */
function frozenNotes({ frozen }: PlanRequest, { objects, sources, notes }: ReadTemplates): readonly Note[] {
  if (frozen === undefined || notes.some(({ severity }) => severity === 'ERROR')) return [];
  return changedSourceNotes(frozen, { templates: objects, needed: sources });
}

/** Returns a warning if the spec has a failover that cannot be carried out with the rights of a requester. */
function notMovedNotes({ accounts = 'one' }: PlannerPorts, { spec: { failover, runAs } }: PlanRequest): readonly Note[] {
  if (failover === undefined || !isForOneGeneration(accounts, { runAs })) return [];
  const message = 'expected runAs.serviceAccount, because the rights of a requester serve one generation: copies do not move by themselves';
  return [{ severity: 'WARNING', code: 'NOT_MOVED', message, path: 'failover' }];
}

/**
 * Adds `madeFrom` to the source of the template. If the source is itself a copy of other Propagations, `madeFrom` has the clusters from
 * which they read it. Propagations that the requester may not get have no name there. Returns a template without a source unchanged.
 */
async function withMakers({ hub, visibility }: PlannerPorts, request: PlanRequest, object: TemplateObject): Promise<TemplateObject> {
  const { source } = object;
  if (source === undefined || hub === undefined) return object;
  const makers = clustersOfMakers(source, request, hub);
  const namespaceOf = (maker: string) => maker.slice(0, maker.indexOf('/'));
  const asked = { cluster: hub.cluster, kind: propagationKind, namespaces: [...new Set(makers.values().map(namespaceOf))] };
  const visible = makers.size === 0 ? undefined : await visibility?.objects(request.spec, asked, request.signal);
  const shown = (maker: string) => (visible?.has(namespaceOf(maker)) === false ? 'another Propagation' : `Propagation ${maker}`);
  return { ...object, source: { ...source, madeFrom: new Map(makers.entries().map(([cluster, maker]) => [cluster, shown(maker)])) } };
}

const { group, kind } = hubKinds.propagation;
const propagationKind: GroupKind = { group, kind };

async function sharesOf({ hub }: PlannerPorts, { existing, shares, namespace, signal }: PlanRequest): Promise<readonly ClusterShare[]> {
  if (shares !== undefined) return shares;
  if (hub === undefined || existing === undefined) return [];
  const loaded = await hub.shares.load({ namespace, uid: existing.uid }, signal);
  signal.throwIfAborted();
  if ('fault' in loaded) throw new MusterError('UNAVAILABLE', `the inventory could not be read from the hub: ${loaded.fault.message}`);
  return loaded;
}

function evictionFactsOf(
  { status: { evictions, preserved } }: ExistingPropagation,
  { isReturn = false }: PlanRequest,
): Pick<PlanSnapshot, 'evictions' | 'preserved' | 'isReturn'> {
  return { ...(evictions === undefined ? {} : { evictions }), ...(preserved === undefined ? {} : { preserved }), isReturn };
}

function previousDecisionOf({ status, decided }: ExistingPropagation, { spec, purpose }: PlanRequest): PreviousDecision {
  const { clusters = [], affinityGroup, scheduledAt, mostObjects } = status;
  // The previous decision had left out the clusters whose copies are being removed. While such a cluster does not answer, its phase is `Unknown`
  // instead of `Deleting`.
  const left = new Set(status.evictions?.flatMap(({ cluster, to }) => (to === undefined ? [] : [cluster])));
  const isLeaving = ({ cluster, phase, wave }: ClusterLine) =>
    phase === 'Draining' || (wave === undefined && (phase === 'Deleting' || phase === 'Unknown')) || left.has(cluster);
  const chosen = clusters.filter((line) => !isLeaving(line));
  return {
    replicas: new Map(chosen.map(({ cluster, replicas = 0, divided = replicas }) => [cluster, divided])),
    overridden: new Map(
      chosen.flatMap(({ cluster, replicas, divided }) => (replicas === undefined || divided === undefined ? [] : [[cluster, replicas]])),
    ),
    ...(affinityGroup === undefined ? {} : { affinityGroup }),
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
    ...(purpose === 'decide' || mostObjects === undefined ? {} : { mostObjects }),
    spec: decided ?? spec,
  };
}

/** The objects and kinds to read in one cluster. */
interface ClusterReads {
  readonly cluster: MemberCluster;
  readonly share: ClusterShare | undefined;
  /** True if the placement may choose the cluster. */
  readonly mayBeChosen: boolean;
  readonly missingKinds: readonly string[];
  /** The keys of the template and of the inventory, without duplicates. */
  readonly keys: readonly ObjectKey[];
  readonly kinds: readonly GroupKind[];
}

interface ReadPlanInputs {
  readonly members: readonly MemberCluster[];
  readonly served: Pick<Members['objects'], 'served'>;
  readonly request: PlanRequest;
  readonly objects: readonly TemplateObject[];
  readonly shares: readonly ClusterShare[];
}

function planReads({ members, served, request, objects, shares }: ReadPlanInputs): readonly ClusterReads[] {
  const creations = creationsOf(objects.map(({ manifest }) => manifest));
  const shareOf = new Map(shares.map((share) => [share.cluster, share]));
  const workloadKinds = capacityKinds({ spec: request.spec, manifests: objects.map(({ manifest }) => manifest) });
  return members.map((cluster) => {
    const share = shareOf.get(cluster.name);
    const mayBeChosen = placementMayChoose(request.spec.placement, cluster);
    const templates = mayBeChosen ? objects : [];
    const keys = uniqueKeys([...templates.map(({ manifest }) => keyOfManifest(manifest)), ...(share?.entries ?? []).map(({ key }) => key)]);
    const kinds = [...keys.map(groupKindOfKey), ...(mayBeChosen ? workloadKinds : [])];
    return {
      cluster,
      share,
      mayBeChosen,
      missingKinds: missingKinds({ served, creations, objects }, cluster.name),
      keys,
      kinds: [...new Map(kinds.map((kind) => [keyOfKind(kind), kind])).values()],
    };
  });
}

/** True if a set of the placement contains the cluster, or may contain it. Later filters can only exclude it. */
function placementMayChoose(placement: Placement, cluster: MemberCluster): boolean {
  return placementSetsIn(placement).some((set) => matchesSet(set, cluster) || dependsOnUnknown(set, cluster));
}

function missingKinds(
  { served, creations, objects }: Pick<ReadPlanInputs, 'served' | 'objects'> & { readonly creations: TemplateCreations },
  cluster: ClusterName,
): readonly string[] {
  const missing = objects.filter(
    ({ manifest }) => createdKindOf(creations, manifest) === undefined && served.served(cluster, manifest) === 'absent',
  );
  return [...new Set(missing.map(({ manifest }) => `${manifest.kind}.${manifest.apiVersion}`))];
}

/** Reads one cluster as the requester sees it. Everything that the plan shows is computed from visible objects. */
async function readVisible(
  ports: PlannerPorts,
  request: PlanRequest,
  { read, workloads }: { readonly read: ClusterReads; readonly workloads: TemplateWorkloads },
): Promise<SnapshotCluster> {
  const { members } = ports;
  const { cluster, share, keys, missingKinds: missing, mayBeChosen } = read;
  const { name } = cluster;
  const objects = new Map(keys.map((key) => [textOfKey(key), readObject(ports, name, key)]));
  const capacities = mayBeChosen ? capacitiesIn(members, name, workloads) : new Map<number, number>();
  const isKubeFed = isDividedAsKubeFed(workloads.spec);
  const [live, autoscaled, isHidden, mayListPods] = await Promise.all([
    hideObjects(ports, request, { cluster: name, share, keys, live: objects }),
    mayBeChosen ? visibleAutoscaledIn(ports, request, { cluster: name, workloads }) : new Set<string>(),
    capacities.size > 0 && isRoomHidden(ports.visibility, request.spec, { cluster: name, signal: request.signal }),
    isKubeFed ? listablePodsIn(ports, request, { cluster: name, workloads }) : () => false,
  ]);
  request.signal.throwIfAborted();
  const { manifests } = workloads;
  return {
    cluster,
    missingKinds: missing,
    capacities,
    ...(isHidden ? { isRoomHidden: true } : {}),
    ...(isKubeFed ? { running: runningReplicasIn(ports, name, { manifests, live, mayListPods }) } : {}),
    live,
    otherVersions: new Set(keys.filter((key) => isOtherVersion(members, name, key)).map(textOfKey)),
    autoscaled,
    ...(share === undefined ? {} : { share }),
  };
}

/**
 * True if the key has another version than the mirror, which holds the preferred version of the server. Also true if the cluster does not
 * serve the version of the key.
 */
function isOtherVersion({ objects }: Members, cluster: ClusterName, key: ObjectKey): boolean {
  const served = objects.served(cluster, key);
  return served === 'absent' || (served !== undefined && served.version !== served.versions[0]);
}

/**
 * Reads an object from the mirror. If the cluster does not serve the kind, the object counts as absent, even if the kind was served
 * earlier.
 */
function readObject({ members: { objects }, clock }: PlannerPorts, cluster: ClusterName, key: ObjectKey): MirroredObject {
  const read = objects.read(cluster, groupKindOfKey(key), namespacedNameOf(key));
  return read.result === 'unread' && read.fault.code === 'NOT_SERVED' ? { result: 'absent', asOfMs: clock.now() } : read;
}

function uniqueKeys(keys: readonly ObjectKey[]): readonly ObjectKey[] {
  // For two versions of one kind, the key of the template wins: it comes first.
  const unique = new Map<string, ObjectKey>();
  for (const key of keys) {
    const text = textOfKey(key);
    if (!unique.has(text)) unique.set(text, key);
  }
  return [...unique.values()];
}

function oldestSyncMs(clusters: readonly SnapshotCluster[], nowMs: number): number {
  let oldestMs = nowMs;
  for (const { live } of clusters) {
    for (const object of live.values()) if (object.result !== 'unread') oldestMs = Math.min(oldestMs, object.asOfMs);
  }
  return oldestMs;
}
