import type { JsonObject } from '../core/json.ts';
import { labelsAt, textAt } from '../core/json-at.ts';
import { apiVersionOf, type ServedResource } from '../core/kinds.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { clusterKind } from './cluster-resource.ts';
import type { RightsRule } from './member-rights.ts';
import { ownLabel, type RegistrationObject, registrationKinds } from './registration-kinds.ts';

/** The namespace of the account in a member cluster. */
export const memberNamespace = 'muster-system';

/** The name of the account in a member cluster, and of its roles and bindings. */
export const memberAccount = 'muster-member';

/** The label and annotations of registrations. */
export const registrationMarks = {
  /** Label of a Secret in the member to which a token is bound. Its value is the uid of the hub that uses the token. */
  hub: 'muster.dev/hub',
  /** Annotation of a Cluster: the uid of `kube-system` in the member. */
  uid: 'muster.dev/cluster-uid',
  /**
   * Annotations of the Secret on the hub: the name of the Secret in the member to which the token is bound, and the start and end of the token's life
   * in RFC 3339.
   */
  boundTo: 'muster.dev/token-bound-to',
  issued: 'muster.dev/token-issued',
  expires: 'muster.dev/token-expires',
  /** Annotation of the Secret on the hub: the leader does not use this token yet. The leader removes it as soon as it uses the token. */
  unused: 'muster.dev/token-unused',
} as const;

/**
 * Returns the objects that a member cluster needs, in the order of their creation: a namespace, an account, and the rights of the account. The
 * account may also create tokens for itself, so that the leader can renew its token.
 */
export function memberObjects(rules: readonly RightsRule[]): readonly RegistrationObject[] {
  const { namespace, serviceAccount, clusterRole, clusterRoleBinding, role, roleBinding } = registrationKinds;
  const subjects = [{ kind: 'ServiceAccount', name: memberAccount, namespace: memberNamespace }];
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: memberAccount });
  const ownToken = { apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: [memberAccount], verbs: ['create'] };
  const objectName = { name: memberAccount, namespace: memberNamespace };
  return [
    ownObject(namespace, { name: memberNamespace }),
    ownObject(serviceAccount, objectName),
    ownObject(clusterRole, { name: memberAccount }, { rules }),
    ownObject(clusterRoleBinding, { name: memberAccount }, { roleRef: roleRef('ClusterRole'), subjects }),
    ownObject(role, objectName, { rules: [ownToken] }),
    ownObject(roleBinding, objectName, { roleRef: roleRef('Role'), subjects }),
  ];
}

/** Returns an empty Secret for the member. A token is bound to it, so deleting the Secret revokes the token. */
export function boundSecret(name: string, hubUid: string): RegistrationObject {
  const { manifest, resource } = ownObject(registrationKinds.secret, { name, namespace: memberNamespace }, { type: 'Opaque' });
  const labels = { ...labelsAt(manifest, 'metadata', 'labels'), [registrationMarks.hub]: hubUid };
  return { resource, manifest: { ...manifest, metadata: { ...manifest.metadata, labels } } };
}

/** Returns a name for the next bound Secret: one number higher than the existing names. Example: `muster-member-3` after `muster-member-2`. */
export function nextBoundSecretName(existing: readonly string[]): string {
  const numbers = existing.map((name) => Number(/-(\d{1,9})$/.exec(name)?.[1] ?? 0));
  return `${memberAccount}-${Math.max(0, ...numbers) + 1}`;
}

/** The facts about a cluster that are registered on the hub. An undefined value keeps that of the existing Cluster. */
export interface ClusterDescription {
  readonly name: string;
  /** The uid of `kube-system`. */
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly region?: string | undefined;
  readonly provider?: string | undefined;
}

/** Returns the Cluster for the hub. Labels, region and provider that are not given stay as in the existing Cluster. */
export function clusterObject(described: ClusterDescription, existing: KubernetesObject | undefined): RegistrationObject {
  const { name, uid } = described;
  const { [ownLabel.key]: _, ...labels } = described.labels ?? labelsAt(existing, 'metadata', 'labels');
  const provider = described.provider ?? textAt(existing, 'spec', 'provider');
  const region = described.region ?? textAt(existing, 'spec', 'region');
  const metadata = { name, labels: { ...labels, [ownLabel.key]: ownLabel.value }, annotations: { [registrationMarks.uid]: uid } };
  const spec = {
    secretRef: { name },
    ...(provider === undefined ? {} : { provider }),
    ...(region === undefined ? {} : { region }),
  };
  const { apiVersion, kind } = clusterKind;
  return { resource: registrationKinds.cluster, manifest: { apiVersion, kind, metadata, spec } };
}

/** The credentials of a member, as the Secret on the hub has them. */
export interface RegisteredCredentials {
  readonly kubeconfig: string;
  /** The name of the Secret in the member that the token is bound to. */
  readonly boundTo: string;
  /** The start of the token's life in RFC 3339. `expires` is its end. */
  readonly issued: string;
  readonly expires: string;
  /** True: the Secret gets the annotation `unused`, which the leader removes when it uses the token. */
  readonly isMarkedUnused: boolean;
}

/**
 * Returns the Secret for the hub. The Cluster owns it, so Kubernetes deletes it after the Cluster is deleted.
 *
 * @param owner The Cluster as the hub has it.
 */
export function hubSecret(
  { namespace, owner }: { readonly namespace: string; readonly owner: KubernetesObject },
  { kubeconfig, boundTo, issued, expires, isMarkedUnused }: RegisteredCredentials,
): RegistrationObject {
  const { name, uid = '' } = owner.metadata;
  const { apiVersion, kind } = clusterKind;
  const marks = registrationMarks;
  const metadata = {
    ...{ name, namespace, labels: { [ownLabel.key]: ownLabel.value } },
    annotations: {
      ...{ [marks.boundTo]: boundTo, [marks.issued]: issued, [marks.expires]: expires },
      ...(isMarkedUnused ? { [marks.unused]: 'true' } : {}),
    },
    ownerReferences: [{ apiVersion, kind, name, uid }],
  };
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  return { resource: registrationKinds.secret, manifest: { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data } };
}

function ownObject(
  resource: ServedResource,
  objectName: { readonly name: string; readonly namespace?: string },
  content: JsonObject = {},
): RegistrationObject {
  const metadata = { ...objectName, labels: { [ownLabel.key]: ownLabel.value } };
  return { resource, manifest: { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, ...content } };
}
