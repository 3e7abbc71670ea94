import { clusterHash, type KubeFedPlanRequest, planKubeFed } from '../../../src/propagate/kubefed/plan-kubefed.ts';
import { type VectorOps, vectorOp } from './vector.ts';

const plan = vectorOp(planKubeFed);

/** Answers with the hashes that order clusters of equal weight, too. */
const planWithHashes = vectorOp((request: KubeFedPlanRequest) => ({
  ...planKubeFed(request),
  hashes: Object.fromEntries((request.clusters ?? []).map((name) => [name, clusterHash(name, request.key ?? '')])),
}));

/** Functions that only imported documents need. */
export const importerVectors: VectorOps = {
  'kubefed-planner': { '': plan },
  'kubefed-planner-executed': { '': planWithHashes },
  'federation-v1-planner': { '': plan },
};
