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
  const other = registered.find((cluster) => cluster.metadata.name !== name && joinedUidOf(cluster) === uid);
  if (other !== undefined) throw new RegistrationProblem(`the cluster has joined this hub already, under the name ${other.metadata.name}`);
}

/** The Lease of the gateway that leads. */
const leaseName = 'muster-controller';

/** True if the Lease on this hub names a gateway that leads. That gateway may have crashed a moment ago. */
export async function hasLeader(steps: RegistrationSteps, hub: ContextCluster, namespace: string): Promise<boolean> {
  const lease = await steps.read(hub, { resource: registrationKinds.lease, namespace, name: leaseName });
  return (textAt(lease, 'spec', 'holderIdentity') ?? '') !== '';
}
