import { type AnsweredClusterPlan, type AnsweredObjectPlan, type AnsweredPlan, planSelection } from '../../core/columns/plan-texts.ts';
import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';

/** The planned change of one object. */
export type ObjectPlan = AnsweredObjectPlan<ClusterFault>;

/** The planned changes of one cluster. */
export type ClusterPlan = AnsweredClusterPlan<ClusterFault>;

/** A plan with the fields that are shown to people. */
export type Plan = AnsweredPlan<ClusterFault>;

/** Returns the GraphQL selection of a plan. `manifests`: all fields, for programs. `summary`: the fields of `Plan`. */
export function planFields(of: 'summary' | 'manifests'): string {
  if (of === 'summary') return planSelection(faultFields);
  const share = 'strategy weight min max capacity kept completions';
  return planSelection(faultFields, { cluster: 'group tier score available', share, object: 'manifest' });
}
