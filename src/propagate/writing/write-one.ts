import type { Fault } from '../../core/faults.ts';
import { groupOf } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ObjectAddress, ObjectAnswer, ObjectClient, Run } from '../object-client.ts';
import type { Action, WriteResult } from '../object-writes.ts';
import { liveHashOf } from '../planner/live-hash.ts';
import type { ObjectKey } from '../spec.ts';

/** One write of one object. */
export interface OneWrite {
  readonly client: ObjectClient;
  readonly address: ObjectAddress;
  readonly key: ObjectKey;
  readonly run: Run;
  /** What may be told of the object and of its change. */
  readonly shown: {
    /** True if nothing but the metadata of objects may be. */
    readonly metadataOnly: boolean;
    object(object: KubernetesObject): KubernetesObject;
    diff(before: KubernetesObject | undefined, after: KubernetesObject | undefined): string | undefined;
    fault(fault: Fault): Fault;
  };
}

/**
 * Writes one object, and says what that changed: by what stood there before, read live. Who may not read it is told CONFIGURED, without a diff.
 *
 * @param attempt The write itself. Not called if the object is absent and `needed`.
 */
export async function writeOne(
  { client, address, key, run, shown }: OneWrite,
  attempt: (before: KubernetesObject | undefined) => Promise<ObjectAnswer>,
  signal: AbortSignal,
): Promise<WriteResult> {
  const { cluster } = client;
  const read = await client.get(address, signal);
  if (read.result === 'failed' && read.fault.code !== 'FORBIDDEN') return failure(cluster, key, shown.fault(read.fault));
  const before = read.result === 'answered' ? read.object : undefined;
  const answer = await attempt(before);
  if (answer.result === 'failed') return failure(cluster, key, shown.fault(answer.fault));
  if (answer.result === 'absent') return failure(cluster, key, absence(cluster, key));
  const diff = run === 'dry' && read.result !== 'failed' ? shown.diff(before, answer.object) : undefined;
  return {
    cluster,
    key,
    action: actionOf(answer, before),
    written: { object: shown.object(answer.object), metadataOnly: shown.metadataOnly, resource: address.resource },
    ...(diff === undefined ? {} : { diff }),
    warnings: answer.warnings,
  };
}

/** A dry run has no version of its own: so content decides, as far as somebody may have meant it. */
function actionOf(answer: Extract<ObjectAnswer, { readonly result: 'answered' }>, before: KubernetesObject | undefined): Action {
  if (answer.isNew) return 'CREATED';
  if (before === undefined || before.metadata.uid !== answer.object.metadata.uid) return 'CONFIGURED';
  const isSame =
    liveHashOf(before) === liveHashOf(answer.object) &&
    JSON.stringify(before.status ?? null) === JSON.stringify(answer.object.status ?? null);
  return isSame ? 'UNCHANGED' : 'CONFIGURED';
}

/** A write that failed: nothing was changed by it. */
export function failure(cluster: ClusterName, key: ObjectKey, fault: Fault): WriteResult {
  return { cluster, key, action: 'FAILED', warnings: [], fault };
}

/** There is no such object, or the caller may not know of it. */
export function absence(cluster: ClusterName, { apiVersion, kind, namespace, name }: ObjectKey): Fault {
  const where = namespace === undefined ? '' : ` in the namespace ${JSON.stringify(namespace.slice(0, 80))}`;
  const message = `there is no ${kind} named ${JSON.stringify(name.slice(0, 80))}${where}`;
  return { code: 'NOT_FOUND', cluster, kind: { group: groupOf(apiVersion), kind }, message, retry: 'NEVER' };
}
