import { type Fault, fault } from '../core/faults.ts';
import { groupOfApiVersion } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { liveHashOf } from '../manifests/live-hash.ts';
import type { ObjectKey } from '../manifests/manifest.ts';
import type { ObjectAction, ObjectChangeResult } from './object-changes.ts';
import type { ObjectAddress, ObjectCallResult, ObjectClient, RunMode } from './object-client.ts';

/** The inputs for writing one object. */
export interface ObjectWrite {
  readonly client: ObjectClient;
  readonly address: ObjectAddress;
  readonly key: ObjectKey;
  readonly run: RunMode;
  /** Removes values that may not be shown, from the object, its diff and its fault. */
  readonly redaction: {
    /** True if only the metadata of the object may be shown. */
    readonly metadataOnly: boolean;
    object(object: KubernetesObject): KubernetesObject;
    diff(before: KubernetesObject | undefined, after: KubernetesObject | undefined): string | undefined;
    fault(fault: Fault): Fault;
  };
}

/**
 * Reads the existing object live, writes the object, and returns what the write changed. If the object exists and the caller may not read
 * it, the action is CONFIGURED, without a diff.
 *
 * @param attempt Makes the write. Its argument is the existing object, or undefined if the object is absent or not readable.
 */
export async function writeObject(
  { client, address, key, run, redaction }: ObjectWrite,
  attempt: (before: KubernetesObject | undefined) => Promise<ObjectCallResult>,
  signal: AbortSignal,
): Promise<ObjectChangeResult> {
  const { cluster } = client;
  const read = await client.get(address, signal);
  if (read.result === 'failed' && read.fault.code !== 'FORBIDDEN') return failedChange(cluster, key, redaction.fault(read.fault));
  const before = read.result === 'answered' ? read.object : undefined;
  const answer = await attempt(before);
  if (answer.result === 'failed') return failedChange(cluster, key, redaction.fault(answer.fault));
  if (answer.result === 'absent') return failedChange(cluster, key, absentObjectFault(cluster, key));
  const diff = run === 'dry' && read.result !== 'failed' ? redaction.diff(before, answer.object) : undefined;
  return {
    cluster,
    key,
    action: actionOf(answer, before),
    uid: run === 'dry' && answer.isNew ? undefined : answer.object.metadata.uid,
    written: { object: redaction.object(answer.object), metadataOnly: redaction.metadataOnly, resource: address.resource },
    ...(diff === undefined ? {} : { diff }),
    warnings: answer.warnings,
  };
}

/** Returns the action of a write. Compares the content for `UNCHANGED`, because a dry run returns no new resourceVersion. */
function actionOf(answer: Extract<ObjectCallResult, { readonly result: 'answered' }>, before: KubernetesObject | undefined): ObjectAction {
  if (answer.isNew) return 'CREATED';
  if (before === undefined || before.metadata.uid !== answer.object.metadata.uid) return 'CONFIGURED';
  const isSame =
    liveHashOf(before) === liveHashOf(answer.object) &&
    JSON.stringify(before.status ?? null) === JSON.stringify(answer.object.status ?? null);
  return isSame ? 'UNCHANGED' : 'CONFIGURED';
}

/** Returns the result of a write that failed or was not sent. */
export function failedChange(cluster: ClusterName, key: ObjectKey, fault: Fault): ObjectChangeResult {
  return { cluster, key, action: 'FAILED', warnings: [], fault };
}

/** Returns the fault for an object that does not exist, or whose existence the caller may not know. */
export function absentObjectFault(cluster: ClusterName, { apiVersion, kind, namespace, name }: ObjectKey): Fault {
  const where = namespace === undefined ? '' : ` in the namespace ${JSON.stringify(namespace.slice(0, 80))}`;
  const message = `there is no ${kind} named ${JSON.stringify(name.slice(0, 80))}${where}`;
  return fault('NOT_FOUND', message, { cluster, kind: { group: groupOfApiVersion(apiVersion), kind }, retry: 'NEVER' });
}
