import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { objectAt, textAt } from '../../../src/core/json-at.ts';
import { readPreferences } from '../../../src/importers/federation-v1/read-preferences.ts';
import { overrideOperationOf, readClusterOverrides, type WrittenOverride } from '../../../src/importers/kubefed/cluster-overrides.ts';
import { type CustomizeAction, convertAction } from '../../../src/importers/multi-cluster-resource/convert-action.ts';
import { applyJsonPatch } from '../../../src/manifests/json-patch.ts';
import { analyzePods, clusterReplicaState } from '../../../src/propagate/kubefed/capacity-feedback.ts';
import { asStandardOperation } from '../../../src/propagate/kubefed/kubefed-patch.ts';
import { clusterHash, type KubeFedPlanRequest, planKubeFed } from '../../../src/propagate/kubefed/plan-kubefed.ts';
import { type KubeFedRetainRequest, retainKubeFed } from '../../../src/propagate/kubefed/retain-kubefed.ts';
import { applyOverriders } from './karmada/overriders.ts';
import { statusChanged } from './kubefed/federated-status.ts';
import { mergeReplicaOverrides } from './kubefed/merge-replica-overrides.ts';
import { selectedClusters } from './kubefed/selected-clusters.ts';
import { sameFields } from './rendering-vectors.ts';
import { sameAnswer, structVectorOp, type VectorOps, vectorOp } from './vector.ts';

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
  const overrides = (read.clusters.find((one) => one.cluster === cluster)?.overrides ?? []).map(overrideOperationOf);
  if (overrides.some(({ result }) => result === 'refused')) return refused;
  const operations = overrides.flatMap((override) => (override.result === 'read' ? [override.operation] : []));
  const patched = applyJsonPatch({ ...template, kind }, operations, asStandardOperation);
  return patched.result === 'failed' ? refused : { object: patched.document };
});

interface MergedOverrides {
  readonly cluster?: string;
  readonly clusterOverrides?: readonly Partial<WrittenOverride>[];
  readonly scheduledReplicas?: Readonly<Record<string, number>>;
}

const mergeOverrides = structVectorOp((input: MergedOverrides) => {
  const { cluster = '', clusterOverrides = [], scheduledReplicas = {} } = input;
  const read = clusterOverrides.map((override) => ({ ...override, path: override.path ?? '' }));
  const merged = mergeReplicaOverrides({ cluster, clusterOverrides: read, scheduledReplicas });
  return { overridesByPath: Object.fromEntries(merged.map(({ path, value = null }) => [path, value])) };
}, hasEqualPaths);

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
  'kubefed-capacity': {
    analyzePods: structVectorOp(analyzePods),
    clusterReplicaState: vectorOp(clusterReplicaState, { ignored: ['recheck'] }),
  },
  'kubefed-placement': { selectedClusters: structVectorOp(selectedClusters, clustersAreASet), mergeReplicaOverrides: mergeOverrides },
  'kubefed-overrides-executed': { '': renderFederated },
  'kubefed-retain': {
    retain: vectorOp(({ kind = '', desired, observed, federated }: Partial<KubeFedRetainRequest>) => {
      const retained = retainKubeFed({ kind, desired: desired ?? {}, observed: observed ?? {}, federated: federated ?? {} });
      return retained.result === 'failed' ? refused : { object: retained.object };
    }, sameFields),
  },
  'kubefed-status': { statusChanged: vectorOp(statusChanged) },
  'federation-v1-preferences': {
    parsePreferences: vectorOp(({ annotation }: { readonly annotation?: string | null }) => {
      const read = readPreferences(annotation ?? '');
      return read.result === 'refused' ? refused : { preferences: read.preferences };
    }),
  },
  'multiclusterresource-executed': {
    '': vectorOp(({ action }: { readonly action?: Partial<CustomizeAction> | null }) => convertAction({ action: { path: '', ...action } })),
  },
};
