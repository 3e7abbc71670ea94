import type { JsonObject } from '../../core/json.ts';
import type { AddNote, ImportClusters } from '../clusters/import-clusters.ts';
import { knownNames } from '../clusters/import-clusters.ts';
import type { ImportNote } from '../model/import-result.ts';
import { isPresent } from './admission/problems.ts';
import type { PropagationPolicy } from './policies/read-policies.ts';
import { tieCheckOf } from './possible-ties.ts';
import { translateFailover } from './translate-failover.ts';
import { exactPoliciesOf, translatePlacement } from './translate-placement.ts';
import { translateReplicas } from './translate-replicas.ts';
import type { PartScope } from './translate-sets.ts';

/** The parts of a Propagation that a policy gives to every resource that it propagates. */
export interface TranslatedPolicy {
  readonly placement: JsonObject;
  /** `replicas` for workloads. Default: every cluster gets the whole number. */
  readonly replicas?: JsonObject;
  /** `failover`. Absent if the policy has none. */
  readonly failover?: JsonObject;
  /** `exact.policies`. Absent if the other fields have everything that the planner needs. */
  readonly exactPolicies?: JsonObject;
  /** `suspension` of the policy. Empty if the policy has none. */
  readonly suspension: Suspension;
  /** True if a tie between clusters may decide how this number of replicas is divided (`tieCheckOf`). */
  readonly mayHaveTie: (count: number) => boolean;
  /** The notes for every resource. */
  readonly notes: readonly ImportNote[];
  /** The notes that concern workloads only. */
  readonly workloadNotes: readonly ImportNote[];
}

/** `suspension` of a policy, with only the cluster names that `knownNames` returns. */
interface Suspension {
  readonly dispatching?: boolean;
  readonly dispatchingOnClusters?: { readonly clusterNames: readonly string[] };
}

/** The facts that the translation of a policy needs in addition to the policy. */
export interface PolicyFacts {
  readonly clusters: ImportClusters;
  /** The cluster of Karmada's API server. Absent for a text. */
  readonly sourceCluster?: string | undefined;
  /** True if an override policy of this name is among the documents, for a policy of the given namespace. */
  readonly hasOverride: (name: string, namespace: string | undefined) => boolean;
}

/** Translates a policy once for all its resources. */
export function translatePolicy(policy: PropagationPolicy, facts: PolicyFacts): TranslatedPolicy {
  const notes: ImportNote[] = [...policy.notes];
  const workloadNotes: ImportNote[] = [];
  const placement = policy.spec.placement ?? {};
  const path = `${policy.document.path}.spec`;
  const scopeFor = (target: ImportNote[], member: string): PartScope => ({
    clusters: facts.clusters,
    path: `${path}.${member}`,
    addNote: (note) => target.push(note),
  });
  const translated = translatePlacement(placement, scopeFor(notes, 'placement'), facts.sourceCluster);
  const replicas = translateReplicas(placement, scopeFor(workloadNotes, 'placement'));
  const failover = translateFailover(policy, scopeFor(notes, 'failover'));
  const suspension = suspensionOf(policy, scopeFor(notes, 'suspension'));
  noteUnsupported(policy, path, (note) => notes.push(note));
  noteMissingOverrides(policy, facts, (note) => notes.push(note));
  const exactPolicies = exactPoliciesOf(placement);
  return {
    placement: translated,
    ...(replicas === undefined ? {} : { replicas }),
    ...(failover === undefined ? {} : { failover }),
    ...(exactPolicies === undefined ? {} : { exactPolicies }),
    suspension,
    mayHaveTie: tieCheckOf(placement, facts.clusters),
    notes,
    workloadNotes,
  };
}

function suspensionOf({ spec: { suspension } }: PropagationPolicy, { clusters, path, addNote }: PartScope): Suspension {
  const names = suspension?.dispatchingOnClusters?.clusterNames ?? [];
  const pathOf = (index: number) => `${path}.dispatchingOnClusters.clusterNames[${index}]`;
  return {
    ...(suspension?.dispatching === true ? { dispatching: true } : {}),
    ...(names.length === 0 ? {} : { dispatchingOnClusters: { clusterNames: knownNames(clusters, { names, pathOf }, addNote) } }),
  };
}

/** Adds notes about the fields that have no counterpart in a Propagation. */
function noteUnsupported({ spec }: PropagationPolicy, path: string, addNote: AddNote): void {
  const { schedulerName, schedulePriority, activationPreference, placement } = spec;
  const unsupported = (isGiven: boolean, field: string, message: string) => {
    if (isGiven) addNote({ severity: 'WARNING', code: 'UNSUPPORTED', message, path: `${path}.${field}` });
  };
  unsupported(schedulerName !== 'default-scheduler', 'schedulerName', 'Muster has one planner, so the name of a scheduler has no effect');
  unsupported(isPresent(schedulePriority), 'schedulePriority', 'Muster plans each Propagation at once, without a priority');
  unsupported(activationPreference === 'Lazy', 'activationPreference', 'a change of a Propagation takes effect at once');
  unsupported(
    isPresent(placement?.workloadAffinity),
    'placement.workloadAffinity',
    'Muster places each workload without regard to other workloads',
  );
}

/** Adds notes about overrides that Karmada waits for, and that are not among the documents. */
function noteMissingOverrides({ spec, namespace, document }: PropagationPolicy, { hasOverride }: PolicyFacts, addNote: AddNote): void {
  const kind = namespace === undefined ? 'ClusterOverridePolicy' : 'OverridePolicy';
  (spec.dependentOverrides ?? []).forEach((name, index) => {
    if (hasOverride(name, namespace)) return;
    const message = `Karmada waits until ${kind} ${name} exists. It is not among the documents, and Muster does not wait for it`;
    addNote({ severity: 'WARNING', code: 'UNSUPPORTED', message, path: `${document.path}.spec.dependentOverrides[${index}]` });
  });
}
