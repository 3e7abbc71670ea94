import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';
import { type AnsweredKey, answeredKeyFields } from '../client/object-names.ts';

/** A note of a plan: a warning or an error. */
export interface IntentNote {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly path: string | null;
}

/** The planned change of one object. */
export interface ObjectPlan {
  readonly key: AnsweredKey;
  readonly action: string;
  readonly diff: string | null;
  readonly predicted: boolean;
  readonly conflicts: readonly { readonly manager: string; readonly path: string }[];
  readonly fault: ClusterFault | null;
}

/** The planned changes of one cluster. */
export interface ClusterPlan {
  readonly cluster: { readonly name: string };
  readonly chosen: boolean;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly wave: number | null;
  readonly share: { readonly from: number; readonly to: number } | null;
  readonly overrides: readonly string[];
  readonly unmatched: readonly string[];
  readonly objects: readonly ObjectPlan[];
  readonly fault: ClusterFault | null;
}

/** A plan with the fields that are shown to people. */
export interface Plan {
  readonly digest: string;
  readonly ok: boolean;
  readonly desired: number | null;
  readonly placed: number | null;
  readonly unplaced: number;
  readonly waves: readonly string[];
  readonly clusters: readonly ClusterPlan[];
  readonly notes: readonly IntentNote[];
  readonly faults: readonly ClusterFault[];
}

/** The GraphQL selection that gives an `IntentNote`. */
export const noteFields = 'severity code message path';

/** Returns the GraphQL selection of a plan. `manifests`: all fields, for programs. `summary`: the fields of `Plan`. */
export function planFields(of: 'summary' | 'manifests'): string {
  const all = of === 'manifests' ? 'group tier score available' : '';
  const share = of === 'manifests' ? 'strategy weight min max capacity kept completions' : '';
  return `digest ok asOf desired placed unplaced waves notes { ${noteFields} } faults { ${faultFields} }
    clusters {
      cluster { name } chosen reason detail wave ${all} share { from to ${share} } overrides unmatched fault { ${faultFields} }
      objects {
        key { ${answeredKeyFields} } action diff predicted conflicts { manager path } fault { ${faultFields} } ${of === 'manifests' ? 'manifest' : ''}
      }
    }`;
}
