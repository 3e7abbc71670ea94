import { isJsonObject, type Json } from '../../../src/core/json.ts';
import { listAt, numberAt } from '../../../src/core/json-at.ts';
import { apportionSeats, dispense } from './karmada/apportionment.ts';
import { assignByStrategy, assignReplicas, dynamicDivide } from './karmada/assign-replicas.ts';
import { matchesCluster, matchZones, selectableFieldsOf } from './karmada/cluster-affinity.ts';
import { allowedPods, maxAvailableReplicas, replicasFromModels, replicasFromSummary } from './karmada/estimator.ts';
import {
  filterAPIEnablement,
  filterClusterAffinity,
  filterClusterEviction,
  filterSpreadConstraint,
  filterTaintToleration,
  matchingTolerations,
  scoreClusterLocality,
} from './karmada/scheduler-filters.ts';
import {
  compareGroupScore,
  groupClusters,
  scoreOfGroup,
  selectBest,
  selectByRegion,
  selectClusters,
  selectGroups,
  selectSpread,
  sortClusters,
} from './karmada/select-clusters.ts';
import {
  attachZeroReplicaClusters,
  divideJobCompletions,
  mergeRequiredBy,
  mergeTargetClusters,
  needReviseJobCompletions,
  replicasChanged,
  rescheduleRequired,
  reviseReplicas,
} from './karmada/target-clusters.ts';
import { type Comparison, sameAnswer, type VectorOp, type VectorOps, vectorOp } from './vector.ts';

const clustersAreASet: Comparison = { unordered: ['clusters'] };
const reasonIsOurs: Comparison = { ignored: ['reason'] };

const webster = vectorOp(apportionSeats);
const dispenser = vectorOp(dispense);

const divisionOps: Readonly<Record<string, VectorOp>> = {
  '': vectorOp(assignReplicas, clustersWithReplicas),
  none: vectorOp(assignReplicas, clustersWithReplicas),
  assign: vectorOp(assignReplicas, clustersWithReplicas),
  staticWeight: vectorOp(assignByStrategy, clustersWithReplicas),
  duplicate: vectorOp(assignByStrategy, clustersWithReplicas),
  scaleUp: vectorOp(assignByStrategy, clustersWithReplicas),
  dynamicDivide: vectorOp(dynamicDivide, clustersWithReplicas),
  attachZeroReplicaClusters: vectorOp(attachZeroReplicaClusters, clustersAreASet),
  mergeTargetClusters: vectorOp(mergeTargetClusters, clustersAreASet),
  mergeRequiredBy: vectorOp(mergeRequiredBy, clustersAreASet),
  replicasChanged: vectorOp(replicasChanged),
  rescheduleRequired: vectorOp(rescheduleRequired),
  divideJobCompletions: vectorOp(divideJobCompletions, { unordered: ['completions'] }),
  needReviseJobCompletions: vectorOp(needReviseJobCompletions),
};

/** Which clusters, and how many in each: the files of this family, each op with its function and how answers are compared. */
export const placingVectors: VectorOps = {
  'karmada-apportionment': { webster, dispense: vectorOp(dispense, { ignored: ['tieBreak'] }) },
  'karmada-apportionment-executed': { '': dispenser, webster, dispense: dispenser },
  'karmada-division': divisionOps,
  'karmada-division-executed': divisionOps,
  'karmada-estimator': {
    allowedPods: vectorOp(allowedPods),
    replicasFromSummary: vectorOp(replicasFromSummary),
    replicasFromModels: vectorOp(replicasFromModels),
    maxAvailableReplicas: vectorOp(maxAvailableReplicas),
  },
  'karmada-revise-replicas': { reviseReplicas: vectorOp(reviseReplicas) },
  'karmada-cluster-match': {
    clusterMatches: vectorOp(matchesCluster),
    matchZones: vectorOp(matchZones),
    clusterFields: vectorOp(selectableFieldsOf),
    matchingTolerations: vectorOp(matchingTolerations),
    filterTaintToleration: vectorOp(filterTaintToleration, reasonIsOurs),
    filterClusterAffinity: vectorOp(filterClusterAffinity, reasonIsOurs),
    filterSpreadConstraint: vectorOp(filterSpreadConstraint, reasonIsOurs),
    filterAPIEnablement: vectorOp(filterAPIEnablement, reasonIsOurs),
    filterClusterEviction: vectorOp(filterClusterEviction, reasonIsOurs),
    scoreClusterLocality: vectorOp(scoreClusterLocality),
  },
  'karmada-spread': {
    selectGroups: vectorOp(selectGroups),
    selectByRegion: vectorOp(selectByRegion),
    selectBest: vectorOp(selectBest),
    groupClusters: vectorOp(groupClusters),
    groupScore: vectorOp(scoreOfGroup),
    compareGroupScore: vectorOp(compareGroupScore),
    sortClusters: vectorOp(sortClusters),
    selectClusters: vectorOp(selectClusters, { unordered: ['clusterSet'] }),
  },
  'karmada-spread-executed': { '': vectorOp(selectSpread), selectSpread: vectorOp(selectSpread) },
};

/** Clusters without replicas are as good as absent. */
function clustersWithReplicas(got: unknown, expected: Json): boolean {
  return sameAnswer(withoutZeros(got), withoutZeros(expected), clustersAreASet);
}

function withoutZeros(answer: unknown): Json {
  if (!isJsonObject(answer)) return null;
  return { ...answer, clusters: listAt(answer, 'clusters').filter((cluster) => (numberAt(cluster, 'replicas') ?? 0) !== 0) };
}
