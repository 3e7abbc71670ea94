import type { JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { mergeSuspension, overwritesConflicts } from '../../propagate/karmada/dispatch.ts';
import { plannedCountOf, workloadCountOf } from '../../propagate/plan/placing/workload-count.ts';
import { withServedVersion } from '../api-versions/served-versions.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';
import { type ObjectDocument, propagationNameOf } from '../documents/source-documents.ts';
import { infoNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { Proposal, ProposedDocument } from '../model/importer.ts';
import { nameListOf } from '../model/name-list.ts';
import { UniqueNotes } from '../model/unique-notes.ts';
import { type AttachedDependencies, type ClaimedResource, followsDependencies } from './attach-dependencies.ts';
import type { KarmadaResource } from './claims.ts';
import { notesOfLostBehaviour } from './lost-behaviour.ts';
import { type OverriddenObject, overridesOf } from './object-overrides.ts';
import type { OverrideFinder } from './override-finder.ts';
import { describeDocument, type PropagationPolicy } from './policies/read-policies.ts';
import type { TranslatedPolicy } from './translate-policy.ts';
import { unitePlacements } from './unite-placements.ts';

/** The facts that a proposal is made from, in addition to the claimed resource. */
export interface ProposalFacts {
  readonly clusters: ImportClusters;
  /** The cluster of Karmada's API server. Absent if the resources come from a text. */
  readonly sourceCluster?: string | undefined;
  readonly translate: (policy: PropagationPolicy) => TranslatedPolicy;
  /** Finds the override policies of an object. */
  readonly overrides: OverrideFinder;
  readonly dependencies: AttachedDependencies;
  /** The ResourceBindings of resources, by `textOfKey` of the resource. */
  readonly bindings: ReadonlyMap<string, ObjectDocument>;
  /** The keys (`textOfKey`) of the workloads that a propagated autoscaler scales. */
  readonly autoscaled: ReadonlySet<string>;
  /** The autoscalers of Karmada, which scale a workload over all clusters, by the key (`textOfKey`) of the workload. */
  readonly fleetAutoscalers: ReadonlyMap<string, readonly ObjectDocument[]>;
}

/** One proposal while it is made. */
interface Draft extends ClaimedResource {
  readonly facts: ProposalFacts;
  readonly policy: TranslatedPolicy;
  /** The objects of the Propagation: the resource, then its dependencies. */
  readonly objects: readonly KarmadaResource[];
  /** The objects that the template has. The member `dependencies` of the spec brings the others. */
  readonly listed: readonly KarmadaResource[];
  readonly keyText: string;
  /** The workloads that need the resource as a dependency. The resource goes to their clusters too. */
  readonly users: readonly ClaimedResource[];
  readonly notes: UniqueNotes;
}

/** Makes the proposal for one resource with its dependencies. */
export function karmadaProposalOf(claimed: ClaimedResource, facts: ProposalFacts): Proposal {
  const draft = draftOf(claimed, facts);
  const { resource } = claimed;
  noteClaim(draft);
  draft.notes.addAll(notesOfLostBehaviour(draft.objects, facts.fleetAutoscalers));
  for (const one of draft.listed) draft.notes.addAll(versionNotesOf(one, facts));
  draft.notes.addAll(draft.policy.notes);
  const chosen = draft.objects.map((one) => ({
    manifest: servedManifestOf(one, facts),
    writtenVersion: one.manifest.apiVersion,
    policies: facts.overrides.policiesFor(one.manifest),
  }));
  const { clusters } = facts;
  // With `dependencies: true`, the plan finds dependencies that are not in `draft.objects`. They count as well.
  const isOneOfMany = draft.objects.length > 1 || hasDependenciesMember(draft, facts);
  const overrides = overridesOf(chosen, { clusters, notes: draft.notes, isOneOfMany });
  const { document } = resource;
  return {
    namespace: document.key.namespace,
    name: propagationNameOf(document.key),
    spec: {
      template: draft.listed.map((one) => templateEntryOf(one, facts)),
      ...dependenciesMember(draft),
      placement: draft.policy.placement,
      ...replicasMember(draft),
      ...overrides.fields,
      ...conflictMember(draft),
      ...(policiesInEffect(draft).some(({ spec }) => spec.preserveResourcesOnDeletion === true) ? { deletion: { policy: 'Orphan' } } : {}),
      ...suspendMember(draft),
      ...(draft.policy.failover === undefined || draft.isAttached === true ? {} : { failover: draft.policy.failover }),
      ...(clusters.isExact ? exactMembers(document, draft.policy) : {}),
    },
    documents: documentsOf(draft, chosen),
    notes: draft.notes.all,
    problems: overrides.problems,
  };
}

function draftOf(claimed: ClaimedResource, facts: ProposalFacts): Draft {
  const { resource, choice } = claimed;
  const { usersOf, bundledOf } = facts.dependencies;
  const objects = [resource, ...(bundledOf.get(resource) ?? [])];
  const isFollowed = facts.sourceCluster !== undefined && hasDependenciesMember(claimed, facts);
  const own: Draft = {
    ...claimed,
    facts,
    policy: facts.translate(choice.winner),
    users: usersOf.get(resource) ?? [],
    objects,
    // In a living Karmada, the dependencies may change with the workload, so the plan finds them (`dependencies: true`).
    listed: isFollowed ? [resource] : objects,
    keyText: textOfKey(keyOfManifest(resource.manifest)),
    notes: new UniqueNotes(),
  };
  return own.users.length === 0 ? own : { ...own, policy: policyWithUsers(own) };
}

/**
 * True if the spec has `dependencies: true`. That needs a policy that propagates dependencies, and no dependency of the resource in another
 * Propagation: the field has no exceptions, and an object must not be in two Propagations.
 */
function hasDependenciesMember({ resource, choice, isAttached }: ClaimedResource, { dependencies: { elsewhere } }: ProposalFacts): boolean {
  return isAttached !== true && followsDependencies(choice.winner) && !elsewhere.has(resource);
}

/**
 * Returns the policies whose conflict resolution and deletion apply. For a dependency that no policy selects, these are the policies of all
 * workloads that need the dependency. One policy that overwrites or preserves is enough, as in Karmada's dependencies distributor.
 */
function policiesInEffect({ isAttached, choice, users }: Draft): readonly PropagationPolicy[] {
  return (isAttached === true ? users.map((user) => user.choice) : [choice]).map(({ winner }) => winner);
}

/** Extends the placement of a dependency by the clusters of the workloads that need it, as Karmada does. */
function policyWithUsers({ resource: { document }, policy, choice, users, facts, notes }: Draft): TranslatedPolicy {
  const policies = [...new Set([choice, ...users.map((user) => user.choice)].map(({ winner }) => facts.translate(winner)))];
  const { placement, isSnapshot, unlocated } = unitePlacements(
    policies.map((one) => one.placement),
    facts.clusters,
  );
  const names = nameListOf([...new Set(users.map((user) => describeDocument(user.resource.document)))]);
  const target = `${describeDocument(document)} goes to every cluster that the policies of ${names} may choose`;
  if (isSnapshot) {
    const now = 'They are listed by name as of now: add clusters that join later to its placement';
    const unknown = `The provider, region or zone of ${nameListOf(unlocated)} is not known, so these clusters are left out: add those that the policies allow`;
    notes.add(warningNote('UNSUPPORTED', document.path, [target, now, ...(unlocated.length === 0 ? [] : [unknown])].join('. ')));
  } else {
    notes.add(infoNote('SHARED_DEPENDENCY', document.path, `${target}. In Karmada, it goes only to those that they do choose`));
  }
  const { replicas: _replicas, exactPolicies: _exactPolicies, ...others } = policy;
  return { ...others, placement };
}

function documentsOf(
  { objects, listed, choice, users, facts, keyText }: Draft,
  chosen: readonly OverriddenObject[],
): readonly ProposedDocument[] {
  const binding = facts.bindings.get(keyText);
  const policies = new Set([choice, ...users.map((user) => user.choice)].map(({ winner }) => winner.document));
  const overrides = new Set(chosen.flatMap(({ policies }) => policies.map(({ policy }) => policy.document)));
  const autoscalers = objects.flatMap(({ manifest }) => facts.fleetAutoscalers.get(textOfKey(keyOfManifest(manifest))) ?? []);
  return [
    ...listed.map(({ document }): ProposedDocument => ({ document, role: 'TEMPLATE' })),
    ...[...policies].map((document): ProposedDocument => ({ document, role: 'PLACEMENT' })),
    ...(binding === undefined ? [] : [{ document: binding, role: 'SCHEDULING' } as const]),
    ...autoscalers.map((document): ProposedDocument => ({ document, role: 'SCHEDULING' })),
    ...[...overrides].map((document): ProposedDocument => ({ document, role: 'OVERRIDE' })),
  ];
}

/**
 * Returns the template entry of an object: the object itself if it was read from a text, else a reference to it in the living Karmada. Only
 * the object itself is converted to a version that API servers serve (`withServedVersion`).
 */
export function templateEntryOf(
  { document: { key, object, path } }: KarmadaResource,
  { sourceCluster }: Pick<ProposalFacts, 'sourceCluster'>,
): JsonObject {
  return sourceCluster === undefined ? { json: withServedVersion(object, path).object } : { ref: { cluster: sourceCluster, ...key } };
}

/** Returns the notes about old versions. An object in a living Karmada is not converted, so its old version is a warning. */
function versionNotesOf({ document }: KarmadaResource, { sourceCluster }: ProposalFacts): readonly ImportNote[] {
  const { notes } = withServedVersion(document.object, document.path);
  if (sourceCluster === undefined) return notes;
  const message = `${describeDocument(document)} is propagated as it is in ${sourceCluster}, with a version that current API servers do not serve: update it there`;
  return notes.map((note) => (note.severity === 'INFO' ? warningNote('UNSUPPORTED', note.path ?? document.path, message) : note));
}

/** Returns the manifest with the version of the template entry. */
function servedManifestOf({ manifest, document }: KarmadaResource, { sourceCluster }: ProposalFacts): Manifest {
  const { apiVersion } = sourceCluster === undefined ? withServedVersion(document.object, document.path).object : manifest;
  return { ...manifest, apiVersion: String(apiVersion) };
}

function noteClaim({ resource: { document }, choice: { winner, losers }, notes }: Draft): void {
  if (losers.length === 0) return;
  const others = nameListOf(losers.map((policy) => describeDocument(policy.document)));
  const message = `${describeDocument(document)} is propagated by ${describeDocument(winner.document)}, and not by ${others}`;
  notes.add({ severity: 'INFO', code: 'CLAIMED_BY', message, path: document.path });
}

/** Returns the member `dependencies` of the spec. Reports a note if the dependencies of the resource are in other Propagations. */
function dependenciesMember(draft: Draft): JsonObject {
  const { resource, choice, notes } = draft;
  const { dependencies } = draft.facts;
  if (hasDependenciesMember(draft, draft.facts)) return { dependencies: true };
  const elsewhere = dependencies.elsewhere.get(resource) ?? [];
  if (elsewhere.length === 0) return {};
  const names = nameListOf(elsewhere.map(({ document }) => describeDocument(document)));
  const workload = describeDocument(resource.document);
  const missing = (dependencies.missing.get(resource) ?? []).map(({ kind, name }) => `${kind} ${name}`);
  const message = `Propagations of their own bring ${names} to the clusters of ${workload}, so dependencies is not set for ${workload}`;
  const outcome =
    missing.length === 0 ? '' : `. It will miss objects that are not among the documents: propagate ${nameListOf(missing)} too`;
  notes.add({
    severity: missing.length === 0 ? 'INFO' : 'WARNING',
    code: 'UNSUPPORTED',
    message: message + outcome,
    path: `${choice.winner.document.path}.spec.propagateDeps`,
  });
  return {};
}

/** The label with which Karmada leaves the number of replicas to the member clusters. */
const retainReplicasLabel = 'resourcetemplate.karmada.io/retain-replicas';

function replicasMember({ resource, choice, policy, facts, keyText, notes }: Draft): JsonObject {
  const { manifest, document } = resource;
  const hasOverflow = listAt(policy.placement, 'affinityGroups').some((group) => listAt(group, 'overflow').length > 0);
  const isCounted = workloadCountOf(manifest) !== undefined || typeof valueAt(manifest, 'spec', 'replicas') === 'number';
  const isScaled = facts.autoscaled.has(keyText) || textAt(manifest, 'metadata', 'labels', retainReplicasLabel) === 'true';
  if (isCounted && isScaled && !hasOverflow && !facts.clusters.isExact) {
    const message = `an autoscaler decides the number of replicas of ${describeDocument(document)} in each cluster. Karmada also sends a number`;
    notes.add({ severity: 'INFO', code: 'AUTOSCALED', message, path: document.path });
    return { replicas: { mode: 'External' } };
  }
  if (policy.replicas === undefined || !(isCounted || hasOverflow)) return {};
  if (isCounted) notes.addAll(policy.workloadNotes);
  if (facts.clusters.isExact) noteMissingUid({ resource, choice, policy, notes });
  return { replicas: policy.replicas };
}

type UidFacts = Pick<Draft, 'resource' | 'choice' | 'policy' | 'notes'>;

/** Adds a note if a tie between clusters is possible, and the document has no uid. Karmada decides such ties by the uid. */
function noteMissingUid({ resource: { document, manifest }, choice: { winner }, policy, notes }: UidFacts): void {
  const workload = plannedCountOf(manifest, { exact: { system: 'Karmada' } });
  if (document.uid !== undefined || workload === undefined) return;
  if (workload.completions === undefined && !policy.mayHaveTie(workload.count)) return;
  const message = `expected metadata.uid in ${describeDocument(document)}, because Karmada decides ties between clusters by it. Without it, such clusters can get other numbers of replicas than in Karmada`;
  notes.add({ severity: 'INFO', code: 'TIE_BY_UID', message, path: `${winner.document.path}.spec.placement.replicaScheduling` });
}

function conflictMember(draft: Draft): JsonObject {
  const [main, ...parts] = draft.objects;
  const policy = policiesInEffect(draft).some(({ spec }) => spec.conflictResolution === 'Overwrite') ? 'Overwrite' : 'Abort';
  const overwrites = main !== undefined && overwritesConflicts(main.manifest, policy);
  for (const { manifest, document } of parts) {
    if (overwritesConflicts(manifest, policy) === overwrites) continue;
    const message = `${describeDocument(document)} has another conflict resolution than the workload that needs it, and gets that of the workload`;
    draft.notes.add({ severity: 'WARNING', code: 'UNSUPPORTED', message, path: `${document.path}.metadata.annotations` });
  }
  return overwrites ? { conflict: 'Overwrite' } : {};
}

/** Returns the member `suspend` of the spec. Karmada never suspends an attached binding, nor the dependencies of a suspended workload. */
function suspendMember(draft: Draft): JsonObject {
  const { policy, facts, keyText, isAttached, choice, resource, notes } = draft;
  if (isAttached === true) return {};
  const binding = facts.bindings.get(keyText);
  const scheduling = valueAt(binding?.object, 'spec', 'suspension', 'scheduling') === true;
  const { suspension } = mergeSuspension({ bindingSuspension: { scheduling }, policySuspension: policy.suspension });
  const clusters = suspension?.dispatchingOnClusters?.clusterNames ?? [];
  const dispatching = {
    ...(suspension?.dispatching === true ? { all: true } : {}),
    ...(clusters.length === 0 ? {} : { clusters }),
  };
  if (Object.keys(dispatching).length > 0 && (draft.objects.length > 1 || hasDependenciesMember(draft, facts))) {
    const message = `the objects that ${describeDocument(resource.document)} needs are suspended with it. Karmada sends them`;
    notes.add(infoNote('UNSUPPORTED', `${choice.winner.document.path}.spec.suspension`, message));
  }
  const suspend = { ...(suspension?.scheduling === true ? { scheduling: true } : {}), ...dispatching };
  return Object.keys(suspend).length === 0 ? {} : { suspend };
}

function exactMembers({ uid }: ObjectDocument, { exactPolicies: policies }: TranslatedPolicy): JsonObject {
  const exact = { system: 'Karmada', ...(uid === undefined ? {} : { uid }), ...(policies === undefined ? {} : { policies }) };
  return { write: 'Replace', exact };
}
