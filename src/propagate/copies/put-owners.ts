import type { Json, JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { type CopyStep, type CopyToWrite, failedCopy, isRaced } from './copy-to-write.ts';

/**
 * Says anew who owns which fields of an object, in a write that changes nothing else: under its uid and version. Gives the object as it stands then, or what
 * came between.
 */
export async function putOwners(
  { door, task, work }: CopyToWrite,
  object: KubernetesObject,
  managedFields: readonly Json[],
): Promise<CopyStep | { readonly object: KubernetesObject }> {
  const { uid, resourceVersion } = object.metadata;
  const patch: JsonObject = { metadata: { uid, resourceVersion, managedFields } };
  const answer = await door.write((client, signal) => client.patch({ ...task.address, type: 'merge', patch, run: 'real' }, signal));
  switch (answer.result) {
    case 'answered':
      return { object: answer.object };
    case 'absent':
      return { result: 'again' };
    case 'failed':
      return isRaced(answer.fault) ? { result: 'again' } : failedCopy({ task, work }, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}
