import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import { deletionOf } from '../copies/copy-marks.ts';
import type { Hub } from '../hub/hub.ts';
import type { ObjectAddress } from '../object-client.ts';
import { musterGroup, type Propagation } from '../propagation.ts';
import { namespaceKind } from './lease-namespace.ts';

const definitionKind: ServedResource = {
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  version: 'v1',
  versions: ['v1'],
  resource: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  namespaced: false,
  verbs: ['get'],
  shortNames: ['crd'],
  categories: [],
};

/**
 * Reads live whether the Namespace of the Propagation, or the definition of its kind, is being deleted: the Propagation is then deleted with it. Returns
 * that object. Undefined if neither is being deleted, or if the gateway may not see them. A fault if the hub does not answer.
 */
export async function hubEnding(
  hub: Hub,
  { metadata }: Propagation,
  signal: AbortSignal,
): Promise<string | undefined | { readonly fault: Fault }> {
  const client = hub.client();
  const places: readonly ObjectAddress[] = [
    { resource: namespaceKind, name: metadata.namespace },
    { resource: definitionKind, name: `propagations.${musterGroup}` },
  ];
  for (const address of client === undefined ? [] : places) {
    const found = await client?.get(address, signal);
    if (found?.result === 'answered' && deletionOf(found.object) !== undefined) return `${address.resource.kind} ${address.name}`;
    if (found?.result === 'failed' && found.fault.code !== 'FORBIDDEN') return { fault: found.fault };
  }
  return undefined;
}
