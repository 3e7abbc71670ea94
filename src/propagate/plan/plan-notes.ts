import type { ClusterName } from '../../core/names.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import type { Note } from '../model/notes.ts';
import type { RenderedCluster } from '../model/plan.ts';
import type { PreservedIn } from '../model/propagation.ts';
import type { ClusterSet, PropagationSpec } from '../model/spec.ts';
import type { PlacementResult } from './place-replicas.ts';
import type { EvictingPlacement } from './place-with-evictions.ts';
import { workloadCountOf } from './placing/workload-count.ts';
import type { ClusterCopies } from './render-copies.ts';
import { isAutoscaler, keyScaledBy } from './snapshot/member-workloads.ts';
import type { PlanSnapshot } from './snapshot/snapshot.ts';

/** The results of the planning steps from which notes are made. */
interface NotedPlan {
  readonly snapshot: PlanSnapshot;
  readonly placing: EvictingPlacement;
  readonly preserved: readonly PreservedIn[];
  /** The copies of each cluster, in the order of `placing.clusters` and of `clusters`. */
  readonly copies: readonly ClusterCopies[];
  readonly clusters: readonly RenderedCluster[];
  readonly pruneHeld: string | undefined;
}

/**
 * Returns all notes about the input, without duplicates: errors for impossible input, warnings for probable mistakes.
 *
 * With `strict`, warnings become errors until the generation is decided. A prune that must be confirmed stays a warning, because it stops
 * the plan anyway.
 */
export function planNotesOf(plan: NotedPlan): readonly Note[] {
  const { snapshot, placing, copies } = plan;
  const all = [
    ...snapshot.notes,
    ...unknownClusterNotes(snapshot),
    ...problemNotes(placing),
    ...placing.notes,
    ...copies.flatMap((of) => (of.result === 'failed' ? [failedOverrideNote(of, snapshot)] : of.notes)),
    ...unmatchedOverrideNotes(plan),
    ...autoscalerNotes(plan),
    ...sourceNotes(plan),
    ...notPreservedNotes(plan),
    ...heldPruneNote(plan),
  ];
  return withStrictSeverity(snapshot, uniqueNotes(all));
}

/** True if no note is an error. */
export function hasNoErrors(notes: readonly Note[]): boolean {
  return notes.every(({ severity }) => severity !== 'ERROR');
}

/**
 * Turns warnings into errors if the spec is `strict`. Warnings of a decided generation stay warnings, because later changes in the fleet
 * are no mistake of its author.
 */
export function withStrictSeverity({ spec, purpose }: Pick<PlanSnapshot, 'spec' | 'purpose'>, notes: readonly Note[]): readonly Note[] {
  if (!spec.strict || purpose === 'keep') return notes;
  return notes.map((note) => (note.severity === 'WARNING' && note.code !== 'PRUNE_HELD' ? { ...note, severity: 'ERROR' } : note));
}

/** Removes duplicates and keeps the first of each. */
export function uniqueNotes(notes: readonly Note[]): readonly Note[] {
  return [...new Map(notes.map((note) => [JSON.stringify([note.severity, note.code, note.path, note.message]), note])).values()];
}

interface NamedSet {
  readonly set: ClusterSet;
  readonly path: string;
}

function unknownClusterNotes({ spec, clusters, purpose }: PlanSnapshot): readonly Note[] {
  const names = new Set<string>(clusters.map(({ cluster }) => cluster.name));
  const noted = (sets: readonly NamedSet[], severity: Note['severity']) =>
    sets.flatMap(({ set, path }) =>
      (set.clusters ?? []).flatMap((name, index): readonly Note[] => {
        if (names.has(name)) return [];
        const message = `expected a cluster of the fleet, got ${JSON.stringify(name)}`;
        return [{ severity, code: 'UNKNOWN_CLUSTER', message, path: `${path}.clusters[${index}]` }];
      }),
    );
  // Karmada ignores unknown names.
  const isError = purpose === 'decide' && spec.exact?.system !== 'Karmada';
  return [...noted(placementSets(spec), isError ? 'ERROR' : 'WARNING'), ...noted(otherSets(spec), 'WARNING')];
}

function placementSets({ placement, replicas }: PropagationSpec): readonly NamedSet[] {
  return [
    { set: placement, path: 'placement' },
    ...placement.affinityGroups.flatMap(({ set, overflow }, index) => {
      const path = `placement.affinityGroups[${index}]`;
      return [{ set, path: `${path}.set` }, ...overflow.map((entry, at) => ({ set: entry.set, path: `${path}.overflow[${at}].set` }))];
    }),
    ...replicas.rules.map(({ set }, index) => ({ set, path: `replicas.rules[${index}].set` })),
  ];
}

function otherSets({ overrides, rollout, suspend }: PropagationSpec): readonly NamedSet[] {
  return [
    ...overrides.map(({ set }, index) => ({ set, path: `overrides[${index}].set` })),
    ...rollout.waves.map(({ set }, index) => ({ set, path: `rollout.waves[${index}].set` })),
    { set: { clusters: suspend.clusters }, path: 'suspend' },
  ];
}

function problemNotes({ problem, isShort }: PlacementResult): readonly Note[] {
  if (problem === undefined) return [];
  if (isShort === true) return [{ severity: 'ERROR', code: 'UNPLACED', message: problem, path: 'replicas' }];
  return [{ severity: 'ERROR', code: 'NOTHING_CHOSEN', message: problem, path: 'placement' }];
}

/**
 * Returns the note of a failed override: an error in a new decision. For a generation that was decided before, it is information only: the
 * override fails for a cluster that joined later, and that cluster has the fault.
 */
function failedOverrideNote({ path, message }: Extract<ClusterCopies, { readonly result: 'failed' }>, { purpose }: PlanSnapshot): Note {
  return { severity: purpose === 'decide' ? 'ERROR' : 'INFO', code: 'OVERRIDE_FAILED', message, path };
}

function unmatchedOverrideNotes({ snapshot, copies, placing }: NotedPlan): readonly Note[] {
  if (copies.some(({ result }) => result === 'failed') || placing.clusters.some(({ locationFault }) => locationFault !== undefined))
    return [];
  const applied = new Set(copies.flatMap((of) => (of.result === 'rendered' ? of.applied : [])));
  return snapshot.spec.overrides.flatMap(({ name }, index): readonly Note[] => {
    const path = `overrides[${index}]`;
    if (applied.has(name ?? path)) return [];
    return [{ severity: 'WARNING', code: 'UNMATCHED_OVERRIDE', message: 'it changes no object in any chosen cluster', path }];
  });
}

function autoscalerNotes({ snapshot, placing }: NotedPlan): readonly Note[] {
  if (snapshot.spec.replicas.mode === 'External') return [];
  const manifests = snapshot.templates.map(({ manifest }) => manifest);
  const own = new Set(manifests.filter(isAutoscaler).map(keyScaledBy));
  return manifests.flatMap((manifest): readonly Note[] => {
    const text = textOfKey(keyOfManifest(manifest));
    const scaled = own.has(text) || placing.clusters.some(({ entry }) => entry.autoscaled.has(text));
    if (!scaled || workloadCountOf(manifest) === undefined) return [];
    const message = `an autoscaler and Muster both set the replicas of ${manifest.kind} ${manifest.metadata.name}: mode External leaves them to the autoscaler`;
    return [{ severity: 'WARNING', code: 'AUTOSCALED', message, path: 'replicas.mode' }];
  });
}

/**
 * Returns a note for each copy that would be written over its own source, because the source is in a chosen cluster. Also for each copy
 * that would close a circle: other Propagations make its source from it.
 *
 * A new plan that would change a source, or close a circle, is refused. A generation that was decided before continues, and does not change
 * these objects.
 */
function sourceNotes({ snapshot: { purpose }, copies, clusters }: NotedPlan): readonly Note[] {
  const severity = purpose === 'decide' ? 'ERROR' : 'WARNING';
  return clusters.flatMap(({ chosen: { cluster }, objects }, index) => {
    const of = copies[index];
    const sources = new Map(of?.result === 'rendered' ? of.copies.map((copy) => [copy.keyText, copy.source]) : []);
    return objects.flatMap(({ key, held }): readonly Note[] => {
      const source = sources.get(textOfKey(key));
      if (source === undefined) return [];
      const path = source.path === 'dependencies' ? source.path : `${source.path}.ref`;
      const what = `${key.kind} ${key.name} in cluster ${cluster}`;
      if (held === 'Source') return [sourceIsTargetNote({ severity, path, what, cluster, isAltered: source.isAltered })];
      if (held !== 'Circle') return [];
      const message = `writing ${what} would create a circle: ${source.madeFrom.get(cluster)} makes the source from it`;
      return [{ severity, code: 'CIRCLE', message: `${message}. Remove cluster ${cluster} from one of the two placements`, path }];
    });
  });
}

interface SourceIsTarget extends Pick<Note, 'severity'> {
  readonly path: string;
  readonly what: string;
  readonly cluster: ClusterName;
  readonly isAltered: boolean;
}

function sourceIsTargetNote({ severity, path, what, cluster, isAltered }: SourceIsTarget): Note {
  const code = 'SOURCE_IS_TARGET';
  if (!isAltered)
    return { severity: 'INFO', code, message: `${what} is the source of the template: it counts as placed and is never written`, path };
  const message = `${what} is the source of the template and is never written, but the intent has another count or an override for it`;
  return { severity, code, message: `${message}. Exclude cluster ${cluster}, or give the template as a manifest`, path };
}

/** Returns a warning for each cluster whose copies lack labels of `failover.preserve`. */
function notPreservedNotes({ preserved, placing: { moves }, snapshot: { evictions = [] } }: NotedPlan): readonly Note[] {
  const note = (message: string): Note => ({ severity: 'WARNING', code: 'NOT_PRESERVED', message, path: 'failover.preserve' });
  const lacking = preserved.flatMap(({ cluster, notPreserved = [] }) =>
    notPreserved.length === 0
      ? []
      : [note(`the copies in cluster ${cluster} lack ${notPreserved.join(', ')}: the old status had no label value for it`)],
  );
  const several = evictions.filter(({ cluster, to, preserved: kept }) => {
    const taking = moves.find((move) => move.cluster === cluster)?.to ?? to ?? [];
    return kept !== undefined && taking.length > 1;
  });
  return [
    ...lacking,
    ...several.map(({ cluster }) => note(`several clusters take over from cluster ${cluster}: expected one, to preserve its labels`)),
  ];
}

function heldPruneNote({ pruneHeld }: NotedPlan): readonly Note[] {
  return pruneHeld === undefined ? [] : [{ severity: 'WARNING', code: 'PRUNE_HELD', message: `needs a confirmation first: ${pruneHeld}` }];
}
