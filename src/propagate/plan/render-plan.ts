import type { MemberCluster } from '../../changes/members.ts';
import { compareText } from '../../core/text.ts';
import type { ClusterShare } from '../model/inventory.ts';
import type { LeavingCluster, RenderedCluster, RenderedPlan } from '../model/plan.ts';
import type { RolloutSpec } from '../model/spec-definition.ts';
import type { ComparisonRules } from './copies/observed-hash.ts';
import { reasonToHoldPrune } from './held-prune.ts';
import { withOverriddenSums } from './overridden-share.ts';
import { type EvictingPlacement, placeWithEvictions } from './place-with-evictions.ts';
import { matchesSet, mayMatchName } from './placing/cluster-set.ts';
import { placementSetsIn } from './placing/sets-in.ts';
import { contentDigestOf, type DigestedPlan, planDigestOf } from './plan-digest.ts';
import { hasNoErrors, planNotesOf } from './plan-notes.ts';
import { preservedAfter } from './preserved-labels.ts';
import { type RenderContext, renderCluster, renderClusterOutsideFleet, renderUnchosenCluster } from './render-cluster.ts';
import { type ClusterCopies, createCopyRenderer } from './render-copies.ts';
import { withoutHiddenRoom } from './snapshot/hide-room.ts';
import type { PlanSnapshot } from './snapshot/snapshot.ts';
import { creationsOf } from './snapshot/template-creations.ts';

/**
 * Runs the pure steps of planning on one snapshot: prune, select, divide, override, own, plan (docs/internals/propagation.md 1). These
 * steps use no clock, network, randomness or map order, so equal snapshots give byte-equal plans.
 *
 * A snapshot with an error note gives an incomplete plan, which renders no object and removes no copy.
 */
export function renderPlan(snapshot: PlanSnapshot, rules: ComparisonRules): RenderedPlan {
  if (snapshot.notes.some(({ severity }) => severity === 'ERROR')) return unreadablePlan(snapshot);
  const placing = placeWithEvictions(snapshot);
  const waves = planWaves(
    snapshot.spec.rollout,
    placing.clusters.map(({ entry }) => entry.cluster),
  );
  const context: RenderContext = {
    snapshot,
    creations: creationsOf(snapshot.templates.map(({ manifest }) => manifest)),
    waveOf: waves.waveOf,
    ...rules,
  };
  const preserved = preservedAfter(snapshot, placing);
  const copiesOf = createCopyRenderer({ ...snapshot, preserved }, rules.listRulesOf);
  const copies = placing.clusters.map((placed) => (placed.locationFault === undefined ? copiesOf(placed) : noCopies));
  const clusters = placing.clusters.map((placed, index) => renderCluster(context, placed, copies[index] ?? noCopies));
  const leaving = placing.isShort === true ? [] : leavingClusters(snapshot, placing);
  const plan = planOf(snapshot, {
    placing: withOverriddenSums(
      withoutAwayProblem(snapshot, placing),
      clusters.map(({ share }) => share),
    ),
    clusters,
    leaving,
    copies,
    preserved,
    waves: waves.names,
  });
  return withoutHiddenRoom(snapshot, plan);
}

const noCopies: ClusterCopies = { result: 'rendered', copies: [], applied: [], unmatched: [], notes: [] };

/**
 * Removes the problem "no cluster was chosen" for a generation that was decided before, if its copies are in clusters that are outside the
 * fleet for now.
 */
function withoutAwayProblem(snapshot: PlanSnapshot, placing: EvictingPlacement): EvictingPlacement {
  if (snapshot.purpose === 'decide' || placing.isShort === true || awayShares(snapshot).length === 0) return placing;
  const { problem: _problem, ...rest } = placing;
  return rest;
}

interface RenderedParts {
  readonly placing: EvictingPlacement;
  readonly clusters: readonly RenderedCluster[];
  readonly leaving: readonly LeavingCluster[];
  readonly copies: readonly ClusterCopies[];
  readonly preserved: RenderedPlan['preserved'];
  readonly waves: readonly string[];
}

function planOf(snapshot: PlanSnapshot, { placing, clusters, leaving, copies, preserved, waves }: RenderedParts): RenderedPlan {
  const { spec, previous } = snapshot;
  const { rejected, moves, affinityGroup, desired, placed, unplaced, fromZero } = placing;
  const away = awayShares(snapshot).map(({ cluster }) => cluster);
  const prune = { shares: sharesOf(snapshot), clusters, leaving, away, mostObjects: previous?.mostObjects };
  const pruneHeld = placing.isShort === true ? undefined : reasonToHoldPrune(prune);
  const notes = planNotesOf({ snapshot, placing, preserved, copies, clusters, pruneHeld });
  return {
    ...digestsIn(snapshot, { spec, clusters, leaving }),
    ok: hasNoErrors(notes),
    clusters,
    leaving,
    rejected,
    moves,
    preserved,
    ...(affinityGroup === undefined ? {} : { affinityGroup }),
    ...(desired === undefined ? {} : { desired }),
    ...(placed === undefined ? {} : { placed }),
    unplaced,
    waves,
    away,
    fromZero,
    sources: snapshot.sources,
    contents: snapshot.contents,
    ...(pruneHeld === undefined ? {} : { pruneHeld }),
    notes,
  };
}

function digestsIn({ replaced }: PlanSnapshot, digested: DigestedPlan): Pick<RenderedPlan, 'digest' | 'content'> {
  const content = contentDigestOf(digested);
  return { content, digest: planDigestOf(content, replaced) };
}

/**
 * Returns the shares of clusters outside the fleet that may still match the placement. Only their names are compared, because nothing else
 * is known of them.
 */
function awayShares({ spec: { placement }, sharesOutsideFleet }: PlanSnapshot): readonly ClusterShare[] {
  const sets = placementSetsIn(placement);
  return sharesOutsideFleet.filter(({ cluster }) => sets.some((set) => mayMatchName(set, cluster)));
}

/**
 * Returns the clusters from which copies are removed, by name: members that are not chosen, and clusters outside the fleet that cannot
 * match the placement any more.
 */
function leavingClusters(snapshot: PlanSnapshot, { clusters, moves }: EvictingPlacement): readonly LeavingCluster[] {
  const chosen = new Set(clusters.map((placed) => placed.chosen.cluster));
  const members = snapshot.clusters
    .filter(({ cluster }) => !chosen.has(cluster.name))
    .map((entry) => renderUnchosenCluster(snapshot, entry, moveFrom(snapshot, moves, entry.cluster.name)));
  const away = new Set(awayShares(snapshot).map(({ cluster }) => cluster));
  const outsideFleet = snapshot.sharesOutsideFleet
    .filter(({ cluster }) => !away.has(cluster))
    .map((share) => renderClusterOutsideFleet(snapshot, share));
  return [...members, ...outsideFleet].filter((one) => one !== undefined).toSorted((a, b) => compareText(a.cluster, b.cluster));
}

/** Returns why the copies of a cluster that is not chosen move. Undefined if they do not move, but are unwanted. */
function moveFrom(
  { evictions = [], isReturn = false }: PlanSnapshot,
  moves: EvictingPlacement['moves'],
  name: string,
): 'evicted' | 'returned' | undefined {
  const eviction = evictions.find(({ cluster }) => cluster === name);
  const isLeft = eviction?.to !== undefined || moves.some(({ cluster }) => cluster === name);
  if (isLeft && eviction?.cause !== 'Return') return 'evicted';
  return isReturn || eviction?.cause === 'Return' ? 'returned' : undefined;
}

function sharesOf({ clusters, sharesOutsideFleet }: PlanSnapshot): readonly ClusterShare[] {
  return [...clusters.flatMap(({ share }) => (share === undefined ? [] : [share])), ...sharesOutsideFleet];
}

function unreadablePlan(snapshot: PlanSnapshot): RenderedPlan {
  const { spec, notes } = snapshot;
  const count = sharesOf(snapshot).reduce((sum, { entries }) => sum + entries.length, 0);
  const pruneHeld = count === 0 ? {} : { pruneHeld: `the template could not be read, but ${count} objects exist` };
  return {
    ...digestsIn(snapshot, { spec, clusters: [], leaving: [] }),
    ok: false,
    clusters: [],
    leaving: [],
    rejected: [],
    moves: [],
    preserved: snapshot.preserved ?? [],
    unplaced: 0,
    waves: [],
    away: awayShares(snapshot).map(({ cluster }) => cluster),
    fromZero: false,
    sources: snapshot.sources,
    contents: undefined,
    ...pruneHeld,
    notes,
  };
}

/** The assignment of clusters to waves. */
interface PlannedWaves {
  /**
   * Names of the waves with at least one cluster, in order. Clusters that match no wave are in the last one, `rest`. Without waves, all
   * clusters are in `all`.
   */
  readonly names: readonly string[];
  /** The index in `names` for every cluster. */
  readonly waveOf: ReadonlyMap<string, number>;
}

/** Assigns each cluster to the first wave that matches it (docs/internals/propagation.md 2.1). */
function planWaves({ waves }: Pick<RolloutSpec, 'waves'>, clusters: readonly MemberCluster[]): PlannedWaves {
  const all = [...waves.map(({ name, set }) => ({ name, set })), { name: waves.length === 0 ? 'all' : 'rest', set: {} }];
  const first = new Map(clusters.map((cluster) => [cluster.name, all.findIndex(({ set }) => matchesSet(set, cluster))]));
  const used = [...new Set(first.values())].toSorted((a, b) => a - b);
  return {
    names: used.map((index) => all[index]?.name ?? ''),
    waveOf: new Map([...first].map(([cluster, index]) => [cluster, used.indexOf(index)])),
  };
}
