import { sha256Of } from '../../core/json/canonical-json.ts';
import { equalJson } from '../../core/json/json-values.ts';
import { valueAt } from '../../core/json-at.ts';
import type { ListRulesOf } from '../list-rules.ts';
import type { MemberCluster } from '../members.ts';
import type { Note } from '../notes.ts';
import { keyOfManifest, kindOfKey, textOfKey } from '../object-key.ts';
import { countFieldOf, type WorkloadCount, withCount } from '../placing/workload-count.ts';
import type { RenderedObject } from '../plan.ts';
import { withoutValueAt } from '../rendering/json-edits.ts';
import { matchingOverrides, override } from '../rendering/override.ts';
import type { Manifest, ObjectKey, Override } from '../spec.ts';
import { inWriteOrder } from '../write-order.ts';
import type { PlacedCluster } from './place.ts';
import type { Snapshot, TemplateObject } from './snapshot.ts';
import type { SourceObject } from './sources.ts';

/** One object as it is meant for a cluster, whatever stands there. */
export interface RenderedCopy {
  readonly key: ObjectKey;
  /** `textOfKey` of it. */
  readonly text: string;
  readonly manifest: Manifest;
  /** SHA-256 of the manifest; of a Secret with the version of its source. */
  readonly hash: string;
  readonly secretOf?: TemplateObject['secretOf'];
  readonly leaves?: RenderedObject['leaves'];
  /** Absent if the intent itself contains the manifest. */
  readonly source?: CopySource;
}

/** The object from which a copy is read. */
interface CopySource extends SourceObject {
  /** Path in the input of the template that refers to the object. */
  readonly path: string;
  /** True if the copy differs from its source: it has another count, or overrides changed it. */
  readonly isAltered: boolean;
}

/** What is meant for a cluster. */
export type ClusterCopies =
  | {
      readonly result: 'rendered';
      /** In the order of writes. */
      readonly copies: readonly RenderedCopy[];
      /** `textOfKey` of what is needed here and missing at its source: what there is of it stays. */
      readonly missing?: ReadonlySet<string>;
      /** Names of the overrides that had an effect on some object, and of those that matched the cluster and had none; in their order. */
      readonly applied: readonly string[];
      readonly unmatched: readonly string[];
      readonly notes: readonly Note[];
    }
  /** An override that fails: where in the input, and why. */
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

/** What is meant for one cluster after the other. What does not differ between clusters is rendered once, and shared. */
export type CopyRenderer = (placed: Pick<PlacedCluster, 'entry' | 'counts'>) => ClusterCopies;

/** A renderer for one snapshot: the count first, then the overrides, which beat it (docs/internals/propagation.md 1). */
export function createCopyRenderer(
  { spec, templates, missing = [] }: Pick<Snapshot, 'spec' | 'templates' | 'missing'>,
  listRulesOf: ListRulesOf,
): CopyRenderer {
  const clusters = new Map<string, ClusterCopies>();
  const objects = new Map<string, ObjectCopy>();

  function objectOf(index: number, template: TemplateObject, { cluster, counts, matching }: Wanted): ObjectCopy {
    const count = counts.get(index);
    const key = `${index} ${textOfCount(count)} ${matching}`;
    const known = objects.get(key);
    if (known !== undefined) return known;
    const rendered = renderObject({ spec, listRulesOf }, { template, count, cluster, matching });
    objects.set(key, rendered);
    return rendered;
  }

  function clusterOf(wanted: Wanted): ClusterCopies {
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

  return ({ entry: { cluster }, counts }) => {
    const matching = matchingOverrides(spec.overrides, cluster);
    const key = `${[...counts].map(([index, count]) => `${index}:${textOfCount(count)}`).join(' ')} ${matching}`;
    const known = clusters.get(key);
    if (known !== undefined) return known;
    const rendered = clusterOf({ cluster, counts, matching });
    clusters.set(key, rendered);
    return rendered;
  };
}

interface Wanted {
  readonly cluster: MemberCluster;
  readonly counts: ReadonlyMap<number, WorkloadCount>;
  /** Indices of the overrides that match the cluster: those read nothing else of it. */
  readonly matching: readonly number[];
}

interface ObjectWanted extends Pick<Wanted, 'cluster' | 'matching'> {
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

/** A workload that gets nothing is left out beside one that gets something, and a dependency where none of its users goes. */
function isWanted({ usedBy }: TemplateObject, index: number, wanted: Pick<Wanted, 'counts'>): boolean {
  return isNeeded(usedBy ?? [index], wanted);
}

/** True if one of these objects of the template goes there. */
function isNeeded(users: readonly number[], { counts }: Pick<Wanted, 'counts'>): boolean {
  return users.some((at) => counts.get(at)?.count !== 0 || [...counts.values()].every(({ count }) => count === 0));
}

function renderObject(
  { spec, listRulesOf }: Pick<Snapshot, 'spec'> & { readonly listRulesOf: ListRulesOf },
  { template, count, cluster, matching }: ObjectWanted,
): ObjectCopy {
  const counted = countedManifest(template.manifest, count, spec.replicas);
  const overridden = override({
    object: counted,
    overrides: spec.overrides,
    cluster,
    matching,
    listRulesAt: listRulesOf(kindOfKey(counted)),
  });
  if (overridden.result === 'failed') return overridden;
  const { object: manifest, applied, unmatched, notes } = overridden;
  const key = keyOfManifest(manifest);
  const { secretOf, sourceVersion, source } = template;
  const leaves = leftPathsOf(manifest, count, spec.replicas);
  return {
    result: 'rendered',
    copy: {
      key,
      text: textOfKey(key),
      manifest,
      hash: secretOf === undefined ? sha256Of(manifest) : sha256Of([manifest, sourceVersion ?? null]),
      ...(secretOf === undefined ? {} : { secretOf }),
      ...(leaves === undefined ? {} : { leaves }),
      ...(source === undefined ? {} : { source: { ...source, path: template.path, isAltered: isAltered(template, manifest, leaves) } }),
    },
    applied,
    unmatched,
    notes,
  };
}

/** True if the manifest says something else than its template, which the paths of `leaves` may lack. */
function isAltered({ manifest: template }: TemplateObject, manifest: Manifest, leaves: RenderedObject['leaves'] = []): boolean {
  return !equalJson(
    manifest,
    leaves.reduce((left, path) => withoutValueAt(left, path), template),
  );
}

/** With the count that was divided or asked for; without any where an autoscaler owns it; else as the template has it. */
function countedManifest(manifest: Manifest, count: WorkloadCount | undefined, { mode, total }: Snapshot['spec']['replicas']): Manifest {
  if (count === undefined) return manifest;
  const field = countFieldOf(manifest);
  if (mode === 'External') return field === undefined ? manifest : withoutValueAt(manifest, ['spec', field]);
  return mode === 'Duplicated' && total === undefined ? manifest : withCount(manifest, count);
}

/** The count that an autoscaler owns, unless an override sets it all the same. */
function leftPathsOf(
  manifest: Manifest,
  count: WorkloadCount | undefined,
  { mode }: Snapshot['spec']['replicas'],
): RenderedObject['leaves'] | undefined {
  const field = mode === 'External' && count !== undefined ? countFieldOf(manifest) : undefined;
  return field === undefined || valueAt(manifest, 'spec', field) !== undefined ? undefined : [['spec', field]];
}

function joinCopies(
  objects: readonly Extract<ObjectCopy, { readonly result: 'rendered' }>[],
  overrides: readonly Override[],
): Extract<ClusterCopies, { readonly result: 'rendered' }> {
  const applied = new Set(objects.flatMap((object) => object.applied));
  const unmatched = new Set(objects.flatMap((object) => object.unmatched));
  // That a ConfigMap has no image is no news to who changed that of the Deployment beside it.
  const isNews = ({ path }: Note, object: { readonly unmatched: readonly string[] }) => {
    const name = nameOf(path, overrides);
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

/** What the override is called that the path is in. */
function nameOf(path: string | undefined, overrides: readonly Override[]): string | undefined {
  const [whole, index] = /^overrides\[(\d+)\]/.exec(path ?? '') ?? [];
  return whole === undefined ? undefined : (overrides[Number(index)]?.name ?? whole);
}

function textOfCount(count: WorkloadCount | undefined): string {
  return count === undefined ? '' : `${count.count}/${count.completions ?? ''}`;
}
