import { type Fault, fault } from '../../core/faults.ts';
import { sha256Of } from '../../core/json/canonical-json.ts';
import type { ClusterName } from '../../core/names.ts';
import { liveHashOf } from '../../manifests/live-hash.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import type { LeavingCluster, RenderedCluster, RenderedObject } from '../model/plan.ts';
import { type ComparisonRules, cachedObservedHashOf } from './copies/observed-hash.ts';
import { decideCopy, decideRemoval } from './decide-action.ts';
import { overriddenShare } from './overridden-share.ts';
import type { PlacedCluster } from './place-replicas.ts';
import type { ClusterCopies, RenderedCopy } from './render-copies.ts';
import type { PlanSnapshot, SnapshotCluster } from './snapshot/snapshot.ts';
import { isSourceEntry } from './snapshot/sources.ts';
import { createdKindOf, creationsOf, type TemplateCreations } from './snapshot/template-creations.ts';

/** The inputs that all clusters of a plan share. */
export interface RenderContext extends ComparisonRules {
  readonly snapshot: PlanSnapshot;
  readonly creations: TemplateCreations;
  readonly waveOf: ReadonlyMap<string, number>;
}

/**
 * Renders one chosen cluster: compares the wanted copies with the existing objects, and adds removals for inventory entries that are not
 * wanted any more.
 *
 * The result has a `fault` and no objects in three cases. An override fails. A mirror is unread, so an existing object could belong to
 * another owner. Or `locationFault` is set, so it is unknown which copies are wanted.
 */
export function renderCluster(context: RenderContext, placed: PlacedCluster, copies: ClusterCopies): RenderedCluster {
  const { chosen, entry, locationFault } = placed;
  const share = overriddenShare(placed, copies, context.snapshot.previous);
  const base = { chosen, wave: context.waveOf.get(chosen.cluster) ?? 0, ...(share === undefined ? {} : { share }) };
  if (copies.result === 'failed') {
    const message = `an override fails: ${copies.path}: ${copies.message}`;
    return {
      ...base,
      overrides: [],
      unmatched: [],
      objects: [],
      fault: fault('INVALID', message, { cluster: chosen.cluster, retry: 'NEVER' }),
    };
  }
  const { applied: overrides, unmatched } = copies;
  const problem = locationFault ?? faultOf(entry);
  if (problem !== undefined) return { ...base, overrides, unmatched, objects: [], fault: problem };
  const entries = entriesOf(entry);
  const wanted = copies.copies.map((copy) => renderCopy(context, { entry, copy, entries }));
  const texts = new Set(copies.copies.map(({ keyText }) => keyText));
  const unwanted = [...entries].filter(([text]) => !texts.has(text)).map(([, one]) => one);
  return {
    ...base,
    overrides,
    unmatched,
    objects: [...wanted, ...removalsOf(context.snapshot, unwanted, { entry, missing: copies.missing })],
  };
}

/**
 * Renders the removals in a cluster that is not chosen. Undefined if the inventory has no copy there.
 *
 * @param move Why the copies move to other clusters. Undefined: they do not move.
 */
export function renderUnchosenCluster(
  snapshot: PlanSnapshot,
  entry: SnapshotCluster,
  move: 'evicted' | 'returned' | undefined,
): LeavingCluster | undefined {
  const entries = entry.share?.entries ?? [];
  if (entries.length === 0) return undefined;
  const isReleased = move === 'evicted' && snapshot.spec.failover?.purge === 'Never';
  const objects = removalsOf(snapshot, entries, { entry, isReleased });
  return { cluster: entry.cluster.name, objects, ...(move === undefined ? {} : { isMove: true }) };
}

/** Renders the removals in a cluster that left the fleet: all copies that the inventory has there. */
export function renderClusterOutsideFleet(snapshot: PlanSnapshot, share: PlanSnapshot['sharesOutsideFleet'][number]): LeavingCluster {
  return { cluster: share.cluster, objects: removalsOf(snapshot, share.entries, { clusterOutsideFleet: share.cluster }) };
}

function faultOf({ live, cluster }: SnapshotCluster): Fault | undefined {
  for (const object of live.values()) if (object.result === 'unread') return object.fault;
  // No object was read, as for a cluster that joined while the snapshot was taken. Its content is unknown.
  return live.size === 0 ? (cluster.faults[0] ?? unreadFault(cluster.name)) : undefined;
}

function unreadFault(cluster: ClusterName): Fault {
  return fault('SYNCING', 'the mirrors have not been read yet', { cluster, retry: 'LATER' });
}

function entriesOf({ share }: SnapshotCluster): ReadonlyMap<string, InventoryEntry> {
  return new Map((share?.entries ?? []).map((entry) => [textOfKey(entry.key), entry]));
}

interface CopyAndEntry {
  readonly entry: SnapshotCluster;
  readonly copy: RenderedCopy;
  readonly entries: ReadonlyMap<string, InventoryEntry>;
}

function renderCopy(context: RenderContext, { entry: cluster, copy, entries }: CopyAndEntry): RenderedObject {
  const { snapshot } = context;
  const { key, keyText, manifest: desired, hash: desiredHash, secretOf, leftPaths, overriding } = copy;
  const live = readObjectOrAbsent(cluster.live.get(keyText));
  const entry = entries.get(keyText);
  const decision = decideCopy({
    live,
    entry,
    conflict: snapshot.spec.conflict,
    isSuspended: isSuspended(snapshot, cluster.cluster.name),
    relationToSource: relationToSource(copy, cluster.cluster.name, live),
    isUnchanged: (known) => isUnchangedCopy(context, { cluster, copy, live, known }),
  });
  return {
    key,
    ...decision,
    desired,
    ...(secretOf === undefined ? {} : { secretOf }),
    ...(leftPaths === undefined ? {} : { leftPaths }),
    ...(overriding === undefined ? {} : { overriding }),
    desiredHash,
    ...liveFactsOf(live, decision.action),
    predicted: live.result === 'absent' && isPredicted(context, cluster, key),
  };
}

/**
 * Returns how the existing object relates to the source of the copy. `Source`: it is the source. `Circle`: other Propagations make the
 * source from it. Undefined: neither. One cluster may be in the fleet under several names, so equal uids count too.
 */
function relationToSource({ source }: RenderedCopy, cluster: ClusterName, live: ReadObject): 'Source' | 'Circle' | undefined {
  if (source === undefined) return undefined;
  if (source.cluster === cluster) return 'Source';
  if (live.result === 'held' && source.uid !== undefined && live.object.metadata.uid === source.uid) return 'Source';
  return source.madeFrom.has(cluster) ? 'Circle' : undefined;
}

const absentObject: ReadObject = { result: 'absent', asOfMs: 0 };

type ReadObject = Exclude<MirroredObject, { readonly result: 'unread' }>;

/** Treats an unread object as absent. That is safe, because a write that creates an object never changes an existing one. */
function readObjectOrAbsent(live: MirroredObject | undefined): ReadObject {
  return live === undefined || live.result === 'unread' ? absentObject : live;
}

/**
 * True if the same manifest was written before, and the existing object still has the values that the server made of this manifest. If the
 * mirror has another version of the kind, the same manifest suffices, because values of two versions cannot be compared.
 */
function isUnchangedCopy(
  context: RenderContext,
  {
    cluster,
    copy,
    live,
    known,
  }: Omit<CopyAndEntry, 'entry' | 'entries'> & {
    readonly cluster: SnapshotCluster;
    readonly live: MirroredObject;
    readonly known: InventoryEntry;
  },
): boolean {
  if (live.result !== 'held' || known.appliedHash !== copy.hash) return false;
  if (known.state !== 'Owned' && known.state !== 'Shared') return false;
  if (cluster.otherVersions.has(copy.keyText) || hasOverriddenVersion(copy)) return true;
  const { key, manifest: desired, hash: desiredHash } = copy;
  return known.observedHash === cachedObservedHashOf({ key, desired, desiredHash }, live.object, context);
}

/** True if an override has changed the version. Only the rules of KubeFed allow that. The mirror then has another version of the kind. */
function hasOverriddenVersion({ key, overriding }: RenderedCopy): boolean {
  return overriding !== undefined && overriding.base.apiVersion !== key.apiVersion;
}

function isSuspended({ spec: { suspend } }: PlanSnapshot, cluster: ClusterName): boolean {
  return suspend.all || suspend.clusters.includes(cluster);
}

/** True if the same plan creates the namespace or the kind of the object in the cluster. */
function isPredicted({ creations }: RenderContext, { live }: SnapshotCluster, key: RenderedObject['key']): boolean {
  if (creations.kinds.size + creations.namespaces.size === 0) return false;
  const isMade = (text: string) => live.get(text)?.result === 'absent';
  const made = createdKindOf(creations, key);
  if (made !== undefined && isMade(textOfKey(made.definition))) return true;
  const { namespace } = key;
  return (
    namespace !== undefined &&
    creations.namespaces.has(namespace) &&
    isMade(textOfKey({ apiVersion: 'v1', kind: 'Namespace', name: namespace }))
  );
}

function liveFactsOf(live: MirroredObject, action: RenderedObject['action']): Pick<RenderedObject, 'live' | 'liveUid' | 'liveHash'> {
  if (live.result !== 'held') return {};
  const { object } = live;
  const { uid } = object.metadata;
  return {
    live: object,
    ...(uid === undefined ? {} : { liveUid: uid }),
    ...(action === 'UNCHANGED' ? {} : { liveHash: liveHashOf(object) }),
  };
}

/** The facts about a cluster from which copies are removed. */
interface RemovalFacts {
  /** The cluster in the snapshot. Absent for a cluster outside the fleet: `clusterOutsideFleet` then has its name. */
  readonly entry?: SnapshotCluster;
  readonly clusterOutsideFleet?: ClusterName;
  /** True if the copies are released instead of deleted, whatever the deletion policy is. Default: false. */
  readonly isReleased?: boolean;
  /**
   * The `textOfKey`s of dependencies that the cluster still needs, but that are missing at their source. Their copies are not removed.
   * Undefined: none.
   */
  readonly missing?: ReadonlySet<string> | undefined;
}

/** Returns the removals in reverse write order. */
function removalsOf(snapshot: PlanSnapshot, entries: readonly InventoryEntry[], removing: RemovalFacts): readonly RenderedObject[] {
  const removals = entries.map((entry): RenderedObject => {
    const { key } = entry;
    const { apiVersion, kind, ...named } = key;
    const desired: Manifest = { apiVersion, kind, metadata: named };
    const decision = removalOf(snapshot, entry, removing);
    return {
      key,
      ...decision,
      desired,
      // A copy that is held because its source is missing keeps the hash of its last write.
      desiredHash: (isMissing(removing, key) ? entry.appliedHash : undefined) ?? sha256Of(desired),
      ...liveFactsOf(removing.entry?.live.get(textOfKey(key)) ?? absentObject, decision.action),
      predicted: false,
    };
  });
  return inWriteOrder(removals).toReversed();
}

function removalOf(snapshot: PlanSnapshot, entry: InventoryEntry, removing: RemovalFacts): Pick<RenderedObject, 'action' | 'held'> {
  const { suspend, deletion } = snapshot.spec;
  const cluster = removing.entry?.cluster.name;
  if (isOfSource(snapshot, entry, cluster ?? removing.clusterOutsideFleet)) return { action: 'HOLD', held: 'Source' };
  if (cluster !== undefined && (suspend.all || suspend.clusters.includes(cluster))) return { action: 'HOLD', held: 'Suspended' };
  return isMissing(removing, entry.key)
    ? { action: 'HOLD', held: 'SourceMissing' }
    : { action: removing.isReleased === true ? 'RELEASE' : decideRemoval(entry, deletion) };
}

function isOfSource({ templates }: PlanSnapshot, entry: InventoryEntry, cluster: ClusterName | undefined): boolean {
  const sources = templates.flatMap(({ source }) => source ?? []);
  if (sources.length === 0 || cluster === undefined) return false;
  return isSourceEntry(sources, { cluster, entry, creations: creationsOf(templates.map(({ manifest }) => manifest)) });
}

function isMissing({ missing }: RemovalFacts, key: RenderedObject['key']): boolean {
  return missing?.has(textOfKey(key)) === true;
}
