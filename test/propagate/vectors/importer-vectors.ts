import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { objectAt, textAt } from '../../../src/core/json-at.ts';
import { readPreferences } from '../../../src/importers/federation-v1/read-preferences.ts';
import { type ClusterOverrides, readClusterOverrides, type WrittenOverride } from '../../../src/importers/kubefed/cluster-overrides.ts';
import { convertAction } from '../../../src/importers/multi-cluster-resource/convert-action.ts';
import { applyJsonPatch } from '../../../src/manifests/json-patch.ts';
import type { JsonPatchOperation } from '../../../src/manifests/json-patch-definition.ts';
import { analyzePods, clusterReplicaState } from '../../../src/propagate/kubefed/capacity-feedback.ts';
import { asStandardOperation } from '../../../src/propagate/kubefed/kubefed-patch.ts';
import { clusterHash, type KubeFedPlanRequest, planKubeFed } from '../../../src/propagate/kubefed/plan-kubefed.ts';
import { type KubeFedRetainRequest, retainKubeFed } from '../../../src/propagate/kubefed/retain-kubefed.ts';
import { applyOverriders } from './karmada/overriders.ts';
import { statusChanged } from './kubefed/federated-status.ts';
import { mergeReplicaOverrides } from './kubefed/merge-replica-overrides.ts';
import { selectedClusters } from './kubefed/selected-clusters.ts';
import { sameFields } from './rendering-vectors.ts';
import { sameAnswer, type VectorOps, vectorOp } from './vector.ts';

const plan = vectorOp(planKubeFed);

/** Answers with the hashes that order clusters of equal weight, too. */
const planWithHashes = vectorOp((request: KubeFedPlanRequest) => ({
  ...planKubeFed(request),
  hashes: Object.fromEntries((request.clusters ?? []).map((name) => [name, clusterHash(name, request.key ?? '')])),
}));

const refused = { error: true };

/** Renders the template for one cluster. The name, the namespace and the version that KubeFed adds are left out. */
const renderFederated = vectorOp(({ federatedObject, cluster }: { readonly federatedObject: JsonObject; readonly cluster: string }) => {
  const read = readClusterOverrides(objectAt(federatedObject, 'spec'));
  if (read.result === 'refused') return refused;
  const template = objectAt(federatedObject, 'spec', 'template');
  const kind = (textAt(federatedObject, 'kind') ?? '').replace(/^Federated/, '');
  const overrides = read.clusters.find((one) => one.cluster === cluster)?.overrides ?? [];
  const patched = applyJsonPatch({ ...template, kind }, overrides.map(operationOf), asStandardOperation);
  return patched.result === 'failed' ? refused : { object: patched.document };
});

/** The operation may be unknown, and must then be refused. */
function operationOf({ op = 'replace', path, value = null }: ClusterOverrides['overrides'][number]): JsonPatchOperation {
  return { op: op === '' ? 'replace' : op, path, value } as JsonPatchOperation;
}

const mergeOverrides = vectorOp(
  (input: {
    readonly cluster: string;
    readonly clusterOverrides: readonly WrittenOverride[];
    readonly scheduledReplicas?: Readonly<Record<string, number>>;
  }) => {
    const merged = mergeReplicaOverrides({ ...input, scheduledReplicas: input.scheduledReplicas ?? {} });
    return { overridesByPath: Object.fromEntries(merged.map(({ path, value = null }) => [path, value])) };
  },
  hasEqualPaths,
);

/** Compares the paths, too: an override with value 0 is not the same as none. */
function hasEqualPaths(got: unknown, expected: Json): boolean {
  const pathsIn = (answer: unknown): readonly string[] =>
    isJsonObject(answer) ? Object.keys(objectAt(answer, 'overridesByPath')).sort() : [];
  return sameAnswer(got, expected) && JSON.stringify(pathsIn(got)) === JSON.stringify(pathsIn(expected));
}

/** Compares a list of clusters that has no order. */
const clustersAreASet = { unordered: ['clusters'] };

/** Functions that only imported documents need. */
export const importerVectors: VectorOps = {
  'kubefed-planner': { '': plan },
  'kubefed-planner-executed': { '': planWithHashes },
  'federation-v1-planner': { '': plan },
  'seed-examples-executed': { plan, overriders: vectorOp(applyOverriders) },
  'kubefed-capacity': { analyzePods: vectorOp(analyzePods), clusterReplicaState: vectorOp(clusterReplicaState, { ignored: ['recheck'] }) },
  'kubefed-placement': { selectedClusters: vectorOp(selectedClusters, clustersAreASet), mergeReplicaOverrides: mergeOverrides },
  'kubefed-overrides-executed': { '': renderFederated },
  'kubefed-retain': {
    retain: vectorOp((request: KubeFedRetainRequest) => {
      const retained = retainKubeFed(request);
      return retained.result === 'failed' ? refused : { object: retained.object };
    }, sameFields),
  },
  'kubefed-status': { statusChanged: vectorOp(statusChanged) },
  'federation-v1-preferences': {
    parsePreferences: vectorOp(({ annotation }: { readonly annotation: string }) => {
      const read = readPreferences(annotation);
      return read.result === 'refused' ? refused : { preferences: read.preferences };
    }),
  },
  'multiclusterresource-executed': { '': vectorOp(convertAction) },
};
