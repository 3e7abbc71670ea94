import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubeFedPreference } from '../../propagate/kubefed/plan-kubefed.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';
import { errorNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { type FieldShape, fieldPath, unknownFieldNotes } from '../model/unknown-fields.ts';

/** A ReplicaSchedulingPreference that KubeFed accepts. */
export interface ReplicaPreference {
  readonly result: 'read';
  readonly document: ObjectDocument;
  readonly targetKind: string;
  readonly totalReplicas: number;
  readonly rebalance: boolean;
  readonly intersectsWithSelector: boolean;
  readonly clusters: Readonly<Record<string, KubeFedPreference>>;
  /** Warnings about unknown fields. */
  readonly notes: readonly ImportNote[];
}

const shape: FieldShape = {
  targetKind: 'any',
  totalReplicas: 'any',
  rebalance: 'any',
  intersectWithClusterSelector: 'any',
  clusters: { '*': { minReplicas: 'any', maxReplicas: 'any', weight: 'any' } },
};

/** Reads a preference, or returns why KubeFed would refuse it. A preference without `clusters` gives each cluster the weight 1. */
export function readReplicaPreference(
  document: ObjectDocument,
): ReplicaPreference | { readonly result: 'refused'; readonly note: ImportNote } {
  const { object, path } = document;
  const spec = objectAt(object, 'spec');
  const targetKind = textAt(spec, 'targetKind');
  const invalid = (at: string, message: string) =>
    ({ result: 'refused', note: errorNote('INVALID', `${path}.spec.${at}`, message) }) as const;
  if (targetKind !== 'FederatedDeployment' && targetKind !== 'FederatedReplicaSet') {
    const got = targetKind === undefined ? 'none' : JSON.stringify(targetKind);
    return invalid('targetKind', `expected FederatedDeployment or FederatedReplicaSet, got ${got}`);
  }
  const wrong = [
    ...flags.filter((field) => !isOptionalFlag(spec[field])),
    ...(isOptionalCount(spec.totalReplicas) ? [] : ['totalReplicas']),
  ][0];
  if (wrong !== undefined)
    return invalid(wrong, wrong === 'totalReplicas' ? 'expected an integer of at least 0' : 'expected true or false');
  const clusters = preferencesIn(spec);
  if (typeof clusters === 'string') return invalid(clusters, 'expected integers, such as weight: 1');
  return {
    result: 'read',
    document,
    targetKind,
    totalReplicas: Number(spec.totalReplicas ?? 0),
    rebalance: spec.rebalance === true,
    intersectsWithSelector: spec.intersectWithClusterSelector === true,
    clusters: Object.keys(clusters).length === 0 ? { '*': { weight: 1 } } : clusters,
    notes: unknownFieldNotes(spec, shape, `${path}.spec`),
  };
}

const flags = ['rebalance', 'intersectWithClusterSelector'];

/** True for a boolean, null or an absent value. */
function isOptionalFlag(value: Json | undefined): boolean {
  return value === undefined || value === null || typeof value === 'boolean';
}

/** True for an integer, null or an absent value. */
function isOptionalInteger(value: Json | undefined): boolean {
  return value === undefined || value === null || Number.isInteger(value);
}

/** True for an integer of at least 0, null or an absent value. */
function isOptionalCount(value: Json | undefined): boolean {
  return isOptionalInteger(value) && Number(value ?? 0) >= 0;
}

/**
 * Returns the preferences by cluster, or the path of the first wrong field as text. A cluster without fields (`cluster-1:`) has the weight
 * 0.
 */
function preferencesIn(spec: JsonObject): Readonly<Record<string, KubeFedPreference>> | string {
  const written = spec.clusters ?? {};
  if (!isJsonObject(written)) return 'clusters';
  for (const [name, preference] of Object.entries(written)) {
    const at = fieldPath('clusters', name);
    if ((preference ?? null) !== null && !isJsonObject(preference)) return at;
    // The definition of KubeFed has no minimum for these numbers.
    const wrong = ['minReplicas', 'maxReplicas', 'weight'].find((field) => !isOptionalInteger(valueAt(preference, field)));
    if (wrong !== undefined) return `${at}.${wrong}`;
  }
  // The loop proved that each member has integers only.
  return Object.fromEntries(Object.entries(written).map(([name, preference]) => [name, (preference ?? {}) as KubeFedPreference]));
}
