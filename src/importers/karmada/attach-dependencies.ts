import { isSecret } from '../../core/redaction.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { maxTemplateObjects } from '../../propagate/model/template-definition.ts';
import { dependenciesOf } from '../../propagate/plan/snapshot/dependencies.ts';
import type { KarmadaResource, PolicyChoice } from './claims.ts';
import type { PropagationPolicy } from './policies/read-policies.ts';

/** A resource that a policy propagates. */
export interface ClaimedResource {
  readonly resource: KarmadaResource;
  readonly choice: PolicyChoice;
  /**
   * True: no policy selects the resource. It is propagated because workloads need it, and `choice` is that of the first of these workloads. In
   * Karmada, the resource has an attached binding. Absent if the policy selects the resource.
   */
  readonly isAttached?: true;
}

/** The decision about the objects that claimed workloads need, if their policies have `propagateDeps`. */
export interface AttachedDependencies {
  /** By workload: the dependencies that are in the Propagation of the workload. */
  readonly bundledOf: ReadonlyMap<KarmadaResource, readonly KarmadaResource[]>;
  /**
   * The dependencies that get a Propagation of their own although no policy selects them: several workloads need them, or the template of
   * their workload is full. Such a Propagation goes to the clusters of all workloads that need the dependency.
   */
  readonly standalone: readonly ClaimedResource[];
  /**
   * The workloads that need a dependency, by the dependency. It has only dependencies with a Propagation of their own. That Propagation also
   * goes to the clusters of these workloads.
   */
  readonly usersOf: ReadonlyMap<KarmadaResource, readonly ClaimedResource[]>;
  /** By workload: the dependencies that are in other Propagations. */
  readonly elsewhere: ReadonlyMap<KarmadaResource, readonly KarmadaResource[]>;
  /** By workload: the dependencies that are not among the documents. */
  readonly missing: ReadonlyMap<KarmadaResource, readonly ObjectKey[]>;
  /**
   * The Secrets that workloads need, for an import of a text. They are in no Propagation, because every reader of the Propagation could read
   * their data. Empty for a living Karmada.
   */
  readonly secrets: readonly KarmadaResource[];
}

/** True if the policy also propagates the objects that its workloads need. */
export function followsDependencies({ spec: { propagateDeps, association } }: PropagationPolicy): boolean {
  return propagateDeps === true || association === true;
}

/**
 * Decides for each dependency of the claimed resources in which Propagation it is. An object is never in two Propagations, because the
 * second one would find a conflict. A dependency has its own Propagation if a policy selects it, if several workloads need it, or if a
 * template would have too many objects with it.
 *
 * @param isLiving True: the Propagations refer to objects in a cluster, so Secrets are dependencies like any other.
 */
export function attachDependencies(
  claimed: readonly ClaimedResource[],
  resources: ReadonlyMap<string, KarmadaResource>,
  { isLiving }: { readonly isLiving: boolean },
): AttachedDependencies {
  const selected = new Set(claimed.map(({ resource }) => resource));
  const users = new Map<KarmadaResource, ClaimedResource[]>();
  const elsewhere = new Map<KarmadaResource, KarmadaResource[]>();
  const missing = new Map<KarmadaResource, ObjectKey[]>();
  const secrets = new Set<KarmadaResource>();
  for (const user of claimed.filter(({ choice }) => followsDependencies(choice.winner))) {
    for (const key of dependenciesOf(user.resource.manifest)) {
      const needed = resources.get(textOfKey(key));
      if (needed === undefined) addTo(missing, user.resource, key);
      else if (!isLiving && isSecret(groupKindOfKey(key)) && !selected.has(needed)) secrets.add(needed);
      else addTo(users, needed, user);
    }
  }
  const bundledOf = new Map<KarmadaResource, KarmadaResource[]>();
  const standalone: ClaimedResource[] = [];
  const usersOf = new Map<KarmadaResource, readonly ClaimedResource[]>();
  for (const [needed, all] of users) {
    const [first, second] = all;
    if (first === undefined) continue;
    if (second === undefined && !selected.has(needed)) {
      addTo(bundledOf, first.resource, needed);
      continue;
    }
    if (!selected.has(needed)) standalone.push(attachedTo(first, needed));
    usersOf.set(needed, all);
    for (const { resource } of all) addTo(elsewhere, resource, needed);
  }
  for (const user of claimed) {
    const bundled = bundledOf.get(user.resource) ?? [];
    // For a living Karmada, a Propagation with all dependencies of its resource has `dependencies: true`, and its template does not list them. So the
    // limit of a template does not matter.
    if (bundled.length <= maxBundled || (isLiving && !elsewhere.has(user.resource))) continue;
    bundledOf.set(user.resource, bundled.slice(0, maxBundled));
    for (const needed of bundled.slice(maxBundled)) {
      standalone.push(attachedTo(user, needed));
      usersOf.set(needed, [user]);
      addTo(elsewhere, user.resource, needed);
    }
  }
  return { bundledOf, standalone, usersOf, elsewhere, missing, secrets: [...secrets] };
}

/** Maximum number of dependencies that a template has besides its workload. Others have Propagations of their own. */
const maxBundled = maxTemplateObjects - 1;

function attachedTo({ choice: { winner } }: ClaimedResource, resource: KarmadaResource): ClaimedResource {
  return { resource, choice: { winner, losers: [] }, isAttached: true };
}

/** Returns the resources by the text of their key. The namespace `default` is added where a document has none. */
export function resourcesByKey(resources: readonly KarmadaResource[]): ReadonlyMap<string, KarmadaResource> {
  return new Map(resources.map((resource) => [textOfKey(keyOfManifest(resource.manifest)), resource]));
}

function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
