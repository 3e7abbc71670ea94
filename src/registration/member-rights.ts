import type { JsonObject } from '../core/json.ts';
import type { ServedResource } from '../core/kinds.ts';

/** A rule of a ClusterRole or Role. */
export interface RightsRule extends JsonObject {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const readVerbs = ['get', 'list', 'watch'];
const writeVerbs = ['create', 'update', 'patch', 'delete'];

/**
 * The resources that an account with the right to write may write: those that copies usually have. `rbac.writer` of the chart grants the same.
 * Secrets and RBAC objects are not among them.
 */
const writtenKinds: readonly (readonly [group: string, ...resources: readonly string[]])[] = [
  ['', 'configmaps', 'namespaces', 'persistentvolumeclaims', 'serviceaccounts', 'services'],
  ['apps', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  ['autoscaling', 'horizontalpodautoscalers'],
  ['batch', 'cronjobs', 'jobs'],
  ['networking.k8s.io', 'ingresses', 'networkpolicies'],
  ['policy', 'poddisruptionbudgets'],
];

/**
 * Returns the rules of the account in a member cluster: it may read every served resource, read logs and create SubjectAccessReviews. Each rule names
 * its resources: none names Secrets, and none has a `*`. Rules are sorted, so equal kinds give equal rules.
 *
 * @param served The kinds that the cluster serves now. A custom kind that is defined later is readable only after the cluster joins again.
 * @param write True: also the rights to write workloads and their settings.
 */
export function memberRules(served: readonly ServedResource[], { write }: { readonly write: boolean }): readonly RightsRule[] {
  const readable = served.filter(({ group, resource }) => !(group === '' && resource === 'secrets'));
  const alike = Map.groupBy(readable, ({ group, verbs }) => [group, ...readVerbs.filter((verb) => verbs.includes(verb))].join(' '));
  const reads = [...alike].map(([key, resources]) => {
    const [group = '', ...verbs] = key.split(' ');
    return { apiGroups: [group], resources: [...new Set(resources.map(({ resource }) => resource))].sort(), verbs };
  });
  const inOrder = reads.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  return [
    ...inOrder,
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ...(write ? writeRules() : []),
  ];
}

/** Returns the rules that allow an account to write. The role of the chart is generated from them. */
export function writeRules(): readonly RightsRule[] {
  return [
    ...writtenKinds.map(([group, ...resources]) => ({ apiGroups: [group], resources, verbs: writeVerbs })),
    { apiGroups: ['apps'], resources: ['deployments/scale', 'replicasets/scale', 'statefulsets/scale'], verbs: ['update', 'patch'] },
  ];
}

/** True if the rules allow writing, that is, if one of them has the verb `patch`. */
export function mayWriteBy(rules: readonly JsonObject[]): boolean {
  return rules.some(({ verbs }) => Array.isArray(verbs) && verbs.includes('patch'));
}

function textOf({ apiGroups, verbs }: RightsRule): string {
  return [...apiGroups, ...verbs].join(' ');
}
