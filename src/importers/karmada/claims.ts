import { textAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { compareClaims, type ImplicitPriority } from '../../propagate/karmada/resource-selector.ts';
import { isClusterScopedKind } from '../documents/cluster-scoped-kinds.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';
import { defaultNamespace, type PropagationPolicy } from './policies/read-policies.ts';

/** A document that policies can select. */
export interface KarmadaResource {
  readonly document: ObjectDocument;
  /** The object, with the namespace `default` if it is namespaced and has none. */
  readonly manifest: Manifest;
}

/** The policy that propagates a resource, and the other policies that select it. */
export interface PolicyChoice {
  readonly winner: PropagationPolicy;
  readonly losers: readonly PropagationPolicy[];
}

/** Returns the document as a resource that policies can select. */
export function resourceOf(document: ObjectDocument): KarmadaResource {
  const manifest = document.object as Manifest;
  if (document.key.namespace !== undefined || isClusterScopedKind(document.key)) return { document, manifest };
  return { document, manifest: { ...manifest, metadata: { ...manifest.metadata, namespace: defaultNamespace } } };
}

/**
 * Finds the policy of a resource as Karmada does. PropagationPolicies of its namespace come before ClusterPropagationPolicies. Then the
 * priority decides, then the most specific selector, then the name.
 *
 * The policy that the resource names in its annotations or labels wins over these rules. In a text, a policy with preemption Always wins over
 * the named policy if it has a higher priority, or if it is namespaced and the named policy is not. In a living Karmada, the annotations
 * already name the policy that won.
 */
export class PolicyFinder {
  /** The policies by the API version, kind and name that their selectors have. The name is empty if a selector has none. */
  readonly #bySelector = new Map<string, Set<PropagationPolicy>>();
  readonly #isLiving: boolean;

  constructor(policies: readonly PropagationPolicy[], { isLiving }: { readonly isLiving: boolean }) {
    this.#isLiving = isLiving;
    for (const policy of policies) {
      for (const { apiVersion, kind, name = '' } of policy.spec.resourceSelectors) {
        const key = selectorKey({ apiVersion, kind }, name);
        this.#bySelector.set(key, (this.#bySelector.get(key) ?? new Set()).add(policy));
      }
    }
  }

  /** Returns the policy of the resource, and the other policies that select it. Undefined: no policy selects the resource. */
  policyFor({ manifest }: KarmadaResource): PolicyChoice | undefined {
    const candidates = this.#candidatesFor(manifest);
    const [first] = candidates;
    if (first === undefined) return undefined;
    const recorded = candidates.find((policy) => isRecordedIn(manifest, policy));
    const preempting = this.#isLiving ? undefined : candidates.find((policy) => preempts(policy, recorded));
    const winner = preempting ?? recorded ?? first;
    return { winner, losers: candidates.filter((policy) => policy !== winner) };
  }

  /**
   * Returns the policies that select the resource, in order of precedence. The first one wins unless an annotation or preemption decides.
   */
  #candidatesFor(manifest: Manifest): readonly PropagationPolicy[] {
    const { name, namespace } = manifest.metadata;
    const claims = new Map<PropagationPolicy, PolicyAndClaim>();
    for (const policies of [this.#bySelector.get(selectorKey(manifest, name)), this.#bySelector.get(selectorKey(manifest, ''))]) {
      for (const policy of policies ?? []) {
        if (policy.namespace !== undefined && policy.namespace !== namespace) continue;
        const implicit = policy.priorityOf(manifest);
        if (implicit !== 'MisMatch') claims.set(policy, { policy, name: policy.name, explicit: policy.spec.priority, implicit });
      }
    }
    return [...claims.values()].sort(compareCandidates).map(({ policy }) => policy);
  }
}

interface PolicyAndClaim {
  readonly policy: PropagationPolicy;
  readonly name: string;
  readonly explicit: number;
  readonly implicit: ImplicitPriority;
}

function compareCandidates(a: PolicyAndClaim, b: PolicyAndClaim): number {
  return Number(isClusterWide(a.policy)) - Number(isClusterWide(b.policy)) || compareClaims(a, b);
}

function isClusterWide({ namespace }: PropagationPolicy): boolean {
  return namespace === undefined;
}

function selectorKey({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }, name: string): string {
  return `${apiVersion} ${kind} ${name}`;
}

/** True if Karmada has recorded the policy in the resource. Older versions recorded it in labels. */
function isRecordedIn(manifest: Manifest, { name, namespace }: PropagationPolicy): boolean {
  const prefix = namespace === undefined ? 'clusterpropagationpolicy.karmada.io' : 'propagationpolicy.karmada.io';
  const recorded = (key: string) =>
    textAt(manifest, 'metadata', 'annotations', `${prefix}/${key}`) ?? textAt(manifest, 'metadata', 'labels', `${prefix}/${key}`);
  return recorded('name') === name && (namespace === undefined || recorded('namespace') === namespace);
}

function preempts(policy: PropagationPolicy, recorded: PropagationPolicy | undefined): boolean {
  if (recorded === undefined || policy === recorded || policy.spec.preemption !== 'Always') return false;
  if (isClusterWide(policy) !== isClusterWide(recorded)) return !isClusterWide(policy);
  return policy.spec.priority > recorded.spec.priority;
}

/** True if Karmada with its default flags does not propagate the resource: its namespace is reserved, or its kind is Event, Lease or one of Karmada itself. */
export function isReserved({ apiVersion, kind, metadata: { namespace = '' } }: Manifest): boolean {
  const group = groupOfApiVersion(apiVersion);
  return (
    /^(karmada-system|karmada-cluster|karmada-es-.*|kube-.*)$/.test(namespace) ||
    reservedGroups.has(group) ||
    apiVersion === 'coordination.k8s.io/v1' ||
    (group === '' && kind === 'Event')
  );
}

/** The groups of `NewSkippedResourceConfig` in Karmada. */
const reservedGroups: ReadonlySet<string> = new Set([
  ...['apps', 'autoscaling', 'cluster', 'config', 'networking', 'policy', 'remedy', 'work'].map((group) => `${group}.karmada.io`),
  'events.k8s.io',
]);
