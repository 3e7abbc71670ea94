import { objectAt, textAt } from '../../core/json-at.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { isAutoscaler, keyScaledBy } from '../../propagate/plan/snapshot/member-workloads.ts';
import { withServedVersion } from '../api-versions/served-versions.ts';
import { importClustersOf } from '../clusters/import-clusters.ts';
import { holdsSecret } from '../documents/holds-secret.ts';
import { isSourceObject, type ObjectDocument, type SourceDocument } from '../documents/source-documents.ts';
import type { ImportContext, Importer, Proposal, Translation } from '../model/importer.ts';
import { type AttachedDependencies, attachDependencies, type ClaimedResource, resourcesByKey } from './attach-dependencies.ts';
import { isReserved, type KarmadaResource, PolicyFinder, resourceOf } from './claims.ts';
import { karmadaProposalOf, type ProposalFacts } from './karmada-proposal.ts';
import { namespaceProposalOf, namespacesOf } from './namespace-proposals.ts';
import { OverrideFinder } from './override-finder.ts';
import { describeDocument, isPolicy, type PoliciesRead, type PropagationPolicy, readPolicies } from './policies/read-policies.ts';
import { type TranslatedPolicy, translatePolicy } from './translate-policy.ts';
import { type UnreadDocument, unreadPolicies, unreadReserved, unreadSecret } from './unread-documents.ts';

/** Translates Karmada's policies, with the resources that they propagate. */
export const karmadaImporter: Importer = { system: 'Karmada', translate };

function* translate(documents: readonly SourceDocument[], context: ImportContext): Steps<Translation> {
  const policies = readPolicies(documents);
  const hasNoPolicies = policies.propagation.length + policies.overrides.length + policies.refused.length === 0;
  if (hasNoPolicies) return { proposals: [], unread: [], notes: [] };
  const resources = documents
    .filter(isSourceObject)
    .filter((document) => !isPolicy(document))
    .map(resourceOf);
  const { claimed, secrets, reserved, refusedPolicies } = yield* claimResources(resources, policies, context);
  const dependencies = attachDependencies(claimed, resourcesByKey(resources), { isLiving: context.living !== undefined });
  const facts = proposalFactsOf({ documents, policies, context, claimed, dependencies });
  const proposals: Proposal[] = [];
  // A living Karmada is read without the Namespaces that no policy claims, because its clusters have them already.
  const namespaces = namespacesOf(resources, claimed);
  const namespaceResources = new Set(namespaces.map(({ resource }) => resource));
  for (const one of [...claimed, ...dependencies.standalone]) {
    if (namespaceResources.has(one.resource)) continue;
    proposals.push(karmadaProposalOf(one, facts));
    yield;
  }
  for (const namespace of namespaces) {
    proposals.push(namespaceProposalOf(namespace, facts));
    yield;
  }
  const isReported = ({ document }: KarmadaResource) => secrets.some((secret) => secret.document === document);
  const losers = new Set(claimed.flatMap(({ choice }) => choice.losers));
  const unread = [
    ...policies.refused,
    ...secrets,
    ...reserved,
    ...dependencies.secrets.filter((resource) => !isReported(resource)).map((resource) => unreadSecret(resource, 'a workload')),
    ...unreadPolicies(policies, { proposals, losers }),
  ].toSorted((a, b) => a.document.index - b.document.index);
  return {
    proposals,
    unread: unread.map(({ document, role }) => ({ document, role })),
    notes: unread.flatMap(({ notes }) => notes),
    refusedPolicies,
  };
}

/**
 * Finds the policy of each resource that Karmada propagates. In a text, a Secret or an object that contains one is refused, because the
 * Propagation would contain its data.
 */
function* claimResources(
  resources: readonly KarmadaResource[],
  { propagation, refused }: PoliciesRead,
  { living }: ImportContext,
): Steps<ClaimedResources> {
  const finder = new PolicyFinder(propagation, { isLiving: living !== undefined });
  const claimed: ClaimedResource[] = [];
  const secrets: UnreadDocument[] = [];
  const reserved: UnreadDocument[] = [];
  const refusedPolicies = new Map<SourceDocument, ObjectDocument>();
  const refusedPlacements = refused.filter(({ role }) => role === 'PLACEMENT');
  for (const resource of resources) {
    yield;
    const choice = finder.policyFor(resource);
    if (choice === undefined) {
      const policy = refusedPlacements.find(({ priorityOf }) => priorityOf(resource.manifest) !== 'MisMatch');
      if (policy !== undefined) refusedPolicies.set(resource.document, policy.document);
      continue;
    }
    if (isReserved(resource.manifest)) reserved.push(unreadReserved(resource, choice.winner));
    else if (living === undefined && holdsSecret(resource.document.object))
      secrets.push(unreadSecret(resource, describeDocument(choice.winner.document)));
    else claimed.push({ resource, choice });
  }
  return { claimed, secrets, reserved, refusedPolicies };
}

/** The resources that policies select. */
interface ClaimedResources {
  readonly claimed: readonly ClaimedResource[];
  /** The Secrets, and the objects that contain one. */
  readonly secrets: readonly UnreadDocument[];
  /** The resources that Karmada never propagates. */
  readonly reserved: readonly UnreadDocument[];
  /** The refused policies by the resources that only they select. */
  readonly refusedPolicies: ReadonlyMap<SourceDocument, ObjectDocument>;
}

interface FactsRequest {
  readonly documents: readonly SourceDocument[];
  readonly policies: PoliciesRead;
  readonly context: ImportContext;
  readonly claimed: readonly ClaimedResource[];
  readonly dependencies: AttachedDependencies;
}

function proposalFactsOf({ documents, policies, context, claimed, dependencies }: FactsRequest): ProposalFacts {
  const clusters = importClustersOf(context, 'Karmada');
  const sourceCluster = context.living?.cluster;
  const hasOverride = (name: string, namespace: string | undefined) =>
    policies.overrides.some((policy) => policy.name === name && policy.namespace === namespace);
  const translated = new Map<PropagationPolicy, TranslatedPolicy>();
  return {
    clusters,
    sourceCluster,
    translate(policy) {
      const result = translated.get(policy) ?? translatePolicy(policy, { clusters, sourceCluster, hasOverride });
      translated.set(policy, result);
      return result;
    },
    overrides: new OverrideFinder(policies.overrides, clusters),
    dependencies,
    bindings: new Map(
      documents
        .filter(isSourceObject)
        .filter(isBinding)
        .map((document) => [boundKeyOf(document), document]),
    ),
    autoscaled: new Set(
      claimed
        .filter(({ resource }) => isAutoscaler(resource.manifest))
        // The target is converted with the autoscaler, and can then be a workload that is written in the new version.
        .map(({ resource }) => keyScaledBy(withServedVersion(resource.manifest, '').object)),
    ),
    fleetAutoscalers: fleetAutoscalersIn(documents),
  };
}

/** Returns the autoscalers of Karmada by the workload that they scale. A CronFederatedHPA may scale the workload through a FederatedHPA. */
function fleetAutoscalersIn(documents: readonly SourceDocument[]): ProposalFacts['fleetAutoscalers'] {
  const autoscalers = documents.filter(isSourceObject).filter(isFleetAutoscaler).map(resourceOf);
  const targets = new Map(autoscalers.map(({ manifest }) => [textOfKey(keyOfManifest(manifest)), keyScaledBy(manifest)]));
  const scaled = ({ manifest }: KarmadaResource) => targets.get(keyScaledBy(manifest)) ?? keyScaledBy(manifest);
  const byWorkload = [...Map.groupBy(autoscalers, scaled)];
  return new Map(byWorkload.map(([key, all]) => [key, all.map(({ document }) => document)]));
}

function isBinding({ key: { apiVersion, kind } }: ObjectDocument): boolean {
  return apiVersion.startsWith('work.karmada.io/') && (kind === 'ResourceBinding' || kind === 'ClusterResourceBinding');
}

function isFleetAutoscaler({ key: { apiVersion, kind } }: ObjectDocument): boolean {
  return apiVersion.startsWith('autoscaling.karmada.io/') && (kind === 'FederatedHPA' || kind === 'CronFederatedHPA');
}

/** Returns the `textOfKey` of the resource that a ResourceBinding is for. */
function boundKeyOf({ object }: ObjectDocument): string {
  const bound = objectAt(object, 'spec', 'resource');
  const [apiVersion = '', kind = '', name = ''] = [textAt(bound, 'apiVersion'), textAt(bound, 'kind'), textAt(bound, 'name')];
  const namespace = textAt(bound, 'namespace');
  return textOfKey({ apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) });
}
