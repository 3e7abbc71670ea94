import type { VersionedResource } from '../../cluster/served-resources.ts';
import type { JsonObject } from '../../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import { type GroupKind, groupOfApiVersion, keyOfKind } from '../../core/kinds.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { preparedSelectors, type ResourceSelector } from '../../propagate/karmada/resource-selector.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { ClusterReader } from './cluster-reader.ts';
import type { ImportScope } from './import-scope.ts';
import { type LivingObject, type LivingObjects, membersOf } from './living-objects.ts';
import { readNeededObjects } from './needed-objects.ts';
import { listsFor, namespacedNameTextOf } from './selected-lists.ts';

const propagationPolicies: readonly string[] = ['PropagationPolicy', 'ClusterPropagationPolicy'];
const policyKinds: readonly string[] = [...propagationPolicies, 'OverridePolicy', 'ClusterOverridePolicy'];

/**
 * Reads Karmada's API server: the policies, the resources that propagation policies select with their bindings and autoscalers, the objects
 * that these resources need, and the clusters.
 *
 * Resources of kinds outside the scope are read only if they may change the Propagations of the scope.
 */
export async function readKarmada(reader: ClusterReader, scope: ImportScope): Promise<LivingObjects> {
  const served = (await reader.kindsIn('policy.karmada.io')).filter(({ kind }) => policyKinds.includes(kind));
  if (served.length === 0) return { objects: [] };
  const policies = await listAll(reader, served, scope);
  const claims = claimsIn(policies);
  const needed = claims.filter(({ selector }) => isNeeded(groupKindOf(selector), policies, scope));
  const byKind = Map.groupBy(needed, ({ selector }) => `${selector.apiVersion} ${selector.kind}`);
  const [members, bindings, autoscalers, ...claimed] = await Promise.all([
    listClusters(reader),
    needed.length === 0 ? [] : listBindings(reader, scope),
    needed.length === 0 ? { objects: [], notes: [] } : listFleetAutoscalers(reader, scope),
    ...byKind.values().map((ofKind) => claimedResources(reader, { claims: ofKind, scope })),
  ]);
  const resources = claimed.flat();
  const followed = preparedSelectors(needed.filter(({ isFollowed }) => isFollowed).map(({ selector }) => selector));
  const users = resources.filter((json) => followed(json as Manifest) !== 'MisMatch');
  return {
    // Karmada leaves out some resources that a policy selects, such as those in its own namespaces. With `isContext`, the result does not
    // mention them.
    objects: [
      ...[...resources, ...bindings].map((json) => ({ json, isContext: true })),
      ...autoscalers.objects.map((json) => ({ json, isContext: !scope.hasAllKinds })),
      ...(await readNeededObjects(reader, { users, known: resources, scope })),
      ...policies.flatMap((policy) => policyIn(policy, { scope, hasDependencies: hasDependencies(policies) })),
    ],
    ...(members === undefined ? {} : { members }),
    notes: autoscalers.notes,
  };
}

async function listAll(
  reader: ClusterReader,
  kinds: readonly VersionedResource[],
  { namespaces }: ImportScope,
): Promise<readonly JsonObject[]> {
  return (await Promise.all(kinds.map((kind) => reader.list({ kind, namespaces })))).flatMap(({ objects }) => objects);
}

/** Lists the bindings of resources, because a binding may suspend the scheduling of its resource. */
async function listBindings(reader: ClusterReader, scope: ImportScope): Promise<readonly JsonObject[]> {
  const kinds = await reader.kindsIn('work.karmada.io');
  const wanted = ['ResourceBinding', ...(scope.namespaces === undefined ? ['ClusterResourceBinding'] : [])];
  return await listAll(
    reader,
    kinds.filter(({ kind }) => wanted.includes(kind)),
    scope,
  );
}

/**
 * Lists the autoscalers of Karmada, because the import names the workloads that they scale. Karmada may be installed without them. A list
 * that fails has a warning and is no fault, because the Propagations are the same without it.
 */
async function listFleetAutoscalers(
  reader: ClusterReader,
  { namespaces }: ImportScope,
): Promise<{ readonly objects: readonly JsonObject[]; readonly notes: readonly ImportNote[] }> {
  const kinds = await reader.kindsIn('autoscaling.karmada.io');
  const wanted = kinds.filter(({ kind }) => kind === 'FederatedHPA' || kind === 'CronFederatedHPA');
  const lists = await Promise.all(wanted.map((kind) => reader.list({ kind, namespaces, isOptional: true })));
  const notes = wanted
    .filter((_, index) => lists[index]?.isComplete === false)
    .map(({ kind, resource }): ImportNote => {
      const message = `expected to list ${resource}.autoscaling.karmada.io, but the list failed. If a ${kind} scales a workload, it stops with Karmada's controllers`;
      return { severity: 'WARNING', code: 'UNSUPPORTED', message };
    });
  return { objects: lists.flatMap(({ objects }) => objects), notes };
}

/**
 * True if resources of this kind are imported or change what is imported: autoscalers decide the replicas of workloads, and a resource with a
 * policy of its own does not follow a workload as its dependency.
 */
function isNeeded(kind: GroupKind, policies: readonly JsonObject[], scope: ImportScope): boolean {
  if (scope.includes(kind) || keyOfKind(kind) === 'HorizontalPodAutoscaler.autoscaling') return true;
  return hasDependencies(policies);
}

/**
 * True if a policy also propagates the objects that its resources need. Then all policies matter, because an object that a policy selects
 * is not propagated as a dependency.
 */
function hasDependencies(policies: readonly JsonObject[]): boolean {
  return policies.some(followsNeeded);
}

function followsNeeded(policy: JsonObject): boolean {
  return ['propagateDeps', 'association'].some((member) => valueAt(policy, 'spec', member) === true);
}

async function listClusters(reader: ClusterReader): Promise<LivingObjects['members']> {
  const kind = (await reader.kindsIn('cluster.karmada.io')).find((one) => one.kind === 'Cluster');
  const listed = kind && (await reader.list({ kind }));
  return listed?.isComplete === true ? membersOf(listed.objects) : undefined;
}

/** A selector of a propagation policy. */
interface Claim {
  readonly selector: ResourceSelector;
  /** True for a selector of a PropagationPolicy, which selects namespaced resources only. */
  readonly isOfNamespace: boolean;
  /** True if the policy also propagates the objects that its resources need. */
  readonly isFollowed: boolean;
}

function claimsIn(policies: readonly JsonObject[]): readonly Claim[] {
  const claiming = policies.filter(({ kind }) => propagationPolicies.includes(String(kind)));
  return claiming.flatMap((policy) => {
    // A PropagationPolicy selects in its own namespace: Karmada's admission refuses selectors with another namespace.
    const namespace = textAt(policy, 'metadata', 'namespace');
    return selectorsIn(policy).map((selector) => ({
      selector: namespace === undefined ? selector : { ...selector, namespace },
      isOfNamespace: namespace !== undefined,
      isFollowed: followsNeeded(policy),
    }));
  });
}

function selectorsIn(policy: JsonObject): readonly ResourceSelector[] {
  return listAt(policy, 'spec', 'resourceSelectors').map((selector) => ({
    ...objectAt(selector),
    apiVersion: textAt(selector, 'apiVersion') ?? '',
    kind: textAt(selector, 'kind') ?? '',
  }));
}

function groupKindOf({ apiVersion, kind }: ResourceSelector): GroupKind {
  return { group: groupOfApiVersion(apiVersion), kind };
}

/** Reads the resources of one kind that the policies select. */
async function claimedResources(
  reader: ClusterReader,
  { claims: all, scope }: { readonly claims: readonly Claim[]; readonly scope: ImportScope },
): Promise<readonly JsonObject[]> {
  const [first] = all;
  const kind = first && (await reader.kindOf(first.selector.apiVersion, first.selector.kind));
  if (kind === undefined || (!kind.namespaced && scope.namespaces !== undefined)) return [];
  const selectors = all
    .filter(({ isOfNamespace, selector }) => (kind.namespaced ? isInScope(selector, scope) : !isOfNamespace))
    .map(({ selector }) => selector);
  const read = await Promise.all(listsFor(kind, selectors, scope.namespaces).map((list) => reader.list(list)));
  const objects = new Map(read.flatMap((list) => list.objects.map((json) => [namespacedNameTextOf(json), json])));
  const priorityOf = preparedSelectors(selectors);
  return [...objects.values()].filter((json) => priorityOf(json as Manifest) !== 'MisMatch');
}

function isInScope({ namespace = '' }: ResourceSelector, { namespaces }: ImportScope): boolean {
  return namespaces === undefined || namespace === '' || namespaces.includes(namespace);
}

/** Returns the policy for the import. Policies that select no kind of the scope are left out, unless they may claim dependencies. */
function policyIn(
  policy: JsonObject,
  { scope, hasDependencies: mayClaim }: { readonly scope: ImportScope; readonly hasDependencies: boolean },
): readonly LivingObject[] {
  const kinds = selectorsIn(policy).map(groupKindOf);
  if (!mayClaim && kinds.length > 0 && !kinds.some((kind) => scope.includes(kind))) return [];
  const isClusterScoped = textAt(policy, 'metadata', 'namespace') === undefined;
  const isContext = kinds.length === 0 ? !scope.hasAllKinds : !kinds.every((kind) => scope.includes(kind));
  return [{ json: policy, isContext: isContext || (isClusterScoped && scope.namespaces !== undefined) }];
}
