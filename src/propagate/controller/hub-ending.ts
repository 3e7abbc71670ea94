import type { TypedCall } from '../../cluster/typed-api.ts';
import type { Fault } from '../../core/faults.ts';
import { callHub, type HubConnection } from '../hub/hub.ts';
import { musterGroup, type Propagation } from '../propagation.ts';

const definition = `propagations.${musterGroup}`;

/**
 * Reads live whether the Namespace of the Propagation, or the definition of its kind, is being deleted: the Propagation is then deleted with it. Returns
 * that object. Undefined if neither is being deleted, or if the gateway may not see them. A fault if the hub does not answer.
 */
export async function hubEnding(
  hub: HubConnection,
  { metadata: { namespace } }: Propagation,
  signal: AbortSignal,
): Promise<string | undefined | { readonly fault: Fault }> {
  const reads: Readonly<Record<string, TypedCall<{ metadata?: { deletionTimestamp?: Date } }>>> = {
    [`Namespace ${namespace}`]: ({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespace({ name: namespace }),
    [`CustomResourceDefinition ${definition}`]: ({ ApiextensionsV1Api }, transport) =>
      new ApiextensionsV1Api(transport).readCustomResourceDefinition({ name: definition }),
  };
  for (const [object, read] of Object.entries(reads)) {
    const found = await callHub(hub, read, signal);
    if (found.result === 'answered' && found.value.metadata?.deletionTimestamp !== undefined) return object;
    if (found.result === 'failed' && found.fault.code !== 'FORBIDDEN' && found.fault.code !== 'NOT_FOUND') return { fault: found.fault };
  }
  return undefined;
}
