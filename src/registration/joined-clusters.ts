import { labelsAt, textAt } from '../core/json-at.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { registrationMarks } from './joined-objects.ts';
import { isOwn, registrationKinds } from './registration-kinds.ts';
import { type ContextCluster, RegistrationProblem, type RegistrationSteps } from './registration-steps.ts';

/** Returns the uid of the namespace `kube-system`, which identifies a cluster. */
export async function uidOfCluster(steps: RegistrationSteps, cluster: ContextCluster): Promise<string> {
  const found = await steps.read(cluster, { resource: registrationKinds.namespace, name: 'kube-system' });
  const uid = found?.metadata.uid;
  if (uid === undefined) throw new RegistrationProblem(`${cluster.name}: expected the namespace kube-system`);
  return uid;
}

/** Returns the uid of the member for which `muster join` has made this Cluster. Undefined if `muster join` has not made it. */
export function joinedUidOf(cluster: KubernetesObject | undefined): string | undefined {
  return isOwn(cluster) ? labelsAt(cluster, 'metadata', 'annotations')[registrationMarks.uid] : undefined;
}

/**
 * Checks that a name is free on the hub for the cluster with this uid, or already belongs to it.
 *
 * @param registered All Clusters of the hub.
 * @throws {RegistrationProblem} if another cluster has the name, or the cluster is registered under another name.
 */
export function demandFreeName(registered: readonly KubernetesObject[], { name, uid }: { readonly name: string; readonly uid: string }) {
  const existing = registered.find(({ metadata }) => metadata.name === name);
  if (existing !== undefined && joinedUidOf(existing) !== uid)
    throw new RegistrationProblem(
      `the hub has the cluster ${name} already, and it is another one or was not made by muster join: expected another --name`,
    );
  const [other] = otherNamesOf(registered, { name, uid });
  if (other !== undefined) throw new RegistrationProblem(`the cluster has joined this hub already, under the name ${other.metadata.name}`);
}

/**
 * Checks, after the Cluster was written, that no other join has registered the same cluster in the meantime. Two joins at once cannot see each other
 * in `demandFreeName`, because both check before they write. At least one of them sees the other here, and the Cluster that was created first stays.
 * The API server records times in seconds, so two joins within one second may both be refused.
 *
 * @param registered All Clusters of the hub, listed after the write.
 * @throws {RegistrationProblem} if another Cluster of the same cluster is not younger.
 */
export function demandFirstName(registered: readonly KubernetesObject[], { name, uid }: { readonly name: string; readonly uid: string }) {
  const createdAt = (cluster: KubernetesObject | undefined) => String(cluster?.metadata.creationTimestamp ?? '');
  const own = registered.find(({ metadata }) => metadata.name === name);
  const earlier = otherNamesOf(registered, { name, uid }).find((cluster) => createdAt(cluster) <= createdAt(own));
  if (earlier === undefined) return;
  throw new RegistrationProblem(
    `the cluster joins this hub at the same time, under the name ${earlier.metadata.name}. If both commands are refused, run one of them again`,
  );
}

/** Returns the Clusters that `muster join` has made under other names for the cluster with this uid. */
export function otherNamesOf(
  registered: readonly KubernetesObject[],
  { name, uid }: { readonly name: string; readonly uid: string },
): readonly KubernetesObject[] {
  return registered.filter((cluster) => cluster.metadata.name !== name && joinedUidOf(cluster) === uid);
}

/** The Lease of the gateway that leads. */
const leaseName = 'muster-controller';

/** True if the Lease on this hub names a gateway that leads. That gateway may have crashed a moment ago. */
export async function hasLeader(steps: RegistrationSteps, hub: ContextCluster, namespace: string): Promise<boolean> {
  const lease = await steps.read(hub, { resource: registrationKinds.lease, namespace, name: leaseName });
  return (textAt(lease, 'spec', 'holderIdentity') ?? '') !== '';
}
