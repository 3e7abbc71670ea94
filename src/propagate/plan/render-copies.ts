import type { MemberCluster } from '../../changes/members.ts';
import { sha256Of } from '../../core/json/canonical-json.ts';
import { equalJson } from '../../core/json/json-values.ts';
import type { Json } from '../../core/json.ts';
import { labelsAt, valueAt } from '../../core/json-at.ts';
import { withoutValueAt, withValueAt } from '../../manifests/json-edits.ts';
import type { ListRulesOf } from '../../manifests/list-rules.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import type { Note } from '../model/notes.ts';
import type { Overriding, RenderedObject } from '../model/plan.ts';
import type { PreservedIn } from '../model/propagation.ts';
import type { Override } from '../model/spec.ts';
import { rulesOf } from './exact/system-rules.ts';
import { applyOverrides, matchingOverrides } from './overrides/apply-overrides.ts';
import type { PlacedCluster } from './place-replicas.ts';
import { countFieldOf, type WorkloadCount, withWorkloadCount, workloadCountOf } from './placing/workload-count.ts';
import type { PlanSnapshot, TemplateObject } from './snapshot/snapshot.ts';
import type { SourceObject } from './snapshot/sources.ts';

/** One wanted object for a cluster, whether or not an object exists there. */
export interface RenderedCopy {
  readonly key: ObjectKey;
  /** The `textOfKey` of `key`. */
  readonly keyText: string;
  readonly manifest: Manifest;
  /**
   * SHA-256 of the manifest. For a Secret, the version of its source is included. For a replacement by the rules of another system, the
   * name of that system is included: its record of labels and annotations must be written even if the manifest stays the same.
   */
  readonly hash: string;
  readonly secretOf?: TemplateObject['secretOf'];
  readonly leftPaths?: RenderedObject['leftPaths'];
  /** How many replicas an override adds to the count of a workload. Negative if it takes replicas away. Absent if no override sets the count. */
  readonly countChange?: number;
  readonly overriding?: RenderedObject['overriding'];
  /** The object from which the manifest was read. Absent if the intent itself contains the manifest. */
  readonly source?: CopySource;
}

/** The object from which a copy is read. */
interface CopySource extends SourceObject {
  /** Path in the input of the template that refers to the object. */
  readonly path: string;
  /** True if the copy differs from its source: it has another count, or overrides changed it. */
  readonly isAltered: boolean;
}

/** The wanted copies of one cluster. */
export type ClusterCopies =
  | {
      readonly result: 'rendered';
      /** The copies in write order. */
      readonly copies: readonly RenderedCopy[];
      /** The `textOfKey`s of dependencies that are needed here but missing at their source. Their existing copies stay. Default: none. */
      readonly missing?: ReadonlySet<string>;
      /**
       * Names of the overrides that changed an object, in their order. `unmatched` has the overrides that matched the cluster and changed
       * no object.
       */
      readonly applied: readonly string[];
      readonly unmatched: readonly string[];
      readonly notes: readonly Note[];
    }
  /** An override failed. `path` is its path in the input. */
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

/** Renders the copies of one cluster. Objects that do not differ between clusters are rendered once and shared. */
export type CopyRenderer = (placed: Pick<PlacedCluster, 'entry' | 'counts'>) => ClusterCopies;

/**
 * Creates a renderer for one snapshot. It sets the replica count first and then applies the overrides, so an override of the count wins
 * (docs/internals/propagation.md 1).
 */
export function createCopyRenderer(
  { spec, templates, missing = [], preserved = [] }: Pick<PlanSnapshot, 'spec' | 'templates' | 'missing' | 'preserved'>,
  listRulesOf: ListRulesOf,
): CopyRenderer {
  const clusters = new Map<string, ClusterCopies>();
  const objects = new Map<string, ObjectCopy>();

  function objectOf(index: number, template: TemplateObject, { cluster, counts, matching }: ClusterInputs): ObjectCopy {
    const count = counts.get(index);
    const key = `${index} ${textOfCount(count)} ${matching}`;
    const known = objects.get(key);
    if (known !== undefined) return known;
    const rendered = renderObject({ spec, listRulesOf }, { template, count, cluster, matching });
    objects.set(key, rendered);
    return rendered;
  }

  function clusterOf(wanted: ClusterInputs): ClusterCopies {
    const rendered = templates.flatMap((template, index) => (isWanted(template, index, wanted) ? [objectOf(index, template, wanted)] : []));
    const failed = rendered.find((object) => object.result === 'failed');
    if (failed !== undefined) return failed;
    const joined = joinCopies(
      rendered.filter((object) => object.result === 'rendered'),
      spec.overrides,
    );
    const kept = missing.filter(({ usedBy }) => isNeeded(usedBy, wanted)).map(({ key }) => textOfKey(key));
    return kept.length === 0 ? joined : { ...joined, missing: new Set(kept) };
  }

  function clusterCopiesOf({ entry: { cluster }, counts }: Parameters<CopyRenderer>[0]): ClusterCopies {
    const matching = matchingOverrides(spec.overrides, cluster);
    const key = `${[...counts].map(([index, count]) => `${index}:${textOfCount(count)}`).join(' ')} ${matching}`;
    const known = clusters.get(key);
    if (known !== undefined) return known;
    const rendered = clusterOf({ cluster, counts, matching });
    clusters.set(key, rendered);
    return rendered;
  }

  return (placed) =>
    withPreservedLabels(
      clusterCopiesOf(placed),
      preserved.find(({ cluster }) => cluster === placed.entry.cluster.name),
    );
}

/** Adds the labels that the copies of a cluster keep from their predecessors. Returns the copies themselves if there are none. */
function withPreservedLabels(copies: ClusterCopies, preserved: PreservedIn | undefined): ClusterCopies {
  if (preserved === undefined || copies.result === 'failed') return copies;
  const labels = new Map(preserved.objects.map((object) => [textOfKey(object.key), object.labels]));
  const labelled = copies.copies.map((copy): RenderedCopy => {
    const more = labels.get(copy.keyText);
    if (more === undefined || copy.secretOf !== undefined) return copy;
    const manifest = withValueAt(copy.manifest, ['metadata', 'labels'], { ...labelsAt(copy.manifest, 'metadata', 'labels'), ...more });
    return { ...copy, manifest, hash: sha256Of(manifest) };
  });
  return { ...copies, copies: labelled };
}

interface ClusterInputs {
  readonly cluster: MemberCluster;
  readonly counts: ReadonlyMap<number, WorkloadCount>;
  /** Indices of the overrides that match the cluster. An override uses nothing else of the cluster. */
  readonly matching: readonly number[];
}

interface ObjectInputs extends Pick<ClusterInputs, 'cluster' | 'matching'> {
  readonly template: TemplateObject;
  readonly count: WorkloadCount | undefined;
}

type ObjectCopy =
  | {
      readonly result: 'rendered';
      readonly copy: RenderedCopy;
      readonly applied: readonly string[];
      readonly unmatched: readonly string[];
      readonly notes: readonly Note[];
    }
  | Extract<ClusterCopies, { readonly result: 'failed' }>;

/**
 * True if the object is wanted in the cluster. A workload with 0 replicas is omitted if another workload has replicas there. A dependency
 * is omitted if none of its users is there.
 */
function isWanted({ usedBy }: TemplateObject, index: number, wanted: Pick<ClusterInputs, 'counts'>): boolean {
  return isNeeded(usedBy ?? [index], wanted);
}

/** True if at least one of these objects of the template is wanted in the cluster. */
function isNeeded(users: readonly number[], { counts }: Pick<ClusterInputs, 'counts'>): boolean {
  return users.some((at) => counts.get(at)?.count !== 0 || [...counts.values()].every(({ count }) => count === 0));
}

function renderObject(
  { spec, listRulesOf }: Pick<PlanSnapshot, 'spec'> & { readonly listRulesOf: ListRulesOf },
  { template, count, cluster, matching }: ObjectInputs,
): ObjectCopy {
  const counted = countedManifest(template.manifest, count, spec.replicas);
  const overridden = applyOverrides({
    object: counted,
    overrides: spec.overrides,
    cluster,
    matching,
    listRulesAt: listRulesOf(groupKindOfKey(counted)),
    rules: rulesOf(spec.exact).overrides,
  });
  if (overridden.result === 'failed') return overridden;
  const { object: manifest, applied, unmatched, notes } = overridden;
  const key = keyOfManifest(manifest);
  const { secretOf, sourceVersion, source } = template;
  const leftPaths = leftPathsOf(manifest, count, spec.replicas);
  return {
    result: 'rendered',
    copy: {
      key,
      keyText: textOfKey(key),
      manifest,
      hash: hashOf(manifest, [...(secretOf === undefined ? [] : [sourceVersion ?? null]), ...replacedAs(spec)]),
      ...(secretOf === undefined ? {} : { secretOf }),
      ...(leftPaths === undefined ? {} : { leftPaths }),
      ...countChangeOf(counted, manifest, count),
      ...(isReplacedAsKubeFed(spec) ? { overriding: overridingOf(counted, spec, matching) } : {}),
      ...(source === undefined ? {} : { source: { ...source, path: template.path, isAltered: isAltered(template, manifest, leftPaths) } }),
    },
    applied,
    unmatched,
    notes,
  };
}

function hashOf(manifest: Manifest, more: readonly Json[]): string {
  return more.length === 0 ? sha256Of(manifest) : sha256Of([manifest, ...more]);
}

function replacedAs({ exact, write }: PlanSnapshot['spec']): readonly Json[] {
  return exact === undefined || write !== 'Replace' ? [] : [{ replacedAs: exact.system }];
}

function isReplacedAsKubeFed({ exact, write }: PlanSnapshot['spec']): boolean {
  return exact?.system === 'Kubefed' && write === 'Replace';
}

function overridingOf(base: Manifest, { overrides, replicas }: PlanSnapshot['spec'], matching: readonly number[]): Overriding {
  return { base, overrides: matching.flatMap((at) => overrides[at] ?? []), retainsReplicas: replicas.mode === 'External' };
}

/** True if the manifest differs from its template in other fields than the paths of `leftPaths`. */
function isAltered({ manifest: template }: TemplateObject, manifest: Manifest, leftPaths: RenderedObject['leftPaths'] = []): boolean {
  return !equalJson(
    manifest,
    leftPaths.reduce((left, path) => withoutValueAt(left, path), template),
  );
}

/**
 * Sets the replica count of the manifest to the divided count or `replicas.total`. With mode Duplicated and no `total`, the count of the
 * template stays. With mode External, removes the count, because an autoscaler owns it.
 */
function countedManifest(
  manifest: Manifest,
  count: WorkloadCount | undefined,
  { mode, total }: PlanSnapshot['spec']['replicas'],
): Manifest {
  if (count === undefined) return manifest;
  const field = countFieldOf(manifest);
  if (mode === 'External') return field === undefined ? manifest : withoutValueAt(manifest, ['spec', field]);
  return mode === 'Duplicated' && total === undefined ? manifest : withWorkloadCount(manifest, count);
}

function countChangeOf(counted: Manifest, overridden: Manifest, count: WorkloadCount | undefined): Pick<RenderedCopy, 'countChange'> {
  const [before, after] = [workloadCountOf(counted), workloadCountOf(overridden)];
  if (count === undefined || before === undefined || after === undefined || before.count === after.count) return {};
  return { countChange: after.count - before.count };
}

/** Returns the path of the count that an autoscaler owns. Undefined if an override sets the count anyway. */
function leftPathsOf(
  manifest: Manifest,
  count: WorkloadCount | undefined,
  { mode }: PlanSnapshot['spec']['replicas'],
): RenderedObject['leftPaths'] | undefined {
  const field = mode === 'External' && count !== undefined ? countFieldOf(manifest) : undefined;
  return field === undefined || valueAt(manifest, 'spec', field) !== undefined ? undefined : [['spec', field]];
}

function joinCopies(
  objects: readonly Extract<ObjectCopy, { readonly result: 'rendered' }>[],
  overrides: readonly Override[],
): Extract<ClusterCopies, { readonly result: 'rendered' }> {
  const applied = new Set(objects.flatMap((object) => object.applied));
  const unmatched = new Set(objects.flatMap((object) => object.unmatched));
  // An override of an image has no effect on a ConfigMap. That needs no note if the same override changed another object.
  const isNews = ({ path }: Note, object: { readonly unmatched: readonly string[] }) => {
    const name = overrideNameAt(path, overrides);
    return name === undefined || !applied.has(name) || !object.unmatched.includes(name);
  };
  return {
    result: 'rendered',
    copies: inWriteOrder(objects.map(({ copy }) => copy)),
    applied: [...applied],
    unmatched: [...unmatched].filter((name) => !applied.has(name)),
    notes: objects.flatMap((object) => object.notes.filter((note) => isNews(note, object))),
  };
}

/** Returns the name of the override that contains the path, or `overrides[2]` if it has none. Undefined if the path is in no override. */
function overrideNameAt(path: string | undefined, overrides: readonly Override[]): string | undefined {
  const [whole, index] = /^overrides\[(\d+)\]/.exec(path ?? '') ?? [];
  return whole === undefined ? undefined : (overrides[Number(index)]?.name ?? whole);
}

function textOfCount(count: WorkloadCount | undefined): string {
  return count === undefined ? '' : `${count.count}/${count.completions ?? ''}`;
}
