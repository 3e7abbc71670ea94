import { compareText } from '../../core/text.ts';
import type { Sight } from '../copies/observed.ts';
import type { ClusterShare } from '../inventory.ts';
import type { MemberCluster } from '../members.ts';
import { matchesSet, mayHave } from '../placing/cluster-set.ts';
import { placementSetsIn } from '../placing/sets-in.ts';
import type { LeavingCluster, RenderedCluster, RenderedPlan } from '../plan.ts';
import type { RolloutSpec } from '../spec.ts';
import { heldPrune } from './held-prune.ts';
import { type Placing, place } from './place.ts';
import { contentDigestOf, type DigestedPlan, digestOf } from './plan-digest.ts';
import { isOk, notesOf } from './plan-notes.ts';
import { type PlanGround, renderCluster, renderLeaving, renderLost } from './render-cluster.ts';
import { type ClusterCopies, createCopyRenderer } from './render-copies.ts';
import type { Snapshot } from './snapshot.ts';
import { makesOf } from './template-makes.ts';

/**
 * The pure stages: prune, select, divide, override, own, plan (docs/internals/propagation.md 1), from one snapshot. No clock, network, chance or order of maps: equal
 * snapshots give equal bytes.
 *
 * With an error note it says as much as it can: of a template that could not be read nothing is rendered, and nothing leaves either.
 */
export function renderPlan(snapshot: Snapshot, sight: Sight): RenderedPlan {
  if (snapshot.notes.some(({ severity }) => severity === 'ERROR')) return unreadable(snapshot);
  const placing = place(snapshot);
  const waves = planWaves(
    snapshot.spec.rollout,
    placing.clusters.map(({ entry }) => entry.cluster),
  );
  const ground: PlanGround = {
    snapshot,
    makes: makesOf(snapshot.templates.map(({ manifest }) => manifest)),
    waveOf: waves.waveOf,
    ...sight,
  };
  const copiesOf = createCopyRenderer(snapshot, sight.listRulesOf);
  const copies = placing.clusters.map((placed) => (placed.doubt === undefined ? copiesOf(placed) : nothing));
  const clusters = placing.clusters.map((placed, index) => renderCluster(ground, placed, copies[index] ?? nothing));
  const leaving = leavingOf(snapshot, placing);
  return planOf(snapshot, { placing: withAway(snapshot, placing), clusters, leaving, copies, waves: waves.names });
}

const nothing: ClusterCopies = { result: 'rendered', copies: [], applied: [], unmatched: [], notes: [] };

/** That no member is chosen is wrong only while it is decided: later it may be that those which were chosen are away. */
function withAway(snapshot: Snapshot, placing: Placing): Placing {
  if (snapshot.purpose === 'decide' || awayIn(snapshot).length === 0) return placing;
  const { problem: _problem, ...rest } = placing;
  return rest;
}

interface Rendered {
  readonly placing: Placing;
  readonly clusters: readonly RenderedCluster[];
  readonly leaving: readonly LeavingCluster[];
  readonly copies: readonly ClusterCopies[];
  readonly waves: readonly string[];
}

function planOf(snapshot: Snapshot, { placing, clusters, leaving, copies, waves }: Rendered): RenderedPlan {
  const { spec, previous } = snapshot;
  const { rejected, affinityGroup, desired, placed, unplaced, fromZero } = placing;
  const away = awayIn(snapshot).map(({ cluster }) => cluster);
  const pruneHeld = heldPrune({ shares: sharesOf(snapshot), clusters, leaving, away, mostObjects: previous?.mostObjects });
  const notes = notesOf({ snapshot, placing, copies, clusters, pruneHeld });
  return {
    ...digestsIn(snapshot, { spec, clusters, leaving }),
    ok: isOk(notes),
    clusters,
    leaving,
    rejected,
    ...(affinityGroup === undefined ? {} : { affinityGroup }),
    ...(desired === undefined ? {} : { desired }),
    ...(placed === undefined ? {} : { placed }),
    unplaced,
    waves,
    away,
    fromZero,
    sources: snapshot.sources,
    ...(pruneHeld === undefined ? {} : { pruneHeld }),
    notes,
  };
}

function digestsIn({ replaced }: Snapshot, digested: DigestedPlan): Pick<RenderedPlan, 'digest' | 'content'> {
  const content = contentDigestOf(digested);
  return { content, digest: digestOf(content, replaced) };
}

/** Of clusters that are no members: those which the placement may have, as far as their names tell, and which leave. */
function awayIn({ spec: { placement }, left }: Snapshot): readonly ClusterShare[] {
  const sets = placementSetsIn(placement);
  return left.filter(({ cluster }) => sets.some((set) => mayHave(set, cluster)));
}

/** Members that are not chosen, and clusters that are none and that the placement cannot have any more, together by name. */
function leavingOf(snapshot: Snapshot, { clusters }: Placing): readonly LeavingCluster[] {
  const chosen = new Set(clusters.map((placed) => placed.chosen.cluster));
  const members = snapshot.clusters.filter(({ cluster }) => !chosen.has(cluster.name)).map((entry) => renderLeaving(snapshot, entry));
  const away = new Set(awayIn(snapshot).map(({ cluster }) => cluster));
  const lost = snapshot.left.filter(({ cluster }) => !away.has(cluster)).map((share) => renderLost(snapshot, share));
  return [...members, ...lost].filter((one) => one !== undefined).toSorted((a, b) => compareText(a.cluster, b.cluster));
}

function sharesOf({ clusters, left }: Snapshot): readonly ClusterShare[] {
  return [...clusters.flatMap(({ share }) => (share === undefined ? [] : [share])), ...left];
}

function unreadable(snapshot: Snapshot): RenderedPlan {
  const { spec, notes } = snapshot;
  const count = sharesOf(snapshot).reduce((sum, { entries }) => sum + entries.length, 0);
  const pruneHeld = count === 0 ? {} : { pruneHeld: `what is wanted could not be read, and ${count} objects are there` };
  return {
    ...digestsIn(snapshot, { spec, clusters: [], leaving: [] }),
    ok: false,
    clusters: [],
    leaving: [],
    rejected: [],
    unplaced: 0,
    waves: [],
    away: awayIn(snapshot).map(({ cluster }) => cluster),
    fromZero: false,
    sources: snapshot.sources,
    ...pruneHeld,
    notes,
  };
}

/** In which wave which cluster is. */
interface PlannedWaves {
  /** Those with at least one cluster, in order. What no wave matched is in the last, `rest`; without waves all are in one, `all`. */
  readonly names: readonly string[];
  /** Index in `names`, of every cluster given. */
  readonly waveOf: ReadonlyMap<string, number>;
}

/** The first wave that matches a cluster has it (docs/internals/propagation.md 2.1). */
function planWaves({ waves }: Pick<RolloutSpec, 'waves'>, clusters: readonly MemberCluster[]): PlannedWaves {
  const all = [...waves.map(({ name, set }) => ({ name, set })), { name: waves.length === 0 ? 'all' : 'rest', set: {} }];
  const first = new Map(clusters.map((cluster) => [cluster.name, all.findIndex(({ set }) => matchesSet(set, cluster))]));
  const used = [...new Set(first.values())].toSorted((a, b) => a - b);
  return {
    names: used.map((index) => all[index]?.name ?? ''),
    waveOf: new Map([...first].map(([cluster, index]) => [cluster, used.indexOf(index)])),
  };
}
