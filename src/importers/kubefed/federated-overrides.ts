import type { JsonObject } from '../../core/json.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import { printPointer } from '../../manifests/json-pointer.ts';
import { asStandardOperation } from '../../propagate/kubefed/kubefed-patch.ts';
import { maxOverrides } from '../../propagate/model/spec-definition.ts';
import { convertedPatch, type LocatedPatchOperation, type PatchedTemplate } from '../api-versions/converted-patch.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';
import { knownClusters } from '../clusters/known-clusters.ts';
import { errorNote, infoNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { type ClusterOverrides, overrideOperationOf, protectedPaths, readClusterOverrides, replicasPath } from './cluster-overrides.ts';

/** The overrides of a federated object as `overrides` of a spec, or why KubeFed would refuse the object. */
export type ImportedOverrides =
  | { readonly result: 'read'; readonly overrides: readonly JsonObject[]; readonly notes: readonly ImportNote[] }
  | { readonly result: 'refused'; readonly note: ImportNote };

interface OverridesToImport {
  /** `spec` of the federated object. */
  readonly spec: JsonObject;
  /** The path of `spec` in the input. */
  readonly path: string;
  /** The object that the overrides change. They are written for its old version, if it has one. */
  readonly template: PatchedTemplate;
  /** True if a ReplicaSchedulingPreference sets the replica count. Overrides of the count then have no effect. */
  readonly hasPreference: boolean;
}

/**
 * Translates `spec.overrides`: one override for each cluster, with the operations of RFC 6902 that do what KubeFed does. In exact mode the
 * operations stay as they are.
 *
 * Overrides of a template in an old version are converted with it (`convertedPatch`).
 *
 * Paths that only KubeFed's library reads are converted (`standardPatchPath`). Paths with dots, as KubeFed had them before June 2019, are
 * converted too, but in exact mode they are refused, as by the last KubeFed.
 *
 * Yields after each cluster, because each of them patches the whole template.
 */
export function* importedOverrides({ spec, path, ...target }: OverridesToImport, fleet: ImportClusters): Steps<ImportedOverrides> {
  const read = readClusterOverrides(spec);
  if (read.result === 'refused') return { result: 'refused', note: errorNote('INVALID', `${path}.${read.path}`, read.message) };
  const known = knownClusters(
    fleet,
    read.clusters.map(({ cluster, at }) => ({ name: cluster, path: `${path}.${at}.clusterName` })),
  );
  const knownNames = new Set(known.names);
  const hasOperations = ({ overrides }: ClusterOverrides) => overrides.some((one) => !target.hasPreference || one.path !== replicasPath);
  const count = read.clusters.filter((one) => hasOperations(one) && knownNames.has(one.cluster)).length;
  // Clusters are counted before the first of them patches the template.
  if (count > maxOverrides) {
    const message = `expected overrides for at most ${maxOverrides} clusters, got ${count}`;
    return { result: 'refused', note: errorNote('INVALID', `${path}.overrides`, message) };
  }
  const patches: NamedPatch[] = [];
  for (const one of read.clusters) {
    const conversions = one.overrides.map((override) => convertedOverride({ ...override, at: `${path}.${override.at}` }, fleet.isExact));
    const given = conversions.flatMap(({ operation }) => operation ?? []);
    const patch = knownNames.has(one.cluster) ? patchOf(given, { ...target, isExact: fleet.isExact }) : { operations: [], notes: [] };
    const notes = [...conversions.flatMap((conversion) => conversion.notes), ...patch.notes];
    patches.push({ cluster: one.cluster, operations: patch.operations, notes });
    yield;
  }
  const allNotes = [...known.notes, ...patches.flatMap((patch) => patch.notes)];
  const refusal = allNotes.find(({ severity }) => severity === 'ERROR');
  if (refusal !== undefined) return { result: 'refused', note: refusal };
  const overrides = patches
    .filter(({ operations }) => operations.length > 0)
    .map(({ cluster, operations }) => ({ set: { clusters: [cluster] }, jsonPatch: operations.map((operation) => ({ ...operation })) }));
  return { result: 'read', overrides, notes: allNotes };
}

interface ClusterPatch {
  readonly operations: readonly JsonPatchOperation[];
  readonly notes: readonly ImportNote[];
}

interface NamedPatch extends ClusterPatch {
  readonly cluster: string;
}

interface PatchOptions extends Pick<OverridesToImport, 'template' | 'hasPreference'> {
  readonly isExact: boolean;
}

function patchOf(given: readonly LocatedPatchOperation[], { template, hasPreference, isExact }: PatchOptions): ClusterPatch {
  const isOwned = ({ operation }: LocatedPatchOperation) => hasPreference && operation.path === replicasPath;
  const effective = given.filter((one) => !isOwned(one));
  // In exact mode the planner applies a patch as leniently as KubeFed, so the operations need no change.
  const patch = convertedPatch(template, effective, { adapt: asStandardOperation, isAdaptedByPlan: isExact });
  const added = patch.changed.filter(({ operation }) => operation.op === 'replace');
  return { operations: patch.operations, notes: [...given.filter(isOwned).map(ownedNote), ...added.map(addsNote), ...patch.notes] };
}

interface ConvertedOverride {
  /** Absent if the override is not imported, and a note says why. */
  readonly operation?: LocatedPatchOperation;
  readonly notes: readonly ImportNote[];
}

function convertedOverride(override: ClusterOverrides['overrides'][number], isExact: boolean): ConvertedOverride {
  const { path, at } = override;
  const isDotted = !path.includes('/') && path !== '';
  const read = overrideOperationOf({ ...override, path: isDotted && !isExact ? pointerOfDottedPath(path) : path });
  if (read.result === 'refused') return { notes: [errorNote('INVALID', `${at}.${read.field}`, read.message)] };
  const { operation } = read;
  const pointer = operation.path;
  if (protectedPaths.includes(pointer)) {
    return { notes: [errorNote('INVALID', `${at}.path`, `an override cannot change ${pointer}`)] };
  }
  if (/^\/status(\/|$)/.test(pointer) || (pointer === '/apiVersion' && !isExact)) {
    return { notes: [warningNote('UNSUPPORTED', `${at}.path`, `an override cannot change ${pointer}, so it is left out`)] };
  }
  return {
    operation: { operation, at },
    notes: pointer === path ? [] : [infoNote('PATH_CONVERTED', `${at}.path`, messageOfPath(path, pointer))],
  };
}

function messageOfPath(path: string, pointer: string): string {
  return path.includes('/')
    ? `KubeFed reads the path ${JSON.stringify(path)} as the JSON pointer ${JSON.stringify(pointer)}, so the Propagation has the pointer`
    : `${path} became ${pointer}`;
}

/** Converts a path with dots, such as `spec.template.spec.containers[0].image`, to a JSON pointer. */
function pointerOfDottedPath(path: string): string {
  return printPointer(path.replaceAll(/\[(\d+)\]/g, '.$1').split('.'));
}

function ownedNote({ at }: LocatedPatchOperation): ImportNote {
  return infoNote('OVERRIDE_OWNED', at, `the ReplicaSchedulingPreference decides ${replicasPath}, so this override has no effect`);
}

function addsNote({ at, operation: { path } }: LocatedPatchOperation): ImportNote {
  return infoNote('REPLACE_ADDS', at, `there is no ${path} to replace, so KubeFed adds it; the operation became an add`);
}
